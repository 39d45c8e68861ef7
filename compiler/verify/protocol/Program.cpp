#include "compiler/verify/protocol/Program.h"

#include "compiler/verify/Uses.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilewright::verify::protocol {

namespace {

std::optional<Op> arith_of(Operation* op) {
  using P = arith::CmpIPredicate;
  if (auto cmp = dyn_cast<arith::CmpIOp>(op)) {
    switch (cmp.getPredicate()) {
      case P::eq: return Op::eq;
      case P::ne: return Op::ne;
      case P::slt: return Op::lt;
      case P::sle: return Op::le;
      case P::sgt: return Op::gt;
      case P::sge: return Op::ge;
      case P::ult: return Op::ult;
      case P::ule: return Op::ule;
      case P::ugt: return Op::ugt;
      case P::uge: return Op::uge;
    }
  }
  return llvm::TypeSwitch<Operation*, std::optional<Op>>(op)
      .Case<arith::AddIOp>([](auto) { return Op::add; })
      .Case<arith::SubIOp>([](auto) { return Op::sub; })
      .Case<arith::MulIOp>([](auto) { return Op::mul; })
      .Case<arith::DivSIOp, arith::DivUIOp>([](auto) { return Op::div; })
      .Case<arith::RemSIOp, arith::RemUIOp>([](auto) { return Op::rem; })
      .Case<arith::MinSIOp>([](auto) { return Op::min; })
      .Case<arith::MaxSIOp>([](auto) { return Op::max; })
      .Case<arith::AndIOp>([](auto) { return Op::and_; })
      .Case<arith::OrIOp>([](auto) { return Op::or_; })
      .Case<arith::XOrIOp>([](auto) { return Op::xor_; })
      .Case<arith::ShLIOp>([](auto) { return Op::shl; })
      .Case<arith::ShRSIOp, arith::ShRUIOp>([](auto) { return Op::shr; })
      .Default([](Operation*) { return std::nullopt; });
}

struct Compiler {
  Compiler(Program& p, Slice s) : program(p), slice(std::move(s)) {}
  Program& program;
  Slice slice;
  llvm::DenseMap<Value, int> numbers;
  llvm::DenseSet<Value> polled;  // tensors that a loop's condition looks at
  std::vector<Instr>* code = nullptr;
  std::int64_t many = 0, many_outer = 0;
  int warps = 1;

  int number(Value v) {
    auto [at, made] = numbers.try_emplace(v, program.scalars);
    if (made) ++program.scalars;
    return at->second;
  }
  int tile_number(Value root) {
    for (auto [i, tile] : llvm::enumerate(program.tiles))
      if (tile.op.getTile() == root) return static_cast<int>(i);
    return -1;
  }
  int ring_number(Value ring) {
    for (auto [i, r] : llvm::enumerate(program.rings))
      if (r.op.getRing() == ring) return static_cast<int>(i);
    return -1;
  }
  int barrier_number(Value barrier) {
    for (auto [i, b] : llvm::enumerate(program.barriers))
      if (b.op.getBarrier() == barrier) return static_cast<int>(i);
    return -1;
  }

  Place place(Value tile) {
    Place p;
    auto shape = cast<tile::SharedType>(tile.getType()).getShape();
    p.height = static_cast<int>(shape[0]), p.width = static_cast<int>(shape[1]);
    auto shift = [&](Value by, std::int64_t& known, std::vector<int>& open) {
      APInt constant;
      if (matchPattern(by, m_ConstantInt(&constant))) known += constant.getSExtValue();
      else open.push_back(number(by));
    };
    while (!tile.getDefiningOp<tile::SharedOp>()) {
      if (auto view = tile.getDefiningOp<tile::ViewOp>()) {
        shift(view.getRow(), p.row, p.rows), shift(view.getColumn(), p.column, p.columns);
        tile = view.getTile();
      } else {
        auto at = tile.getDefiningOp<tile::AtOp>();
        p.stage = number(at.getStage());
        tile = at.getTile();
      }
    }
    p.tile = tile_number(tile);
    return p;
  }

  Instr& emit(Code c, Operation* at) {
    code->emplace_back();
    code->back().code = c;
    code->back().at = at;
    return code->back();
  }
  int here() const { return static_cast<int>(code->size()); }

  void scalar(Operation* op);
  void effect(Operation* op);
  void block(Block& b);
  void control(Operation* op);
  /// Whether another loop of the protocol lies in this one.
  bool nests(Operation* loop) {
    bool found = false;
    if (isa<scf::ForOp, scf::WhileOp>(loop))
      loop->walk([&](Operation* inner) { found |= inner != loop && isa<scf::ForOp, scf::WhileOp>(inner) && slice.relevant.contains(inner); });
    return found;
  }
  bool quiet(scf::IfOp branch) {
    if (branch.elseBlock()) return false;
    return !branch
                .walk([&](Operation* op) {
                  if (op == branch || !slice.relevant.contains(op) || isa<scf::ForOp, scf::IfOp>(op)) return WalkResult::advance();
                  if (!isa<tile::LoadOp, tile::StoreOp, tile::ReadOp, tile::WriteOp, tile::MapOp, tile::MmaOp, tile::CopyInOp, tile::CopyOutOp, tile::LoadGlobalOp, tile::StoreGlobalOp>(op))
                    return WalkResult::interrupt();
                  bool steers = llvm::any_of(tile_uses(op, warps), [&](const RawUse& use) { return use.write && slice.control_tiles.contains(root_of(use.tile).getTile()); });
                  return steers ? WalkResult::interrupt() : WalkResult::advance();
                })
                .wasInterrupted();
  }
  std::int64_t many_of(Operation* loop) { return nests(loop) ? many_outer : many; }
};

void Compiler::scalar(Operation* op) {
  Value result = op->getResult(0);
  APInt constant;
  if (matchPattern(result, m_ConstantInt(&constant))) {
    Instr& i = emit(Code::constant, op);
    i.result = number(result);
    i.number = constant.getBitWidth() == 1 ? constant.getZExtValue() : constant.getSExtValue();
    return;
  }
  Instr i;
  i.at = op;
  i.result = number(result);
  for (Value v : op->getOperands())
    if (!isa<tile::SharedType, tile::GlobalType>(v.getType())) i.in.push_back(number(v));
  if (auto arith = arith_of(op)) i.code = Code::arith, i.op = *arith;
  else if (isa<arith::SelectOp>(op)) i.code = Code::select;
  else if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp>(op)) i.code = Code::copy;
  else if (isa<tile::UniformOp>(op)) i.code = Code::uniform;
  else if (isa<tile::ThreadOp>(op)) i.code = Code::thread;
  else if (isa<tile::LaneOp>(op)) i.code = Code::lane;
  else if (isa<tile::WarpOp>(op)) i.code = Code::warp;
  else if (isa<tile::ClusterRankOp>(op)) i.code = Code::rank;
  else if (isa<tile::GetOp>(op)) i.code = Code::get;
  else if (isa<tile::ShuffleOp>(op)) i.code = Code::atom;
  else if (auto read = dyn_cast<tile::ReadOp>(op)) {
    auto arg = cast<BlockArgument>(read.getFrom());
    bool written = llvm::any_of(arg.getUsers(), [](Operation* user) {
      return isa<tile::StoreGlobalOp, tile::WriteOp, tile::CopyOutOp, tile::TmaStoreOp, tile::BulkStoreOp, tile::StoreStrongOp, tile::AtomicOp, tile::AtomicCasOp, tile::RedOp>(user);
    });
    i.code = written ? Code::fresh : Code::read_tensor;
    i.number = arg.getArgNumber();
  } else if (isMemoryEffectFree(op)) {
    i.code = Code::atom;
  } else {
    i.code = Code::fresh;
  }
  code->push_back(std::move(i));
}

void Compiler::effect(Operation* op) {
  Instr i;
  i.at = op;
  for (const RawUse& raw : tile_uses(op, warps)) {
    TileUse use;
    use.place = place(raw.tile);
    use.footprint = raw.footprint, use.write = raw.write, use.async = raw.async, use.atomic = raw.atomic;
    if (!raw.coords.empty()) use.row = number(raw.coords[0]), use.column = number(raw.coords[1]);
    i.uses.push_back(std::move(use));
  }
  if (op->getNumResults() == 1 && isa<IntegerType, FloatType>(op->getResult(0).getType())) i.result = number(op->getResult(0));
  auto ring = [&](Code c, Value v) { i.code = c, i.target = ring_number(v); };
  auto stage = [&](Value v) { i.in.push_back(number(v)); };
  auto tensor_of = [&](Value v) {
    auto at = program.tensors.find(v);
    return at == program.tensors.end() ? -1 : at->second;
  };
  llvm::TypeSwitch<Operation*>(op)
      .Case<tile::AcquireOp>([&](auto o) { ring(Code::acquire, o.getRing()); })
      .Case<tile::WaitOp>([&](auto o) { ring(Code::wait, o.getRing()); })
      .Case<tile::CommitOp>([&](auto o) { ring(Code::commit, o.getRing()), stage(o.getStage()); })
      .Case<tile::ReleaseOp>([&](auto o) { ring(Code::release, o.getRing()), stage(o.getStage()); })
      .Case<tile::ArriveOp>([&](auto o) { i.code = Code::arrive, i.target = barrier_number(o.getBarrier()); })
      .Case<tile::WaitForOp>([&](auto o) { i.code = Code::wait_for, i.target = barrier_number(o.getBarrier()); })
      .Case<tile::SyncOp>([&](auto) { i.code = Code::sync; })
      .Case<tile::WarpSyncOp>([&](auto) { i.code = Code::warp_sync; })
      .Case<tile::MeetOp>([&](tile::MeetOp o) {
        i.code = Code::meet;
        i.number = o.getArriveOnly();
        i.target = static_cast<int>(llvm::find(program.meetings, meeting_of(o)) - program.meetings.begin());
      })
      .Case<tile::ClusterArriveOp>([&](auto) { i.code = Code::cluster_arrive; })
      .Case<tile::ClusterWaitOp>([&](auto) { i.code = Code::cluster_wait; })
      .Case<tile::TmaLoadOp>([&](tile::TmaLoadOp o) {
        ring(Code::load_bytes, o.getRing()), stage(o.getStage());
        i.number = o.getMulticast();
        i.many = tensor_of(o.getTensor());
      })
      .Case<tile::BulkLoadOp>([&](tile::BulkLoadOp o) {
        ring(Code::load_bytes, o.getRing()), stage(o.getStage());
        i.many = tensor_of(o.getTensor());
      })
      .Case<tile::CopyAsyncOp>([&](auto o) { ring(Code::copy_async, o.getRing()), stage(o.getStage()); })
      .Case<tile::TmaStoreOp, tile::BulkStoreOp>([&](auto) { i.code = Code::store_bytes; })
      .Case<tile::StoreWaitOp>([&](tile::StoreWaitOp o) { i.code = Code::store_wait, i.number = o.getPending(), i.target = o.getComplete(); })
      .Case<tile::GemmOp>([&](auto) { i.code = Code::gemm; })
      .Case<tile::BatchOp>([&](tile::BatchOp o) { i.code = Code::batch, i.result = number(o.getBatch()); })
      .Case<tile::SettleOp>([&](tile::SettleOp o) { i.code = Code::settle, i.in.push_back(number(o.getBatch())); })
      .Case<tile::SettlePendingOp>([&](tile::SettlePendingOp o) { i.code = Code::settle_pending, i.number = o.getPending(); })
      .Case<tile::FenceAsyncOp>([&](tile::FenceAsyncOp o) { i.code = Code::fence_async, i.number = o.getGlobal(); })
      .Case<tile::FenceOp>([&](auto) { i.code = Code::fence; })
      .Case<tile::PtxOp>([&](tile::PtxOp o) {
        // A move hides a value from the optimiser; other arithmetic follows from its inputs. What else a text does is looked at where it runs.
        StringRef text = o.getText();
        bool moves = text.consume_front("mov.") && text.size() > 3 && text.drop_front(3) == " #out0, #0;" && o.getNumOperands() == 1;
        bool computes = o.getNumResults() == 1 && llvm::none_of(ArrayRef<StringRef>{"%", "ld.", "st.", "atom", "red.", "bar", "wgmma", "cp.", "setmaxnreg"},
                                                               [&](StringRef word) { return o.getText().contains(word); });
        i.code = moves ? Code::copy : computes ? Code::atom : Code::opaque;
        if (i.code != Code::opaque)
          for (Value v : o.getOperands()) i.in.push_back(number(v));
      })
      .Case<tile::WriteOp>([&](tile::WriteOp o) {
        i.code = Code::access, i.target = tensor_of(o.getTo());
        if (slice.needed.contains(o.getValue())) i.in.push_back(number(o.getValue()));
      })
      .Case<tile::RemoteReadOp, tile::RemoteWriteOp>([&](auto o) { i.code = Code::access, i.in.push_back(number(o.getRank())), i.number = 1; })
      .Default([&](Operation* other) {
        i.code = Code::access;
        for (Value v : other->getOperands())
          if (tensor_of(v) >= 0) i.target = tensor_of(v);
      });
  if (auto order = op->getAttrOfType<StringAttr>("order")) {
    StringRef o = order.getValue();
    i.acquires = o == "acquire" || o == "acq_rel", i.releases = o == "release" || o == "acq_rel";
    i.polls = isa<tile::LoadStrongOp>(op) && isa<scf::WhileOp>(op->getParentOp()) && op->getParentRegion()->getRegionNumber() == 0;
    for (Value v : op->getOperands()) i.flag |= polled.contains(v);
  }
  code->push_back(std::move(i));
}

void Compiler::control(Operation* op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    const int begin = here();
    Instr& i = emit(Code::loop, op);
    i.in = {number(loop.getLowerBound()), number(loop.getUpperBound()), number(loop.getStep())};
    i.result = number(loop.getInductionVar());
    i.many = many_of(op);
    block(*loop.getBody());
    emit(Code::next, op).target = begin;
    (*code)[static_cast<size_t>(begin)].target = here();
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    const int begin = here();
    emit(Code::branch, op).in = {number(branch.getCondition())};
    code->back().many = many, code->back().quiet = quiet(branch);
    block(*branch.thenBlock());
    (*code)[static_cast<size_t>(begin)].target = here();
    const int otherwise = here();
    emit(Code::otherwise, op);
    if (branch.elseBlock()) block(*branch.elseBlock());
    (*code)[static_cast<size_t>(otherwise)].target = here();
    emit(Code::join, op);
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    emit(Code::repeat, op);
    const int begin = here();
    block(loop.getBefore().front());
    const int test = here();
    emit(Code::test, op).in = {number(cast<scf::ConditionOp>(loop.getBefore().front().getTerminator()).getCondition())};
    code->back().many = many_of(op);
    block(loop.getAfter().front());
    emit(Code::again, op).target = begin;
    (*code)[static_cast<size_t>(test)].target = here();
  }
}

void Compiler::block(Block& b) {
  for (Operation& op : b) {
    if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op)) {
      if (slice.relevant.contains(&op)) control(&op);
    } else if (auto var = dyn_cast<tile::VarOp>(op)) {
      if (!slice.needed.contains(var.getVar())) continue;
      Instr& i = emit(Code::copy, &op);
      i.in = {number(var.getInit())}, i.result = number(var.getVar());
    } else if (auto set = dyn_cast<tile::SetOp>(op)) {
      if (!slice.needed.contains(set.getVar())) continue;
      Instr& i = emit(Code::set, &op);
      i.in = {number(set.getValue())}, i.result = number(set.getVar());
    } else if (slice.relevant.contains(&op)) {
      effect(&op);
    } else if (op.getNumResults() == 1 && slice.needed.contains(op.getResult(0))) {
      scalar(&op);
    }
  }
}

}  // namespace

Program compile(tile::KernelOp kernel) {
  Program p;
  p.kernel = kernel;
  p.launch = plan_launch(kernel);
  p.flags = has_flags(kernel);
  p.tensors = watched_tensors(kernel, p.flags);
  Compiler c(p, slice(kernel, p.tensors, p.flags));
  kernel.walk([&](tile::LoadStrongOp load) {
    if (isa<scf::WhileOp>(load->getParentOp())) c.polled.insert(load.getTensor());
  });
  describe_tiles(p, c.slice.control_tiles);
  describe_rings(p);
  for (auto& [roles, id] : p.launch.meetings) p.meetings.push_back(roles);
  int stages = 1, outer_stages = 1;
  for (const RingInfo& r : p.rings) stages = std::max(stages, r.stages);
  kernel.walk([&](Operation* op) {
    if (!isa<tile::AcquireOp, tile::WaitOp>(op)) return;
    Operation* loop = op->getParentOp();
    while (!isa<scf::ForOp, scf::WhileOp, tile::RoleOp>(loop)) loop = loop->getParentOp();
    if (c.nests(loop)) outer_stages = std::max(outer_stages, static_cast<int>(op->getOperand(0).getDefiningOp<tile::RingOp>().getStages()));
  });
  c.many = 2 * stages + 2, c.many_outer = 2 * outer_stages + 1;
  std::vector<Instr> common;
  c.code = &common;
  for (BlockArgument arg : kernel.getBody().front().getArguments()) {
    if (!c.slice.needed.contains(arg)) continue;
    Instr& i = c.emit(Code::atom, nullptr);
    i.result = c.number(arg), i.number = -10 - static_cast<std::int64_t>(arg.getArgNumber());
  }
  for (Operation& op : kernel.getBody().front())
    if (op.getNumResults() == 1 && c.slice.needed.contains(op.getResult(0)) && !isa<tile::RoleOp, tile::SharedOp, tile::RingOp, tile::BarrierOp>(op)) c.scalar(&op);
  for (const std::string& name : p.launch.order)
    for (auto role : kernel.getBody().getOps<tile::RoleOp>()) {
      if (role.getSymName() != name) continue;
      RoleCode r{role, name, p.launch.roles.at(name), common};
      c.code = &r.code;
      c.warps = r.place.warps;
      c.block(role.getBody().front());
      c.emit(Code::end, role);
      p.roles.push_back(std::move(r));
    }
  return p;
}

}  // namespace tilewright::verify::protocol
