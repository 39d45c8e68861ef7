// f16, bf16, f16x2 and bf16x2 arithmetic: computed wide, rounded once.
#include "runtime/sim/elementwise.h"
#include "runtime/sim/floats.h"
#include "runtime/sim/numeric.h"

namespace tilewright::runtime::sim {

using ptx::ScalarType;

namespace {

struct Add { static double apply(double a, double b) { return fused(a, 1.0, b); } };
struct Sub { static double apply(double a, double b) { return fused(a, 1.0, -b); } };
struct Mul { static double apply(double a, double b) { return a * b; } };
struct Fma { static double apply(double a, double b, double c) { return fused(a, b, c); } };
struct Neg { static double apply(double a) { return -a; } };
struct Abs { static double apply(double a) { return std::fabs(a); } };
struct Min {
  static double apply(double a, double b) { return a != a ? b : b != b ? a : a == b ? (std::signbit(a) ? a : b) : a < b ? a : b; }
};
struct Max {
  static double apply(double a, double b) { return a != a ? b : b != b ? a : a == b ? (std::signbit(a) ? b : a) : a > b ? a : b; }
};
struct MinNaN { static double apply(double a, double b) { return a != a || b != b ? a + b : Min::apply(a, b); } };
struct MaxNaN { static double apply(double a, double b) { return a != a || b != b ? a + b : Max::apply(a, b); } };
struct Ex2 { static double apply(double a) { return std::exp2(a); } };
struct Tanh { static double apply(double a) { return std::tanh(a); } };

// extra: 0 ftz, 1 sat, 2 relu
template <class Type, class F, unsigned sources, unsigned parts>
Step half_lanes(Warp& w, const Instruction& i, LaneMask m) {
  auto* d = w.out<std::uint16_t>(i.out[0]);
  const std::uint16_t* s[3] = {};
  for (unsigned n = 0; n < sources; ++n) s[n] = w.in<std::uint16_t>(i.in[n]);
  const auto flushed = [&](double x) { return i.extra[0] && std::fabs(x) < Type::smallest_normal ? std::copysign(0.0, x) : x; };
  each_lane(m, [&](unsigned l) {
    for (unsigned e = l * parts; e < (l + 1) * parts; ++e) {
      const auto at = [&](unsigned n) { return flushed(Type::widen(s[n][e])); };
      double r;
      if constexpr (sources == 1) r = F::apply(at(0));
      else if constexpr (sources == 2) r = F::apply(at(0), at(1));
      else r = F::apply(at(0), at(1), at(2));
      r = flushed(r);
      if (i.extra[1]) r = r > 0.0 ? (r > 1.0 ? 1.0 : r) : 0.0;
      if (i.extra[2] && r <= 0.0) r = 0.0;   // -0 too
      d[e] = Type::narrow(r);
    }
  });
  return Step::next;
}

template <class F, unsigned sources>
Execute half_executor(ScalarType t) {
  switch (t) {
    case ScalarType::f16: return half_lanes<Half, F, sources, 1>;
    case ScalarType::f16x2: return half_lanes<Half, F, sources, 2>;
    case ScalarType::bf16: return half_lanes<Bfloat, F, sources, 1>;
    case ScalarType::bf16x2: return half_lanes<Bfloat, F, sources, 2>;
    default: return nullptr;
  }
}

}  // namespace

void decode_half(Decode& d) {
  Instruction& i = d.instruction();
  const std::string_view name = d.statement().parts[0];
  i.group = name == "ex2" || name == "tanh" ? InstructionClass::special_function : InstructionClass::floating;
  d.take_any({"rn", "approx"});
  const bool nan = d.take("NaN");
  i.extra = {d.take("ftz"), d.take("sat"), d.take("relu")};
  const ScalarType t = d.type();
  const unsigned sources = name == "neg" || name == "abs" || name == "ex2" || name == "tanh" ? 1 : name == "fma" ? 3 : 2;
  take_operands(d, t, sources);
  Execute e = nullptr;
  if (name == "add") e = half_executor<Add, 2>(t);
  else if (name == "sub") e = half_executor<Sub, 2>(t);
  else if (name == "mul") e = half_executor<Mul, 2>(t);
  else if (name == "fma") e = half_executor<Fma, 3>(t);
  else if (name == "neg") e = half_executor<Neg, 1>(t);
  else if (name == "abs") e = half_executor<Abs, 1>(t);
  else if (name == "min") e = nan ? half_executor<MinNaN, 2>(t) : half_executor<Min, 2>(t);
  else if (name == "max") e = nan ? half_executor<MaxNaN, 2>(t) : half_executor<Max, 2>(t);
  else if (name == "ex2") e = half_executor<Ex2, 1>(t);
  else if (name == "tanh") e = half_executor<Tanh, 1>(t);
  set_exec(d, e);
}

}  // namespace tilewright::runtime::sim
