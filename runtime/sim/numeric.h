// Number formats of the GPU on the CPU: half, bfloat16, tf32, their roundings, flushing and the canonical NaN.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace tilewright::runtime::sim {

struct Format {
  int mantissa;   // stored bits
  int exponent;   // bits
};
constexpr Format half_format{10, 5}, bfloat_format{7, 8}, tf32_format{10, 8}, single_format{23, 8}, double_format{52, 11};

enum class Rounding : std::uint8_t { nearest_even, nearest_away, zero, down, up };

/// magnitude * 2^exponent, plus a non-zero part below its last bit when `sticky`, in the format's bits.
std::uint64_t round_to(bool negative, std::uint64_t magnitude, int exponent, bool sticky, Format, Rounding);
/// A double in the format's bits. NaN gives the format's canonical NaN.
std::uint64_t round_to(double, Format, Rounding);
std::uint64_t canonical_nan(Format);

inline float flush(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }
template <bool Ftz>
inline float flush_if(float x) {
  if constexpr (Ftz) return flush(x);
  else return x;
}
inline float canonical(float x) { return x == x ? x : std::bit_cast<float>(0x7fffffffu); }
/// Of [0, 1]; NaN and -0 give +0.
inline float saturate(float x) { return x > 0.0f ? (x > 1.0f ? 1.0f : x) : 0.0f; }

inline float half_to_float(std::uint16_t h) {
  const std::uint32_t sign = (h & 0x8000u) << 16;
  std::uint32_t e = (h >> 10) & 31u;
  std::uint32_t m = h & 0x3ffu;
  if (e == 31) return std::bit_cast<float>(sign | 0x7f800000u | m << 13);
  if (e == 0) {
    const float value = static_cast<float>(m) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
  }
  return std::bit_cast<float>(sign | (e + 112) << 23 | m << 13);
}

inline std::uint16_t float_to_half(float f) {   // to nearest even
  const std::uint32_t x = std::bit_cast<std::uint32_t>(f);
  const std::uint32_t sign = (x >> 16) & 0x8000u;
  const std::uint32_t a = x & 0x7fffffffu;
  if (a > 0x7f800000u) return 0x7fff;
  if (a >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (a < 0x38800000u) {   // subnormal: the addition rounds at the right place
    const float shifted = std::bit_cast<float>(a) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
  }
  const std::uint32_t rounded = a + 0xfffu + ((a >> 13) & 1u);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

inline float bfloat_to_float(std::uint16_t b) { return std::bit_cast<float>(static_cast<std::uint32_t>(b) << 16); }

inline std::uint16_t float_to_bfloat(float f) {   // to nearest even
  const std::uint32_t x = std::bit_cast<std::uint32_t>(f);
  if ((x & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return static_cast<std::uint16_t>((x + 0x7fffu + ((x >> 16) & 1u)) >> 16);
}

/// What the tensor cores read of a tf32 operand: the 13 low bits do not take part.
inline float truncate_tf32(std::uint32_t x) { return std::bit_cast<float>(x & 0xffffe000u); }

/// a * b + c with one rounding at most near `p` bits: exact product, sum rounded to odd in double.
inline double fused(double a, double b, double c) {
  const double p = a * b;   // exact for half and bfloat operands
  const double s = p + c;
  if (!std::isfinite(s)) return s;
  const double t = s - p;
  const double error = (p - (s - t)) + (c - t);
  if (error == 0.0) return s;
  const auto bits = std::bit_cast<std::uint64_t>(s);
  if (bits & 1) return s;
  const bool grow = (error > 0) == (s > 0);
  return std::bit_cast<double>(grow ? bits + 1 : bits - 1);
}

/// A double as a float rounded to odd, so that a second rounding to a shorter format is as if from the double.
inline float to_odd(double d) {
  const float f = static_cast<float>(d);
  if (static_cast<double>(f) == d || d != d || !std::isfinite(d)) return f;
  auto bits = std::bit_cast<std::uint32_t>(f);
  if ((bits & 0x7fffffffu) == 0x7f800000u) return f;
  if (bits & 1u) return f;
  const bool grow = std::fabs(d) > std::fabs(static_cast<double>(f));
  bits = grow ? bits + 1 : bits - 1;
  return std::bit_cast<float>(bits);
}

struct Half {
  static float widen(std::uint16_t h) { return half_to_float(h); }
  static std::uint16_t narrow(double d) { return float_to_half(to_odd(d)); }
  static constexpr float smallest_normal = 0x1p-14f;
};
struct Bfloat {
  static float widen(std::uint16_t h) { return bfloat_to_float(h); }
  static std::uint16_t narrow(double d) { return float_to_bfloat(to_odd(d)); }
  static constexpr float smallest_normal = 0x1p-126f;
};

}  // namespace tilewright::runtime::sim
