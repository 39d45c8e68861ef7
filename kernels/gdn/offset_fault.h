// What the prologue tells the host of a bad offset, in memory that both see.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tilewright::gdn {

/// One bad offset. `place` is written last; the host sets it back to 0.
struct OffsetFault {
  std::int32_t place = 0;                      ///< 1 + the offset's number; 0: none
  std::uint32_t low = 0, high = 0;             ///< the offset, 64 bits
  std::int32_t least = 0, tokens = 0;          ///< it should have been in least..tokens
};
/// The record as words of a tensor.
inline constexpr int kFaultWords = sizeof(OffsetFault) / 4;
static_assert(kFaultWords == 5 && offsetof(OffsetFault, tokens) == 16);

}  // namespace tilewright::gdn
