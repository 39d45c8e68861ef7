// The layout of a shared tile, once tile-infer-layouts has chosen its kind.
#pragma once
#include "dialect/layout/layout.h"
#include "dialect/tile/Tile.h"

namespace tilewright::passes {

inline layout::SharedLayout layout_of(tile::SharedOp tile) {
  auto type = tile.getTile().getType();
  return {static_cast<int>(type.getShape()[0]), static_cast<int>(type.getShape()[1]),
          static_cast<int>(tile::element_bytes(type.getElementType())),
          tile.getLayout() == "swizzle128" ? layout::SharedLayout::swizzle128 : layout::SharedLayout::row_major,
          static_cast<int>(tile.getPad())};
}

}  // namespace tilewright::passes
