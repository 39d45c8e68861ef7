#include "dialect/tile/Tile.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright::tile;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "dialect/tile/TileDialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/tile/TileTypes.cpp.inc"
#define GET_OP_CLASSES
#include "dialect/tile/TileOps.cpp.inc"
#pragma GCC diagnostic pop

void TileDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/tile/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/tile/TileOps.cpp.inc"
      >();
}

namespace {

/// Parses and prints `<64x128xbf16>`, with `?` for extents known at launch.
template <class T>
Type parse_shaped(AsmParser& parser) {
  SmallVector<int64_t> shape;
  Type element;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/true) ||
      parser.parseType(element) || parser.parseGreater())
    return {};
  return T::get(parser.getContext(), shape, element);
}

void print_shaped(AsmPrinter& printer, ArrayRef<int64_t> shape, Type element) {
  printer << "<";
  for (int64_t extent : shape) {
    if (ShapedType::isDynamic(extent))
      printer << "?x";
    else
      printer << extent << "x";
  }
  printer << element << ">";
}

}  // namespace

Type GlobalType::parse(AsmParser& p) { return parse_shaped<GlobalType>(p); }
void GlobalType::print(AsmPrinter& p) const { print_shaped(p, getShape(), getElementType()); }
Type SharedType::parse(AsmParser& p) { return parse_shaped<SharedType>(p); }
void SharedType::print(AsmPrinter& p) const { print_shaped(p, getShape(), getElementType()); }
Type FragType::parse(AsmParser& p) { return parse_shaped<FragType>(p); }
void FragType::print(AsmPrinter& p) const { print_shaped(p, getShape(), getElementType()); }

namespace tilewright::tile {

SmallVector<int64_t> squeeze(ArrayRef<int64_t> extents) {
  SmallVector<int64_t> kept;
  for (int64_t extent : extents)
    if (extent != 1) kept.push_back(extent);
  if (kept.empty()) kept.push_back(1);
  return kept;
}

unsigned element_bytes(Type type) { return type.getIntOrFloatBitWidth() / 8; }

}  // namespace tilewright::tile
