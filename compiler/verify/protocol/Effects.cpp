// What operations do to shared tiles, and which operations the protocol consists of.
#include "compiler/verify/Uses.h"
#include "compiler/verify/protocol/Program.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilewright::verify::protocol {

namespace {

bool is_tile(Value v) { return isa<tile::SharedType>(v.getType()); }
bool is_tensor(Value v) { return isa<tile::GlobalType>(v.getType()); }

/// A fragment's part of a tile: 16 rows of it in each warp, or all where every warp holds all of it.
Footprint part_of(Value frag, bool transposed, int warps) {
  auto shape = cast<tile::FragType>(frag.getType()).getShape();
  if (shape[0] != 16 * warps) return Footprint::whole;
  return transposed ? Footprint::columns : Footprint::rows;
}

/// Of a fragment that is loaded or stored whole; a column or row of numbers lies in several lanes.
Spread spread_of(Value frag, bool transposed) {
  auto shape = cast<tile::FragType>(frag.getType()).getShape();
  if (shape[0] == 1 || shape[1] == 1) return Spread::other;
  return transposed ? Spread::transposed : Spread::fragment;
}

}  // namespace

SmallVector<RawUse, 4> tile_uses(Operation* op, int warps) {
  using Uses = SmallVector<RawUse, 4>;
  return llvm::TypeSwitch<Operation*, Uses>(op)
      .Case<tile::TmaLoadOp, tile::BulkLoadOp>([](auto o) -> Uses { return {{o.getTile(), Footprint::whole, true, true}}; })
      .Case<tile::TmaStoreOp, tile::BulkStoreOp>([](auto o) -> Uses { return {{o.getTile(), Footprint::whole, false, true}}; })
      .Case<tile::CopyAsyncOp>([](auto o) -> Uses { return {{o.getTile(), Footprint::shared, true, false}}; })
      .Case<tile::CopyInOp>([](auto o) -> Uses { return {{o.getTile(), Footprint::shared, true, false}}; })
      .Case<tile::CopyOutOp>([](auto o) -> Uses { return {{o.getTile(), Footprint::shared, false, false}}; })
      .Case<tile::LoadOp>([&](auto o) -> Uses { return {{o.getTile(), part_of(o.getFrag(), o.getTransposed(), warps), false, false, false, {}, spread_of(o.getFrag(), o.getTransposed())}}; })
      .Case<tile::StoreOp>([&](auto o) -> Uses { return {{o.getTile(), part_of(o.getFrag(), o.getTransposed(), warps), true, false, false, {}, spread_of(o.getFrag(), o.getTransposed())}}; })
      .Case<tile::MapOp>([&](tile::MapOp o) {
        Uses uses;
        for (Value v : o.getInputs()) {
          if (!is_tile(v)) continue;
          bool by_rows = cast<tile::SharedType>(v.getType()).getShape()[0] == 16 * warps && warps > 1;
          uses.push_back({v, by_rows ? Footprint::rows : Footprint::whole, false, false});
        }
        return uses;
      })
      .Case<tile::GemmOp>([](tile::GemmOp o) {
        Uses uses{{o.getB(), Footprint::whole, false, true}};
        if (is_tile(o.getA())) uses.push_back({o.getA(), o.getTransA() ? Footprint::group_columns : Footprint::group, false, true});
        return uses;
      })
      .Case<tile::MmaOp>([](tile::MmaOp o) {
        Uses uses{{o.getB(), Footprint::whole, false, false}};
        if (is_tile(o.getA())) uses.push_back({o.getA(), Footprint::whole, false, false});
        return uses;
      })
      .Case<tile::ReadOp>([](tile::ReadOp o) { return is_tile(o.getFrom()) ? Uses{{o.getFrom(), Footprint::element, false, false, false, o.getCoords()}} : Uses(); })
      .Case<tile::WriteOp>([](tile::WriteOp o) { return is_tile(o.getTo()) ? Uses{{o.getTo(), Footprint::element, true, false, false, o.getCoords()}} : Uses(); })
      .Case<tile::AtomicOp, tile::AtomicCasOp, tile::RedOp>(
          [](auto o) { return is_tile(o.getTo()) ? Uses{{o.getTo(), Footprint::element, true, false, true, o.getCoords()}} : Uses(); })
      .Case<tile::RemoteReadOp>([](tile::RemoteReadOp o) -> Uses { return {{o.getTile(), Footprint::element, false, false, false, o->getOperands().slice(1, 2)}}; })
      .Case<tile::RemoteWriteOp>([](tile::RemoteWriteOp o) -> Uses { return {{o.getTile(), Footprint::element, true, false, false, o->getOperands().slice(2, 2)}}; })
      .Case<tile::AtOp, tile::ViewOp, tile::RingOp>([](auto) { return Uses(); })
      .Default([](Operation* other) {
        Uses uses;  // an operation that this table does not know: it may do anything
        for (Value v : other->getOperands())
          if (is_tile(v)) uses.push_back({v, Footprint::whole, true, false});
        return uses;
      });
}

bool has_flags(tile::KernelOp kernel) {
  bool found = false;
  kernel.walk([&](Operation* op) {
    found |= isa<tile::LoadStrongOp, tile::StoreStrongOp>(op);
    if (isa<tile::AtomicOp, tile::AtomicCasOp, tile::RedOp>(op)) found |= op->getAttrOfType<StringAttr>("order").getValue() != "relaxed";
  });
  return found;
}

llvm::DenseMap<Value, int> watched_tensors(tile::KernelOp kernel, bool flags) {
  llvm::DenseMap<Value, int> out;
  for (BlockArgument arg : kernel.getBody().front().getArguments()) {
    if (!is_tensor(arg)) continue;
    bool written = false, loaded = false, read = false;
    for (Operation* user : arg.getUsers()) {
      written |= isa<tile::StoreGlobalOp, tile::WriteOp, tile::CopyOutOp>(user);
      loaded |= isa<tile::TmaLoadOp, tile::BulkLoadOp>(user);
      read |= isa<tile::ReadOp, tile::LoadGlobalOp, tile::CopyInOp, tile::CopyAsyncOp>(user);
    }
    if (written && (loaded || (flags && read))) out.try_emplace(arg, static_cast<int>(out.size()));
  }
  return out;
}

namespace {

/// Whether the protocol has this operation in it, whatever it stands in.
bool acts(Operation* op, const llvm::DenseMap<Value, int>& tensors, bool flags) {
  if (isa<tile::AcquireOp, tile::WaitOp, tile::CommitOp, tile::ReleaseOp, tile::ArriveOp, tile::WaitForOp, tile::SyncOp, tile::WarpSyncOp, tile::MeetOp, tile::ClusterArriveOp,
          tile::ClusterWaitOp, tile::StoreWaitOp, tile::GemmOp, tile::BatchOp, tile::SettleOp, tile::SettlePendingOp, tile::FenceAsyncOp, tile::PtxOp>(op))
    return true;
  if (flags && isa<tile::FenceOp, tile::LoadStrongOp, tile::StoreStrongOp, tile::AtomicOp, tile::AtomicCasOp, tile::RedOp>(op)) return true;
  if (flags && isa<tile::StoreGlobalOp, tile::WriteOp, tile::CopyOutOp>(op)) return true;
  if (isa<tile::AtOp, tile::ViewOp, tile::RingOp, tile::SharedOp>(op)) return false;
  for (Value v : op->getOperands()) {
    if (is_tile(v)) return true;
    if (tensors.count(v)) return true;
  }
  return false;
}

struct Slicer {
  Slice out;
  SmallVector<Value> work;

  void need(Value v) {
    if (isa<IntegerType, IndexType, FloatType, tile::VarType>(v.getType()) && out.needed.insert(v).second) work.push_back(v);
  }
  void need_place(Value tile) {
    while (!tile.getDefiningOp<tile::SharedOp>()) {
      if (auto at = tile.getDefiningOp<tile::AtOp>()) {
        need(at.getStage());
        tile = at.getTile();
      } else if (auto view = tile.getDefiningOp<tile::ViewOp>()) {
        need(view.getRow()), need(view.getColumn());
        tile = view.getTile();
      } else {
        return;
      }
    }
  }
  /// Marks an operation and the control flow around it.
  void relevant(Operation* op) {
    for (; op && !isa<tile::RoleOp, tile::KernelOp>(op); op = op->getParentOp()) {
      if (!out.relevant.insert(op).second) return;
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        need(loop.getLowerBound()), need(loop.getUpperBound()), need(loop.getStep());
      } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
        need(branch.getCondition());
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        need(cast<scf::ConditionOp>(loop.getBefore().front().getTerminator()).getCondition());
      }
    }
  }
  void effect(Operation* op) {
    relevant(op);
    for (Value v : op->getOperands())
      if (is_tile(v)) need_place(v);
    for (const RawUse& use : tile_uses(op, 0))
      for (Value c : use.coords) need(c);
    if (auto signal = dyn_cast<tile::CommitOp>(op)) need(signal.getStage());
    if (auto signal = dyn_cast<tile::ReleaseOp>(op)) need(signal.getStage());
    if (auto load = dyn_cast<tile::TmaLoadOp>(op)) need(load.getStage());
    if (auto load = dyn_cast<tile::BulkLoadOp>(op)) need(load.getStage());
    if (auto copy = dyn_cast<tile::CopyAsyncOp>(op)) need(copy.getStage());
    if (auto store = dyn_cast<tile::TmaStoreOp>(op); store && store.getReduce())
      for (Value v : store->getOperands()) need(v);
    if (auto read = dyn_cast<tile::RemoteReadOp>(op)) need(read.getRank());
    if (auto write = dyn_cast<tile::RemoteWriteOp>(op)) need(write.getRank());
  }
  void follow(Value v) {
    if (isa<tile::VarType>(v.getType())) {
      relevant(v.getDefiningOp());
      need(cast<tile::VarOp>(v.getDefiningOp()).getInit());
      for (Operation* user : v.getUsers())
        if (auto set = dyn_cast<tile::SetOp>(user)) relevant(set), need(set.getValue());
      return;
    }
    Operation* op = v.getDefiningOp();
    if (!op) return;
    if (auto read = dyn_cast<tile::ReadOp>(op); read && is_tile(read.getFrom())) {
      Value root = root_of(read.getFrom()).getTile();
      if (out.control_tiles.insert(root).second)
        for_each_use(root.getDefiningOp<tile::SharedOp>(), [&](Operation* user, Value) {
          if (auto write = dyn_cast<tile::WriteOp>(user)) need(write.getValue());
        });
    }
    if (isa<tile::AcquireOp, tile::WaitOp>(op)) return;
    for (Value operand : op->getOperands())
      if (!is_tile(operand) && !is_tensor(operand)) need(operand);
  }
};

}  // namespace

Slice slice(tile::KernelOp kernel, const llvm::DenseMap<Value, int>& tensors, bool flags) {
  Slicer s;
  for (auto role : kernel.getBody().getOps<tile::RoleOp>())
    role.walk([&](Operation* op) {
      if (acts(op, tensors, flags)) s.effect(op);
    });
  while (!s.work.empty()) s.follow(s.work.pop_back_val());
  return std::move(s.out);
}

}  // namespace tilewright::verify::protocol
