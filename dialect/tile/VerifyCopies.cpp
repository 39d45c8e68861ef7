// Structural rules of copies without a tensor map.
#include "dialect/tile/Shapes.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {

constexpr int64_t unit = 16;  // bytes of one access

LogicalResult verify_element(Operation* op, GlobalType tensor, SharedType tile) {
  if (tensor.getElementType() == tile.getElementType()) return success();
  return op->emitOpError() << "tensor holds " << tensor.getElementType() << ", tile holds " << tile.getElementType();
}

LogicalResult verify_box(Operation* op, GlobalType tensor, SharedType tile, ValueRange coords, size_t ragged, ArrayRef<int64_t> box) {
  size_t rank = tensor.getShape().size();
  if (coords.size() != rank || box.size() != rank)
    return op->emitOpError() << "tensor has rank " << rank << ", given " << coords.size() << " coordinates and a box of rank " << box.size();
  if (ragged != 0 && ragged != 2) return op->emitOpError("ragged rows need the first row and the number of rows");
  if (squeeze(box) != squeeze(tile.getShape()))
    return op->emitOpError() << "box " << show(box) << " does not match the tile " << show(tile.getShape()) << "; both must agree after extents of 1 are dropped";
  int64_t bytes = element_bytes(tile.getElementType());
  if (box.back() != tile.getShape()[1] || box.back() * bytes % unit != 0)
    return op->emitOpError() << "the box's rows are " << box.back() * bytes << " bytes and the tile's " << tile.getShape()[1] * bytes
                             << "; expected rows along the tensor's last axis of a multiple of " << unit << " bytes";
  int64_t inner = tensor.getShape().back();
  if (ShapedType::isDynamic(inner) || inner * bytes % unit != 0)
    return op->emitOpError() << "the tensor's last axis is " << (ShapedType::isDynamic(inner) ? "known only at launch" : std::to_string(inner * bytes) + " bytes")
                             << "; expected a multiple of " << unit << " bytes known at build time (use TMA for others)";
  APInt start;
  if (matchPattern(coords.back(), m_ConstantInt(&start)) && start.getSExtValue() * bytes % unit != 0)
    return op->emitOpError() << "the box begins " << start.getSExtValue() * bytes << " bytes into a row; expected a multiple of " << unit;
  return verify_element(op, tensor, tile);
}

LogicalResult verify_bulk(Operation* op, GlobalType tensor, SharedType tile, size_t coords) {
  if (coords != tensor.getShape().size())
    return op->emitOpError() << "tensor has rank " << tensor.getShape().size() << ", given " << coords << " coordinates";
  int64_t bytes = tile.getShape()[0] * tile.getShape()[1] * element_bytes(tile.getElementType());
  if (bytes % unit != 0) return op->emitOpError() << "the tile has " << bytes << " bytes; a bulk copy moves a multiple of " << unit;
  return verify_element(op, tensor, tile);
}

}  // namespace

LogicalResult CopyAsyncOp::verify() {
  return verify_box(*this, getTensor().getType(), getTile().getType(), getCoords(), getRagged().size(), getBox());
}
LogicalResult CopyInOp::verify() {
  return verify_box(*this, getTensor().getType(), getTile().getType(), getCoords(), getRagged().size(), getBox());
}
LogicalResult CopyOutOp::verify() {
  return verify_box(*this, getTensor().getType(), getTile().getType(), getCoords(), getRagged().size(), getBox());
}
LogicalResult BulkLoadOp::verify() { return verify_bulk(*this, getTensor().getType(), getTile().getType(), getCoords().size()); }
LogicalResult BulkStoreOp::verify() { return verify_bulk(*this, getTensor().getType(), getTile().getType(), getCoords().size()); }
