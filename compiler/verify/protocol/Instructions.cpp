// Operations as instructions: scalars, and effects on barriers and memory.
#include "compiler/verify/Uses.h"
#include "compiler/verify/protocol/Compiler.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

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

}  // namespace

Place Compiler::place(Value tile) {
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
    use.footprint = raw.footprint, use.spread = raw.spread, use.write = raw.write, use.async = raw.async, use.atomic = raw.atomic;
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
      .Case<tile::BulkStoreOp>([&](auto) { i.code = Code::store_bytes; })
      .Case<tile::TmaStoreOp>([&](tile::TmaStoreOp o) {
        i.code = Code::store_bytes, i.number = o.getReduce().has_value();
        if (!i.number) return;
        for (ValueRange range : {ValueRange(o.getCoords()), ValueRange(o.getRagged())})
          for (Value v : range) i.in.push_back(number(v));
      })
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
  i.strong_load = isa<tile::LoadStrongOp>(op), i.exchange = isa<tile::AtomicCasOp>(op), i.ordinary_write = isa<tile::StoreGlobalOp, tile::WriteOp, tile::CopyOutOp>(op);
  if (auto order = op->getAttrOfType<StringAttr>("order")) {
    StringRef o = order.getValue();
    i.acquires = o == "acquire" || o == "acq_rel", i.releases = o == "release" || o == "acq_rel";
    i.polls = isa<tile::LoadStrongOp>(op) && isa<scf::WhileOp>(op->getParentOp()) && op->getParentRegion()->getRegionNumber() == 0;
    for (Value v : op->getOperands()) i.flag |= polled.contains(v);
  }
  code->push_back(std::move(i));
}

}  // namespace tilewright::verify::protocol
