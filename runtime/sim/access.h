// Where a lane's memory operand lies: checked host pointers in any state space.
#pragma once
#include "runtime/sim/decode.h"
#include "runtime/sim/machine.h"

namespace tilewright::runtime::sim {

std::byte* param_at(Warp&, std::uint64_t address, std::uint64_t bytes, std::uint64_t align, int lane, const char* what);
std::byte* local_at(Warp&, std::uint64_t address, std::uint64_t bytes, std::uint64_t align, unsigned lane, const char* what);
/// A generic address: global memory or one of the windows.
std::byte* generic_at(Warp&, std::uint64_t address, std::uint64_t bytes, std::uint64_t align, unsigned lane, const char* what);

/// The row of 16 bytes that a lane of ldmatrix or stmatrix addresses: lane 8 i + r has row r of matrix i.
std::byte* matrix_row(Warp&, const Instruction&, unsigned lane, const char* what);

template <MemorySpace space>
inline std::byte* locate(Warp& w, std::uint64_t address, std::uint64_t bytes, unsigned lane, const char* what) {
  if constexpr (space == MemorySpace::shared) {
    const std::uint64_t a = shared_address(address);
    Cta& c = *w.cta;
    if (a >= shared_base && a + bytes <= c.shared.size() && (a & (bytes - 1)) == 0) return c.shared.data() + a;
    return c.shared_at(a, bytes, bytes, static_cast<int>(lane), what);
  }
  if constexpr (space == MemorySpace::cluster) {
    std::uint64_t a = shared_address(address);
    return w.cta->owner(a, static_cast<int>(lane)).shared_at(a, bytes, bytes, static_cast<int>(lane), what);
  }
  if constexpr (space == MemorySpace::global) return w.cta->global(address, bytes, bytes, static_cast<int>(lane), what);
  if constexpr (space == MemorySpace::param) return param_at(w, address, bytes, bytes, static_cast<int>(lane), what);
  if constexpr (space == MemorySpace::local) return local_at(w, address, bytes, bytes, lane, what);
  return generic_at(w, address, bytes, bytes, lane, what);
}

/// Takes the state space from the modifiers (generic when none is named).
MemorySpace take_space(Decode&);
/// Takes ordering and scope into the instruction, and caching and eviction modifiers. True for a strong access (relaxed, acquire, ...).
bool take_memory_hints(Decode&);
/// A generic access counts as one to global memory.
InstructionClass class_of(MemorySpace, bool load);
MemoryOrder take_memory_order(Decode&);
MemoryScope take_memory_scope(Decode&);
/// Notes that CTAs may talk where a strong access reaches global memory.
void note_talk(Decode&);

}  // namespace tilewright::runtime::sim
