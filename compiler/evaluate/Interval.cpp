#include "compiler/evaluate/Interval.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "tilewright/half.h"

namespace tilewright::evaluate {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr Interval kNan{std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::quiet_NaN()};

float below(double x) {
  const float f = static_cast<float>(x);
  return f > x ? std::nextafter(f, -kInfinity) : f;
}
float above(double x) {
  const float f = static_cast<float>(x);
  return f < x ? std::nextafter(f, kInfinity) : f;
}

float round_tf32(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if ((bits & 0x7f800000u) != 0x7f800000u) bits = (bits + 0xfffu + (bits >> 13 & 1)) & ~0x1fffu;
  std::memcpy(&x, &bits, sizeof bits);
  return x;
}

}  // namespace

Interval outward(double lo, double hi, double error) {
  if (std::isnan(lo) || std::isnan(hi)) return kNan;
  return {below(lo - error), above(hi + error)};
}
Interval add(Interval a, Interval b) { return outward(double(a.lo) + b.lo, double(a.hi) + b.hi); }
Interval subtract(Interval a, Interval b) { return outward(double(a.lo) - b.hi, double(a.hi) - b.lo); }
Interval multiply(Interval a, Interval b) {
  const double all[] = {double(a.lo) * b.lo, double(a.lo) * b.hi, double(a.hi) * b.lo, double(a.hi) * b.hi};
  for (double x : all)
    if (std::isnan(x)) return kNan;
  return outward(*std::min_element(all, all + 4), *std::max_element(all, all + 4));
}
Interval divide(Interval a, Interval b) {
  if (a.nan() || b.nan()) return kNan;
  if (b.lo <= 0 && b.hi >= 0) return b.exact() && a.exact() && a.lo != 0 ? Interval{a.lo / b.lo, a.lo / b.lo} : b.exact() && a.exact() ? kNan : Interval{-kInfinity, kInfinity};
  const double all[] = {double(a.lo) / b.lo, double(a.lo) / b.hi, double(a.hi) / b.lo, double(a.hi) / b.hi};
  const double lo = *std::min_element(all, all + 4), hi = *std::max_element(all, all + 4);
  return outward(lo, hi, 0x1p-22 * std::max(std::abs(lo), std::abs(hi)));
}
Interval maximum(Interval a, Interval b) {
  if (a.nan() || b.nan()) return a.nan() ? b : a;
  return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
}
Interval minimum(Interval a, Interval b) {
  if (a.nan() || b.nan()) return a.nan() ? b : a;
  return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
}
Interval negate(Interval a) { return {-a.hi, -a.lo}; }
Interval absolute(Interval a) {
  if (a.nan() || a.lo >= 0) return a;
  if (a.hi <= 0) return negate(a);
  return {0, std::max(-a.lo, a.hi)};
}
Interval monotone(Interval a, const std::function<double(double)>& f, double relative, double absolute) {
  if (a.nan()) return kNan;
  const double lo = f(a.lo), hi = f(a.hi);
  if (std::isnan(lo) || std::isnan(hi)) return kNan;
  return {below(lo - std::abs(lo) * relative - absolute), above(hi + std::abs(hi) * relative + absolute)};
}
Interval rounded(Interval a, const std::string& element) {
  if (a.nan() || element == "f32") return a;
  const auto round = [&](float x) {
    if (element == "bf16") return float_from_bf16(bf16_from_float(x));
    if (element == "f16") return float_from_f16(f16_from_float(x));
    return round_tf32(x);
  };
  return {round(a.lo), round(a.hi)};
}
Interval cut_to_tf32(Interval a) {
  const auto cut = [](float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    bits &= ~0x1fffu;
    std::memcpy(&x, &bits, sizeof bits);
    return x;
  };
  return a.nan() ? a : Interval{cut(a.lo), cut(a.hi)};
}
Interval hull(Interval a, Interval b) {
  if (a.nan() && b.nan()) return a;
  if (a.nan() || b.nan()) return {-kInfinity, kInfinity};
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

int lowest_bit(float x) {
  if (x == 0) return 1000;
  if (!std::isfinite(x)) return -1000;
  int exponent;
  const double significand = std::frexp(std::abs(x), &exponent);  // in [0.5, 1)
  const auto bits = static_cast<std::uint32_t>(std::ldexp(significand, 24));
  return exponent - 24 + __builtin_ctz(bits);
}

void Sum::add(Interval x) {
  lo_ += x.lo;
  hi_ += x.hi;
  magnitude_ += std::max(std::abs(x.lo), std::abs(x.hi));
  exact_ &= x.exact();
  lowest_ = std::min(lowest_, lowest_bit(x.lo));
}
void Sum::add_products(double sum, double magnitude, int lowest) {
  lo_ += sum;
  hi_ += sum;
  magnitude_ += magnitude;
  lowest_ = std::min(lowest_, lowest);
}
Interval Sum::value(int bits, double roundings) const {
  if (!std::isfinite(lo_) || !std::isfinite(hi_)) return outward(lo_, hi_);
  if (exact_ && (magnitude_ == 0 || magnitude_ <= std::ldexp(1.0, bits + std::max(lowest_, -1000)))) return outward(lo_, hi_);
  return outward(lo_, hi_, roundings * 0x1p-23 * magnitude_);
}

}  // namespace tilewright::evaluate
