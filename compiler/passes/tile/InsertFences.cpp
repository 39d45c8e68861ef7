#include "compiler/passes/tile/Passes.h"
#include "compiler/verify/Uses.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilewright::passes {
namespace {

using verify::for_each_use;
using verify::root_of;

/// Tiles (the value of their tile.shared) and tensors (block arguments).
using Places = llvm::SmallDenseSet<Value, 4>;

/// What a role has written since its last fence, and deferred tiles that it or others may have written since.
struct State {
  Places dirty, stale;
  void join(const State& other) {
    dirty.insert(other.dirty.begin(), other.dirty.end());
    stale.insert(other.stale.begin(), other.stale.end());
  }
};

bool is_tensor(Value place) { return isa<tile::GlobalType>(place.getType()); }
/// The tile's allocation, or the tensor itself.
Value place_of(Value v) { return is_tensor(v) ? v : root_of(v).getTile(); }

/// What an op reads by TMA or wgmma.
SmallVector<Value> asynchronous_reads(Operation& op) {
  if (auto store = dyn_cast<tile::TmaStoreOp>(op)) return {store.getTile()};
  if (auto store = dyn_cast<tile::BulkStoreOp>(op)) return {store.getTile()};
  if (auto load = dyn_cast<tile::TmaLoadOp>(op)) return {load.getTensor()};
  if (auto load = dyn_cast<tile::BulkLoadOp>(op)) return {load.getTensor()};
  if (auto gemm = dyn_cast<tile::GemmOp>(op)) {
    if (isa<tile::SharedType>(gemm.getA().getType())) return {gemm.getA(), gemm.getB()};
    return {gemm.getB()};
  }
  return {};
}

/// What an op writes with ordinary stores, or null.
Value ordinary_write(Operation& op) {
  if (auto store = dyn_cast<tile::StoreOp>(op)) return store.getTile();
  if (auto store = dyn_cast<tile::StoreGlobalOp>(op)) return store.getTensor();
  if (auto write = dyn_cast<tile::WriteOp>(op)) return write.getTo();
  if (auto copy = dyn_cast<tile::CopyInOp>(op)) return copy.getTile();
  if (auto copy = dyn_cast<tile::CopyOutOp>(op)) return copy.getTensor();
  if (auto store = dyn_cast<tile::StoreStrongOp>(op)) return store.getTensor();
  if (auto atomic = dyn_cast<tile::AtomicOp>(op)) return atomic.getTo();
  if (auto atomic = dyn_cast<tile::AtomicCasOp>(op)) return atomic.getTo();
  if (auto red = dyn_cast<tile::RedOp>(op)) return red.getTo();
  if (auto write = dyn_cast<tile::RemoteWriteOp>(op)) return write.getTile();
  return {};
}

StringRef order_of(Operation& op) {
  if (auto load = dyn_cast<tile::LoadStrongOp>(op)) return load.getOrder();
  if (auto store = dyn_cast<tile::StoreStrongOp>(op)) return store.getOrder();
  if (auto red = dyn_cast<tile::RedOp>(op)) return red.getOrder();
  if (auto atomic = dyn_cast<tile::AtomicOp>(op)) return atomic.getOrder();
  if (auto cas = dyn_cast<tile::AtomicCasOp>(op)) return cas.getOrder();
  return "relaxed";
}
/// Whether other threads may see afterwards what this one wrote before.
bool releases(Operation& op) {
  StringRef order = order_of(op);
  return isa<tile::SyncOp, tile::WarpSyncOp, tile::ArriveOp, tile::MeetOp, tile::ClusterArriveOp, tile::FenceOp>(op) || order == "release" || order == "acq_rel";
}
/// Whether this thread may see afterwards what others wrote before.
bool acquires(Operation& op) {
  StringRef order = order_of(op);
  return isa<tile::SyncOp, tile::WarpSyncOp, tile::WaitForOp, tile::MeetOp, tile::ClusterWaitOp, tile::WaitOp, tile::AcquireOp, tile::FenceOp>(op) || order == "acquire" ||
         order == "acq_rel";
}

struct InsertFences : PassWrapper<InsertFences, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InsertFences)
  StringRef getArgument() const override { return "tile-insert-fences"; }
  StringRef getDescription() const override { return "fences ordinary writes before TMA and wgmma read them"; }

  Places read_asynchronously, deferred;
  bool by_hand = false, failed = false;

  void runOnOperation() override {
    getOperation()->walk([&](tile::KernelOp kernel) {
      read_asynchronously.clear(), deferred.clear();
      by_hand = kernel->hasAttr("manual_fences");
      kernel.walk([&](Operation* op) {
        for (Value v : asynchronous_reads(*op)) read_asynchronously.insert(place_of(v));
      });
      for (auto tile : kernel.getBody().getOps<tile::SharedOp>())
        if (tile.getDeferred() && read_asynchronously.contains(tile.getTile())) deferred.insert(tile.getTile());
      for (auto role : kernel.getBody().getOps<tile::RoleOp>()) visit(role.getBody().front(), {}, true);
    });
    if (failed) signalPassFailure();
  }

  /// Of the places, those whose writes must be fenced before the op: it publishes them, or reads them asynchronously.
  Places unfenced(Operation& op, const State& s) {
    Places out;
    for (Value v : asynchronous_reads(op)) {
      Value place = place_of(v);
      if (s.dirty.contains(place) || s.stale.contains(place)) out.insert(place);
    }
    if (!out.empty()) return out;
    auto commit = dyn_cast<tile::CommitOp>(op);
    for (Value place : s.dirty)
      if (releases(op) || (commit && (is_tensor(place) || llvm::is_contained(commit.getRing().getDefiningOp<tile::RingOp>().getTiles(), place)))) out.insert(place);
    return out;
  }

  void fence(Operation& op, const Places& places, bool insert) {
    if (!insert) return;
    bool tiles = llvm::any_of(places, [](Value p) { return !is_tensor(p); }), tensors = llvm::any_of(places, is_tensor);
    if (by_hand) return report(op, *places.begin());
    OpBuilder b(&op);
    if (tiles) tile::FenceAsyncOp::create(b, op.getLoc());
    if (tensors) tile::FenceAsyncOp::create(b, op.getLoc(), /*global=*/true);
  }

  void report(Operation& op, Value place) {
    if (failed) return;
    failed = true;
    auto tile = place.getDefiningOp<tile::SharedOp>();
    op.emitOpError() << "ordinary writes of " << (tile ? "tile \"" + tile.getSymName().str() + "\"" : std::string("a tensor"))
                     << ", which TMA or a product reads, reach this without a fence; call " << (tile ? "k.fence_async()" : "k.fence_async_global()") << " before it";
  }

  /// Walks a block with the state at its start; returns that at its end.
  State visit(Block& block, State s, bool insert) {
    for (Operation& op : llvm::make_early_inc_range(block)) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        State entry = s;
        entry.join(visit(*loop.getBody(), s, false));
        s.join(visit(*loop.getBody(), entry, insert));
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        State entry = s;
        entry.join(visit(loop.getAfter().front(), visit(loop.getBefore().front(), s, false), false));
        s = visit(loop.getBefore().front(), entry, insert);
        visit(loop.getAfter().front(), s, insert);
      } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
        State then = visit(*branch.thenBlock(), s, insert);
        if (branch.elseBlock()) s = visit(*branch.elseBlock(), s, insert);
        s.join(then);
      } else {
        step(op, s, insert);
      }
    }
    return s;
  }

  void forget(State& s, bool tensors) {
    for (Places* set : {&s.dirty, &s.stale}) {
      SmallVector<Value> gone;
      for (Value place : *set)
        if (is_tensor(place) == tensors) gone.push_back(place);
      for (Value place : gone) set->erase(place);
    }
  }

  void step(Operation& op, State& s, bool insert) {
    if (auto written_by_hand = dyn_cast<tile::FenceAsyncOp>(op)) return forget(s, written_by_hand.getGlobal());
    if (Places places = unfenced(op, s); !places.empty()) {
      fence(op, places, insert);
      for (bool tensors : {false, true})
        if (llvm::any_of(places, [&](Value p) { return is_tensor(p) == tensors; })) forget(s, tensors);
    }
    if (acquires(op)) s.stale.insert(deferred.begin(), deferred.end());
    if (auto wait = dyn_cast<tile::WaitOp>(op)) copied(wait, s);
    if (Value to = ordinary_write(op); to && read_asynchronously.contains(place_of(to)))
      (deferred.contains(place_of(to)) ? s.stale : s.dirty).insert(place_of(to));
  }

  /// The copies of a producer's threads are ordinary writes that nobody fences before the stage is full: its consumers do.
  void copied(tile::WaitOp wait, State& s) {
    for (Operation* user : wait.getRing().getUsers())
      if (auto copy = dyn_cast<tile::CopyAsyncOp>(user))
        if (Value place = place_of(copy.getTile()); read_asynchronously.contains(place)) s.stale.insert(place);
  }
};

}  // namespace

std::unique_ptr<Pass> insert_fences() { return std::make_unique<InsertFences>(); }

}  // namespace tilewright::passes
