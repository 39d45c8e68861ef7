// The one place that lists the passes in order.
#pragma once
#include "mlir/Pass/PassManager.h"

namespace tilewright {

/// tile -> hopper.
void build_tile_pipeline(mlir::OpPassManager& passes);

}  // namespace tilewright
