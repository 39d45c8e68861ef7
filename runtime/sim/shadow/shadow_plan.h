// What each instruction does to shadows, found once for a launch.
#pragma once
#include "runtime/sim/program.h"

namespace tilewright::runtime::sim {

enum class ShadowKind : std::uint8_t {
  none,                // makes no number that has a shadow; what it overwrites loses its own
  arithmetic,          // out[0] = operation(in[0..sources))
  convert,             // float to float
  convert_pair,        // two f32 to a packed pair
  from_integer,        // integer to float
  copy,                // the low bytes of in[0]
  pack, unpack, select, choose,   // mov of vectors, selp, slct
  load, store, shuffle, matrix_load, matrix_store,
  widen_low,           // a 16-bit float's bits moved to the upper half of 32: the same number as f32
  widen_high,          // the lower half cleared: the upper 16-bit float as f32
  lower,               // the upper half moved down
  warp_product, atomic_add
};

struct ShadowPlan {
  ShadowKind kind = ShadowKind::none;
  ptx::ScalarType type = ptx::ScalarType::f32;   // of the operands; of an atomic its type
  ptx::ScalarType to = ptx::ScalarType::f32;     // of the result
  unsigned sources = 0;
  double (*operation)(const double*) = nullptr;
  bool sum = false;                              // adds or subtracts
  bool saturates = false, positive = false;      // .sat, .relu
  std::uint8_t bytes = 0;                        // of a copy
};

ShadowPlan shadow_plan(const Program&, const Instruction&);

}  // namespace tilewright::runtime::sim
