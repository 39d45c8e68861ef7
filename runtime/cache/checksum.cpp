#include "runtime/cache/checksum.h"

#include <array>
#include <cstddef>
#include <cstring>

namespace tilewright::cache {
namespace {

using Table = std::array<std::array<std::uint64_t, 256>, 8>;

/// table[k][b]: what byte b contributes when k more bytes follow it in the same step of eight.
constexpr Table make_table() {
  constexpr std::uint64_t polynomial = 0xc96c5795d7870f42;
  Table table{};
  for (std::size_t b = 0; b < 256; ++b) {
    std::uint64_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? polynomial : 0);
    table[0][b] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t b = 0; b < 256; ++b) table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 255];
  return table;
}

constexpr Table kTable = make_table();

}  // namespace

std::uint64_t checksum(std::string_view bytes, std::uint64_t before) {
  std::uint64_t crc = ~before;
  const char* p = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, p += 8) {
    std::uint64_t word;  // x86-64: little endian
    std::memcpy(&word, p, 8);
    crc ^= word;
    std::uint64_t next = 0;
    for (std::size_t k = 0; k < 8; ++k) next ^= kTable[7 - k][crc >> (8 * k) & 255];
    crc = next;
  }
  for (; left > 0; --left, ++p) crc = crc >> 8 ^ kTable[0][(crc ^ static_cast<unsigned char>(*p)) & 255];
  return ~crc;
}

}  // namespace tilewright::cache
