// The description that travels beside a kernel's PTX.
#pragma once
#include <string>

#include "compiler/passes/lowering/Lowering.h"

namespace tilewright::passes {

/// JSON: name, threads, dynamic_shared_bytes, cluster, grid, dims, scalars, parameters (in the order of the PTX), tensors, roles
/// (first warp, warps, registers), barriers (name, offset, stages, producer, consumers, arrivals, bytes), mbarriers (name, offset, arrivers,
/// waiters, arrivals), meetings (barrier id, roles, threads), shared (name, offset,
/// stages, shape, layout), allow.
std::string write_sidecar(tile::KernelOp kernel, const lowering::Lowering& lowering);

}  // namespace tilewright::passes
