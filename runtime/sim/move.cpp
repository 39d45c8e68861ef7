// mov with packing and unpacking, cvta, isspacep, mapa and clocks.
#include <algorithm>
#include <cstring>

#include "runtime/sim/cluster.h"
#include "runtime/sim/elementwise.h"

namespace tilewright::runtime::sim {

using ptx::Operand;
using ptx::ScalarType;
using Kind = Operand::Kind;

namespace {

struct Same { template <class T> static T apply(T a) { return a; } };

template <class T>
Execute copy() { return unary<T, Same>; }

Execute copy_of(unsigned bytes) {
  return bytes == 2 ? copy<std::uint16_t>() : bytes == 4 ? copy<std::uint32_t>() : bytes == 8 ? copy<std::uint64_t>() : nullptr;
}

// list: the elements; bytes: of the whole; extra[0]: of an element
template <class Part, class Whole>
Step pack(Warp& w, const Instruction& i, LaneMask m) {
  auto* d = w.out<Whole>(i.out[0]);
  const Ref* list = w.cta->launch.program->lists.data() + i.list;
  Whole values[warp_lanes] = {};   // the target may be one of the sources
  for (unsigned n = 0; n < i.list_count; ++n) {
    const auto* s = w.in<Part>(list[n]);
    for (unsigned l = 0; l < warp_lanes; ++l) values[l] |= static_cast<Whole>(s[l]) << 8 * sizeof(Part) * n;
  }
  each_lane(m, [&](unsigned l) { d[l] = values[l]; });
  return Step::next;
}

template <class Part, class Whole>
Step unpack(Warp& w, const Instruction& i, LaneMask m) {
  const Ref* list = w.cta->launch.program->lists.data() + i.list;
  Whole values[warp_lanes];   // the source may be one of the targets
  std::memcpy(values, w.in<Whole>(i.in[0]), sizeof values);
  for (unsigned n = 0; n < i.list_count; ++n) {
    auto* d = w.out<Part>(list[n]);
    each_lane(m, [&](unsigned l) { d[l] = static_cast<Part>(values[l] >> 8 * sizeof(Part) * n); });
  }
  return Step::next;
}

Execute pack_of(unsigned part, unsigned whole) {
  if (part == 4) return whole == 8 ? pack<std::uint32_t, std::uint64_t> : nullptr;
  return part != 2 ? nullptr : whole == 8 ? pack<std::uint16_t, std::uint64_t> : whole == 4 ? pack<std::uint16_t, std::uint32_t> : nullptr;
}

Execute unpack_of(unsigned part, unsigned whole) {
  if (part == 4) return whole == 8 ? unpack<std::uint32_t, std::uint64_t> : nullptr;
  return part != 2 ? nullptr : whole == 8 ? unpack<std::uint16_t, std::uint64_t> : whole == 4 ? unpack<std::uint16_t, std::uint32_t> : nullptr;
}

Step move_predicate(Warp& w, const Instruction& i, LaneMask m) {
  const LaneMask v = i.extra[0] ? (i.extra[1] ? all_lanes : 0) : w.predicates[static_cast<std::size_t>(i.in[0])];
  w.set_predicate(i.out[0], m, v);
  return Step::next;
}

// extra[0]: 0 clock, 1 its upper half, 2 clock64 and globaltimer
Step read_clock(Warp& w, const Instruction& i, LaneMask m) {
  // Warps take their turns side by side, in time: a turn lasts as long for all of them.
  const std::uint64_t now = w.clock = std::max(w.cta->turn * turn_budget + w.executed - w.turn_began, w.clock + 1);
  if (i.bytes == 8) {
    auto* d = w.out<std::uint64_t>(i.out[0]);
    each_lane(m, [&](unsigned l) { d[l] = now; });
  } else {
    auto* d = w.out<std::uint32_t>(i.out[0]);
    each_lane(m, [&](unsigned l) { d[l] = static_cast<std::uint32_t>(i.extra[0] == 1 ? now >> 32 : now); });
  }
  return Step::next;
}

void decode_mov(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::move;
  const ScalarType t = d.type();
  d.expect_operands(2, 2);
  const Operand& to = d.operand(0);
  const Operand& from = d.operand(1);
  if (t == ScalarType::pred) {
    i.out[0] = d.predicate_out(to);
    i.extra[0] = from.kind == Kind::integer;
    if (i.extra[0]) i.extra[1] = from.value != 0;
    else i.in[0] = d.predicate(from);
    i.exec = move_predicate;
    return;
  }
  const unsigned bytes = ptx::bytes_of(t);
  i.bytes = static_cast<std::uint8_t>(bytes);
  if (from.kind == Kind::special && (from.name.starts_with("%clock") || from.name.starts_with("%globaltimer"))) {
    i.extra[0] = from.name == "%clock_hi" || from.name == "%globaltimer_hi" ? 1 : 0;
    i.out[0] = d.out(to, t);
    i.exec = read_clock;
    return;
  }
  if (to.kind == Kind::vector || from.kind == Kind::vector) {
    const Operand& parts = to.kind == Kind::vector ? to : from;
    if (parts.elements.empty() || bytes % parts.elements.size()) d.wrong("the vector does not divide the type");
    const unsigned part = bytes / static_cast<unsigned>(parts.elements.size());
    if (part < 2) d.unsupported("elements of one byte");
    const ScalarType pt = part == 2 ? ScalarType::b16 : part == 4 ? ScalarType::b32 : ScalarType::b64;
    i.extra[0] = static_cast<int>(part);
    if (&parts == &to) {
      i.in[0] = d.in(from, t);
      std::vector<Ref> refs;
      for (const Operand& e : to.elements) refs.push_back(d.out(e, pt));
      d.begin_list();
      for (const Ref r : refs) d.push_list(r);
      set_exec(d, unpack_of(part, bytes));
    } else {
      i.out[0] = d.out(to, t);
      std::vector<Ref> refs;
      for (const Operand& e : from.elements) refs.push_back(d.in(e, pt));
      d.begin_list();
      for (const Ref r : refs) d.push_list(r);
      set_exec(d, pack_of(part, bytes));
    }
    return;
  }
  i.out[0] = d.out(to, t);
  unsigned width = 0;
  i.in[0] = d.in_any(from, t, width);
  if (from.kind == Kind::special && width != bytes) {   // a 32-bit special register in another width
    i.in[0] = d.in(from, ScalarType::u32);
    return set_exec(d, bytes == 2 ? unary_lanes<std::uint16_t, std::uint32_t, Same> : bytes == 8 ? unary_lanes<std::uint64_t, std::uint32_t, Same> : nullptr);
  }
  if (width != bytes) d.wrong("the source has another width than the type");
  set_exec(d, copy_of(bytes));
}

std::uint64_t window_of(std::string_view space) {
  return space.starts_with("shared") ? shared_window : space == "local" ? local_window : space == "param" ? param_window : 0;
}

// cvta: to a generic address (or with .to from one). offset: the window; extra: 0 wide source, 1 wide result, 2 to
Step convert_address(Warp& w, const Instruction& i, LaneMask m) {
  const auto window = static_cast<std::uint64_t>(i.offset);
  each_lane(m, [&](unsigned l) {
    std::uint64_t a = i.extra[0] ? w.in<std::uint64_t>(i.in[0])[l] : w.in<std::uint32_t>(i.in[0])[l];
    if (i.extra[2]) a = window ? a & ~window_mask : a;
    else if (window && (a & window_mask) == 0) a |= window;
    if (i.extra[1]) w.out<std::uint64_t>(i.out[0])[l] = a;
    else w.out<std::uint32_t>(i.out[0])[l] = static_cast<std::uint32_t>(a);
  });
  return Step::next;
}

void decode_cvta(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::integer;
  i.extra[2] = d.take("to");
  const std::string_view space = d.take_any({"global", "shared::cta", "shared::cluster", "shared", "local", "param", "const"});
  if (space.empty()) d.unsupported();
  i.offset = static_cast<std::int64_t>(window_of(space));
  const ScalarType t = d.type();
  if (t != ScalarType::u64) d.unsupported("only 64-bit addresses");
  d.expect_operands(2, 2);
  i.out[0] = d.out(0, t);
  i.in[0] = d.in(1, t);
  i.extra[0] = i.extra[1] = 1;
  i.exec = convert_address;
}

Step is_space(Warp& w, const Instruction& i, LaneMask m) {
  LaneMask r = 0;
  each_lane(m, [&](unsigned l) {
    r |= static_cast<LaneMask>((w.in<std::uint64_t>(i.in[0])[l] & window_mask) == static_cast<std::uint64_t>(i.offset)) << l;
  });
  w.set_predicate(i.out[0], m, r);
  return Step::next;
}

void decode_isspacep(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::predicate;
  const std::string_view space = d.take_any({"global", "shared::cta", "shared::cluster", "shared", "local", "param"});
  if (space.empty()) d.unsupported();
  i.offset = static_cast<std::int64_t>(window_of(space));
  d.expect_operands(2, 2);
  i.out[0] = d.predicate_out(d.operand(0));
  i.in[0] = d.in(1, ScalarType::b64);
  i.exec = is_space;
}

/// The address of the same place in another CTA of the cluster. offset: the window of a generic address
template <class T>
Step map_address(Warp& w, const Instruction& i, LaneMask m) {
  each_lane(m, [&](unsigned l) {
    const std::uint32_t rank = w.in<std::uint32_t>(i.in[1])[l];
    if (rank >= w.cta->cluster.ctas.size())
      throw Fault{"mapa to CTA " + std::to_string(rank) + " of a cluster of " + std::to_string(w.cta->cluster.ctas.size()), static_cast<int>(l)};
    std::uint64_t a = w.in<T>(i.in[0])[l];
    w.cta->shared_at(shared_address(a), 1, 1, static_cast<int>(l), "mapa");
    w.out<T>(i.out[0])[l] = static_cast<T>(a | std::uint64_t{rank + 1} << cluster_shift);
  });
  return Step::next;
}

void decode_mapa(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::integer;
  d.take("shared::cluster");
  const ScalarType t = d.type();
  d.expect_operands(3, 3);
  i.out[0] = d.out(0, t);
  i.in[0] = d.in(1, t);
  i.in[1] = d.in(2, ScalarType::u32);
  set_exec(d, ptx::bytes_of(t) == 4 ? map_address<std::uint32_t> : map_address<std::uint64_t>);
}

template <class T>
Step rank_of_address(Warp& w, const Instruction& i, LaneMask m) {
  each_lane(m, [&](unsigned l) {
    std::uint64_t a = shared_address(w.in<T>(i.in[0])[l]);
    w.out<std::uint32_t>(i.out[0])[l] = w.cta->owner(a, static_cast<int>(l)).rank;
  });
  return Step::next;
}

void decode_getctarank(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::integer;
  d.take("shared::cluster");
  const ScalarType t = d.type();
  d.expect_operands(2, 2);
  i.out[0] = d.out(0, ScalarType::u32);
  i.in[0] = d.in(1, t);
  set_exec(d, ptx::bytes_of(t) == 4 ? rank_of_address<std::uint32_t> : rank_of_address<std::uint64_t>);
}

void decode_createpolicy(Decode& d) {   // a cache policy: a value that nothing reads here
  Instruction& i = d.instruction();
  i.group = InstructionClass::move;
  if (d.take_any({"fractional", "range"}).empty()) d.unsupported();
  while (d.statement().parts.back() == "b64" && !d.next_modifier().empty()) {}
  i.out[0] = d.out(0, ScalarType::b64);
  i.in[0] = d.builder().constant(0, 8);
  set_exec(d, copy_of(8));
}

}  // namespace

void add_move_family(DecoderTable& t) {
  t["mov"] = decode_mov;
  t["cvta"] = decode_cvta;
  t["isspacep"] = decode_isspacep;
  t["mapa"] = decode_mapa;
  t["createpolicy"] = decode_createpolicy;
  t["getctarank"] = decode_getctarank;
}

}  // namespace tilewright::runtime::sim
