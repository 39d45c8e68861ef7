#include "runtime/sim/shadow/shadow_observer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/sim/access.h"
#include "runtime/sim/control.h"
#include "runtime/sim/numeric.h"

namespace tilewright::runtime::sim {

using ptx::ScalarType;

namespace {

template <class T>
T at(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

unsigned size_of(ScalarType t) {
  return t == ScalarType::f16x2 || t == ScalarType::bf16x2 ? 2 : t == ScalarType::tf32 ? 4 : ptx::bytes_of(t);
}

}  // namespace

double value_of(const std::byte* p, ScalarType t) {
  switch (t) {
    case ScalarType::f16: case ScalarType::f16x2: return half_to_float(at<std::uint16_t>(p));
    case ScalarType::bf16: case ScalarType::bf16x2: return bfloat_to_float(at<std::uint16_t>(p));
    case ScalarType::f64: return at<double>(p);
    default: return at<float>(p);
  }
}

ShadowObserver::ShadowObserver(const Launch& l, ShadowMemory& memory) : program_(*l.program), code_(l.program->code.data()), memory_(memory) {
  for (const Instruction& i : program_.code) plans_.push_back(shadow_plan(program_, i));
  for (unsigned w = 0; w < (l.threads + warp_lanes - 1) / warp_lanes; ++w) {
    const std::string role = l.role_of(w);
    const auto known = std::find(roles.begin(), roles.end(), role);
    role_of_.push_back(static_cast<unsigned>(known - roles.begin()));
    if (known == roles.end()) roles.push_back(role);
  }
  sums.assign(roles.size(), std::vector<Shadow::Sums>(program_.code.size()));
}

ShadowObserver::~ShadowObserver() {
  for (const auto& [place, bytes] : ranges_) memory_.forget(place, bytes);
}

void ShadowObserver::begin(Cta& cta) {
  const auto fresh = [&](const std::byte* place, std::size_t bytes) {
    memory_.forget(place, bytes);
    ranges_[place] = bytes;
  };
  fresh(cta.shared.data(), cta.shared.size());
  for (const Warp& w : cta.warps) {
    fresh(w.registers, program_.register_bytes);
    fresh(w.local.data(), w.local.size());
  }
}

Step ShadowObserver::execute(Warp& w, const Instruction& i, LaneMask m) {
  const ShadowPlan& plan = plans_[static_cast<std::size_t>(&i - code_)];
  if (plan.kind == ShadowKind::none) return i.exec(w, i, m);
  if (i.exec == settle_wgmma_then && !settle_wgmma(w, i)) return w.block(Block::Kind::wgmma);   // its registers are operands
  switch (plan.kind) {
    case ShadowKind::arithmetic: return arithmetic(w, i, m, plan);
    case ShadowKind::convert: case ShadowKind::from_integer: return convert(w, i, m, plan);
    case ShadowKind::convert_pair: return convert_pair(w, i, m, plan);
    case ShadowKind::widen_low: case ShadowKind::widen_high: case ShadowKind::lower: return widen(w, i, m, plan.kind);
    case ShadowKind::warp_product: return warp_product(w, i, m);
    case ShadowKind::atomic_add: return add_atomically(w, i, m, plan);
    default: return move(w, i, m, plan);
  }
}

void ShadowObserver::copied(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (from) memory_.copy(to, from, bytes);
  else memory_.forget(to, bytes);
}

void ShadowObserver::reduced(std::byte* to, const std::byte* before, const std::byte* from, std::size_t bytes, MapElement element, Reduction r) {
  const ScalarType t = element == MapElement::f32 ? ScalarType::f32 : element == MapElement::f16 ? ScalarType::f16 : ScalarType::bf16;
  if (element == MapElement::i32 || element == MapElement::u8) return memory_.forget(to, bytes);
  const unsigned size = size_of(t);
  for (std::size_t n = 0; n < bytes; n += size) {
    const ShadowCell cell = memory_.cell(to + n);
    std::uint32_t bits = 0;
    std::memcpy(&bits, before + n, size);
    const double old = cell.bytes == size && cell.bits == bits ? cell.value : value_of(before + n, t), x = number(from + n, t).shadow;
    const double fresh = r == Reduction::add ? old + x : r == Reduction::min ? std::fmin(old, x) : std::fmax(old, x);
    if (std::isfinite(fresh)) memory_.set(to + n, size, fresh);
  }
}

Shadowed ShadowObserver::number(const std::byte* p, ScalarType t) {
  const double actual = value_of(p, t);
  const double* shadow = memory_.find(p, size_of(t));
  return {t == ScalarType::tf32 ? truncate_tf32(at<std::uint32_t>(p)) : actual, shadow ? *shadow : actual};
}

Shadow::Sums& ShadowObserver::sums_of(const Warp& w, const Instruction& i) { return sums[role_of_[w.index]][static_cast<std::size_t>(&i - code_)]; }

void ShadowObserver::note_operand(Shadow::Sums& s, unsigned n, const Shadowed& x) {
  if (!std::isfinite(x.actual) || !std::isfinite(x.shadow)) return;
  s.operand2[n] += x.shadow * x.shadow;
  s.operand_error2[n] += (x.actual - x.shadow) * (x.actual - x.shadow);
}

// A sum whose shadow is exactly zero where the result is not gives what a rounding left over, as code that carries a number in two
// parts computes it on purpose: not an error of this instruction.
void ShadowObserver::record(Shadow::Sums& s, const Result& r, ScalarType t, bool sum) {
  const double actual = value_of(r.to, t);
  if (!std::isfinite(actual) || !std::isfinite(r.shadow)) {
    ++s.not_finite;
    return memory_.forget(r.to, size_of(t));
  }
  memory_.set(r.to, size_of(t), r.shadow);
  if (sum && r.shadow == 0 && actual != 0) return;
  ++s.results;
  s.result2 += r.shadow * r.shadow;
  s.error2 += (actual - r.shadow) * (actual - r.shadow);
  s.introduced2 += (actual - r.exact) * (actual - r.exact);
}

Step ShadowObserver::finish(Warp& w, const Instruction& i, LaneMask m, ScalarType result, bool sum) {
  const Step step = i.exec(w, i, m);
  if (step == Step::blocked) return step;
  Shadow::Sums& s = sums_of(w, i);
  for (const Result& r : results_) record(s, r, result, sum);
  return step;
}

std::byte* operand_place(Warp& w, const Instruction& i, unsigned bytes, unsigned lane, const char* what) {
  const std::uint64_t a = lane_address(w, i, 0, i.extra[0], lane);
  switch (i.space) {
    case MemorySpace::shared: return locate<MemorySpace::shared>(w, a, bytes, lane, what);
    case MemorySpace::cluster: return locate<MemorySpace::cluster>(w, a, bytes, lane, what);
    case MemorySpace::global: return locate<MemorySpace::global>(w, a, bytes, lane, what);
    case MemorySpace::local: return locate<MemorySpace::local>(w, a, bytes, lane, what);
    case MemorySpace::param: return locate<MemorySpace::param>(w, a, bytes, lane, what);
    default: return locate<MemorySpace::generic>(w, a, bytes, lane, what);
  }
}

}  // namespace tilewright::runtime::sim
