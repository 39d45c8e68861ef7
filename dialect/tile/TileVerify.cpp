// Structural rules of single tile ops. Rules that need the whole kernel live in compiler/verify.
#include "dialect/tile/Tile.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {

bool is_16bit(Type t) { return t.isBF16() || t.isF16(); }

/// Logical extents of a gemm operand: the tile's own, or swapped when it holds the transpose.
std::pair<int64_t, int64_t> logical(ArrayRef<int64_t> shape, bool transposed) {
  return transposed ? std::pair{shape[1], shape[0]} : std::pair{shape[0], shape[1]};
}

std::string show(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

LogicalResult verify_box(Operation* op, GlobalType tensor, SharedType tile, size_t coords, size_t ragged,
                         ArrayRef<int64_t> box) {
  size_t rank = tensor.getShape().size();
  if (coords != rank || box.size() != rank)
    return op->emitOpError() << "tensor has rank " << rank << ", given " << coords << " coordinates and a box of rank "
                             << box.size();
  if (ragged != 0 && ragged != 2)
    return op->emitOpError("ragged rows need the first row and the number of rows");
  if (rank + (ragged ? 2 : 0) > 5)
    return op->emitOpError() << "TMA has at most 5 dimensions; a " << (ragged ? "ragged " : "") << "tensor of rank " << rank
                             << " needs " << rank + (ragged ? 2 : 0);
  if (squeeze(box) != squeeze(tile.getShape()))
    return op->emitOpError() << "box " << show(box) << " does not match the tile " << show(tile.getShape())
                             << "; both must agree after extents of 1 are dropped";
  if (tensor.getElementType() != tile.getElementType())
    return op->emitOpError() << "tensor holds " << tensor.getElementType() << ", tile holds " << tile.getElementType();
  return success();
}

LogicalResult verify_move(Operation* op, SharedType tile, FragType frag, bool transposed) {
  auto f = frag.getShape();
  auto [rows, cols] = logical(tile.getShape(), transposed);
  if (f[0] != rows || f[1] != cols)
    return op->emitOpError() << "fragment " << show(f) << " does not match the tile " << show(tile.getShape())
                             << (transposed ? " read transposed" : "");
  if (tile.getElementType() != frag.getElementType())
    return op->emitOpError() << "fragment holds " << frag.getElementType() << ", tile holds " << tile.getElementType()
                             << "; cast first";
  return success();
}

LogicalResult verify_global(Operation* op, GlobalType tensor, size_t coords, FragType frag, uint32_t row_axis, uint32_t col_axis) {
  auto shape = tensor.getShape();
  if (coords != shape.size()) return op->emitOpError() << "tensor has rank " << shape.size() << ", given " << coords << " coordinates";
  if (row_axis >= shape.size() || col_axis >= shape.size() || row_axis == col_axis)
    return op->emitOpError() << "row axis " << row_axis << " and column axis " << col_axis << ": expected two axes of a tensor of rank " << shape.size();
  for (size_t axis = std::min(row_axis, col_axis) + 1; axis < shape.size(); ++axis)
    if (ShapedType::isDynamic(shape[axis]))
      return op->emitOpError() << "axis " << axis << " of the tensor is known only at launch; the axes inside of axis " << std::min(row_axis, col_axis)
                               << " must be known at build time";
  if (tensor.getElementType() != frag.getElementType())
    return op->emitOpError() << "fragment holds " << frag.getElementType() << ", tensor holds " << tensor.getElementType() << "; cast first";
  return success();
}

LogicalResult verify_element(Operation* op, Type from, size_t coords) {
  bool shared = isa<SharedType>(from);
  size_t rank = shared ? 2 : cast<GlobalType>(from).getShape().size();
  if (coords == rank) return success();
  return op->emitOpError() << (shared ? "tile" : "tensor") << " has rank " << rank << ", given " << coords << " coordinates";
}

}  // namespace

LogicalResult KernelOp::verify() {
  size_t named = getParamNames().size();
  if (getBody().getNumArguments() != named)
    return emitOpError() << named << " parameter names for " << getBody().getNumArguments() << " parameters";
  return success();
}

LogicalResult RoleOp::verify() {
  if (getSingleThread() && getWarps() != 1) return emitOpError("a role of a single thread has one warp");
  if (getWarps() != 1 && getWarps() % 4 != 0)
    return emitOpError() << getWarps() << " warps: a role has one warp or whole warpgroups of 4";
  if (getRegisters() % 8 != 0) return emitOpError() << getRegisters() << " registers: a budget is a multiple of 8";
  return success();
}

LogicalResult SharedOp::verify() {
  auto shape = getTile().getType().getShape();
  if (shape.size() != 2) return emitOpError("a shared tile has two extents, [rows, columns]");
  if (getStages() < 1) return emitOpError("a tile has at least one stage");
  return success();
}

LogicalResult FragOp::verify() {
  auto shape = getFrag().getType().getShape();
  if (shape.size() != 2) return emitOpError("a fragment has two extents, [rows, columns]");
  Type element = getFrag().getType().getElementType();
  if (!element.isF32() && !is_16bit(element)) return emitOpError() << "a fragment holds f32, bf16 or f16, not " << element;
  if (shape[0] == 1 && shape[1] % 8 == 0) return success();
  if (shape[1] == 1 && shape[0] % 16 == 0) return success();
  if (shape[0] % 16 == 0 && shape[1] % 8 == 0) return success();
  return emitOpError() << show(shape) << ": rows must be a multiple of 16 (or 1) and columns of 8 (or 1)";
}

LogicalResult RingOp::verify() {
  if (getStages() < 1) return emitOpError("a ring has at least one stage");
  if (getConsumers().empty()) return emitOpError("a ring needs at least one consuming role");
  for (Value tile : getTiles()) {
    auto shared = tile.getDefiningOp<SharedOp>();
    if (!shared) return emitOpError("a ring guards whole shared tiles");
    if (shared.getStages() != getStages())
      return emitOpError() << "tile \"" << shared.getSymName() << "\" has " << shared.getStages()
                           << " stages, the ring has " << getStages();
  }
  return success();
}

LogicalResult ViewOp::verify() {
  auto from = getTile().getType(), to = getResult().getType();
  if (from.getElementType() != to.getElementType()) return emitOpError("a view keeps the element type");
  if (to.getShape()[0] > from.getShape()[0] || to.getShape()[1] > from.getShape()[1])
    return emitOpError() << "view " << show(to.getShape()) << " is larger than the tile " << show(from.getShape());
  Value begins[] = {getRow(), getColumn()};
  for (int axis : {0, 1}) {
    APInt at;
    if (!matchPattern(begins[axis], m_ConstantInt(&at))) continue;
    if (at.isNegative() || at.getSExtValue() + to.getShape()[axis] > from.getShape()[axis])
      return emitOpError() << "view " << show(to.getShape()) << " from " << (axis ? "column " : "row ") << at.getSExtValue()
                           << " on reaches outside of the tile " << show(from.getShape());
  }
  return success();
}

LogicalResult LoadGlobalOp::verify() {
  return verify_global(*this, getTensor().getType(), getCoords().size(), getFrag().getType(), getRowAxis(), getColAxis());
}
LogicalResult StoreGlobalOp::verify() {
  return verify_global(*this, getTensor().getType(), getCoords().size(), getFrag().getType(), getRowAxis(), getColAxis());
}
LogicalResult ReadOp::verify() { return verify_element(*this, getFrom().getType(), getCoords().size()); }
LogicalResult WriteOp::verify() { return verify_element(*this, getTo().getType(), getCoords().size()); }
LogicalResult ExtentOp::verify() {
  size_t rank = getTensor().getType().getShape().size();
  if (getAxis() < rank) return success();
  return emitOpError() << "axis " << getAxis() << " of a tensor of rank " << rank;
}

LogicalResult TmaLoadOp::verify() {
  return verify_box(*this, getTensor().getType(), getTile().getType(), getCoords().size(), getRagged().size(), getBox());
}
LogicalResult TmaStoreOp::verify() {
  for (auto [axis, coordinate] : llvm::enumerate(getCoords())) {
    APInt at;
    if (matchPattern(coordinate, m_ConstantInt(&at)) && at.isNegative())
      return emitOpError() << "coordinate " << at.getSExtValue() << " of axis " << axis << ": TMA stores nothing before the first element; expected 0 or more";
  }
  return verify_box(*this, getTensor().getType(), getTile().getType(), getCoords().size(), getRagged().size(), getBox());
}
LogicalResult LoadOp::verify() {
  return verify_move(*this, getTile().getType(), getFrag().getType(), getTransposed());
}
LogicalResult StoreOp::verify() {
  return verify_move(*this, getTile().getType(), getFrag().getType(), getTransposed());
}

LogicalResult GemmOp::verify() {
  auto acc = getAcc().getType();
  if (!acc.getElementType().isF32()) return emitOpError() << "the accumulator holds f32, not " << acc.getElementType();
  ArrayRef<int64_t> a_shape;
  Type a_element;
  if (auto frag = dyn_cast<FragType>(getA().getType())) {
    if (getTransA()) return emitOpError("a fragment cannot be a transposed A operand");
    a_shape = frag.getShape(), a_element = frag.getElementType();
  } else {
    auto shared = cast<SharedType>(getA().getType());
    a_shape = shared.getShape(), a_element = shared.getElementType();
  }
  auto b = getB().getType();
  auto [m, k] = logical(a_shape, getTransA());
  auto [kb, n] = logical(b.getShape(), getTransB());
  if (!is_16bit(a_element) || a_element != b.getElementType())
    return emitOpError() << "A holds " << a_element << " and B holds " << b.getElementType()
                         << "; both must be bf16, or both f16";
  if (k != kb)
    return emitOpError() << "A is [" << m << ", " << k << "] and B is [" << kb << ", " << n
                         << "]: the inner extents differ (use .t() where a tile holds the transpose)";
  if (acc.getShape()[0] != m || acc.getShape()[1] != n)
    return emitOpError() << "accumulator is " << show(acc.getShape()) << ", the product is [" << m << ", " << n << "]";
  if (k % 16) return emitOpError() << "K = " << k << " is not a multiple of 16";
  if (n % 8 || n > 256) return emitOpError() << "N = " << n << " is not a multiple of 8 up to 256";
  if (m % 64) return emitOpError() << "M = " << m << " is not a multiple of 64, the rows of a warpgroup";
  return success();
}

LogicalResult MmaOp::verify() {
  auto acc = getAcc().getType().getShape(), a = getA().getType().getShape(), b = getB().getType().getShape();
  if (acc[0] != 16 || a[0] != 16) return emitOpError("acc and A have the 16 rows of a warp");
  if (a[1] != b[0] || acc[1] != b[1])
    return emitOpError() << "acc " << show(acc) << ", A " << show(a) << ", B " << show(b) << " do not multiply";
  for (Type t : {getAcc().getType().getElementType(), getA().getType().getElementType(), getB().getType().getElementType()})
    if (!t.isF32()) return emitOpError() << "operands hold f32, not " << t;
  return success();
}

LogicalResult MapOp::verify() {
  if (getOutputs().empty()) return emitOpError("a map has at least one output");
  auto shape = cast<FragType>(getOutputs()[0].getType()).getShape();
  for (Value v : getOutputs())
    if (cast<FragType>(v.getType()).getShape() != shape) return emitOpError("the outputs' shapes differ");
  for (Value v : getInputs()) {
    auto tile = dyn_cast<SharedType>(v.getType());
    bool row = tile && tile.getShape()[0] == 1, column = tile && tile.getShape()[1] == 1;
    bool wide = tile && tile.getElementType().isF32();
    if (tile && !(wide && (row || column)) && !(is_16bit(tile.getElementType()) && row))
      return emitOpError() << "input " << show(tile.getShape()) << " of " << tile.getElementType()
                           << " in shared memory; only f32 vectors and 16-bit rows are read in place, load other tiles first";
    auto in = tile ? tile.getShape() : cast<FragType>(v.getType()).getShape();
    if ((in[0] != shape[0] && in[0] != 1) || (in[1] != shape[1] && in[1] != 1))
      return emitOpError() << "input " << show(in) << " cannot be broadcast to " << show(shape);
  }
  if (getBody().front().getNumArguments() != 2 + getInputs().size())
    return emitOpError("the region takes row, column and one value for each input");
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield || yield.getValues().size() != getOutputs().size())
    return emitOpError("the region yields one value for each output");
  return success();
}

LogicalResult ReduceOp::verify() {
  auto in = getInput().getType().getShape(), out = getOutput().getType().getShape();
  if (out[0] != in[0] || out[1] != 1) return emitOpError() << "reduces " << show(in) << " into [" << in[0] << ", 1], given " << show(out);
  if (getKind() != "add" && getKind() != "max") return emitOpError() << "kind \"" << getKind() << "\": expected add or max";
  return success();
}
