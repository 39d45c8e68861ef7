// Inputs and expected outputs of the kernels that are not operators. The size comes from --shape.
#pragma once
#include "runtime/cli/command.h"
#include "runtime/cli/host_case.h"

namespace tilewright::cli {

HostCase gemm_case(const Options&);  ///< MxNxK, by default 256x256x128
HostCase copy_case(const Options&);  ///< M rows, by default 300

}  // namespace tilewright::cli
