// Uses of shared tiles through stages and views.
#pragma once
#include <optional>

#include "dialect/tile/Tile.h"
#include "llvm/ADT/DenseSet.h"
#include "mlir/IR/Matchers.h"

namespace tilewright::verify {

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

/// The ring and the tile of an operation that fills a stage by a copy; null values for any other.
struct Filling {
  mlir::Value ring, tile;
};
inline Filling filling_of(mlir::Operation* op) {
  if (auto load = llvm::dyn_cast<tile::TmaLoadOp>(op)) return {load.getRing(), load.getTile()};
  if (auto load = llvm::dyn_cast<tile::BulkLoadOp>(op)) return {load.getRing(), load.getTile()};
  if (auto copy = llvm::dyn_cast<tile::CopyAsyncOp>(op)) return {copy.getRing(), copy.getTile()};
  return {};
}

/// What copies by TMA and bulk copies bring into each stage of a ring: its tiles, each of them whole, and whether parts of one come from other CTAs.
struct StageCopies {
  std::int64_t bytes = 0;
  bool multicast = false;
};
inline StageCopies stage_copies(tile::RingOp ring) {
  StageCopies copies;
  llvm::SmallDenseSet<mlir::Value> tiles;
  for (mlir::Operation* user : ring.getRing().getUsers()) {
    if (!llvm::isa<tile::TmaLoadOp, tile::BulkLoadOp>(user)) continue;
    auto load = llvm::dyn_cast<tile::TmaLoadOp>(user);
    copies.multicast |= load && load.getMulticast();
    auto tile = root_of(filling_of(user).tile);
    auto type = tile.getTile().getType();
    if (tiles.insert(tile.getTile()).second) copies.bytes += type.getShape()[0] * type.getShape()[1] * tile::element_bytes(type.getElementType());
  }
  return copies;
}

/// Where a tile used by an operation begins in its allocation; no value where that is known only at run time.
struct ViewOrigin {
  std::optional<std::int64_t> row = 0, column = 0;
};
inline ViewOrigin origin_of(mlir::Value tile) {
  ViewOrigin origin;
  auto shift = [](std::optional<std::int64_t>& at, mlir::Value by) {
    llvm::APInt constant;
    if (at && mlir::matchPattern(by, mlir::m_ConstantInt(&constant))) at = *at + constant.getSExtValue();
    else at.reset();
  };
  while (auto view = tile.getDefiningOp<tile::ViewOp>()) {
    shift(origin.row, view.getRow());
    shift(origin.column, view.getColumn());
    tile = view.getTile();
  }
  return origin;
}

}  // namespace tilewright::verify
