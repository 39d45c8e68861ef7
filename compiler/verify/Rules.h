// Rules for whole kernels, one function each; VerifyStructure runs them in order. Failure has been reported at the author's line.
#pragma once
#include "dialect/tile/Tile.h"

namespace tilewright::verify {

/// Barriers with named participants: roles exist, arrive and wait where they are named, and only there.
mlir::LogicalResult check_named_barriers(tile::KernelOp kernel);
/// Roles that meet exist, hold whole warps and all come; the barriers of all sets and roles are as many as a CTA has.
mlir::LogicalResult check_meetings(tile::KernelOp kernel);
/// No fragment is read where nothing can have been written to it.
mlir::LogicalResult check_fragments_written(tile::KernelOp kernel);
/// Clusters are of a size that every card runs, and what needs one has one; multicast parts make up the whole tile.
mlir::LogicalResult check_clusters(tile::KernelOp kernel);

}  // namespace tilewright::verify
