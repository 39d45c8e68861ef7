// f32 and f64 arithmetic with PTX's roundings, flushing, saturation and canonical NaN; the entry for all float opcodes.
#include <cfenv>
#include <cstring>

#include "runtime/sim/elementwise.h"
#include "runtime/sim/floats.h"
#include "runtime/sim/integer.h"
#include "runtime/sim/numeric.h"

namespace tilewright::runtime::sim {

using ptx::ScalarType;

namespace {

struct Add { template <class T> static T apply(T a, T b) { return a + b; } };
struct Sub { template <class T> static T apply(T a, T b) { return a - b; } };
struct Mul { template <class T> static T apply(T a, T b) { return a * b; } };
struct Div { template <class T> static T apply(T a, T b) { return a / b; } };
struct Fma { template <class T> static T apply(T a, T b, T c) { return std::fma(a, b, c); } };
struct Sqrt { template <class T> static T apply(T a) { return std::sqrt(a); } };
struct Rcp { template <class T> static T apply(T a) { return T{1} / a; } };
struct Min {   // a NaN loses against a number; -0 is below +0
  template <class T> static T apply(T a, T b) {
    if (a != a) return b;
    if (b != b) return a;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
  }
};
struct Max {
  template <class T> static T apply(T a, T b) {
    if (a != a) return b;
    if (b != b) return a;
    if (a == b) return std::signbit(a) ? b : a;
    return a > b ? a : b;
  }
};
struct MinNaN { template <class T> static T apply(T a, T b) { return a != a || b != b ? a + b : Min::apply(a, b); } };
struct MaxNaN { template <class T> static T apply(T a, T b) { return a != a || b != b ? a + b : Max::apply(a, b); } };

/// Whether a result is below the normal numbers once it is rounded to 24 bits, however small its exponent: what .ftz flushes. The
/// processor rounds at the subnormals' last bit, so that some of these become the least normal number.
inline bool below_normal(double exact) { return std::fabs(static_cast<float>(exact * 0x1p30)) < 0x1p-96f; }

template <class F, bool Ftz, bool Sat>
struct Single {
  template <class... In>
  static float apply(In... in) {
    float r = F::apply(flush_if<Ftz>(in)...);
    if constexpr (Ftz) {
      if (std::fabs(r) <= 0x1p-126f && (std::fabs(r) < 0x1p-126f || below_normal(F::apply(static_cast<double>(flush(in))...)))) r = std::copysign(0.0f, r);
    }
    if constexpr (Sat) return saturate(r);
    else return canonical(r);
  }
};

// The lanes' numbers are loaded behind the first call and stored before the second: no compiler moves the arithmetic out.
template <int mode, Execute exec>
Step rounded(Warp& w, const Instruction& i, LaneMask m) {
  std::fesetround(mode);
  const Step s = exec(w, i, m);
  std::fesetround(FE_TONEAREST);
  return s;
}

template <Execute exec>
Execute with_rounding(std::string_view r) {
  return r == "rz" ? rounded<FE_TOWARDZERO, exec> : r == "rm" ? rounded<FE_DOWNWARD, exec> : r == "rp" ? rounded<FE_UPWARD, exec> : exec;
}

template <class T, class F, unsigned sources>
constexpr Execute lanes_of() {
  if constexpr (sources == 1) return unary<T, F>;
  else if constexpr (sources == 2) return binary<T, F>;
  else return ternary<T, F>;
}

template <class F, unsigned sources>
Execute single(bool ftz, bool sat, std::string_view r) {
  if (sat) return ftz ? with_rounding<lanes_of<float, Single<F, true, true>, sources>()>(r) : with_rounding<lanes_of<float, Single<F, false, true>, sources>()>(r);
  return ftz ? with_rounding<lanes_of<float, Single<F, true, false>, sources>()>(r) : with_rounding<lanes_of<float, Single<F, false, false>, sources>()>(r);
}

#if defined(__x86_64__)
// The common fma with the processor's own instruction where it has one; the same result as std::fma.
template <bool Ftz>
__attribute__((target("avx2,fma"))) Step fast_fma(Warp& w, const Instruction& i, LaneMask m) {
  float* d = w.out<float>(i.out[0]);
  const float* a = w.in<float>(i.in[0]);
  const float* b = w.in<float>(i.in[1]);
  const float* c = w.in<float>(i.in[2]);
  float r[warp_lanes];   // of all lanes: one that is off costs nothing
  for (unsigned l = 0; l < warp_lanes; ++l) r[l] = canonical(flush_if<Ftz>(__builtin_fmaf(flush_if<Ftz>(a[l]), flush_if<Ftz>(b[l]), flush_if<Ftz>(c[l]))));
  if constexpr (Ftz) {
    for (unsigned l = 0; l < warp_lanes; ++l)
      if (std::fabs(r[l]) == 0x1p-126f) r[l] = Single<Fma, true, false>::apply(a[l], b[l], c[l]);
  }
  if (m == all_lanes) {
    std::memcpy(d, r, sizeof r);
  } else {
    for (unsigned l = 0; l < warp_lanes; ++l)
      if (m >> l & 1) d[l] = r[l];
  }
  return Step::next;
}
#endif

Execute single_fma(bool ftz, bool sat, std::string_view r) {
#if defined(__x86_64__)
  if (!sat && (r.empty() || r == "rn") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) return ftz ? fast_fma<true> : fast_fma<false>;
#endif
  return single<Fma, 3>(ftz, sat, r);
}

struct NegF32 { static float apply(float a) { return canonical(-a); } };   // not a change of the sign bit: a NaN becomes the canonical one
struct AbsF32 { static float apply(float a) { return canonical(std::fabs(a)); } };
struct NegF32Ftz { static float apply(float a) { return canonical(flush(-a)); } };
struct AbsF32Ftz { static float apply(float a) { return canonical(flush(std::fabs(a))); } };
struct NegF64 { static std::uint64_t apply(std::uint64_t a) { return a ^ 1ull << 63; } };
struct AbsF64 { static std::uint64_t apply(std::uint64_t a) { return a & ~(1ull << 63); } };
template <class T> struct CopySign { static T apply(T a, T b) {   // the sign of a on b
  constexpr T top = T{1} << (8 * sizeof(T) - 1);
  return (a & top) | (b & ~top); } };

Execute executor(std::string_view name, bool wide, bool ftz, bool sat, bool nan, std::string_view r) {
  if (wide) {
    if (name == "add") return with_rounding<binary<double, Add>>(r);
    if (name == "sub") return with_rounding<binary<double, Sub>>(r);
    if (name == "mul") return with_rounding<binary<double, Mul>>(r);
    if (name == "div") return with_rounding<binary<double, Div>>(r);
    if (name == "fma" || name == "mad") return with_rounding<ternary<double, Fma>>(r);
    if (name == "sqrt") return with_rounding<unary<double, Sqrt>>(r);
    if (name == "rcp") return with_rounding<unary<double, Rcp>>(r);
    if (name == "min") return binary<double, Min>;
    if (name == "max") return binary<double, Max>;
    if (name == "neg") return unary<std::uint64_t, NegF64>;
    if (name == "abs") return unary<std::uint64_t, AbsF64>;
    if (name == "copysign") return binary<std::uint64_t, CopySign<std::uint64_t>>;
    return nullptr;
  }
  if (name == "add") return single<Add, 2>(ftz, sat, r);
  if (name == "sub") return single<Sub, 2>(ftz, sat, r);
  if (name == "mul") return single<Mul, 2>(ftz, sat, r);
  if (name == "div") return single<Div, 2>(ftz, sat, r);
  if (name == "fma" || name == "mad") return single_fma(ftz, sat, r);
  if (name == "sqrt") return single<Sqrt, 1>(ftz, sat, r);
  if (name == "rcp") return single<Rcp, 1>(ftz, sat, r);
  if (name == "min") return nan ? single<MinNaN, 2>(ftz, sat, r) : single<Min, 2>(ftz, sat, r);
  if (name == "max") return nan ? single<MaxNaN, 2>(ftz, sat, r) : single<Max, 2>(ftz, sat, r);
  if (name == "neg") return ftz ? unary<float, NegF32Ftz> : unary<float, NegF32>;
  if (name == "abs") return ftz ? unary<float, AbsF32Ftz> : unary<float, AbsF32>;
  if (name == "copysign") return binary<std::uint32_t, CopySign<std::uint32_t>>;
  return nullptr;
}

bool has(const Decode& d, std::string_view modifier) {
  for (const std::string_view m : d.statement().parts)
    if (m == modifier) return true;
  return false;
}

ScalarType last_type(const Decode& d) {
  for (auto m = d.statement().parts.rbegin(); m != d.statement().parts.rend(); ++m)
    if (const auto t = ptx::scalar_type(*m)) return *t;
  d.unsupported("it names no type");
}

void decode_number(Decode& d) {
  const ScalarType t = last_type(d);
  if (!ptx::is_float(t)) {
    if (has(d, "cc")) return decode_carry_out(d);
    return decode_integer(d);
  }
  Instruction& i = d.instruction();
  i.group = InstructionClass::floating;
  if (t != ScalarType::f32 && t != ScalarType::f64) return decode_half(d);
  if (has(d, "approx") || has(d, "full")) return decode_math(d);
  const std::string_view name = d.statement().parts[0];
  const std::string_view rounding = d.take_any({"rn", "rz", "rm", "rp"});
  const bool ftz = d.take("ftz"), sat = d.take("sat"), nan = d.take("NaN");
  if (d.type() != t) d.unsupported();
  const bool one = name == "sqrt" || name == "rcp" || name == "neg" || name == "abs";
  take_operands(d, t, one ? 1 : name == "fma" || name == "mad" ? 3 : 2);
  set_exec(d, executor(name, t == ScalarType::f64, ftz, sat, nan, rounding));
}

template <class T>
Step test_property(Warp& w, const Instruction& i, LaneMask m) {
  const T* a = w.in<T>(i.in[0]);
  LaneMask r = 0;
  each_lane(m, [&](unsigned l) {
    const T x = a[l];
    const bool subnormal = std::fpclassify(x) == FP_SUBNORMAL;
    const bool yes[] = {std::isfinite(x), std::isinf(x), x == x, x != x, std::isnormal(x) , subnormal};
    r |= static_cast<LaneMask>(yes[i.extra[0]]) << l;
  });
  w.set_predicate(i.out[0], m, r);
  return Step::next;
}

void decode_testp(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::predicate;
  static constexpr std::string_view names[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
  i.extra[0] = -1;
  for (int n = 0; n < 6; ++n)
    if (d.take(names[n])) i.extra[0] = n;
  const ScalarType t = d.type();
  if (i.extra[0] < 0) d.unsupported();
  d.expect_operands(2, 2);
  i.out[0] = d.predicate_out(d.operand(0));
  i.in[0] = d.in(1, t);
  set_exec(d, t == ScalarType::f32 ? test_property<float> : t == ScalarType::f64 ? test_property<double> : nullptr);
}

}  // namespace

void add_float_family(DecoderTable& t) {
  for (const char* n : {"add", "sub", "mul", "fma", "mad", "div", "neg", "abs", "min", "max", "sqrt", "rcp", "copysign"}) t[n] = decode_number;
  for (const char* n : {"ex2", "lg2", "sin", "cos", "tanh", "rsqrt"}) t[n] = decode_math;
  t["testp"] = decode_testp;
}

}  // namespace tilewright::runtime::sim
