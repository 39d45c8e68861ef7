// The CUDA C++ that a module carries.
#pragma once
#include <vector>

#include "compiler/nvrtc/cuda_function.h"
#include "mlir/IR/BuiltinOps.h"

namespace tilewright {

/// What the module's hopper.cuda_function ops say, in their order.
std::vector<nvrtc::CudaFunction> cuda_functions_of(mlir::ModuleOp module);

}  // namespace tilewright
