// Rings and barriers.
#include "compiler/passes/lowering/Lowering.h"
#include "compiler/verify/Uses.h"

using namespace mlir;

namespace tilewright::lowering {

/// Arrivals a role makes at a barrier: one for each warp.
static int arrivals(const LaunchPlan& launch, StringRef role) { return launch.roles.at(role.str()).warps; }

RingPlan plan_ring(tile::RingOp ring, const LaunchPlan& launch) {
  RingPlan plan;
  plan.offset = static_cast<int>(ring.getOffset().value_or(0));
  plan.stages = static_cast<int>(ring.getStages());
  const verify::StageCopies copies = verify::stage_copies(ring);
  plan.bytes = static_cast<int>(copies.bytes);
  if (copies.multicast) plan.ctas = launch.cluster_size();
  bool committed = false;
  for (Operation* user : ring.getRing().getUsers()) {
    committed |= isa<tile::CommitOp>(user);
    plan.copied |= isa<tile::CopyAsyncOp>(user);
  }
  int warps = arrivals(launch, ring.getProducer());
  plan.full_arrivals = (plan.bytes ? 1 : 0) + (committed ? warps : 0) + (plan.copied ? 32 * warps : 0);
  for (Attribute consumer : ring.getConsumers())
    plan.empty_arrivals += plan.ctas * arrivals(launch, cast<StringAttr>(consumer).getValue());
  return plan;
}

/// Running positions of this role in its rings: consumers wait for phase 0 first, producers find all stages empty.
void Lowering::start_rings(tile::RoleOp role) {
  for (auto ring : kernel_.getBody().getOps<tile::RingOp>()) {
    void* key = ring.getRing().getAsOpaquePointer();
    auto start = [&](bool producer) {
      RingPosition p{slot(b_.getI32Type()), slot(b_.getI32Type())};
      write_slot(p.stage, i32(0));
      write_slot(p.phase, i32(producer ? 1 : 0));
      positions_[{key, producer}] = p;
    };
    if (ring.getProducer() == role.getSymName()) start(true);
    for (Attribute consumer : ring.getConsumers())
      if (cast<StringAttr>(consumer).getValue() == role.getSymName()) start(false);
  }
  phases_.clear();
  for (auto barrier : kernel_.getBody().getOps<tile::BarrierOp>())
    for (Attribute waiter : barrier.getWaiters()) {
      if (cast<StringAttr>(waiter).getValue() != role.getSymName()) continue;
      Value phase = slot(b_.getI32Type());
      write_slot(phase, i32(0));
      phases_[barrier.getBarrier().getAsOpaquePointer()] = phase;
    }
}

/// Moves the position to the next stage, flipping the phase on wrap-around.
Value Lowering::advance(const RingPosition& position, int stages) {
  auto type = b_.getI32Type();
  Value stage = read_slot(position.stage, type), phase = read_slot(position.phase, type);
  Value next = add(stage, 1);
  Value wrap = equal(next, stages);
  write_slot(position.stage, arith::SelectOp::create(b_, loc_, wrap, i32(0), next));
  write_slot(position.phase, bxor(phase, arith::ExtUIOp::create(b_, loc_, type, wrap)));
  return stage;
}

Value Lowering::barrier_address(const RingPlan& plan, Value stage, bool full) {
  return add(add(shared_base_, shl(stage, 3)), plan.offset + (full ? 0 : 8 * plan.stages));
}

void Lowering::by_leader(llvm::function_ref<void()> body) {
  if (role_.single_thread) return body();
  auto branch = scf::IfOp::create(b_, loc_, equal(role_thread_, 0), false);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPoint(branch.thenBlock()->getTerminator());
  body();
}

/// One arrival of the warp (or of the role's only thread) at a barrier of this CTA.
void Lowering::arrive(Value barrier) {
  hopper::MbarrierArriveOp::create(b_, loc_, barrier, role_.single_thread ? Value{} : equal(lane_, 0));
}

void Lowering::emit_acquire(tile::AcquireOp op) {
  void* key = op.getRing().getAsOpaquePointer();
  const RingPlan& plan = rings_[key];
  const RingPosition& position = positions_[{key, true}];
  Value phase = read_slot(position.phase, b_.getI32Type());
  Value stage = advance(position, plan.stages);
  waiting("acquire " + op.getRing().getDefiningOp<tile::RingOp>().getSymName().str(), [&] {
    if (plan.ctas > 1) hopper::MbarrierWaitClusterOp::create(b_, loc_, barrier_address(plan, stage, false), phase);
    else hopper::MbarrierWaitOp::create(b_, loc_, barrier_address(plan, stage, false), phase);
  });
  if (plan.bytes)
    by_leader([&] { hopper::MbarrierExpectOp::create(b_, loc_, barrier_address(plan, stage, true), plan.bytes); });
  map_.map(op.getStage(), stage);
}

void Lowering::emit_wait(tile::WaitOp op) {
  void* key = op.getRing().getAsOpaquePointer();
  const RingPlan& plan = rings_[key];
  const RingPosition& position = positions_[{key, false}];
  Value phase = read_slot(position.phase, b_.getI32Type());
  Value stage = advance(position, plan.stages);
  waiting("wait " + op.getRing().getDefiningOp<tile::RingOp>().getSymName().str(), [&] { hopper::MbarrierWaitOp::create(b_, loc_, barrier_address(plan, stage, true), phase); });
  map_.map(op.getStage(), stage);
}

void Lowering::emit_signal(Value ring, Value stage, bool full) {
  const RingPlan& plan = rings_[ring.getAsOpaquePointer()];
  if (full && plan.copied) hopper::CpAsyncArriveOp::create(b_, loc_, barrier_address(plan, stage, true));
  if (!role_.single_thread) hopper::WarpBarrierOp::create(b_, loc_);
  if (!full && plan.ctas > 1) return arrive_in_cluster(barrier_address(plan, stage, false), "cta");  // the consumer has read; nobody reads what it wrote
  arrive(barrier_address(plan, stage, full));
}

void Lowering::emit_sync() {
  if (role_.single_thread) return;
  if (role_.warps == 1)
    hopper::WarpBarrierOp::create(b_, loc_);
  else
    hopper::NamedBarrierOp::create(b_, loc_, role_.barrier, 32 * role_.warps);
}

}  // namespace tilewright::lowering
