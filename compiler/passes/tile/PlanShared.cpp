#include "compiler/passes/tile/Passes.h"
#include "compiler/passes/tile/SharedLayout.h"
#include "dialect/target/machine.h"
#include "dialect/tile/Tile.h"

using namespace mlir;

namespace tilewright::passes {
namespace {

int64_t align(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

/// Swizzled tiles and TMA's destinations begin where their pattern does.
int64_t alignment_of(tile::SharedOp tile) { return std::max<int64_t>(layout_of(tile).alignment(), 128); }

struct PlanShared : PassWrapper<PlanShared, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlanShared)
  StringRef getArgument() const override { return "tile-plan-shared"; }
  StringRef getDescription() const override { return "places tiles and barriers in shared memory"; }

  void runOnOperation() override {
    getOperation()->walk([&](tile::KernelOp kernel) {
      if (failed(plan(kernel))) signalPassFailure();
    });
  }

  /// Tiles that take over the memory of `under` start where it does; what follows them in the arena starts after the largest.
  LogicalResult place_overlays(tile::KernelOp kernel, tile::SharedOp under, int64_t& end) {
    for (auto tile : kernel.getBody().getOps<tile::SharedOp>()) {
      if (!tile.getOverlay() || *tile.getOverlay() != under.getSymName()) continue;
      int64_t offset = *under.getOffset();
      if (offset % alignment_of(tile) != 0)
        return tile.emitOpError() << "\"" << tile.getSymName() << "\" overlays a tile that is not aligned to " << alignment_of(tile) << " bytes";
      tile.setOffset(offset);
      end = std::max<int64_t>(end, offset + layout_of(tile).size_bytes());
    }
    return success();
  }

  LogicalResult plan(tile::KernelOp kernel) {
    Builder b(&getContext());
    int64_t end = 0;
    auto place = [&](tile::SharedOp tile, int64_t& cursor) {
      cursor = align(cursor, alignment_of(tile));
      tile.setOffset(cursor);
      cursor += layout_of(tile).size_bytes();
    };
    for (auto ring : kernel.getBody().getOps<tile::RingOp>()) {
      SmallVector<tile::SharedOp> tiles;
      int64_t strictest = 128;
      for (Value v : ring.getTiles()) {
        tiles.push_back(v.getDefiningOp<tile::SharedOp>());
        strictest = std::max(strictest, alignment_of(tiles.back()));
      }
      if (tiles.empty()) continue;
      llvm::stable_sort(tiles, [](auto a, auto b) { return alignment_of(a) > alignment_of(b); });
      int64_t start = align(end, strictest), cursor = start;
      for (auto tile : tiles) {
        if (tile.getOffset())
          return tile.emitOpError() << "\"" << tile.getSymName() << "\" belongs to two rings; a tile has one ring";
        place(tile, cursor);
      }
      int64_t stride = align(cursor, strictest) - start;
      for (auto tile : tiles) tile->setAttr("stage_stride", b.getI32IntegerAttr(stride));
      end = start + stride * ring.getStages();
      for (auto tile : tiles)
        if (failed(place_overlays(kernel, tile, end))) return failure();
    }
    for (auto tile : kernel.getBody().getOps<tile::SharedOp>()) {
      if (tile.getOffset() || tile.getOverlay()) continue;
      if (tile.getStages() > 1)
        return tile.emitOpError() << "\"" << tile.getSymName() << "\" has " << tile.getStages() << " stages but no ring guards it; pass it to k.ring(...)";
      place(tile, end);
      if (failed(place_overlays(kernel, tile, end))) return failure();
    }
    for (auto tile : kernel.getBody().getOps<tile::SharedOp>())
      if (!tile.getOffset())
        return tile.emitOpError() << "\"" << tile.getSymName() << "\" overlays \"" << *tile.getOverlay() << "\", which is not a tile with a place of its own";
    end = align(end, 8);
    for (auto ring : kernel.getBody().getOps<tile::RingOp>()) {
      ring.setOffset(end);
      end += 16 * ring.getStages();
    }
    for (auto barrier : kernel.getBody().getOps<tile::BarrierOp>()) {
      barrier.setOffset(end);
      end += 8;
    }
    kernel->setAttr("shared_bytes", b.getI32IntegerAttr(end));
    if (end <= target::kMaxSharedBytes) return success();
    auto error = kernel.emitOpError() << "\"" << kernel.getSymName() << "\" needs " << end << " bytes of shared memory, a CTA has " << target::kMaxSharedBytes
                                      << "; use fewer stages or smaller tiles";
    for (auto tile : kernel.getBody().getOps<tile::SharedOp>())
      error.attachNote(tile.getLoc()) << "\"" << tile.getSymName() << "\": " << tile.getStages() << " x " << layout_of(tile).size_bytes() << " bytes";
    return error;
  }
};

}  // namespace

std::unique_ptr<Pass> plan_shared() { return std::make_unique<PlanShared>(); }

}  // namespace tilewright::passes
