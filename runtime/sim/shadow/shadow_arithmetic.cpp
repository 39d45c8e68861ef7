// Shadows of arithmetic, conversions and atomic additions.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/sim/shadow/shadow_observer.h"

namespace tilewright::runtime::sim {

using ptx::ScalarType;

namespace {

double limited(double x, const ShadowPlan& p) {
  if (p.positive) x = std::fmax(x, 0.0);
  return p.saturates ? std::clamp(x, 0.0, 1.0) : x;
}

bool is_pair(ScalarType t) { return t == ScalarType::f16x2 || t == ScalarType::bf16x2; }
unsigned part_bytes(ScalarType t) { return is_pair(t) ? 2 : ptx::bytes_of(t); }

double integer_at(const std::byte* p, ScalarType t) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, p, ptx::bytes_of(t));
  const unsigned shift = 64 - 8 * ptx::bytes_of(t);
  if (ptx::is_signed(t)) return static_cast<double>(static_cast<std::int64_t>(bits << shift) >> shift);
  return static_cast<double>(bits);
}

}  // namespace

Step ShadowObserver::arithmetic(Warp& w, const Instruction& i, LaneMask m, const ShadowPlan& p) {
  const unsigned bytes = part_bytes(p.type), parts = is_pair(p.type) ? 2 : 1;
  Shadow::Sums& s = sums_of(w, i);
  std::byte* d = w.out<std::byte>(i.out[0]);
  const std::byte* in[3] = {};
  for (unsigned n = 0; n < p.sources; ++n) in[n] = w.in<std::byte>(i.in[n]);
  results_.clear();
  each_lane(m, [&](unsigned l) {
    for (unsigned e = l * parts; e < (l + 1) * parts; ++e) {
      double actual[3], shadow[3];
      for (unsigned n = 0; n < p.sources; ++n) {
        const Shadowed x = number(in[n] + e * bytes, p.type);
        actual[n] = x.actual, shadow[n] = x.shadow;
        note_operand(s, n, x);
      }
      results_.push_back({d + e * bytes, limited(p.operation(shadow), p), limited(p.operation(actual), p)});
    }
  });
  return finish(w, i, m, p.type, p.sum);
}

Step ShadowObserver::convert(Warp& w, const Instruction& i, LaneMask m, const ShadowPlan& p) {   // extra: 4, 5 register widths
  const auto in_width = static_cast<unsigned>(i.extra[4]), out_width = static_cast<unsigned>(i.extra[5]);
  const std::byte* a = w.in<std::byte>(i.in[0]);
  std::byte* d = w.out<std::byte>(i.out[0]);
  Shadow::Sums& s = sums_of(w, i);
  results_.clear();
  each_lane(m, [&](unsigned l) {
    Shadowed x;
    if (p.kind == ShadowKind::from_integer) x.actual = x.shadow = integer_at(a + l * in_width, p.type);
    else x = number(a + l * in_width, p.type);
    note_operand(s, 0, x);
    results_.push_back({d + l * out_width, limited(x.shadow, p), limited(x.actual, p)});
  });
  return finish(w, i, m, p.to, false);
}

Step ShadowObserver::convert_pair(Warp& w, const Instruction& i, LaneMask m, const ShadowPlan& p) {   // in[0] goes to the upper half
  std::byte* d = w.out<std::byte>(i.out[0]);
  Shadow::Sums& s = sums_of(w, i);
  results_.clear();
  each_lane(m, [&](unsigned l) {
    for (unsigned n = 0; n < 2; ++n) {
      const Shadowed x = number(w.in<std::byte>(i.in[n]) + l * 4, p.type);
      note_operand(s, 0, x);
      results_.push_back({d + l * 4 + (n ? 0 : 2), limited(x.shadow, p), limited(x.actual, p)});
    }
  });
  return finish(w, i, m, p.to, false);
}

// The bits of a 16-bit float move between the halves of a register. As a bfloat in the upper half above zeros it is an f32 of the
// same value; whether it is one shows when somebody reads it as such.
Step ShadowObserver::widen(Warp& w, const Instruction& i, LaneMask m, ShadowKind kind) {
  const std::byte* a = w.in<std::byte>(i.in[0]) + (kind == ShadowKind::widen_low ? 0 : 2);
  std::byte* d = w.out<std::byte>(i.out[0]);
  double values[warp_lanes];
  LaneMask known = 0;
  each_lane(m, [&](unsigned l) {
    const double* x = memory_.find(a + l * 4, 2);
    values[l] = x ? *x : 0;
    known |= static_cast<LaneMask>(x != nullptr) << l;
  });
  const Step step = i.exec(w, i, m);
  if (step == Step::blocked) return step;
  each_lane(m, [&](unsigned l) {
    memory_.forget(d + l * 4, 4);
    if (known >> l & 1) memory_.set(d + l * 4, kind == ShadowKind::lower ? 2 : 4, values[l]);
  });
  return step;
}

// list: the operands of a vector red; in[1] the operand of the others. Lanes that add to the same number add to one shadow.
Step ShadowObserver::add_atomically(Warp& w, const Instruction& i, LaneMask m, const ShadowPlan& p) {
  const unsigned bytes = part_bytes(p.type), parts = is_pair(p.type) ? 2 : 1, elements = std::max(1u, i.list_count);
  const Ref* list = program_.lists.data() + i.list;
  std::map<std::byte*, Shadowed> totals;
  Shadow::Sums& s = sums_of(w, i);
  each_lane(m, [&](unsigned l) {
    std::byte* place = operand_place(w, i, bytes * parts * elements, l, "atomic");
    for (unsigned n = 0; n < elements * parts; ++n) {
      const Ref from = i.list_count ? list[n / parts] : i.in[1];
      const Shadowed x = number(w.in<std::byte>(from) + (l * parts + n % parts) * bytes, p.type);
      note_operand(s, 1, x);
      const auto [at, is_new] = totals.try_emplace(place + n * bytes);
      if (is_new) {
        at->second = number(place + n * bytes, p.type);
        note_operand(s, 0, at->second);
      }
      at->second.actual += x.actual;
      at->second.shadow += x.shadow;
    }
  });
  results_.clear();
  for (const auto& [place, total] : totals) results_.push_back({place, total.shadow, total.actual});
  return finish(w, i, m, p.type, true);
}

}  // namespace tilewright::runtime::sim
