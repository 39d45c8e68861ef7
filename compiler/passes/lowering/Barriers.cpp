// Barriers with named participants, roles that meet, loops with a condition.
#include "compiler/passes/lowering/Lowering.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::lowering {

int arrivals_of(tile::BarrierOp barrier, const LaunchPlan& launch) {
  int count = 0;
  for (Attribute role : barrier.getArrivers()) count += launch.roles.at(cast<StringAttr>(role).getValue().str()).warps;
  return barrier.getCluster() ? count * launch.cluster_size() : count;
}

void Lowering::emit_arrive(tile::ArriveOp op) {
  auto barrier = op.getBarrier().getDefiningOp<tile::BarrierOp>();
  if (!role_.single_thread) hopper::WarpBarrierOp::create(b_, loc_);
  if (barrier.getCluster()) return arrive_in_cluster(add(shared_base_, barrier.getOffset().value_or(0)), "cluster");
  arrive(add(shared_base_, barrier.getOffset().value_or(0)));
}

void Lowering::emit_wait_for(tile::WaitForOp op) {
  auto barrier = op.getBarrier().getDefiningOp<tile::BarrierOp>();
  Value slot = phases_[op.getBarrier().getAsOpaquePointer()];
  Value phase = read_slot(slot, b_.getI32Type());
  write_slot(slot, bxor(phase, i32(1)));
  Value address = add(shared_base_, barrier.getOffset().value_or(0));
  waiting("wait " + barrier.getSymName().str(), [&] {
    if (barrier.getCluster()) hopper::MbarrierWaitClusterOp::create(b_, loc_, address, phase);
    else hopper::MbarrierWaitOp::create(b_, loc_, address, phase);
  });
}

void Lowering::emit_meet(tile::MeetOp op) {
  auto roles = verify::meeting_of(op);
  int id = launch_.meetings.at(roles), threads = launch_.threads_of(roles);
  if (op.getArriveOnly()) hopper::NamedBarrierArriveOp::create(b_, loc_, id, threads);
  else waiting("wait meeting", [&] { hopper::NamedBarrierOp::create(b_, loc_, id, threads); });
}

void Lowering::emit_while(scf::WhileOp loop) {
  auto copy = scf::WhileOp::create(b_, loc_, TypeRange{}, ValueRange{});
  OpBuilder::InsertionGuard guard(b_);
  auto condition = cast<scf::ConditionOp>(loop.getBefore().front().getTerminator());
  b_.createBlock(&copy.getBefore());
  all_touched_ = true;
  emit_block(loop.getBefore().front());
  loc_ = condition.getLoc();
  scf::ConditionOp::create(b_, loc_, mapped(condition.getCondition()), ValueRange{});
  b_.createBlock(&copy.getAfter());
  emit_block(loop.getAfter().front());
  scf::YieldOp::create(b_, loc_);
  all_touched_ = true;
}

std::optional<LogicalResult> Lowering::emit_concurrent(Operation* op) {
  return llvm::TypeSwitch<Operation*, std::optional<LogicalResult>>(op)
      .Case<scf::WhileOp>([&](auto o) { emit_while(o); return success(); })
      .Case<scf::ConditionOp>([&](auto) { return success(); })
      .Case<tile::ArriveOp>([&](auto o) { emit_arrive(o); return success(); })
      .Case<tile::WaitForOp>([&](auto o) { emit_wait_for(o); return success(); })
      .Case<tile::MeetOp>([&](auto o) { emit_meet(o); return success(); })
      .Case<tile::FenceOp>([&](tile::FenceOp o) { hopper::FenceOp::create(b_, loc_, o.getScope()); return success(); })
      .Case<tile::SleepOp>([&](tile::SleepOp o) { hopper::SleepOp::create(b_, loc_, o.getNanoseconds()); return success(); })
      .Default([&](Operation* other) {
        auto done = emit_atomic(other);
        return done ? done : emit_copy(other);
      });
}

}  // namespace tilewright::lowering
