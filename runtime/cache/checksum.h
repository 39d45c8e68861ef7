// A fast 64-bit checksum against accidental damage.
#pragma once
#include <cstdint>
#include <string_view>

namespace tilewright::cache {

/// CRC-64 with the polynomial of ECMA-182, reflected (the CRC of xz). It finds every damage within 64 neighbouring bits, and any
/// other with probability 1 - 2^-64. `before` continues the checksum of what came before.
std::uint64_t checksum(std::string_view bytes, std::uint64_t before = 0);

}  // namespace tilewright::cache
