// Rings, rendezvous and fences.
#include "compiler/dsl/Operations.h"

using namespace mlir;

namespace tilewright::dsl {

namespace {

/// "acquire" of tile::AcquireOp.
template <class Op>
std::string name_of() {
  return Op::getOperationName().drop_front(sizeof("tile.") - 1).str();
}

template <class Op>
void next_stage(Recording& r, Arguments& a) {
  r.in_role(name_of<Op>());
  a.result(r.make<Op>(r.ops.getI32Type(), a.value()));
}
template <class Op>
void finish_stage(Recording& r, Arguments& a) {
  r.in_role(name_of<Op>());
  const Value ring = a.value();
  r.make<Op>(ring, a.value());
}
template <class Op>
void in_role(Recording& r, Arguments&) {
  r.in_role(name_of<Op>());
  r.make<Op>();
}
template <class Op>
void anywhere(Recording& r, Arguments&) {
  r.make<Op>();
}

}  // namespace

void add_synchronisation(Handlers& h) {
  h["acquire"] = next_stage<tile::AcquireOp>;
  h["wait"] = next_stage<tile::WaitOp>;
  h["commit"] = finish_stage<tile::CommitOp>;
  h["release"] = finish_stage<tile::ReleaseOp>;
  h["sync"] = in_role<tile::SyncOp>;
  h["warp_sync"] = in_role<tile::WarpSyncOp>;
  h["fence_async"] = in_role<tile::FenceAsyncOp>;
  h["grid_wait"] = anywhere<tile::GridWaitOp>;
  h["grid_launch"] = anywhere<tile::GridLaunchOp>;
}

}  // namespace tilewright::dsl
