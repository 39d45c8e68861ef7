// Where a kernel can be spoilt, and how.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"

namespace tilewright::mutation {

/// One change of one operation. `apply` makes it, once; the other candidates of the same list are void afterwards.
struct Candidate {
  std::string kind;       ///< what is spoilt and how: "release.delete", "parity.flip"
  std::string what;       ///< for people: "release of ring \"in\" in role \"chain\""
  mlir::Operation* op;
  std::function<void()> apply;
};

/// Of a module of tile kernels with all fences: waits, signals, settles, fences and rendezvous, deleted, moved or weakened.
std::vector<Candidate> tile_candidates(mlir::ModuleOp module);
/// Of a module of functions over the hopper dialect: what tile kernels do not say, because it is derived: parities, byte and arrival
/// counts, the initialisation of barriers, fences and commits of products and copies.
std::vector<Candidate> hopper_candidates(mlir::ModuleOp module);

}  // namespace tilewright::mutation
