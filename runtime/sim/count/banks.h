// Passes of a warp's access over the 32 banks of shared memory, four bytes wide each.
#pragma once
#include <array>
#include <cstdint>

#include "runtime/sim/program.h"

namespace tilewright::runtime::sim {

struct Passes {
  unsigned passes = 0;
  unsigned least = 0;
};

/// Lanes with an address < 0 take no part. Accesses of up to four bytes are served for the whole warp at once, of eight bytes for
/// half warps, of 16 bytes for quarter warps; lanes that access the same word share it.
Passes passes_of_access(const std::array<std::int64_t, warp_lanes>& addresses, unsigned bytes);
/// Atomics share nothing: every lane's word takes its own turn at its bank.
Passes passes_of_atomic(const std::array<std::int64_t, warp_lanes>& addresses, unsigned bytes);

}  // namespace tilewright::runtime::sim
