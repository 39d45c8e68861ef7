// Clusters: the barrier of all threads, arrivals in every CTA, elements of other CTAs.
#include "compiler/passes/lowering/Lowering.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::lowering {

void Lowering::meet_cluster() {
  hopper::ClusterArriveOp::create(b_, loc_);
  hopper::ClusterWaitOp::create(b_, loc_);
}

/// One arrival of the warp (or of the role's only thread) at the mbarrier of every CTA; lane r arrives in CTA r.
void Lowering::arrive_in_cluster(Value barrier, StringRef scope) {
  const auto arrive_at = [&](Value rank, Value when) {
    hopper::MbarrierArriveRemoteOp::create(b_, loc_, hopper::MapSharedOp::create(b_, loc_, barrier, rank), when, scope);
  };
  const int ctas = launch_.cluster_size();
  if (role_.single_thread) {
    for (int rank = 0; rank < ctas; ++rank) arrive_at(i32(rank), {});
    return;
  }
  Value some = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ult, lane_, i32(ctas));
  arrive_at(arith::SelectOp::create(b_, loc_, some, lane_, i32(0)), some);
}

Value Lowering::remote_address(Value tile, Value row, Value column, Value rank) {
  return hopper::MapSharedOp::create(b_, loc_, shared_address(place_of(tile), mapped(row), mapped(column)), mapped(rank));
}

std::optional<LogicalResult> Lowering::emit_cluster(Operation* op) {
  return llvm::TypeSwitch<Operation*, std::optional<LogicalResult>>(op)
      .Case<tile::ClusterRankOp>([&](tile::ClusterRankOp o) { map_.map(o.getValue(), hopper::ClusterRankOp::create(b_, loc_)); return success(); })
      .Case<tile::ClusterIndexOp>([&](tile::ClusterIndexOp o) { map_.map(o.getValue(), hopper::ClusterIdOp::create(b_, loc_, o.getDim())); return success(); })
      .Case<tile::ClusterArriveOp>([&](auto) { hopper::ClusterArriveOp::create(b_, loc_); return success(); })
      .Case<tile::ClusterWaitOp>([&](auto) { hopper::ClusterWaitOp::create(b_, loc_); return success(); })
      .Case<tile::RemoteReadOp>([&](tile::RemoteReadOp o) {
        map_.map(o.getValue(), hopper::LoadRemoteOp::create(b_, loc_, o.getValue().getType(), remote_address(o.getTile(), o.getRow(), o.getColumn(), o.getRank())));
        return success();
      })
      .Case<tile::RemoteWriteOp>([&](tile::RemoteWriteOp o) {
        hopper::StoreRemoteOp::create(b_, loc_, remote_address(o.getTile(), o.getRow(), o.getColumn(), o.getRank()), mapped(o.getValue()));
        return success();
      })
      .Default([&](Operation* other) { return emit_debug(other); });
}

}  // namespace tilewright::lowering
