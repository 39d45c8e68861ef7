#pragma once
#include <bit>
#include <cstdint>

/// Conversions between float and the two 16-bit float formats, as bits. All round to nearest, ties to even;
/// overflow gives infinity, NaN stays a (quiet) NaN, subnormal numbers are kept.
namespace tilewright {

inline std::uint16_t bf16_from_float(float x) {
  auto u = std::bit_cast<std::uint32_t>(x);
  if ((u & 0x7fffffffu) > 0x7f800000u)
    return std::uint16_t(u >> 16 | 0x40u);
  return std::uint16_t((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}

inline float float_from_bf16(std::uint16_t h) { return std::bit_cast<float>(std::uint32_t(h) << 16); }

inline std::uint16_t f16_from_float(float x) {
  auto u = std::bit_cast<std::uint32_t>(x);
  std::uint32_t sign = u >> 16 & 0x8000u, magnitude = u & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return std::uint16_t(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu));
  if (magnitude >= 0x477ff000u) // 65520, half way between the largest number and the next power of two
    return std::uint16_t(sign | 0x7c00u);
  if (magnitude < 0x38800000u) { // below 2^-14: the sum lines up the last bit of a subnormal with that of a float
    float aligned = std::bit_cast<float>(magnitude) + 0.5f;
    return std::uint16_t(sign | (std::bit_cast<std::uint32_t>(aligned) - 0x3f000000u));
  }
  std::uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
  return std::uint16_t(sign | ((rounded - 0x38000000u) >> 13));
}

inline float float_from_f16(std::uint16_t h) {
  std::uint32_t sign = std::uint32_t(h & 0x8000u) << 16, exponent = h >> 10 & 0x1fu, fraction = h & 0x3ffu;
  if (exponent == 0x1fu)
    return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent == 0) { // zero or fraction * 2^-24
    float magnitude = float(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  return std::bit_cast<float>(sign | (exponent + 112u) << 23 | fraction << 13);
}

} // namespace tilewright
