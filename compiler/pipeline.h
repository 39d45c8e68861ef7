// The one place that lists the passes in order.
#pragma once
#include "mlir/Pass/PassManager.h"

namespace tilewright {

/// tile -> hopper. `protocol`: verifies the kernels' barriers, copies and fences; without it, pieces that are no whole kernels are lowered,
/// too.
void build_tile_pipeline(mlir::OpPassManager& passes, bool protocol = true);

}  // namespace tilewright
