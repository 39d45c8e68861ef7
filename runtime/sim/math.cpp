// The approximate functions. The simulator computes them to within an ulp, well inside PTX's stated bounds.
#include "runtime/sim/elementwise.h"
#include "runtime/sim/floats.h"
#include "runtime/sim/numeric.h"

namespace tilewright::runtime::sim {

using ptx::ScalarType;

namespace {

struct Ex2 { static float apply(float a) { return std::exp2(a); } };
struct Lg2 { static float apply(float a) { return std::log2(a); } };
struct Sin { static float apply(float a) { return std::sin(a); } };
struct Cos { static float apply(float a) { return std::cos(a); } };
struct Tanh { static float apply(float a) { return std::tanh(a); } };
struct Rcp { static float apply(float a) { return 1.0f / a; } };
struct Rsqrt { static float apply(float a) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(a))); } };
struct Sqrt { static float apply(float a) { return std::sqrt(a); } };
struct Div { static float apply(float a, float b) { return a / b; } };

template <class F, bool Ftz>
struct Approximate {
  static float apply(float a) { return canonical(flush_if<Ftz>(F::apply(flush_if<Ftz>(a)))); }
  static float apply(float a, float b) { return canonical(flush_if<Ftz>(F::apply(flush_if<Ftz>(a), flush_if<Ftz>(b)))); }
};

template <class F>
Execute one(bool ftz) { return ftz ? unary<float, Approximate<F, true>> : unary<float, Approximate<F, false>>; }

// The double forms give the upper half of the result's bits only.
double upper_half(double x) { return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0xffffffff00000000ull); }
struct RcpDouble { static double apply(double a) { return upper_half(1.0 / a); } };
struct RsqrtDouble { static double apply(double a) { return upper_half(1.0 / std::sqrt(a)); } };

}  // namespace

void decode_math(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::special_function;
  const std::string_view name = d.statement().parts[0];
  const ScalarType t = ptx::scalar_type(d.statement().parts.back()).value_or(ScalarType::b8);
  if (t != ScalarType::f32 && t != ScalarType::f64) return decode_half(d);
  if (!d.take("approx") && !d.take("full")) d.unsupported("only the approximate form exists");
  const bool ftz = d.take("ftz");
  d.type();
  take_operands(d, t, name == "div" ? 2 : 1);
  if (t == ScalarType::f64)
    return set_exec(d, name == "rcp" ? unary<double, RcpDouble> : name == "rsqrt" ? unary<double, RsqrtDouble> : nullptr);
  Execute e = nullptr;
  if (name == "ex2") e = one<Ex2>(ftz);
  else if (name == "lg2") e = one<Lg2>(ftz);
  else if (name == "sin") e = one<Sin>(ftz);
  else if (name == "cos") e = one<Cos>(ftz);
  else if (name == "tanh") e = one<Tanh>(ftz);
  else if (name == "rcp") e = one<Rcp>(ftz);
  else if (name == "rsqrt") e = one<Rsqrt>(ftz);
  else if (name == "sqrt") e = one<Sqrt>(ftz);
  else if (name == "div") e = ftz ? binary<float, Approximate<Div, true>> : binary<float, Approximate<Div, false>>;
  set_exec(d, e);
}

}  // namespace tilewright::runtime::sim
