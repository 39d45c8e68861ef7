#pragma once
#include "runtime/sim/decode.h"

namespace tilewright::runtime::sim {

/// The integer forms of opcodes that also have float forms.
void decode_integer(Decode&);
/// add.cc and sub.cc.
void decode_carry_out(Decode&);

}  // namespace tilewright::runtime::sim
