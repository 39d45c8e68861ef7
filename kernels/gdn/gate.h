// From what a caller has to the log of the decay and the write strength, in fp32.
#pragma once
#include <vector>

#include "kernels/gdn/operands.h"

namespace tilewright::gdn {

/// What g holds: the same numbers as tilewright_gate_domain.
enum class GateDomain : std::int32_t { log = 0, linear = 1, raw = 2 };
/// What beta holds: the same numbers as tilewright_beta_domain.
enum class BetaDomain : std::int32_t { value = 0, logit = 1 };

/// beta is floored here, in forward and backward alike, so that T diag(beta)^-1 exists; a negative beta counts as the floor.
inline constexpr double kBetaFloor = 0x1p-40;
/// A gate below this decays to nothing beside any fp32 number; the floor keeps differences of the cumulative sum exact to 1e-3.
inline constexpr double kGateFloor = -80.0;
inline constexpr double kLog2E = 1.4426950408889634;

/// max(x, floor) that keeps NaN.
inline Real at_least(Real x, double floor) { return select(x < floor, floor, x); }

/// ln(1 + y) for -1/2 <= y <= 1, to a few ulp where y is small too: 2 artanh(y / (2 + y)) by its series.
inline Real log1p(Real y) {
  Real z = y * reciprocal(y + 2.0), square = z * z;
  Real sum = square * (1 / 15.0) + 1 / 13.0;
  for (int n : {11, 9, 7, 5, 3, 1}) sum = sum * square + 1.0 / n;
  return z * sum * 2.0;
}

/// The gates of a call.
class Gates {
 public:
  Gates(Kernel& k, const Extent& tokens, Element gate, Element strength)
      : g_(k, "g", tokens, gate), beta_(k, "beta", tokens, strength), a_log_(k, "A_log", 1), dt_bias_(k, "dt_bias", 1),
        gate_domain_(k.scalar_i32("gate_domain")), beta_domain_(k.scalar_i32("beta_domain")), beta_scale_(k.scalar_f32("beta_scale")) {}

  /// What the caller gave for a token that is `valid`: gate and write strength, 0 and 1 where there are none. Called inside a role,
  /// like the others.
  void read(Kernel& k, Pred valid, Index token, Index head, Var<Real>& gate, Var<Real>& strength) const {
    read_gate(k, valid, token, head, gate);
    strength.set(k.real(1.0));
    if_(valid & beta_.present(), [&] { strength.set(beta_.read(token, head)); });
  }

  /// The gate alone.
  void read_gate(Kernel& k, Pred valid, Index token, Index head, Var<Real>& gate) const {
    gate.set(k.real(0.0));
    if_(valid & g_.present(), [&] { gate.set(g_.read(token, head)); });
  }

  /// Natural log of a token's decay, floored.
  Real log_decay(Kernel& k, Real gate, Index head) const {
    std::vector<Var<Real>> one{Var<Real>(gate)};
    to_log_decays(k, one, head);
    return one[0].get();
  }
  /// The same of several tokens of a head, in place of their gates.
  void to_log_decays(Kernel& k, std::vector<Var<Real>>& gates, Index head) const {
    if_(gate_domain_ == static_cast<int>(GateDomain::linear), [&] {
      for (Var<Real>& x : gates) {
        Real a = x.get();
        x.set(select((a > 0.5) & (a < 2.0), log1p(a - 1.0), log2(a) * (1 / kLog2E)));
      }
    });
    if_(gate_domain_ == static_cast<int>(GateDomain::raw), [&] {
      Real bias = dt_bias_.read(k, k.index(0), head, 0.0), rate = -exp2(a_log_.read(k, k.index(0), head, 0.0) * kLog2E);
      for (Var<Real>& given : gates) {
        Real x = given.get() + bias, size = max(x, -x);
        Real softplus = max(x, 0.0) + log1p(exp2(-size * kLog2E));
        given.set(rate * softplus);
      }
    });
    for (Var<Real>& x : gates) x.set(at_least(x.get(), kGateFloor));
  }

  /// A token's write strength, floored.
  Real strength(Real given) const {
    Var<Real> beta(given);
    if_(beta_domain_ == static_cast<int>(BetaDomain::logit), [&] {
      beta.set(beta_scale_ * reciprocal(exp2(-beta.get() * kLog2E) + 1.0));
    });
    return at_least(beta.get(), kBetaFloor);
  }

 private:
  TypedNumbers g_, beta_;
  Numbers a_log_, dt_bias_;
  Index gate_domain_, beta_domain_;
  Real beta_scale_;
};

}  // namespace tilewright::gdn
