// The one place that lists the passes in order.
#pragma once
#include "compiler/mutation/Mutate.h"
#include "mlir/Pass/PassManager.h"

namespace tilewright {

/// tile -> hopper. `protocol`: verifies the kernels' barriers, copies and fences; without it, pieces that are no whole kernels are lowered,
/// too. With a hook, mutations are made where each stage is complete; the checks of tile kernels come again then.
void build_tile_pipeline(mlir::OpPassManager& passes, bool protocol = true, const mutation::Hook& hook = {});

}  // namespace tilewright
