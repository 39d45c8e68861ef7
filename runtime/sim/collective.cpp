// Exchange within a warp: shfl, vote, match, activemask, redux, elect.
#include "runtime/sim/collective.h"

#include "runtime/sim/decode.h"
#include "runtime/sim/machine.h"

namespace tilewright::runtime::sim {

using ptx::Operand;
using ptx::ScalarType;

namespace {

LaneMask members(Warp& w, Ref r, LaneMask m) { return w.in<std::uint32_t>(r)[std::countr_zero(m)]; }

enum Shuffle : int { up, down, butterfly, indexed };

}  // namespace

ShuffleSource shuffle_source(int mode, unsigned l, std::uint32_t b, std::uint32_t c) {
  const std::uint32_t value = b & 31, clamp = c & 31, segment = c >> 8 & 31;
  const std::uint32_t most = (l & segment) | (clamp & ~segment), least = l & segment;
  std::uint32_t from = l;
  bool ok = false;
  switch (mode) {
    case up: from = l - value; ok = static_cast<std::int32_t>(from) >= static_cast<std::int32_t>(most); break;
    case down: from = l + value; ok = from <= most; break;
    case butterfly: from = l ^ value; ok = from <= most; break;
    default: from = least | (value & ~segment); ok = from <= most; break;
  }
  return {ok ? from & 31 : l, ok};
}

namespace {

// in: value, lane or offset, clamp, members; extra: 0 mode, 1 predicate wanted
Step shuffle(Warp& w, const Instruction& i, LaneMask m) {
  if (!w.converged(members(w, i.in[3], m), m)) return Step::blocked;
  const auto* a = w.in<std::uint32_t>(i.in[0]);
  const auto* b = w.in<std::uint32_t>(i.in[1]);
  const auto* c = w.in<std::uint32_t>(i.in[2]);
  std::uint32_t values[warp_lanes];
  LaneMask valid = 0;
  if (i.extra[0] == butterfly && m == all_lanes && i.in[1] < 0 && i.in[2] < 0 && c[0] == 31) {   // constants: within the whole warp
    for (unsigned l = 0; l < warp_lanes; ++l) values[l] = a[l ^ (b[0] & 31)];
    valid = all_lanes;
  } else {
    each_lane(m, [&](unsigned l) {
      const ShuffleSource s = shuffle_source(i.extra[0], l, b[l], c[l]);
      values[l] = a[s.lane];
      valid |= static_cast<LaneMask>(s.valid) << l;
    });
  }
  auto* d = w.out<std::uint32_t>(i.out[0]);
  each_lane(m, [&](unsigned l) { d[l] = values[l]; });
  if (i.extra[1]) w.set_predicate(i.out[1], m, valid);
  return Step::next;
}

void decode_shfl(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::collective;
  if (!d.take("sync")) d.unsupported("the form without .sync");
  const std::string_view mode = d.take_any({"up", "down", "bfly", "idx"});
  if (mode.empty()) d.unsupported();
  i.extra[0] = mode == "up" ? up : mode == "down" ? down : mode == "bfly" ? butterfly : indexed;
  const ScalarType t = d.type();
  d.expect_operands(5, 5);
  const Operand& target = d.operand(0);
  if (target.kind == Operand::Kind::pair) {
    i.out[0] = d.out(target.elements[0], t);
    i.out[1] = d.predicate_out(target.elements[1]);
    i.extra[1] = 1;
  } else {
    i.out[0] = d.out(target, t);
  }
  i.in[0] = d.in(1, t);
  for (unsigned n = 1; n < 4; ++n) i.in[n] = d.in(n + 1, ScalarType::b32);
  if (ptx::bytes_of(t) != 4) d.unsupported();
  i.exec = shuffle;
}

LaneMask source_predicate(Warp& w, const Instruction& i) {
  const LaneMask p = i.extra[2] ? all_lanes : w.predicates[static_cast<std::size_t>(i.in[0])];
  return i.extra[1] ? ~p : p;
}

Step vote(Warp& w, const Instruction& i, LaneMask m) {   // extra: 0 ballot/any/all/uni, 1 negated, 2 constant true
  const LaneMask who = members(w, i.in[1], m);
  if (!w.converged(who, m)) return Step::blocked;
  const LaneMask present = who & m, p = source_predicate(w, i) & present;
  if (i.extra[0] == 0) {
    auto* d = w.out<std::uint32_t>(i.out[0]);
    each_lane(m, [&](unsigned l) { d[l] = p; });
  } else {
    const bool r = i.extra[0] == 1 ? p != 0 : i.extra[0] == 2 ? p == present : p == 0 || p == present;
    w.set_predicate(i.out[0], m, r ? all_lanes : 0);
  }
  return Step::next;
}

void decode_vote(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::collective;
  if (!d.take("sync")) d.unsupported("the form without .sync");
  const std::string_view mode = d.take_any({"ballot", "any", "all", "uni"});
  if (mode.empty()) d.unsupported();
  d.take_any({"b32", "pred"});
  i.extra[0] = mode == "ballot" ? 0 : mode == "any" ? 1 : mode == "all" ? 2 : 3;
  d.expect_operands(3, 3);
  i.out[0] = mode == "ballot" ? d.out(0, ScalarType::b32) : d.predicate_out(d.operand(0));
  const Operand& p = d.operand(1);
  i.extra[1] = p.negated;
  if (p.kind == Operand::Kind::integer) {
    i.extra[2] = 1;
    i.extra[1] = p.value == 0;
  } else {
    i.in[0] = d.predicate(p);
  }
  i.in[1] = d.in(2, ScalarType::b32);
  i.exec = vote;
}

template <class T>
Step match(Warp& w, const Instruction& i, LaneMask m) {   // extra: 0 all, 1 predicate wanted
  const LaneMask who = members(w, i.in[1], m);
  if (!w.converged(who, m)) return Step::blocked;
  const T* a = w.in<T>(i.in[0]);
  std::uint32_t values[warp_lanes];
  LaneMask same_all = 0;
  each_lane(m, [&](unsigned l) {
    LaneMask same = 0;
    each_lane(m, [&](unsigned k) { same |= static_cast<LaneMask>(a[k] == a[l]) << k; });
    values[l] = i.extra[0] ? (same == m ? m : 0) : same;
    same_all |= static_cast<LaneMask>(same == m) << l;
  });
  auto* d = w.out<std::uint32_t>(i.out[0]);
  each_lane(m, [&](unsigned l) { d[l] = values[l]; });
  if (i.extra[1]) w.set_predicate(i.out[1], m, same_all);
  return Step::next;
}

void decode_match(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::collective;
  i.extra[0] = d.take("all");
  if (!i.extra[0] && !d.take("any")) d.unsupported();
  if (!d.take("sync")) d.unsupported();
  const ScalarType t = d.type();
  d.expect_operands(3, 3);
  const Operand& target = d.operand(0);
  if (target.kind == Operand::Kind::pair) {
    i.out[0] = d.out(target.elements[0], ScalarType::b32);
    i.out[1] = d.predicate_out(target.elements[1]);
    i.extra[1] = 1;
  } else {
    i.out[0] = d.out(target, ScalarType::b32);
  }
  i.in[0] = d.in(1, t);
  i.in[1] = d.in(2, ScalarType::b32);
  i.exec = ptx::bytes_of(t) == 8 ? match<std::uint64_t> : match<std::uint32_t>;
}

Step active_mask(Warp& w, const Instruction& i, LaneMask m) {
  auto* d = w.out<std::uint32_t>(i.out[0]);
  each_lane(m, [&](unsigned l) { d[l] = m; });
  return Step::next;
}

void decode_activemask(Decode& d) {
  d.instruction().group = InstructionClass::collective;
  d.take("b32");
  d.expect_operands(1, 1);
  d.instruction().out[0] = d.out(0, ScalarType::b32);
  d.instruction().exec = active_mask;
}

Step reduce(Warp& w, const Instruction& i, LaneMask m) {   // extra: 0 operation, 1 signed
  const LaneMask who = members(w, i.in[1], m);
  if (!w.converged(who, m)) return Step::blocked;
  const auto* a = w.in<std::uint32_t>(i.in[0]);
  std::uint32_t r = a[std::countr_zero(m)];
  const auto less = [&](std::uint32_t x, std::uint32_t y) { return i.extra[1] ? static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y) : x < y; };
  each_lane(m & (m - 1), [&](unsigned l) {
    switch (i.extra[0]) {
      case 0: r += a[l]; break;
      case 1: r = less(a[l], r) ? a[l] : r; break;
      case 2: r = less(r, a[l]) ? a[l] : r; break;
      case 3: r &= a[l]; break;
      case 4: r |= a[l]; break;
      default: r ^= a[l]; break;
    }
  });
  auto* d = w.out<std::uint32_t>(i.out[0]);
  each_lane(m, [&](unsigned l) { d[l] = r; });
  return Step::next;
}

void decode_redux(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::collective;
  if (!d.take("sync")) d.unsupported();
  static constexpr std::string_view names[] = {"add", "min", "max", "and", "or", "xor"};
  i.extra[0] = -1;
  for (int n = 0; n < 6; ++n)
    if (d.take(names[n])) i.extra[0] = n;
  const ScalarType t = d.type();
  if (i.extra[0] < 0 || ptx::is_float(t)) d.unsupported();
  i.extra[1] = ptx::is_signed(t);
  d.expect_operands(3, 3);
  i.out[0] = d.out(0, t);
  i.in[0] = d.in(1, t);
  i.in[1] = d.in(2, ScalarType::b32);
  i.exec = reduce;
}

Step elect(Warp& w, const Instruction& i, LaneMask m) {
  const LaneMask who = members(w, i.in[0], m);
  if (!w.converged(who, m)) return Step::blocked;
  const auto leader = static_cast<unsigned>(std::countr_zero(m));
  auto* d = w.out<std::uint32_t>(i.out[0]);
  each_lane(m, [&](unsigned l) { d[l] = leader; });
  w.set_predicate(i.out[1], m, 1u << leader);
  return Step::next;
}

void decode_elect(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::collective;
  if (!d.take("sync")) d.unsupported();
  d.expect_operands(2, 2);
  const Operand& target = d.operand(0);
  if (target.kind != Operand::Kind::pair) d.wrong("expected destination|predicate");
  i.out[0] = d.out(target.elements[0], ScalarType::b32);
  i.out[1] = d.predicate_out(target.elements[1]);
  i.in[0] = d.in(1, ScalarType::b32);
  i.exec = elect;
}

}  // namespace

void add_collective_family(DecoderTable& t) {
  t["shfl"] = decode_shfl;
  t["vote"] = decode_vote;
  t["match"] = decode_match;
  t["activemask"] = decode_activemask;
  t["redux"] = decode_redux;
  t["elect"] = decode_elect;
}

}  // namespace tilewright::runtime::sim
