// The function, its parameters, barrier initialisation, the branch into roles, and control flow.
#include "compiler/passes/lowering/Lowering.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::lowering {

Lowering::Lowering(tile::KernelOp kernel, OpBuilder& builder)
    : kernel_(kernel), b_(builder), loc_(kernel.getLoc()), launch_(verify::plan_launch(kernel)) {}

LogicalResult Lowering::run() {
  collect_parameters();
  declare_function();
  initialise_barriers();
  for (Operation& op : kernel_.getBody().front()) {
    if (isa<tile::RoleOp, tile::RingOp, tile::BarrierOp, tile::SharedOp>(op)) continue;
    if (failed(emit(&op))) return failure();
  }
  dispatch_roles();
  if (failed_) return failure();
  loc_ = kernel_.getLoc();
  if (launch_.cluster_size() > 1) meet_cluster();  // others may still read this CTA's memory, or arrive there
  LLVM::ReturnOp::create(b_, loc_, ValueRange{});
  return success();
}

void Lowering::collect_parameters() {
  Block& body = kernel_.getBody().front();
  for (BlockArgument arg : body.getArguments()) {
    int number = static_cast<int>(arg.getArgNumber());
    if (!isa<tile::GlobalType>(arg.getType())) {
      parameters_.push_back({Parameter::scalar, number, {}, false, false, {}});
      continue;
    }
    bool pointer = arg.use_empty();
    std::vector<Parameter> maps;
    auto need = [&](ArrayRef<int64_t> box, bool ragged, Value tile) {
      bool swizzled = place_of(tile).layout.kind == layout::SharedLayout::swizzle128;
      for (auto& m : maps)
        if (m.box == std::vector<int64_t>(box) && m.ragged == ragged && m.swizzled == swizzled) return;
      maps.push_back({Parameter::tensor_map, number, std::vector<int64_t>(box), ragged, swizzled, {}});
    };
    for (Operation* user : arg.getUsers()) {
      if (auto op = dyn_cast<tile::TmaLoadOp>(user)) need(op.getBox(), !op.getRagged().empty(), op.getTile());
      else if (auto op = dyn_cast<tile::TmaStoreOp>(user)) need(op.getBox(), !op.getRagged().empty(), op.getTile());
      else pointer = true;
    }
    if (pointer) parameters_.push_back({Parameter::pointer, number, {}, false, false, {}});
    parameters_.insert(parameters_.end(), maps.begin(), maps.end());
  }
}

void Lowering::declare_function() {
  auto* context = b_.getContext();
  auto generic = LLVM::LLVMPointerType::get(context), global = LLVM::LLVMPointerType::get(context, 1);
  SmallVector<Type> types;
  Block& body = kernel_.getBody().front();
  for (auto& p : parameters_)
    types.push_back(p.kind == Parameter::scalar ? body.getArgument(p.argument).getType() : p.kind == Parameter::pointer ? Type(global) : Type(generic));
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types);
  func_ = LLVM::LLVMFuncOp::create(b_, loc_, kernel_.getSymName(), type);
  func_->setAttr("nvvm.kernel", b_.getUnitAttr());
  func_->setAttr("nvvm.reqntid", b_.getDenseI32ArrayAttr({launch_.threads}));
  if (launch_.cluster_size() > 1) func_->setAttr("nvvm.cluster_dim", b_.getDenseI32ArrayAttr(launch_.cluster));
  auto per_sm = kernel_->getAttrOfType<IntegerAttr>("ctas_per_sm");
  func_->setAttr("nvvm.minctasm", per_sm ? per_sm : b_.getI32IntegerAttr(1));
  Block* entry = func_.addEntryBlock(b_);
  b_.setInsertionPointToEnd(entry);
  auto map_type = LLVM::LLVMArrayType::get(b_.getI8Type(), 128);
  for (auto [i, p] : llvm::enumerate(parameters_)) {
    p.value = entry->getArgument(i);
    if (p.kind == Parameter::scalar) map_.map(body.getArgument(p.argument), p.value);
    if (p.kind != Parameter::tensor_map) continue;
    func_.setArgAttr(i, "llvm.byval", TypeAttr::get(map_type));
    func_.setArgAttr(i, "llvm.align", b_.getI64IntegerAttr(64));
    func_.setArgAttr(i, "nvvm.grid_constant", b_.getUnitAttr());
  }
  shared_base_ = hopper::SharedBaseOp::create(b_, loc_);
  tid_ = hopper::ThreadIdOp::create(b_, loc_);
  lane_ = band(tid_, 31);
  cta_warp_ = hopper::UniformOp::create(b_, loc_, shr(tid_, 5));
  start_trace();
  role_ = {0, launch_.threads / 32, false, 0, 0};
  role_warp_ = cta_warp_;
  role_thread_ = tid_;
}

void Lowering::initialise_barriers() {
  SmallVector<tile::RingOp> rings(kernel_.getBody().getOps<tile::RingOp>());
  for (auto ring : rings) rings_[ring.getRing().getAsOpaquePointer()] = plan_ring(ring, launch_);
  SmallVector<tile::BarrierOp> barriers(kernel_.getBody().getOps<tile::BarrierOp>());
  bool clustered = launch_.cluster_size() > 1;
  if (rings.empty() && barriers.empty()) return clustered ? meet_cluster() : void();
  auto branch = scf::IfOp::create(b_, loc_, equal(tid_, 0), false);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPoint(branch.thenBlock()->getTerminator());
  for (auto ring : rings) {
    const auto& plan = rings_[ring.getRing().getAsOpaquePointer()];
    for (int s = 0; s < plan.stages; ++s) {
      hopper::MbarrierInitOp::create(b_, loc_, add(shared_base_, plan.offset + 8 * s), plan.full_arrivals);
      hopper::MbarrierInitOp::create(b_, loc_, add(shared_base_, plan.offset + 8 * (plan.stages + s)), plan.empty_arrivals);
    }
  }
  for (auto barrier : barriers)
    hopper::MbarrierInitOp::create(b_, loc_, add(shared_base_, barrier.getOffset().value_or(0)), arrivals_of(barrier, launch_));
  for (auto& p : parameters_)
    if (p.kind == Parameter::tensor_map) hopper::TmaPrefetchOp::create(b_, loc_, p.value);
  hopper::FenceMbarrierInitOp::create(b_, loc_);
  hopper::FenceProxyAsyncOp::create(b_, loc_);
  b_.setInsertionPointAfter(branch);
  if (clustered) meet_cluster();
  else hopper::CtaBarrierOp::create(b_, loc_);
}

/// if (warp < end of role 1) role 1 else if (warp < end of role 2) role 2 ...; the warps of a shared warpgroup lie in one branch,
/// so that setmaxnreg is executed by all of them.
void Lowering::dispatch_roles() {
  std::map<std::string, tile::RoleOp> ops;
  for (auto role : kernel_.getBody().getOps<tile::RoleOp>()) ops[role.getSymName().str()] = role;
  OpBuilder::InsertionGuard guard(b_);
  auto set_registers = [&](int registers) {
    if (launch_.budgets && registers) hopper::SetMaxNRegOp::create(b_, loc_, registers, registers > launch_.entry_registers);
  };
  auto below = [&](int warp) -> Value {
    return arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::slt, cta_warp_, i32(warp));
  };
  int total = launch_.threads / 32;
  bool shared_group = false;
  for (size_t i = 0; i < launch_.order.size(); ++i) {
    auto role = ops[launch_.order[i]];
    const RolePlace& p = launch_.roles[launch_.order[i]];
    loc_ = role.getLoc();
    int end = p.first_warp + p.warps;
    if (p.warps % 4 != 0 && !shared_group) {  // the first of the single warps: its warpgroup takes the largest budget of them
      shared_group = true;
      int registers = 0;
      for (auto& [name, q] : launch_.roles)
        if (q.warps % 4 != 0) registers = std::max(registers, q.registers);
      set_registers(registers ? registers : 24);
    }
    if (end < total) {
      auto branch = scf::IfOp::create(b_, loc_, below(end), true);
      b_.setInsertionPoint(branch.thenBlock()->getTerminator());
      if (p.warps % 4 == 0) set_registers(p.registers);
      emit_role(role);
      b_.setInsertionPoint(branch.elseBlock()->getTerminator());
    } else {
      if (p.warps % 4 == 0) set_registers(p.registers);
      emit_role(role);
    }
  }
}

void Lowering::emit_role(tile::RoleOp role) {
  role_ = launch_.roles[role.getSymName().str()];
  loc_ = role.getLoc();
  in_flight_.clear();
  open_accumulators_.clear();
  touched_.clear();
  all_touched_ = true;
  positions_.clear();
  OpBuilder::InsertionGuard guard(b_);
  if (role_.single_thread) {
    auto branch = scf::IfOp::create(b_, loc_, hopper::ElectOp::create(b_, loc_), false);
    b_.setInsertionPoint(branch.thenBlock()->getTerminator());
  }
  role_warp_ = role_.first_warp ? add(cta_warp_, -role_.first_warp) : cta_warp_;
  role_thread_ = role_.first_warp ? add(tid_, -32 * role_.first_warp) : tid_;
  start_rings(role);
  doing_ = role.getSymName().str();
  stamp(doing_);
  emit_block(role.getBody().front());
  stamp("end");
}

void Lowering::emit_block(Block& block) {
  for (Operation& op : block)
    if (!failed_ && failed(emit(&op))) failed_ = &op;
}

void Lowering::emit_for(scf::ForOp loop) {
  auto flight = in_flight_;
  auto copy = scf::ForOp::create(b_, loc_, mapped(loop.getLowerBound()), mapped(loop.getUpperBound()), mapped(loop.getStep()));
  map_.map(loop.getInductionVar(), copy.getInductionVar());
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPoint(copy.getBody()->getTerminator());
  all_touched_ = true;
  emit_block(*loop.getBody());
  all_touched_ = true;
}

void Lowering::emit_if(scf::IfOp branch) {
  bool otherwise = branch.elseBlock();
  auto copy = scf::IfOp::create(b_, loc_, mapped(branch.getCondition()), otherwise);
  OpBuilder::InsertionGuard guard(b_);
  const auto touched = touched_;
  const bool all_touched = all_touched_;
  b_.setInsertionPoint(copy.thenBlock()->getTerminator());
  emit_block(*branch.thenBlock());
  auto touched_then = std::exchange(touched_, touched);
  bool all_touched_then = std::exchange(all_touched_, all_touched);
  if (otherwise) {
    b_.setInsertionPoint(copy.elseBlock()->getTerminator());
    emit_block(*branch.elseBlock());
  }
  touched_.insert(touched_then.begin(), touched_then.end());
  all_touched_ |= all_touched_then;
}

LogicalResult Lowering::emit(Operation* op) {
  loc_ = op->getLoc();
  auto result = [&](Value v) { map_.map(op->getResult(0), v); };
  return llvm::TypeSwitch<Operation*, LogicalResult>(op)
      .Case<scf::ForOp>([&](auto o) { emit_for(o); return success(); })
      .Case<scf::IfOp>([&](auto o) { emit_if(o); return success(); })
      .Case<scf::YieldOp, tile::YieldOp>([&](auto) { return success(); })
      .Case<tile::FragOp>([&](auto o) { declare_fragment(o); return success(); })
      .Case<tile::FragViewOp>([&](auto o) { declare_view(o); return success(); })
      .Case<tile::VarOp>([&](tile::VarOp o) {
        Value v = slot(o.getInit().getType());
        write_slot(v, mapped(o.getInit()));
        vars_[o.getVar().getAsOpaquePointer()] = v;
        return success();
      })
      .Case<tile::GetOp>([&](tile::GetOp o) { result(read_slot(vars_[o.getVar().getAsOpaquePointer()], o.getValue().getType())); return success(); })
      .Case<tile::SetOp>([&](tile::SetOp o) { write_slot(vars_[o.getVar().getAsOpaquePointer()], mapped(o.getValue())); return success(); })
      .Case<tile::BlockIndexOp>([&](tile::BlockIndexOp o) { result(hopper::CtaIdOp::create(b_, loc_, o.getDim())); return success(); })
      .Case<tile::ThreadOp>([&](auto) { result(role_thread_); return success(); })
      .Case<tile::LaneOp>([&](auto) { result(lane_); return success(); })
      .Case<tile::WarpOp>([&](auto) { result(role_warp_); return success(); })
      .Case<tile::UniformOp>([&](tile::UniformOp o) { result(hopper::UniformOp::create(b_, loc_, mapped(o.getValue()))); return success(); })
      .Case<tile::ShuffleOp>([&](tile::ShuffleOp o) {
        result(hopper::ShuffleOp::create(b_, loc_, mapped(o.getValue()), mapped(o.getLane()), o.getMode()));
        return success();
      })
      .Case<tile::Exp2Op>([&](tile::Exp2Op o) { result(hopper::Exp2Op::create(b_, loc_, mapped(o.getX()))); return success(); })
      .Case<tile::Log2Op>([&](tile::Log2Op o) { result(hopper::Log2Op::create(b_, loc_, mapped(o.getX()))); return success(); })
      .Case<tile::RcpOp>([&](tile::RcpOp o) { result(hopper::RcpOp::create(b_, loc_, mapped(o.getX()))); return success(); })
      .Case<tile::StampOp>([&](tile::StampOp o) { stamp(doing_ = o.getName().str()); return success(); })
      .Case<tile::CudaFunctionOp>([&](auto o) { declare_cuda_function(o); return success(); })
      .Case<tile::CallOp>([&](auto o) { emit_call(o); return success(); })
      .Case<tile::AcquireOp>([&](auto o) { emit_acquire(o); return success(); })
      .Case<tile::WaitOp>([&](auto o) { emit_wait(o); return success(); })
      .Case<tile::CommitOp>([&](tile::CommitOp o) { emit_signal(o.getRing(), mapped(o.getStage()), true); return success(); })
      .Case<tile::ReleaseOp>([&](tile::ReleaseOp o) { emit_signal(o.getRing(), mapped(o.getStage()), false); return success(); })
      .Case<tile::SyncOp>([&](auto) { emit_sync(); return success(); })
      .Case<tile::WarpSyncOp>([&](auto) { hopper::WarpBarrierOp::create(b_, loc_); return success(); })
      .Case<tile::FenceAsyncOp>([&](tile::FenceAsyncOp o) {
        if (o.getGlobal()) hopper::FenceProxyAsyncGlobalOp::create(b_, loc_);
        else hopper::FenceProxyAsyncOp::create(b_, loc_);
        return success();
      })
      .Case<tile::GridWaitOp>([&](auto) { hopper::GridWaitOp::create(b_, loc_); return success(); })
      .Case<tile::GridLaunchOp>([&](auto) { hopper::GridLaunchOp::create(b_, loc_); return success(); })
      .Case<tile::AtOp, tile::ViewOp>([&](auto) { return success(); })  // resolved where used
      .Case<tile::TmaLoadOp>([&](auto o) { emit_tma_load(o); return success(); })
      .Case<tile::TmaStoreOp>([&](auto o) { emit_tma_store(o); return success(); })
      .Case<tile::StoreWaitOp>([&](tile::StoreWaitOp o) {
        hopper::BulkCommitOp::create(b_, loc_);
        hopper::BulkWaitOp::create(b_, loc_, o.getPending(), !o.getComplete());
        return success();
      })
      .Case<tile::LoadOp>([&](auto o) { emit_load(o); return success(); })
      .Case<tile::StoreOp>([&](auto o) { emit_store(o); return success(); })
      .Case<tile::LoadGlobalOp>([&](tile::LoadGlobalOp o) {
        emit_global(o.getTensor(), o.getCoords(), o.getFrag(), o.getRowAxis(), o.getColAxis(), false);
        return success();
      })
      .Case<tile::StoreGlobalOp>([&](tile::StoreGlobalOp o) {
        emit_global(o.getTensor(), o.getCoords(), o.getFrag(), o.getRowAxis(), o.getColAxis(), true);
        return success();
      })
      .Case<tile::ReadOp>([&](auto o) { emit_read(o); return success(); })
      .Case<tile::WriteOp>([&](auto o) { emit_write(o); return success(); })
      .Case<tile::ExtentOp>([&](tile::ExtentOp o) -> LogicalResult {
        auto v = extent_of(o.getTensor(), o.getAxis());
        if (failed(v)) return failure();
        result(*v);
        return success();
      })
      .Case<tile::IsPresentOp>([&](tile::IsPresentOp o) {
        Value p = global_pointer(o.getTensor(), {});
        Value address = LLVM::PtrToIntOp::create(b_, loc_, b_.getI64Type(), p);
        Value zero = arith::ConstantOp::create(b_, loc_, b_.getI64IntegerAttr(0));
        result(arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ne, address, zero));
        return success();
      })
      .Case<tile::GemmOp>([&](auto o) { emit_gemm(o); return success(); })
      .Case<tile::BatchOp>([&](tile::BatchOp o) {
        hopper::WgmmaCommitOp::create(b_, loc_);
        in_flight_.push_back({o.getBatch().getAsOpaquePointer(), open_accumulators_});
        open_accumulators_.clear();
        return success();
      })
      .Case<tile::SettleOp>([&](tile::SettleOp o) -> LogicalResult {
        void* batch = o.getBatch().getAsOpaquePointer();
        for (size_t i = 0; i < in_flight_.size(); ++i)
          if (in_flight_[i].first == batch) {
            emit_settle(o.getBatch(), static_cast<int>(in_flight_.size() - 1 - i));
            return success();
          }
        return o.emitOpError("the batch is not in flight here: it was settled before, or it was started in a loop or branch that has ended");
      })
      .Case<tile::SettlePendingOp>([&](tile::SettlePendingOp o) { emit_settle({}, static_cast<int>(o.getPending())); return success(); })
      .Case<tile::MmaOp>([&](auto o) { emit_mma(o); return success(); })
      .Case<tile::MapOp>([&](auto o) { emit_map(o); return success(); })
      .Case<tile::FillOp>([&](auto o) { emit_fill(o); return success(); })
      .Case<tile::ReduceOp>([&](auto o) { emit_reduce(o); return success(); })
      .Case<tile::ScanOp>([&](auto o) { emit_scan(o); return success(); })
      .Case<tile::MathOp>([&](auto o) { result(emit_math(o)); return success(); })
      .Case<tile::RoundOp>([&](auto o) { result(emit_round(o)); return success(); })
      .Default([&](Operation* other) -> LogicalResult {
        if (auto done = emit_concurrent(other)) return *done;
        if (other->getNumRegions() == 0 && (isa<arith::ArithDialect>(other->getDialect()))) {
          b_.clone(*other, map_);
          return success();
        }
        return other->emitOpError("has no lowering to the hopper dialect");
      });
}

}  // namespace tilewright::lowering
