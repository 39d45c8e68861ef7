#include "runtime/sim/elementwise.h"
#include "runtime/sim/numeric.h"

namespace tilewright::runtime::sim {

#if defined(__x86_64__)
const bool wide_vectors = (__builtin_cpu_init(), __builtin_cpu_supports("avx2"));
#else
const bool wide_vectors = false;
#endif

std::uint64_t canonical_nan(Format f) {
  if (f.exponent == 11) return 0x7ff8000000000000ull;
  if (f.exponent == 8 && f.mantissa == 10) return 0x7fffffffull >> 13;
  return (1ull << (f.mantissa + f.exponent)) - 1;   // 0x7fff, 0x7fffffff
}

std::uint64_t round_to(bool negative, std::uint64_t magnitude, int exponent, bool sticky, Format f, Rounding r) {
  const std::uint64_t sign = static_cast<std::uint64_t>(negative) << (f.mantissa + f.exponent);
  if (magnitude == 0) return sign;
  const int shift = std::countl_zero(magnitude);
  magnitude <<= shift;
  const int e = exponent - shift + 63;              // value = 1.f * 2^e, f the fraction bits
  const int bias = (1 << (f.exponent - 1)) - 1;
  const int least = 1 - bias;
  const int kept = f.mantissa + 1 - (e < least ? least - e : 0);
  const int drop = 64 - kept;
  std::uint64_t q = 0;
  bool guard = false;
  if (drop > 64) {
    sticky = true;
  } else if (drop == 64) {
    guard = magnitude >> 63;
    sticky |= (magnitude << 1) != 0;
  } else {
    q = magnitude >> drop;
    guard = (magnitude >> (drop - 1)) & 1;
    sticky |= (magnitude & ((1ull << (drop - 1)) - 1)) != 0;
  }
  bool up = false;
  switch (r) {
    case Rounding::nearest_even: up = guard && (sticky || (q & 1)); break;
    case Rounding::nearest_away: up = guard; break;
    case Rounding::zero: break;
    case Rounding::down: up = negative && (guard || sticky); break;
    case Rounding::up: up = !negative && (guard || sticky); break;
  }
  q += up;
  const std::uint64_t infinity = ((1ull << f.exponent) - 1) << f.mantissa;
  std::uint64_t bits = q;
  if (e >= least) bits = e + bias >= (1 << f.exponent) - 1 ? infinity : (static_cast<std::uint64_t>(e + bias) << f.mantissa) + (q - (1ull << f.mantissa));
  if (bits >= infinity) {
    const bool to_infinity = r == Rounding::nearest_even || r == Rounding::nearest_away || (r == Rounding::down && negative) ||
                             (r == Rounding::up && !negative);
    bits = to_infinity ? infinity : infinity - 1;
  }
  return sign | bits;
}

std::uint64_t round_to(double x, Format f, Rounding r) {
  if (x != x) return canonical_nan(f);
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const bool negative = bits >> 63;
  const int e = static_cast<int>((bits >> 52) & 0x7ff);
  const std::uint64_t m = bits & ((1ull << 52) - 1);
  if (e == 0x7ff) return (static_cast<std::uint64_t>(negative) << (f.mantissa + f.exponent)) | (((1ull << f.exponent) - 1) << f.mantissa);
  if (e == 0) return round_to(negative, m, -1074, false, f, r);
  return round_to(negative, m | 1ull << 52, e - 1075, false, f, r);
}

}  // namespace tilewright::runtime::sim
