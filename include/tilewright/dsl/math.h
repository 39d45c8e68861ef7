// Functions of run-time fp32 numbers.
#pragma once
#include "tilewright/dsl/scalar.h"

namespace tilewright {

/// 2^x, to 2 ulp; subnormal results are zero.
inline Real exp2(Real x, Where where = Where::current()) {
  x.builder->at(where);
  return {{x.builder, x.builder->unary(dsl::Unary::exp2, x.id)}};
}
/// log2(x), approximate (2^-22 absolute near 1).
inline Real log2(Real x, Where where = Where::current()) {
  x.builder->at(where);
  return {{x.builder, x.builder->unary(dsl::Unary::log2, x.id)}};
}
/// 1/x, to 1 ulp.
inline Real reciprocal(Real x, Where where = Where::current()) {
  x.builder->at(where);
  return {{x.builder, x.builder->unary(dsl::Unary::rcp, x.id)}};
}
/// Square root, approximate (2^-23 relative); a subnormal x counts as 0.
inline Real sqrt(Real x, Where where = Where::current()) {
  x.builder->at(where);
  return {{x.builder, x.builder->math("sqrt", x.id)}};
}
/// 1/sqrt(x), approximate (2^-22 relative); a subnormal x counts as 0.
inline Real rsqrt(Real x, Where where = Where::current()) {
  x.builder->at(where);
  return {{x.builder, x.builder->math("rsqrt", x.id)}};
}
/// Hyperbolic tangent in one instruction, to 2^-11.
inline Real tanh(Real x, Where where = Where::current()) {
  x.builder->at(where);
  return {{x.builder, x.builder->math("tanh", x.id)}};
}
inline Real abs(Real x, Where where = Where::current()) {
  x.builder->at(where);
  return {{x.builder, x.builder->math("abs", x.id)}};
}
/// The largest integer not above x.
inline Real floor(Real x, Where where = Where::current()) {
  x.builder->at(where);
  return {{x.builder, x.builder->math("floor", x.id)}};
}
/// x rounded to the nearest number of the type T (bf16 or f16), as fp32.
template <class T>
Real round_to(Real x, Where where = Where::current()) {
  static_assert(T::element == Element::bf16 || T::element == Element::f16, "round_to<bf16> or round_to<f16>");
  x.builder->at(where);
  return {{x.builder, x.builder->round(x.id, T::element == Element::bf16 ? "bf16" : "f16")}};
}
/// x rounded to the nearest tf32 number: an operand of a tf32 product that shared memory is to hold.
inline Real round_tf32(Real x, Where where = Where::current()) {
  x.builder->at(where);
  return {{x.builder, x.builder->round(x.id, "tf32")}};
}

/// log2(e) and ln(2).
inline constexpr double kLog2e = 1.4426950408889634, kLn2 = 0.6931471805599453;

/// 1/(1 + e^-x), to 2^-19 relative for |x| < 16; beyond, the error of a small result grows like |x| 2^-23.
inline Real sigmoid(Real x, Where where = Where::current()) { return reciprocal(exp2(x * -kLog2e, where) + 1.0, where); }
/// log(1 + e^x) = max(x, 0) + log(1 + e^-|x|), to 2^-18 relative for x > -16, small results too; below, e^x is off by |x| 2^-23. With
/// y = e^-|x| the second term is 2 artanh(y / (2 + y)), an odd series in at most 1/3.
inline Real softplus(Real x, Where where = Where::current()) {
  Real y = exp2(abs(x, where) * -kLog2e, where), s = y * reciprocal(y + 2.0, where), q = s * s;
  Real series = q * (2.0 / 13) + 2.0 / 11;
  for (int odd = 9; odd >= 1; odd -= 2) series = series * q + 2.0 / odd;
  return max(x, 0.0) + s * series;
}

}  // namespace tilewright
