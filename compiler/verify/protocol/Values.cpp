#include "compiler/verify/protocol/Values.h"

#include <algorithm>
#include <numeric>

namespace tilewright::verify::protocol {

namespace {

std::int64_t floor_mod(std::int64_t a, std::int64_t b) { return ((a % b) + b) % b; }

std::int64_t compute(Op op, std::int64_t a, std::int64_t b) {
  const auto u = [](std::int64_t x) { return static_cast<std::uint32_t>(x); };
  switch (op) {
    case Op::add: return a + b;
    case Op::sub: return a - b;
    case Op::mul: return a * b;
    case Op::div: return b == 0 ? 0 : a / b;
    case Op::rem: return b == 0 ? 0 : a % b;
    case Op::min: return std::min(a, b);
    case Op::max: return std::max(a, b);
    case Op::and_: return a & b;
    case Op::or_: return a | b;
    case Op::xor_: return a ^ b;
    case Op::shl: return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << (b & 63));
    case Op::shr: return a >> (b & 63);
    case Op::eq: return a == b;
    case Op::ne: return a != b;
    case Op::lt: return a < b;
    case Op::le: return a <= b;
    case Op::gt: return a > b;
    case Op::ge: return a >= b;
    case Op::ult: return u(a) < u(b);
    case Op::ule: return u(a) <= u(b);
    case Op::ugt: return u(a) > u(b);
    case Op::uge: return u(a) >= u(b);
    case Op::select: break;
  }
  return 0;
}

bool compares(Op op) { return op >= Op::eq && op <= Op::uge; }

}  // namespace

void Values::reset() {
  forms_.clear(), form_numbers_.clear(), atoms_.clear(), atom_numbers_.clear(), sums_.clear(), varying_.clear(), keys_.clear();
  assigned_.clear(), assigned_sums_.clear();
  fresh_ = 0;
}

Val Values::lanes(const Lanes& l) {
  if (std::all_of(l.begin(), l.end(), [&](std::int64_t x) { return x == l[0]; })) return number(l[0]);
  auto [at, made] = lane_numbers_.try_emplace(l, static_cast<std::int64_t>(lanes_.size()));
  if (made) lanes_.push_back(l);
  return {Val::lanes, at->second};
}

Val Values::varying(Val lane0, const std::vector<std::int64_t>& key) {
  if (key.empty() && lane0.is(Val::varying)) return {};
  Varying v;
  v.lane0 = lane0;
  if (!key.empty()) v.key = keys_.try_emplace(key, static_cast<std::int64_t>(keys_.size())).first->second;
  varying_.push_back(v);
  return {Val::varying, static_cast<std::int64_t>(varying_.size()) - 1};
}

Val Values::lane0(Val v) const {
  if (v.is(Val::lanes)) return number(lanes_of(v)[0]);
  if (v.is(Val::varying)) return v.x < 0 ? v : varying_[static_cast<std::size_t>(v.x)].lane0;
  return v;
}

Val Values::uniform(Val v) {
  Val first = lane0(v);
  if (!first.is(Val::varying)) return first;
  auto key = key_of(v);
  return key ? atom({-6, (*key)[1]}) : fresh();
}

Val Values::atom(const std::vector<std::int64_t>& key, bool truth) {
  auto [at, made] = atom_numbers_.try_emplace(key, static_cast<int>(atoms_.size()));
  if (made) {
    atoms_.emplace_back();
    atoms_.back().truth = truth;
  }
  return of({0, {{at->second, 1}}});
}

std::optional<std::array<std::int64_t, 2>> Values::key_of(Val v) {
  if (!v.is(Val::varying)) return std::array<std::int64_t, 2>{v.kind, v.x};
  if (v.x < 0 || varying_[static_cast<std::size_t>(v.x)].key < 0) return std::nullopt;
  return std::array<std::int64_t, 2>{v.kind, varying_[static_cast<std::size_t>(v.x)].key};
}

Values::Form Values::form_of(Val v) const {
  if (v.is(Val::number)) return {v.x, {}};
  return forms_[static_cast<std::size_t>(v.x)];
}

Val Values::of(Form f) {
  if (f.terms.empty()) return number(f.constant);
  auto [at, made] = form_numbers_.try_emplace(f, static_cast<std::int64_t>(forms_.size()));
  if (made) forms_.push_back(std::move(f));
  return {Val::form, at->second};
}

Val Values::combine(Val a, Val b, std::int64_t factor) {
  Form x = form_of(a), y = form_of(b), sum;
  sum.constant = x.constant + factor * y.constant;
  std::map<int, std::int64_t> terms(x.terms.begin(), x.terms.end());
  for (auto [atom, k] : y.terms) terms[atom] += factor * k;
  for (auto [atom, k] : terms)
    if (k) sum.terms.emplace_back(atom, k);
  return of(std::move(sum));
}

Val Values::derived(Op op, Val a, Val b, Val c) {
  auto [at, made] = atom_numbers_.try_emplace({-2, static_cast<int>(op), a.kind, a.x, b.kind, b.x, c.kind, c.x}, static_cast<int>(atoms_.size()));
  if (made) {
    atoms_.emplace_back();
    atoms_.back().derived = true;
    atoms_.back().op = op;
    atoms_.back().operands = {a, b, c};
  }
  return of({0, {{at->second, 1}}});
}

Val Values::apply(Op op, Val a, Val b) {
  const auto by_lane = [&] {
    Val x = lane0(a), y = lane0(b), first;
    if (!x.is(Val::varying) && !y.is(Val::varying)) first = apply(op, x, y);
    auto k = key_of(a), l = key_of(b);
    Val v = varying(first, k && l ? std::vector<std::int64_t>{-7, static_cast<int>(op), (*k)[0], (*k)[1], (*l)[0], (*l)[1]} : std::vector<std::int64_t>{});
    if (v.x >= 0) {
      Varying& made = varying_[static_cast<std::size_t>(v.x)];
      made.made = true, made.op = op, made.a = a, made.b = b;
    }
    return v;
  };
  if (a.is(Val::varying) || b.is(Val::varying)) return by_lane();
  if (a.is(Val::number) && b.is(Val::number)) return number(compute(op, a.x, b.x));
  if (a.is(Val::lanes) || b.is(Val::lanes)) {
    if (a.is(Val::form) || b.is(Val::form)) return by_lane();
    auto [known, open] = lane_results_.try_emplace({static_cast<unsigned>(op) << 4 | a.kind << 2 | b.kind, a.x, b.x});
    if (open) {
      Lanes out;
      for (std::size_t i = 0; i < 32; ++i) out[i] = compute(op, a.is(Val::lanes) ? lanes_of(a)[i] : a.x, b.is(Val::lanes) ? lanes_of(b)[i] : b.x);
      known->second = lanes(out);
    }
    return known->second;
  }
  if (op == Op::add) return combine(a, b, 1);
  if (op == Op::sub) return combine(a, b, -1);
  if (op == Op::mul && (a.is(Val::number) || b.is(Val::number))) return a.is(Val::number) ? combine(number(0), b, a.x) : combine(number(0), a, b.x);
  if (op == Op::shl && b.is(Val::number) && b.x >= 0 && b.x < 31) return combine(number(0), a, std::int64_t{1} << b.x);
  if (compares(op) && op <= Op::ge) {
    Val difference = combine(a, b, -1);
    if (difference.is(Val::number)) return number(compute(op, difference.x, 0));
    return derived(op, difference, number(0));
  }
  return derived(op, a, b);
}

Val Values::select(Val p, Val a, Val b) {
  if (p.is(Val::number)) return p.x ? a : b;
  if (a == b) return a;
  if (p.is(Val::form) && !a.is(Val::varying) && !b.is(Val::varying) && !a.is(Val::lanes) && !b.is(Val::lanes)) return derived(Op::select, p, a, b);
  const auto known = [](Val v) { return v.is(Val::number) || v.is(Val::lanes); };
  if (p.is(Val::lanes) && known(a) && known(b)) {
    Lanes out;
    for (std::size_t i = 0; i < 32; ++i) {
      Val v = lanes_of(p)[i] ? a : b;
      out[i] = v.is(Val::lanes) ? lanes_of(v)[i] : v.x;
    }
    return lanes(out);
  }
  Val first = lane0(p), chosen;
  if (!first.is(Val::varying) && !lane0(a).is(Val::varying) && !lane0(b).is(Val::varying)) chosen = select(first, lane0(a), lane0(b));
  std::vector<std::int64_t> key{-8};
  for (Val v : {p, a, b}) {
    auto part = key_of(v);
    if (!part) return varying(chosen);
    key.insert(key.end(), part->begin(), part->end());
  }
  return varying(chosen, key);
}

std::int64_t Values::force_atom(int number, Context& context) {
  const Atom atom = atoms_[static_cast<std::size_t>(number)];
  const auto operand = [&](int i) { return force_form(form_of(atom.operands[static_cast<std::size_t>(i)]), context); };
  if (atom.op == Op::select) return operand(0) ? operand(1) : operand(2);
  if (atom.op == Op::div && atom.operands[1].is(Val::number) && atom.operands[1].x > 0) {
    const std::int64_t scale = context.scale;
    context.scale *= atom.operands[1].x;
    const std::int64_t a = operand(0);
    context.scale = scale;
    return compute(Op::div, a, atom.operands[1].x);
  }
  const std::int64_t a = operand(0);
  if (atom.op == Op::and_ && a == 0) return 0;
  return compute(atom.op, a, operand(1));
}

std::int64_t Values::force_form(const Form& form, Context& context) {
  std::int64_t total = form.constant;
  std::vector<std::pair<int, std::int64_t>> sum, open;
  for (auto [number, k] : form.terms) {
    if (atoms_[static_cast<std::size_t>(number)].derived) total += k * force_atom(number, context);
    else sum.emplace_back(number, k);
  }
  if (sum.empty()) return total;
  const std::int64_t sign = sum.front().second < 0 ? -1 : 1;  // a - b and b - a are one sum
  auto absolute = sum;
  for (auto& term : absolute) term.second *= sign;
  if (sum.size() > 1)
    if (auto known = sums_.find(absolute); known != sums_.end()) {
      if (context.trip) choices_.used_as_trip(known->second.second);
      return total + sign * known->second.first;
    }
  std::int64_t settled = 0, factor = 0;
  for (auto [number, k] : sum) {
    const Atom& atom = atoms_[static_cast<std::size_t>(number)];
    if (!atom.value) {
      open.emplace_back(number, k);
      factor = std::gcd(factor, k);
      continue;
    }
    settled += k * *atom.value;
    if (context.trip) choices_.used_as_trip(atom.choice);
  }
  if (open.empty()) return total + settled;
  auto [wanted, choice] = choices_.choose(context);
  Atom& first = atoms_[static_cast<std::size_t>(open.front().first)];
  const bool single = open.size() == 1;
  if (single) assigned_.push_back(open.front().first);
  if (sum.size() > 1) assigned_sums_.push_back(absolute);
  if (single) factor = open.front().second;
  // As much as gives `wanted` after the divisions on the way.
  const std::int64_t target = context.scale * wanted + floor_mod(total + settled, context.scale);
  std::int64_t value = (target - total - settled) / factor;
  if (single && first.truth) value = wanted > 0;
  if (single) first.value = value, first.choice = choice;
  if (sum.size() > 1) sums_[absolute] = {sign * (settled + factor * value), choice};
  return total + settled + factor * value;
}

std::optional<std::int64_t> Values::force(Val v, Context context) {
  if (v.is(Val::number)) return v.x;
  if (!v.is(Val::form)) return std::nullopt;
  return force_form(form_of(v), context);
}

void Values::rollback(Mark to) {
  for (; assigned_.size() > to.atoms; assigned_.pop_back()) atoms_[static_cast<std::size_t>(assigned_.back())].value.reset();
  for (; assigned_sums_.size() > to.sums; assigned_sums_.pop_back()) sums_.erase(assigned_sums_.back());
}

std::optional<bool> Values::decide(Val v, Context context, bool wanted) {
  if (v.is(Val::number)) return v.x != 0;
  if (!v.is(Val::form)) return std::nullopt;
  const Mark before = mark();
  bool truth = false;
  for (int candidate = 0; candidate < Choices::kCandidates; ++candidate) {
    rollback(before);
    Context trial = context;
    trial.candidate = candidate;
    truth = force_form(form_of(v), trial) != 0;
    if (truth == wanted || mark() == before) break;
  }
  return truth;
}

std::optional<Lanes> Values::force_lanes(Val v, Context context) {
  if (v.is(Val::lanes)) return lanes_of(v);
  if (v.is(Val::varying)) {
    if (v.x < 0 || !varying_[static_cast<std::size_t>(v.x)].made) return std::nullopt;
    const Varying made = varying_[static_cast<std::size_t>(v.x)];
    auto a = force_lanes(made.a, context);
    context.ordinal += 64;
    auto b = force_lanes(made.b, context);
    if (!a || !b) return std::nullopt;
    Lanes out;
    for (std::size_t i = 0; i < 32; ++i) out[i] = compute(made.op, (*a)[i], (*b)[i]);
    return out;
  }
  auto all = force(v, context);
  if (!all) return std::nullopt;
  Lanes out;
  out.fill(*all);
  return out;
}

}  // namespace tilewright::verify::protocol
