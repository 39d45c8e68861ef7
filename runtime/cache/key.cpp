// SHA-256 after FIPS 180-4.
#include "runtime/cache/key.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tilewright::cache {
namespace {

/// First 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2).
constexpr std::array<std::uint32_t, 64> kRound{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr char kDigits[] = "0123456789abcdef";

std::uint32_t big_endian(const std::uint8_t* p) {
  return std::uint32_t{p[0]} << 24 | std::uint32_t{p[1]} << 16 | std::uint32_t{p[2]} << 8 | std::uint32_t{p[3]};
}

}  // namespace

std::string Key::text() const {
  std::string text;
  for (const std::uint8_t byte : bytes) text += {kDigits[byte >> 4], kDigits[byte & 15]};
  return text;
}

std::optional<Key> Key::parse(std::string_view text) {
  Key key;
  if (text.size() != 2 * key.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char* digit = std::find(kDigits, kDigits + 16, text[i]);
    if (digit == kDigits + 16) return std::nullopt;
    key.bytes[i / 2] = static_cast<std::uint8_t>(key.bytes[i / 2] << 4 | (digit - kDigits));
  }
  return key;
}

KeyBuilder::KeyBuilder()
    : state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

KeyBuilder& KeyBuilder::add(std::string_view name, std::string_view value) {
  const std::string lengths = std::to_string(name.size()) + ":" + std::to_string(value.size()) + ":";
  append(lengths);
  append(name);
  append(value);
  return *this;
}

KeyBuilder& KeyBuilder::add(std::string_view name, std::uint64_t value) { return add(name, std::to_string(value)); }

void KeyBuilder::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t used = length_ % 64, count = std::min(bytes.size(), 64 - used);
    std::memcpy(buffer_.data() + used, bytes.data(), count);
    length_ += count;
    bytes.remove_prefix(count);
    if (length_ % 64 == 0) block(buffer_.data());
  }
}

void KeyBuilder::block(const std::uint8_t* bytes) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t t = 0; t < 16; ++t) w[t] = big_endian(bytes + 4 * t);
  for (std::size_t t = 16; t < 64; ++t) {
    const std::uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
    const std::uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t t = 0; t < 64; ++t) {
    const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25), choice = (e & f) ^ (~e & g);
    const std::uint32_t t1 = h + s1 + choice + kRound[t] + w[t];
    const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22), majority = (a & b) ^ (a & c) ^ (b & c);
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + s0 + majority;
  }
  const std::array<std::uint32_t, 8> end{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state_[i] += end[i];
}

Key KeyBuilder::finish() {
  const std::uint64_t bits = length_ * 8;
  append(std::string_view("\x80", 1));
  while (length_ % 64 != 56) append(std::string_view("\0", 1));
  std::array<char, 8> length;
  for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(bits >> (56 - 8 * i));
  append({length.data(), length.size()});
  Key key;
  for (std::size_t i = 0; i < 32; ++i) key.bytes[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  return key;
}

}  // namespace tilewright::cache
