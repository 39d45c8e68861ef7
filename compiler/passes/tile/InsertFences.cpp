#include "compiler/passes/tile/Passes.h"
#include "compiler/verify/Uses.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilewright::passes {
namespace {

using verify::for_each_use;
using verify::root_of;

struct InsertFences : PassWrapper<InsertFences, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InsertFences)
  StringRef getArgument() const override { return "tile-insert-fences"; }
  StringRef getDescription() const override { return "fences ordinary writes before TMA and wgmma read them"; }

  llvm::DenseSet<Operation*> read_asynchronously;

  void runOnOperation() override {
    getOperation()->walk([&](tile::SharedOp tile) {
      for_each_use(tile, [&](Operation* user, Value v) {
        bool source = isa<tile::TmaStoreOp>(user);
        if (auto gemm = dyn_cast<tile::GemmOp>(user)) source = gemm.getA() == v || gemm.getB() == v;
        if (source) read_asynchronously.insert(tile);
      });
    });
    getOperation()->walk([&](tile::RoleOp role) { visit(role.getBody().front(), {}, true); });
  }

  using Tiles = llvm::SmallPtrSet<Operation*, 4>;

  /// The tile that an ordinary write of this op makes dirty, if TMA or wgmma read it.
  Operation* written(Operation& op) {
    Operation* root = nullptr;
    if (auto store = dyn_cast<tile::StoreOp>(op)) root = root_of(store.getTile());
    auto write = dyn_cast<tile::WriteOp>(op);
    if (write && isa<tile::SharedType>(write.getTo().getType())) root = root_of(write.getTo());
    return root && read_asynchronously.contains(root) ? root : nullptr;
  }

  /// Whether the op publishes or reads a dirty tile: then its writes must be fenced before.
  bool publishes(Operation& op, const Tiles& dirty) {
    auto any = [&](ValueRange tiles) { return llvm::any_of(tiles, [&](Value t) { return dirty.contains(root_of(t)); }); };
    if (auto commit = dyn_cast<tile::CommitOp>(op)) return any(commit.getRing().getDefiningOp<tile::RingOp>().getTiles());
    if (auto store = dyn_cast<tile::TmaStoreOp>(op)) return any(store.getTile());
    if (auto gemm = dyn_cast<tile::GemmOp>(op))
      return any(gemm.getB()) || (isa<tile::SharedType>(gemm.getA().getType()) && any(gemm.getA()));
    if (dirty.empty()) return false;
    auto releases = [](StringRef order) { return order == "release" || order == "acq_rel"; };
    if (auto store = dyn_cast<tile::StoreStrongOp>(op)) return releases(store.getOrder());
    if (auto red = dyn_cast<tile::RedOp>(op)) return releases(red.getOrder());
    if (auto atomic = dyn_cast<tile::AtomicOp>(op)) return releases(atomic.getOrder());
    if (auto cas = dyn_cast<tile::AtomicCasOp>(op)) return releases(cas.getOrder());
    return isa<tile::SyncOp, tile::WarpSyncOp, tile::ArriveOp, tile::MeetOp, tile::FenceOp>(op);
  }

  /// Walks a block with the tiles that are dirty at its start; returns those dirty at its end.
  Tiles visit(Block& block, Tiles dirty, bool insert) {
    auto join = [](Tiles a, const Tiles& b) { a.insert(b.begin(), b.end()); return a; };
    for (Operation& op : llvm::make_early_inc_range(block)) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        Tiles entry = join(dirty, visit(*loop.getBody(), dirty, false));
        dirty = join(dirty, visit(*loop.getBody(), entry, insert));
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        Tiles entry = join(dirty, visit(loop.getAfter().front(), visit(loop.getBefore().front(), dirty, false), false));
        Tiles asked = visit(loop.getBefore().front(), entry, insert);
        visit(loop.getAfter().front(), asked, insert);
        dirty = asked;
      } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
        Tiles then = visit(*branch.thenBlock(), dirty, insert);
        dirty = join(branch.elseBlock() ? visit(*branch.elseBlock(), dirty, insert) : dirty, then);
      } else if (isa<tile::FenceAsyncOp>(op)) {
        dirty.clear();
      } else if (publishes(op, dirty)) {
        if (insert) {
          OpBuilder b(&op);
          tile::FenceAsyncOp::create(b, op.getLoc());
        }
        dirty.clear();
      } else if (Operation* tile = written(op)) {
        dirty.insert(tile);
      }
    }
    return dirty;
  }
};

}  // namespace

std::unique_ptr<Pass> insert_fences() { return std::make_unique<InsertFences>(); }

}  // namespace tilewright::passes
