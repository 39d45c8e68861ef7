// setp, set, selp and slct.
#include "runtime/sim/elementwise.h"
#include "runtime/sim/numeric.h"

namespace tilewright::runtime::sim {

using ptx::ScalarType;

namespace {

enum Comparison : int { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };

template <Comparison c, class T>
bool compare(T a, T b) {
  if constexpr (c == eq) return a == b;
  if constexpr (c == ne) return a != b && a == a && b == b;
  if constexpr (c == lt) return a < b;
  if constexpr (c == le) return a <= b;
  if constexpr (c == gt) return a > b;
  if constexpr (c == ge) return a >= b;
  if constexpr (c == equ) return !(a != b) || a != a || b != b;
  if constexpr (c == neu) return a != b;
  if constexpr (c == ltu) return !(a >= b);
  if constexpr (c == leu) return !(a > b);
  if constexpr (c == gtu) return !(a <= b);
  if constexpr (c == geu) return !(a < b);
  if constexpr (c == num) return a == a && b == b;
  return a != a || b != b;
}

template <class T> struct Plain { using Stored = T; static T load(T v) { return v; } };
struct Flushed { using Stored = float; static float load(float v) { return flush(v); } };
struct FromHalf { using Stored = std::uint16_t; static float load(std::uint16_t v) { return half_to_float(v); } };
struct FromBfloat { using Stored = std::uint16_t; static float load(std::uint16_t v) { return bfloat_to_float(v); } };

template <class Source, Comparison c>
LaneMask compare_lanes(Warp& w, const Instruction& i, LaneMask m) {
  const auto* a = w.in<typename Source::Stored>(i.in[0]);
  const auto* b = w.in<typename Source::Stored>(i.in[1]);
  LaneMask r = 0;
  if (m == all_lanes) {
    for (unsigned l = 0; l < warp_lanes; ++l) r |= static_cast<LaneMask>(compare<c>(Source::load(a[l]), Source::load(b[l]))) << l;
  } else {
    each_lane(m, [&](unsigned l) { r |= static_cast<LaneMask>(compare<c>(Source::load(a[l]), Source::load(b[l]))) << l; });
  }
  return r;
}

// out: the two predicates; in[2] the predicate to combine with; extra: 0 combination, 1 negated
template <class Source, Comparison c>
Step setp(Warp& w, const Instruction& i, LaneMask m) {
  LaneMask yes = compare_lanes<Source, c>(w, i, m);
  LaneMask no = ~yes;
  if (i.extra[0]) {
    const LaneMask p = i.extra[1] ? ~w.predicates[static_cast<std::size_t>(i.in[2])] : w.predicates[static_cast<std::size_t>(i.in[2])];
    const auto combine = [&](LaneMask v) { return i.extra[0] == 1 ? v & p : i.extra[0] == 2 ? v | p : v ^ p; };
    yes = combine(yes);
    no = combine(no);
  }
  w.set_predicate(i.out[0], m, yes);
  if (i.out[1] >= 0) w.set_predicate(i.out[1], m, no);
  return Step::next;
}

// set: all ones (or 1.0 for f32) where the comparison holds
template <class Source, Comparison c>
Step set(Warp& w, const Instruction& i, LaneMask m) {
  const LaneMask yes = compare_lanes<Source, c>(w, i, m);
  auto* d = w.out<std::uint32_t>(i.out[0]);
  each_lane(m, [&](unsigned l) { d[l] = yes >> l & 1 ? (i.extra[2] ? 0x3f800000u : ~0u) : 0u; });
  return Step::next;
}

template <class Source, bool predicate>
Execute for_comparison(Comparison c) {
  switch (c) {
#define CASE(x) case x: return predicate ? setp<Source, x> : set<Source, x>;
    CASE(eq) CASE(ne) CASE(lt) CASE(le) CASE(gt) CASE(ge) CASE(equ) CASE(neu) CASE(ltu) CASE(leu) CASE(gtu) CASE(geu) CASE(num) CASE(nan)
#undef CASE
  }
  return nullptr;
}

template <bool predicate>
Execute for_type(ScalarType t, Comparison c, bool ftz) {
  using enum ScalarType;
  switch (t) {
    case b16: case u16: return for_comparison<Plain<std::uint16_t>, predicate>(c);
    case s16: return for_comparison<Plain<std::int16_t>, predicate>(c);
    case b32: case u32: return for_comparison<Plain<std::uint32_t>, predicate>(c);
    case s32: return for_comparison<Plain<std::int32_t>, predicate>(c);
    case b64: case u64: return for_comparison<Plain<std::uint64_t>, predicate>(c);
    case s64: return for_comparison<Plain<std::int64_t>, predicate>(c);
    case f32: return ftz ? for_comparison<Flushed, predicate>(c) : for_comparison<Plain<float>, predicate>(c);
    case f64: return for_comparison<Plain<double>, predicate>(c);
    case f16: return for_comparison<FromHalf, predicate>(c);
    case bf16: return for_comparison<FromBfloat, predicate>(c);
    default: return nullptr;
  }
}

Comparison comparison(Decode& d) {
  static const std::unordered_map<std::string_view, Comparison> names{
      {"eq", eq}, {"ne", ne}, {"lt", lt}, {"le", le}, {"gt", gt}, {"ge", ge}, {"lo", lt}, {"ls", le}, {"hi", gt}, {"hs", ge}, {"equ", equ},
      {"neu", neu}, {"ltu", ltu}, {"leu", leu}, {"gtu", gtu}, {"geu", geu}, {"num", num}, {"nan", nan}};
  const auto it = names.find(d.next_modifier());
  if (it == names.end()) d.unsupported("unknown comparison");
  return it->second;
}

void combination(Decode& d, unsigned at) {
  Instruction& i = d.instruction();
  const std::string_view how = d.take_any({"and", "or", "xor"});
  if (how.empty()) return;
  i.extra[0] = how == "and" ? 1 : how == "or" ? 2 : 3;
  i.in[2] = d.predicate(d.operand(at));
  i.extra[1] = d.operand(at).negated;
}

void decode_setp(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::predicate;
  const Comparison c = comparison(d);
  d.expect_operands(3, 4);
  combination(d, 3);
  const bool ftz = d.take("ftz");
  const ScalarType t = d.type();
  const ptx::Operand& target = d.operand(0);
  i.out[1] = -1;
  if (target.kind == ptx::Operand::Kind::pair) {
    i.out[0] = d.predicate_out(target.elements[0]);
    i.out[1] = d.predicate_out(target.elements[1]);
  } else {
    i.out[0] = d.predicate_out(target);
  }
  i.in[0] = d.in(1, t);
  i.in[1] = d.in(2, t);
  set_exec(d, for_type<true>(t, c, ftz));
}

void decode_set(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::integer;
  const Comparison c = comparison(d);
  const bool ftz = d.take("ftz");
  const ScalarType to = d.type();
  const ScalarType t = d.type();
  d.expect_operands(3, 3);
  i.extra[2] = to == ScalarType::f32;
  if (ptx::bytes_of(to) != 4 || to == ScalarType::f16x2 || to == ScalarType::bf16x2) d.unsupported();
  i.out[0] = d.out(0, to);
  i.in[0] = d.in(1, t);
  i.in[1] = d.in(2, t);
  set_exec(d, for_type<false>(t, c, ftz));
}

template <class T>
Step selp(Warp& w, const Instruction& i, LaneMask m) {
  T* d = w.out<T>(i.out[0]);
  const T* a = w.in<T>(i.in[0]);
  const T* b = w.in<T>(i.in[1]);
  const LaneMask p = i.extra[1] ? ~w.predicates[static_cast<std::size_t>(i.in[2])] : w.predicates[static_cast<std::size_t>(i.in[2])];
  set_lanes(d, m, [=](unsigned l) TILEWRIGHT_INTO_LOOP { return p >> l & 1 ? a[l] : b[l]; });
  return Step::next;
}

void decode_selp(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::move;
  const ScalarType t = d.type();
  d.expect_operands(4, 4);
  i.out[0] = d.out(0, t);
  i.in[0] = d.in(1, t);
  i.in[1] = d.in(2, t);
  i.in[2] = d.predicate(d.operand(3));
  i.extra[1] = d.operand(3).negated;
  const unsigned bytes = ptx::bytes_of(t);
  set_exec(d, bytes == 2 ? selp<std::uint16_t> : bytes == 4 ? selp<std::uint32_t> : bytes == 8 ? selp<std::uint64_t> : nullptr);
}

template <class T, class C>
struct Slct { static T apply(T a, T b, C c) { return c >= C{0} ? a : b; } };

void decode_slct(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::move;
  d.take("ftz");
  const ScalarType t = d.type();
  const ScalarType c = d.type();
  d.expect_operands(4, 4);
  i.out[0] = d.out(0, t);
  i.in[0] = d.in(1, t);
  i.in[1] = d.in(2, t);
  i.in[2] = d.in(3, c);
  const bool wide = ptx::bytes_of(t) == 8;
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  if (c == ScalarType::s32) set_exec(d, wide ? ternary_lanes<U64, U64, U64, std::int32_t, Slct<U64, std::int32_t>> : ternary_lanes<U32, U32, U32, std::int32_t, Slct<U32, std::int32_t>>);
  else if (c == ScalarType::f32) set_exec(d, wide ? ternary_lanes<U64, U64, U64, float, Slct<U64, float>> : ternary_lanes<U32, U32, U32, float, Slct<U32, float>>);
  else d.unsupported();
}

}  // namespace

void add_compare_family(DecoderTable& t) {
  t["setp"] = decode_setp;
  t["set"] = decode_set;
  t["selp"] = decode_selp;
  t["slct"] = decode_slct;
}

}  // namespace tilewright::runtime::sim
