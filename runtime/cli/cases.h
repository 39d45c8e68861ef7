// Inputs and expected outputs of the kernels that are not operators. The size comes from --shape.
#pragma once
#include "runtime/cli/command.h"
#include "runtime/cli/host_case.h"

namespace tilewright::cli {

HostCase gemm_case(const Options&);  ///< MxNxK, by default 256x256x128
HostCase gemm_gelu_case(const Options&);  ///< MxNxK, by default 256x256x128
HostCase copy_case(const Options&);  ///< M rows, by default 300
HostCase softmax_case(const Options&);           ///< MxN, by default 130x200
HostCase linear_attention_case(const Options&);  ///< BxT of 4 heads of 128, by default 2x200

}  // namespace tilewright::cli
