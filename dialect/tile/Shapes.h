// Shapes and element types as the verifiers of tile ops speak of them.
#pragma once
#include "dialect/tile/Tile.h"

namespace tilewright::tile {

inline bool is_16bit(mlir::Type t) { return t.isBF16() || t.isF16(); }

/// Logical extents of an operand: the tile's own, or swapped when it holds the transpose.
inline std::pair<int64_t, int64_t> logical(llvm::ArrayRef<int64_t> shape, bool transposed) {
  return transposed ? std::pair{shape[1], shape[0]} : std::pair{shape[0], shape[1]};
}

inline std::string show(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

}  // namespace tilewright::tile
