// The passes on the tile dialect, in the order of the pipeline. Each runs on a module of kernels.
#pragma once
#include <memory>

#include "mlir/Pass/Pass.h"

namespace tilewright::passes {

/// Needs: verified structure. Does: gives every shared tile a layout from its uses. Leaves true: `layout` is set.
std::unique_ptr<mlir::Pass> infer_layouts();
/// Needs: layouts. Does: places tiles and barriers in the arena, the tiles of a ring's stage side by side. Leaves true:
/// `offset` (and `stage_stride`) are set, the kernel's `shared_bytes` fits the machine.
std::unique_ptr<mlir::Pass> plan_shared();
/// Needs: layouts. Does: inserts tile.fence_async before the operation that publishes ordinary writes to a tile which TMA or
/// wgmma reads. Leaves true: such writes are fenced on every path.
std::unique_ptr<mlir::Pass> insert_fences();
/// Needs: everything above. Does: rewrites kernels as llvm.func over the hopper dialect, and attaches the sidecar
/// (`tilewright.sidecar`) to the module. Leaves true: no tile op remains.
std::unique_ptr<mlir::Pass> lower_tile();

/// Registers all of them with their command-line names (tile-verify-structure, ...).
void register_tile_passes();

}  // namespace tilewright::passes
