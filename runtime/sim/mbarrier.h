// The mbarrier object: eight bytes of shared memory with phase, arrival counts and bytes still to land.
#pragma once
#include <cstdint>

namespace tilewright::runtime::sim {

struct Cta;

/// Decoded mbarrier. A phase completes when no arrival and no bytes are pending.
struct Mbarrier {
  std::uint32_t expected = 0;   // arrivals of a phase, 1 .. 2^20 - 1
  std::uint32_t pending = 0;    // arrivals still to come
  std::int32_t bytes = 0;       // expected minus landed; may be negative for a while
  std::uint32_t phase = 0;      // parity of the phase that is not complete yet
  bool valid = false;           // initialised and not invalidated

  static Mbarrier unpack(std::uint64_t);
  std::uint64_t pack() const;
};

/// The barrier at a shared address; Fault when it is misaligned, outside, or not initialised.
Mbarrier load_mbarrier(Cta&, std::uint64_t address, int lane);
void store_mbarrier(Cta&, std::uint64_t address, Mbarrier);
/// Counts `count` arrivals and completes the phase when it was the last. Fault when more arrive than expected.
void arrive_mbarrier(Cta&, std::uint64_t address, std::uint32_t count, int lane);
/// Takes landed bytes off and completes the phase when they were the last.
void complete_bytes(Cta&, std::uint64_t address, std::uint32_t bytes, int lane);

}  // namespace tilewright::runtime::sim
