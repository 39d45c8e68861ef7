#include "compiler/passes/tile/Passes.h"
#include "compiler/verify/Uses.h"
#include "dialect/layout/layout.h"

using namespace mlir;

namespace tilewright::passes {
namespace {

using verify::ViewOrigin;
using verify::for_each_use;
using verify::origin_of;

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
    int bytes = static_cast<int>(tile::element_bytes(element));
    bool multiplied = false;
    for_each_use(tile, [&](Operation* user, Value) { multiplied |= isa<tile::GemmOp>(user); });
    bool fits = (bytes == 2 || (bytes == 4 && multiplied)) && shape[0] % 8 == 0 && shape[1] * bytes % layout::kPanelBytes == 0 && tile.getPad() == 0;
    if (multiplied && !fits)
      return tile.emitOpError() << "\"" << tile.getSymName() << "\" [" << shape[0] << ", " << shape[1] << "] of " << element
                                << " is an operand of a product; such a tile has no padding, rows a multiple of 8 and columns a multiple of "
                                << layout::kPanelBytes / bytes << " (the 128-byte swizzle)";
    bool bulk = false;
    for_each_use(tile, [&](Operation* user, Value) { bulk |= isa<tile::BulkLoadOp, tile::BulkStoreOp>(user); });
    if (bulk && (multiplied || tile.getPad()))
      return tile.emitOpError() << "\"" << tile.getSymName() << "\" " << (multiplied ? "is an operand of a product" : "has padded rows")
                                << " and is moved by a bulk copy, which takes rows one after the other; use TMA";
    fits &= !bulk;
    tile.setLayout(fits ? "swizzle128" : "row_major");
    LogicalResult agrees = success();
    for_each_use(tile, [&](Operation* user, Value used) {
      if (failed(agrees)) return;
      if (auto gemm = dyn_cast<tile::GemmOp>(user)) {
        if (used == gemm.getA()) agrees = check_operand(gemm, tile, used, !gemm.getTransA());
        if (succeeded(agrees) && used == gemm.getB()) agrees = check_operand(gemm, tile, used, gemm.getTransB());
      }
      if (isa<tile::TmaLoadOp, tile::TmaStoreOp, tile::BulkLoadOp, tile::BulkStoreOp>(user)) agrees = check_copy(user, tile, used, fits);
      if (bytes == 2 && moves_matrices(user)) agrees = check_rows(user, tile, used, "matrices of 16-bit elements");
      if (isa<tile::CopyAsyncOp, tile::CopyInOp, tile::CopyOutOp>(user)) agrees = check_rows(user, tile, used, "copies without a tensor map");
    });
    return agrees;
  }

  /// Whether the op moves 8x8 matrices of 16-bit elements: ldmatrix, stmatrix.
  static bool moves_matrices(Operation* user) {
    auto matrix = [](tile::FragType frag) { return frag.getShape()[0] != 1 && frag.getShape()[1] != 1; };
    if (auto load = dyn_cast<tile::LoadOp>(user)) return matrix(load.getFrag().getType());
    if (auto store = dyn_cast<tile::StoreOp>(user)) return matrix(store.getFrag().getType());
    return isa<tile::MmaOp>(user);
  }

  /// 16 bytes of a row move at once, from an address that is a multiple of 16.
  LogicalResult check_rows(Operation* op, tile::SharedOp tile, Value used, StringRef what) {
    std::int64_t bytes = tile::element_bytes(tile.getTile().getType().getElementType()), step = 16 / bytes;
    std::int64_t row_bytes = tile.getTile().getType().getShape()[1] * bytes + tile.getPad();
    std::string name = "tile \"" + tile.getSymName().str() + "\"";
    if (row_bytes % 16 != 0)
      return op->emitOpError() << name << ": its rows are " << row_bytes << " bytes; " << what << " move in rows of 16 bytes: expected a "
                                  "multiple of 16 (pad_bytes lengthens the rows)";
    ViewOrigin origin = origin_of(used);
    if (origin.column && *origin.column % step != 0)
      return op->emitOpError() << name << ": the view begins at column " << *origin.column << "; " << what << " begin at a multiple of " << step;
    return success();
  }

  /// wgmma's descriptor begins where the swizzle pattern does, or where a k-step along its rows does.
  LogicalResult check_operand(tile::GemmOp gemm, tile::SharedOp tile, Value used, bool k_contiguous) {
    ViewOrigin origin = origin_of(used);
    int step = k_contiguous ? layout::kKStepBytes * panel_columns(tile) / layout::kPanelBytes : panel_columns(tile);
    if (origin.column && *origin.column % step == 0 && origin.row.value_or(0) % 8 == 0) return success();
    auto error = gemm.emitOpError() << "operand \"" << tile.getSymName() << "\": its view begins at ";
    if (!origin.column) return error << "a column known only at run time; expected a constant multiple of " << step;
    return error << "row " << (origin.row ? std::to_string(*origin.row) : "?") << ", column " << *origin.column
                 << "; expected a row multiple of 8 and a column multiple of " << step;
  }

  /// Columns of a swizzled tile's 128-byte panel.
  static int panel_columns(tile::SharedOp tile) {
    return layout::kPanelBytes / static_cast<int>(tile::element_bytes(tile.getTile().getType().getElementType()));
  }

  /// TMA moves dense rows, or whole panels of a swizzled tile.
  LogicalResult check_copy(Operation* op, tile::SharedOp tile, Value used, bool swizzled) {
    auto whole = tile.getTile().getType().getShape(), part = cast<tile::SharedType>(used.getType()).getShape();
    std::string name = "tile \"" + tile.getSymName().str() + "\"";
    ViewOrigin origin = origin_of(used);
    if (tile.getPad())
      return op->emitOpError() << name << " has " << tile.getPad() << " bytes of padding in each row; TMA moves dense rows (declare it without pad_bytes)";
    if (swizzled) {
      int panel = panel_columns(tile);
      if (part[1] % panel == 0 && origin.column && *origin.column % panel == 0 && origin.row.value_or(0) % 8 == 0) return success();
      return op->emitOpError() << name << ": TMA moves views whose columns are whole panels of " << panel
                               << " from a constant column on, and whose rows begin at a multiple of 8";
    }
    if (part[1] != whole[1])
      return op->emitOpError() << name << ": a view of " << part[1] << " of its " << whole[1] << " columns is not dense; TMA moves whole rows of a row-major tile";
    std::int64_t row_bytes = whole[1] * tile::element_bytes(tile.getTile().getType().getElementType());
    if (origin.row.value_or(0) * row_bytes % 128 != 0)
      return op->emitOpError() << name << ": the view begins " << *origin.row * row_bytes << " bytes into the tile; TMA needs a multiple of 128";
    if (whole[1] > 256)
      return op->emitOpError() << name << ": box extent " << whole[1] << " along its columns; TMA copies at most 256 along one axis";
    return success();
  }
};

}  // namespace

std::unique_ptr<Pass> infer_layouts() { return std::make_unique<InferLayouts>(); }

}  // namespace tilewright::passes
