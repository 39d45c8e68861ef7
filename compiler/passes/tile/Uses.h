// Uses of shared tiles through stages and views.
#pragma once
#include "dialect/tile/Tile.h"

namespace tilewright::passes {

/// The allocation behind a stage or view.
inline tile::SharedOp root_of(mlir::Value tile) {
  while (true) {
    if (auto at = tile.getDefiningOp<tile::AtOp>()) tile = at.getTile();
    else if (auto view = tile.getDefiningOp<tile::ViewOp>()) tile = view.getTile();
    else return tile.getDefiningOp<tile::SharedOp>();
  }
}

/// Calls f(user, value used) for every operation that uses the tile itself, a stage or a view of it.
inline void for_each_use(tile::SharedOp tile, llvm::function_ref<void(mlir::Operation*, mlir::Value)> f) {
  llvm::SmallVector<mlir::Value> work{tile.getTile()};
  while (!work.empty()) {
    mlir::Value v = work.pop_back_val();
    for (mlir::Operation* user : v.getUsers()) {
      if (llvm::isa<tile::AtOp, tile::ViewOp>(user)) work.push_back(user->getResult(0));
      else f(user, v);
    }
  }
}

}  // namespace tilewright::passes
