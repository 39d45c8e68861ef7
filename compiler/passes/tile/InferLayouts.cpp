#include "compiler/passes/tile/Passes.h"
#include "compiler/passes/tile/Uses.h"
#include "dialect/layout/layout.h"

using namespace mlir;

namespace tilewright::passes {
namespace {

struct InferLayouts : PassWrapper<InferLayouts, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InferLayouts)
  StringRef getArgument() const override { return "tile-infer-layouts"; }
  StringRef getDescription() const override { return "gives every shared tile a layout from its uses"; }

  void runOnOperation() override {
    getOperation()->walk([&](tile::SharedOp tile) {
      if (!tile.getLayout() && failed(infer(tile))) signalPassFailure();
    });
  }

  LogicalResult infer(tile::SharedOp tile) {
    auto shape = tile.getTile().getType().getShape();
    auto element = tile.getTile().getType().getElementType();
    bool half = tile::element_bytes(element) == 2;
    bool multiplied = false;
    for_each_use(tile, [&](Operation* user, Value) { multiplied |= isa<tile::GemmOp>(user); });
    bool fits = half && shape[0] % 8 == 0 && shape[1] * 2 % layout::kPanelBytes == 0 && tile.getPad() == 0;
    if (multiplied && !fits)
      return tile.emitOpError() << "\"" << tile.getSymName() << "\" [" << shape[0] << ", " << shape[1] << "] of " << element
                                << " is an operand of a product; such a tile holds 16-bit elements without padding, rows a multiple of 8 "
                                   "and columns a multiple of 64 (the 128-byte swizzle)";
    tile.setLayout(fits ? "swizzle128" : "row_major");
    return success();
  }
};

}  // namespace

std::unique_ptr<Pass> infer_layouts() { return std::make_unique<InferLayouts>(); }

}  // namespace tilewright::passes
