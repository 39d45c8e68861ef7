// Control flow and scalars.
#include "compiler/verify/protocol/Machine.h"

#include <algorithm>
#include <bit>

using namespace mlir;

namespace tilewright::verify::protocol {

namespace {

/// No loop of a real kernel's protocol has more build-time trips than this; beyond, a run would take too long.
constexpr std::int64_t kMostTrips = 1 << 14;

Lanes counting(std::int64_t from) {
  Lanes out;
  for (std::size_t i = 0; i < 32; ++i) out[i] = from + static_cast<std::int64_t>(i);
  return out;
}

}  // namespace

/// What the lanes that are here get from memory or an atomic: one value where one lane is.
Val Machine::unknown(const Actor& a) {
  if (std::popcount(a.mask) != 1) return {};
  return a.mask == a.lanes ? values_.fresh() : values_.varying(values_.fresh());
}

void Machine::scalar(Actor& a, const Instr& i) {
  const auto set = [&](Val v) { a.scalars[static_cast<std::size_t>(i.result)] = v; };
  // The value that follows from `k` and the operands.
  const auto named = [&](std::vector<std::int64_t> k, bool truth = false) {
    bool same = true;
    for (std::size_t n = 0; n < i.in.size(); ++n) {
      Val v = in(a, i, n);
      auto part = values_.key_of(v);
      if (!part) return Val{};
      k.insert(k.end(), part->begin(), part->end());
      same &= v.is(Val::number) || v.is(Val::form);
    }
    return same ? values_.atom(k, truth) : values_.varying({}, k);
  };
  switch (i.code) {
    case Code::constant: return set(Val::of(i.number));
    case Code::arith: return set(values_.apply(i.op, in(a, i), in(a, i, 1)));
    case Code::select: return set(values_.select(in(a, i), in(a, i, 1), in(a, i, 2)));
    case Code::copy:
    case Code::get: return set(in(a, i));
    case Code::uniform: return set(values_.uniform(in(a, i)));
    case Code::thread: return set(values_.lanes(counting(32 * a.warp)));
    case Code::lane: return set(a.lanes == 1 ? Val::of(0) : values_.lanes(counting(0)));
    case Code::warp: return set(Val::of(a.warp));
    case Code::rank: return set(Val::of(a.cta));
    case Code::fresh: return set(unknown(a));
    case Code::set: {
      if (a.mask == a.lanes && !a.maybe) return set(in(a, i));
      Val old = a.scalars[static_cast<std::size_t>(i.result)];
      return set(a.maybe ? Val{} : values_.varying(values_.lane0((a.mask & 1) ? in(a, i) : old)));
    }
    case Code::read_tensor: return set(named({-3, i.number}));
    case Code::atom: {
      if (i.number < 0) return set(values_.atom({i.number}));
      const auto word = [](auto handle) { return reinterpret_cast<std::int64_t>(handle.getAsOpaquePointer()); };
      std::vector<std::int64_t> k{-4, word(i.at->getName()), word(i.at->getDiscardableAttrDictionary()), word(i.at->getPropertiesAsAttribute())};
      for (Value v : i.at->getOperands())
        if (auto arg = dyn_cast<BlockArgument>(v)) k.push_back(arg.getArgNumber());
      if (isa<tile::BlockIndexOp>(i.at)) k.push_back(a.cta);
      return set(named(std::move(k), i.at->getResult(0).getType().isInteger(1)));
    }
    default: return;
  }
}

void Machine::control(Actor& a, const Instr& i) {
  switch (i.code) {
    case Code::loop: return begin_loop(a, i);
    case Code::next: {
      Frame& f = a.frames.back();
      if (--f.left > 0) {
        f.index = f.maybe ? Val{} : values_.apply(Op::add, f.index, f.step);
        a.scalars[static_cast<std::size_t>(program_.roles[static_cast<std::size_t>(a.role)].code[static_cast<std::size_t>(i.target)].result)] = f.index;
        a.pc = i.target + 1;
        return;
      }
      a.maybe -= f.maybe;
      a.frames.pop_back();
      return;
    }
    case Code::branch: return begin_branch(a, i);
    case Code::otherwise:
      a.mask = a.frames.back().otherwise;
      if (!a.mask) a.pc = i.target;
      return;
    case Code::join:
      a.mask = a.frames.back().mask, a.maybe -= a.frames.back().maybe;
      a.frames.pop_back();
      return;
    case Code::repeat: {
      Frame f;
      f.kind = Code::repeat, f.mask = a.mask;
      a.frames.push_back(f);
      return;
    }
    case Code::test: return test_loop(a, i);
    case Code::again: a.pc = i.target; return;
    default: return finish(a, i);
  }
}

void Machine::begin_loop(Actor& a, const Instr& i) {
  Val lower = in(a, i), upper = in(a, i, 1), step = in(a, i, 2);
  Frame f;
  f.begin = a.pc, f.index = lower, f.step = step;
  Val span = values_.apply(Op::sub, upper, lower), by = step;
  if (!step.is(Val::number)) {  // known at launch: as small as it can be
    auto least = values_.force(step, {i.at, false, i.many, 1, Choices::kOne});
    by = Val::of(least && *least > 1 ? *least : 1);
  }
  if (by.x != 1) span = values_.apply(Op::div, values_.apply(Op::add, span, Val::of(by.x - 1)), by);
  if (auto trips = values_.force(span, {i.at, true, i.many})) {
    f.left = *trips;
    if (f.left > kMostTrips) {
      if (report(a, i, "starvation", "kernel", "cannot be decided: " + std::to_string(f.left) + " trips are too many to be followed", "", true)) return;
      f.left = kMostTrips;
    }
  } else {  // another number in each lane: once, perhaps
    f.left = 1, f.maybe = true, f.index = {};
    ++a.maybe;
  }
  if (f.left <= 0) {
    a.pc = i.target;
    return;
  }
  a.scalars[static_cast<std::size_t>(i.result)] = f.index;
  a.frames.push_back(f);
}

void Machine::begin_branch(Actor& a, const Instr& i) {
  Frame f;
  f.kind = Code::branch, f.mask = a.mask;
  if (i.again >= 0) {
    const auto loop = std::find_if(a.frames.rbegin(), a.frames.rend(), [&](const Frame& o) { return o.kind == Code::loop && o.begin == i.again; });
    if (!loop->maybe) {
      const bool taken = loop->left > 1;
      f.otherwise = taken ? 0 : a.mask;
      a.frames.push_back(f);
      if (!taken) a.mask = 0, a.pc = i.target;
      return;
    }
  }
  Val condition = in(a, i);
  std::uint32_t then = 0;
  // Of what is open, what is planned; else the first that takes the branch, or does not, as planned.
  const bool wanted = i.quiet || condition.is(Val::number) || choices_.taken(i.at);
  const Values::Mark mark = values_.mark();
  std::optional<Lanes> lanes;
  constexpr int kTries[] = {Context::kPlanned, Context::kNegated, 0, 1, 2, 3, 4, 5};  // negated: a < b asks for a - b, the loop from a to b for b - a
  static_assert(std::size(kTries) == Choices::kCandidates + 2);
  for (int candidate : kTries) {
    values_.rollback(mark);
    lanes = values_.force_lanes(condition, {i.at, false, i.many, 1, candidate});
    if (!lanes) break;
    then = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
      if ((*lanes)[lane]) then |= 1u << lane;
    then &= a.mask;
    if ((then != 0) == wanted || values_.mark() == mark) break;
  }
  if (lanes) {
    f.otherwise = a.mask & ~then;
  } else {
    then = f.otherwise = a.mask, f.maybe = true;
    ++a.maybe;
  }
  a.frames.push_back(f);
  a.mask = then;
  if (!then) a.pc = i.target;
}

void Machine::test_loop(Actor& a, const Instr& i) {
  Frame& f = a.frames.back();
  Val condition = in(a, i);
  bool on = false;
  if (condition.is(Val::lanes)) {
    std::uint32_t mask = 0;
    const Lanes& lanes = values_.lanes_of(condition);
    for (unsigned lane = 0; lane < 32; ++lane)
      if (lanes[lane]) mask |= 1u << lane;
    on = (a.mask &= mask) != 0;
  } else if (auto truth = values_.decide(condition, {i.at, false, i.many}, f.passed < choices_.trips(i.at, i.many))) {
    on = *truth;
  } else {  // each lane leaves when it likes
    on = f.passed < 1;
    if (on) f.maybe = true, ++a.maybe;
  }
  ++f.passed;
  if (on) return;
  a.mask = f.mask, a.maybe -= f.maybe;
  a.frames.pop_back();
  a.pc = i.target;
}

/// The end of a role: nothing that it started may still read shared memory; CTAs of a cluster leave together.
void Machine::finish(Actor& a, const Instr& i) {
  if (a.last_product && (a.open_products || a.settled < a.batches))
    return void(report(a, *a.last_product, "groups", "products", who(a) + " ends while products are in flight", "settle the last batch: k.settle_pending(0)"));
  if (a.last_store && (a.open_stores || a.stored < a.store_groups))
    return void(report(a, *a.last_store, "groups", "stores", who(a) + " ends while this copy may still read shared memory", "call k.store_wait_complete() by the thread that started it"));
  if (ctas_ > 1 && !rendezvous(a, i, cluster_signal_)) return;
  a.ended = true;
  a.blocked = -1;
}

}  // namespace tilewright::verify::protocol
