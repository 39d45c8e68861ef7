// Structural rules of single tile ops. Rules that need the whole kernel live in compiler/verify.
#include "dialect/tile/Shapes.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {

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

/// The machine stops where a box of TMA does not begin at a multiple of 16 bytes.
LogicalResult verify_begin(Operation* op, GlobalType tensor, ValueRange coords) {
  APInt at;
  if (coords.empty() || !matchPattern(coords.back(), m_ConstantInt(&at))) return success();
  int64_t bytes = at.getSExtValue() * element_bytes(tensor.getElementType());
  if (bytes % 16 == 0) return success();
  return op->emitOpError() << "the box begins " << bytes << " bytes into a row; TMA needs a multiple of 16";
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
  if (shape.size() == 1)
    return op->emitOpError() << "a tensor of rank 1 has no axis for " << (frag.getShape()[0] == 1 ? "the row" : "the columns") << " of a fragment "
                             << show(frag.getShape()) << "; declare the tensor as [1, n] or [n, 1]";
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

LogicalResult verify_element(Operation* op, Type from, OperandRange coords) {
  auto tile = dyn_cast<SharedType>(from);
  ArrayRef<int64_t> shape = tile ? tile.getShape() : cast<GlobalType>(from).getShape();
  if (coords.size() != shape.size())
    return op->emitOpError() << (tile ? "tile" : "tensor") << " has rank " << shape.size() << ", given " << coords.size() << " coordinates";
  for (auto [axis, coord] : llvm::enumerate(coords)) {
    APInt at;
    if (!tile || !matchPattern(coord, m_ConstantInt(&at)) || (!at.isNegative() && at.getSExtValue() < shape[axis])) continue;
    return op->emitOpError() << (axis ? "column " : "row ") << at.getSExtValue() << " lies outside of the tile " << show(shape);
  }
  return success();
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

LogicalResult CudaFunctionOp::verify() {
  auto type = cast<FunctionType>(getHandle().getType());
  if (type.getNumResults() != 1) return emitOpError() << type << ": a function has one result";
  for (Type t : llvm::concat<const Type>(type.getInputs(), type.getResults()))
    if (!t.isF32() && !t.isInteger(32)) return emitOpError() << type << ": arguments and results are f32 or i32";
  return success();
}

LogicalResult CallOp::verify() {
  auto type = cast<FunctionType>(getFunction().getType());
  if (type.getInputs() != getValues().getTypes() || type.getResults() != ArrayRef<Type>(getResult().getType()))
    return emitOpError() << "the function is " << type << ", called as " << FunctionType::get(getContext(), getValues().getTypes(), getResult().getType());
  return success();
}

LogicalResult LoadGlobalOp::verify() {
  return verify_global(*this, getTensor().getType(), getCoords().size(), getFrag().getType(), getRowAxis(), getColAxis());
}
LogicalResult StoreGlobalOp::verify() {
  return verify_global(*this, getTensor().getType(), getCoords().size(), getFrag().getType(), getRowAxis(), getColAxis());
}
LogicalResult ReadOp::verify() { return verify_element(*this, getFrom().getType(), getCoords()); }
LogicalResult WriteOp::verify() { return verify_element(*this, getTo().getType(), getCoords()); }
LogicalResult ExtentOp::verify() {
  size_t rank = getTensor().getType().getShape().size();
  if (getAxis() < rank) return success();
  return emitOpError() << "axis " << getAxis() << " of a tensor of rank " << rank;
}

LogicalResult TmaLoadOp::verify() {
  if (failed(verify_begin(*this, getTensor().getType(), getCoords()))) return failure();
  return verify_box(*this, getTensor().getType(), getTile().getType(), getCoords().size(), getRagged().size(), getBox());
}
LogicalResult TmaStoreOp::verify() {
  if (getReduce() && *getReduce() != "add") return emitOpError() << "reduce \"" << *getReduce() << "\", expected add";
  if (getIndexed() && !getRagged().empty()) return emitOpError("a box with ragged rows has no slot");
  for (auto [axis, coordinate] : llvm::enumerate(getCoords())) {
    APInt at;
    if (matchPattern(coordinate, m_ConstantInt(&at)) && at.isNegative())
      return emitOpError() << "coordinate " << at.getSExtValue() << " of axis " << axis << ": TMA stores nothing before the first element; expected 0 or more";
  }
  if (failed(verify_begin(*this, getTensor().getType(), getCoords()))) return failure();
  return verify_box(*this, getTensor().getType(), getTile().getType(), getCoords().size(), getRagged().size(), getBox());
}
LogicalResult LoadOp::verify() {
  return verify_move(*this, getTile().getType(), getFrag().getType(), getTransposed());
}
LogicalResult StoreOp::verify() {
  return verify_move(*this, getTile().getType(), getFrag().getType(), getTransposed());
}
