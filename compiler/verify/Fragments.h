// What operations do to fragments.
#pragma once
#include "dialect/tile/Tile.h"

namespace tilewright::verify {

/// A fragment, or the columns of it that a view names.
struct Part {
  mlir::Value root;
  std::int64_t first = 0, end = 0;

  explicit Part(mlir::Value frag);
  bool overlaps(const Part& o) const { return root == o.root && first < o.end && o.first < end; }
  bool is(const Part& o) const { return root == o.root && first == o.first && end == o.end; }
};
/// "fragment "name"", or "fragment" where it has no name.
std::string name_of(mlir::Value frag);

/// Operands that are fragments. `updates` are read and written: accumulators.
struct FragmentUses {
  llvm::SmallVector<mlir::Value, 4> reads, updates, writes;
};
FragmentUses fragment_uses(mlir::Operation* op);

}  // namespace tilewright::verify
