// The description that travels beside a kernel's PTX.
#pragma once
#include <string>

#include "compiler/passes/lowering/Lowering.h"

namespace tilewright::passes {

/// JSON. For the launch: name, threads, dynamic_shared_bytes, cluster, grid, dims, scalars, parameters (in the order of the PTX),
/// tensors, allow. For people, each with the author's line: roles (first warp, warps, registers, id of the named barrier of sync),
/// registers_at_entry, barriers (of rings: name, offset, stages, producer, consumers, arrivals, bytes, tiles),
/// mbarriers (name, offset, arrivers, waiters, arrivals), meetings (barrier id, roles, threads), shared (name, offset, stages,
/// stage_stride, bytes, shape, layout, pad_bytes, overlay), fragments (of a name: role, shape, registers of a thread). Of a
/// traced kernel: trace (the variable with its stamps, and their names by id from 1).
std::string write_sidecar(tile::KernelOp kernel, const lowering::Lowering& lowering);

}  // namespace tilewright::passes
