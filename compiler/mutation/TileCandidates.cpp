// Mutations of tile kernels.
#include "compiler/mutation/Candidates.h"
#include "dialect/tile/Tile.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilewright::mutation {
namespace {

/// Operations that neither touch memory nor synchronise: a move past them changes nothing.
bool is_quiet(Operation* op) { return isPure(op) || isa<tile::GetOp, tile::SetOp, tile::VarOp, tile::FragOp, tile::FragViewOp>(op); }

/// The nearest operation before or after that is not quiet; null at the edge of the block.
Operation* neighbour(Operation* op, bool after) {
  do op = after ? op->getNextNode() : op->getPrevNode();
  while (op && is_quiet(op));
  return op && op->hasTrait<OpTrait::IsTerminator>() ? nullptr : op;
}

/// The stage of the ring that a role took last before the operation: what its author would have at hand. Null when there is none.
Value stage_before(Operation* op, Value ring, bool producer) {
  for (Operation* at = op; at && !isa<tile::KernelOp>(at); at = at->getParentOp())
    for (Operation* before = at->getPrevNode(); before; before = before->getPrevNode()) {
      if (auto acquire = dyn_cast<tile::AcquireOp>(before); acquire && producer && acquire.getRing() == ring) return acquire.getStage();
      if (auto wait = dyn_cast<tile::WaitOp>(before); wait && !producer && wait.getRing() == ring) return wait.getStage();
    }
  return {};
}

class Collector {
 public:
  std::vector<Candidate> found;

  void visit(Operation* op) {
    llvm::TypeSwitch<Operation*>(op)
        .Case<tile::AcquireOp>([&](tile::AcquireOp o) { unwaited(o, o.getRing(), true); })
        .Case<tile::WaitOp>([&](tile::WaitOp o) { unwaited(o, o.getRing(), false); })
        .Case<tile::CommitOp>([&](auto o) { signal("commit", o, o.getRing()); })
        .Case<tile::ReleaseOp>([&](auto o) { signal("release", o, o.getRing()); })
        .Case<tile::ArriveOp>([&](auto o) { signal("arrive", o, o.getBarrier()); })
        .Case<tile::WaitForOp>([&](tile::WaitForOp o) {
          erase("wait_for", o, named(o.getBarrier()));
          later("wait_for", o, named(o.getBarrier()));
        })
        .Case<tile::SettleOp>([&](auto o) {
          erase("settle", o);
          later("settle", o);
        })
        .Case<tile::SettlePendingOp>([&](tile::SettlePendingOp o) {
          erase("settle", o);
          later("settle", o);
          add("settle.weaken", o, " of one batch less", [o]() mutable { o.setPending(o.getPending() + 1); });
        })
        .Case<tile::FenceAsyncOp>([&](auto o) {
          erase("fence_async", o);
          later("fence_async", o);
        })
        .Case<tile::StoreWaitOp>([&](tile::StoreWaitOp o) {
          erase("store_wait", o);
          add("store_wait.weaken", o, " for one group less", [o]() mutable { o.setPending(o.getPending() + 1); });
          if (o.getComplete()) add("store_wait.read_only", o, " for reads instead of writes", [o]() mutable { o.setComplete(false); });
        })
        .Case<tile::SyncOp, tile::WarpSyncOp, tile::GridWaitOp, tile::FenceOp, tile::ClusterArriveOp, tile::ClusterWaitOp>(
            [&](auto o) { erase(o->getName().stripDialect().str(), o); })
        .Case<tile::MeetOp>([&](tile::MeetOp o) {
          erase("meet", o);
          if (!o.getArriveOnly()) add("meet.arrive_only", o, "", [o]() mutable { o.setArriveOnly(true); });
        })
        .Case<tile::LoadStrongOp, tile::StoreStrongOp, tile::AtomicOp, tile::AtomicCasOp, tile::RedOp>([&](auto o) { relax(o); });
  }

 private:
  std::string named(Value v) {
    if (auto ring = v.getDefiningOp<tile::RingOp>()) return " of ring \"" + ring.getSymName().str() + "\"";
    if (auto barrier = v.getDefiningOp<tile::BarrierOp>()) return " of barrier \"" + barrier.getSymName().str() + "\"";
    return "";
  }
  void add(const std::string& kind, Operation* op, const std::string& detail, std::function<void()> apply) {
    std::string what = op->getName().stripDialect().str() + detail;
    if (auto role = op->getParentOfType<tile::RoleOp>()) what += " in role \"" + role.getSymName().str() + "\"";
    found.push_back({kind, what, op, std::move(apply)});
  }
  void erase(const std::string& name, Operation* op, const std::string& detail = "") {
    add(name + ".delete", op, detail, [op] { op->erase(); });
  }
  void later(const std::string& name, Operation* op, const std::string& detail = "") {
    if (Operation* next = neighbour(op, true)) add(name + ".later", op, detail + ", after " + next->getName().stripDialect().str(), [op, next] { op->moveAfter(next); });
  }
  void signal(const std::string& name, Operation* op, Value of) {
    erase(name, op, named(of));
    Operation* before = neighbour(op, false);
    const auto inside = [&](Value v) {
      Operation* from = v.getDefiningOp();
      return from && from->getBlock() == op->getBlock() && !from->isBeforeInBlock(before);
    };
    if (before && llvm::none_of(op->getOperands(), inside))
      add(name + ".earlier", op, named(of) + ", before " + before->getName().stripDialect().str(), [op, before] { op->moveBefore(before); });
  }
  /// Without the wait a role goes on with the stage that it had, or with the first.
  void unwaited(Operation* op, Value ring, bool producer) {
    add(producer ? "acquire.delete" : "wait.delete", op, named(ring), [op, ring, producer] {
      Value stage = stage_before(op, ring, producer);
      OpBuilder b(op);
      if (!stage) stage = arith::ConstantOp::create(b, op->getLoc(), b.getI32IntegerAttr(0));
      op->getResult(0).replaceAllUsesWith(stage);
      op->erase();
    });
  }
  template <class Op>
  void relax(Op op) {
    if (op.getOrder() == "relaxed") return;
    add("order.relax", op, ", " + op.getOrder().str() + " to relaxed", [op]() mutable { op.setOrder("relaxed"); });
  }
};

}  // namespace

std::vector<Candidate> tile_candidates(ModuleOp module) {
  Collector all;
  module.walk<WalkOrder::PreOrder>([&](Operation* op) { all.visit(op); });
  return std::move(all.found);
}

}  // namespace tilewright::mutation
