#pragma once
#include "runtime/sim/decode.h"

namespace tilewright::runtime::sim {

/// Arithmetic on f16, bf16 and their packed pairs (half.cpp).
void decode_half(Decode&);
/// Approximate functions: ex2, lg2, sin, cos, tanh, and the approximate rcp, rsqrt, sqrt and div (math.cpp).
void decode_math(Decode&);

}  // namespace tilewright::runtime::sim
