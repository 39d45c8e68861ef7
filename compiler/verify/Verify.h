// The passes that only check. They run before the passes of compiler/passes/tile.
#pragma once
#include <memory>

#include "dialect/tile/Tile.h"
#include "mlir/Pass/Pass.h"

namespace tilewright::verify {

/// Needs: a kernel as the DSL builds it. Does: nothing. Leaves true: roles, rings, fragments and products fit each other and
/// the machine (roles named exist, ring operations stand in the right role, budgets fit the pool, TMA boxes are legal).
std::unique_ptr<mlir::Pass> verify_structure();
/// Needs: verified structure. Does: nothing. Leaves true: no fragment or ring stage that a product in flight uses is touched.
std::unique_ptr<mlir::Pass> verify_in_flight();
/// Needs: placed tiles and inserted fences. Does: nothing. Leaves true: what docs/verifier.md lists of barriers and shared memory, for
/// every trip count and interleaving.
std::unique_ptr<mlir::Pass> verify_protocol();

/// What it takes to verify a kernel's protocol, in numbers that are the same on every machine.
struct Effort {
  int runs = 0;
  std::int64_t steps = 0;     ///< operations of all warps in all runs
  std::int64_t compared = 0;  ///< pairs of accesses to shared memory
};
/// The same for one kernel; `effort` is filled in where it succeeds.
mlir::LogicalResult verify_protocol(tile::KernelOp kernel, Effort* effort = nullptr);

}  // namespace tilewright::verify
