// Logic, shifts, bit fields, permutations and counts.
#include <algorithm>

#include "runtime/sim/elementwise.h"

namespace tilewright::runtime::sim {

using ptx::ScalarType;

namespace {

struct And { template <class T> static T apply(T a, T b) { return a & b; } };
struct Or { template <class T> static T apply(T a, T b) { return a | b; } };
struct Xor { template <class T> static T apply(T a, T b) { return a ^ b; } };
struct Not { template <class T> static T apply(T a) { return static_cast<T>(~a); } };
struct CNot { template <class T> static T apply(T a) { return a == 0; } };
struct Popc { template <class T> static std::uint32_t apply(T a) { return static_cast<std::uint32_t>(std::popcount(a)); } };
struct Clz { template <class T> static std::uint32_t apply(T a) { return static_cast<std::uint32_t>(std::countl_zero(a)); } };
struct Brev {
  template <class T> static T apply(T a) {
    T r = 0;
    for (unsigned n = 0; n < 8 * sizeof(T); ++n) r = static_cast<T>(r << 1 | ((a >> n) & 1));
    return r;
  }
};
struct Shl { template <class T> static T apply(T a, std::uint32_t n) { return n >= 8 * sizeof(T) ? T{0} : static_cast<T>(a << n); } };
struct Shr {   // arithmetic for signed types; amounts beyond the width count as the width
  template <class T> static T apply(T a, std::uint32_t n) {
    if (n >= 8 * sizeof(T)) return a < T{0} ? static_cast<T>(-1) : T{0};
    return static_cast<T>(a >> n);
  }
};
struct FunnelLeftWrap { static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return static_cast<std::uint32_t>(((std::uint64_t{b} << 32 | a) << (c & 31)) >> 32); } };
struct FunnelLeftClamp { static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return static_cast<std::uint32_t>(((std::uint64_t{b} << 32 | a) << std::min(c, 32u)) >> 32); } };
struct FunnelRightWrap { static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return static_cast<std::uint32_t>((std::uint64_t{b} << 32 | a) >> (c & 31)); } };
struct FunnelRightClamp { static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return static_cast<std::uint32_t>((std::uint64_t{b} << 32 | a) >> std::min(c, 32u)); } };

struct Bfe {
  template <class T> static T apply(T a, std::uint32_t pos, std::uint32_t len) {
    constexpr unsigned width = 8 * sizeof(T);
    using U = std::make_unsigned_t<T>;
    pos &= 0xff;
    len &= 0xff;
    const unsigned top = std::min<unsigned>(pos + len - 1, width - 1);
    const bool sign = std::is_signed_v<T> && len != 0 && ((U(a) >> top) & 1);
    U r = pos >= width ? U{0} : U(a) >> pos;
    const unsigned have = len == 0 ? 0 : pos >= width ? 0 : std::min<unsigned>(len, width - pos);
    if (have < width) {
      const U mask = (U{1} << have) - 1;
      r = (r & mask) | (sign ? static_cast<U>(~mask) : U{0});
    }
    return static_cast<T>(r);
  }
};

template <class T>
Step bfi(Warp& w, const Instruction& i, LaneMask m) {
  constexpr unsigned width = 8 * sizeof(T);
  T* d = w.out<T>(i.out[0]);
  const T* a = w.in<T>(i.in[0]);
  const T* b = w.in<T>(i.in[1]);
  const auto* p = w.in<std::uint32_t>(i.in[2]);
  const auto* n = w.in<std::uint32_t>(i.in[3]);
  each_lane(m, [&](unsigned l) {
    const unsigned pos = p[l] & 0xff, len = n[l] & 0xff;
    if (pos >= width || len == 0) {
      d[l] = b[l];
      return;
    }
    const T mask = static_cast<T>((len >= width ? ~T{0} : (T{1} << len) - 1) << pos);
    d[l] = static_cast<T>((b[l] & ~mask) | ((a[l] << pos) & mask));
  });
  return Step::next;
}

template <class T>
Step bfind(Warp& w, const Instruction& i, LaneMask m) {   // extra[0]: shiftamt
  auto* d = w.out<std::uint32_t>(i.out[0]);
  const T* a = w.in<T>(i.in[0]);
  each_lane(m, [&](unsigned l) {
    using U = std::make_unsigned_t<T>;
    const U v = std::is_signed_v<T> && a[l] < T{0} ? static_cast<U>(~U(a[l])) : U(a[l]);
    const auto lead = static_cast<unsigned>(std::countl_zero(v));
    d[l] = v == 0 ? ~0u : i.extra[0] ? lead : 8 * sizeof(T) - 1 - lead;
  });
  return Step::next;
}

Step lop3(Warp& w, const Instruction& i, LaneMask m) {
  auto* d = w.out<std::uint32_t>(i.out[0]);
  const auto* a = w.in<std::uint32_t>(i.in[0]);
  const auto* b = w.in<std::uint32_t>(i.in[1]);
  const auto* c = w.in<std::uint32_t>(i.in[2]);
  const auto table = static_cast<std::uint32_t>(i.extra[0]);
  each_lane(m, [&](unsigned l) {
    std::uint32_t r = 0;
    for (unsigned n = 0; n < 8; ++n)
      if (table >> n & 1) r |= (n & 4 ? a[l] : ~a[l]) & (n & 2 ? b[l] : ~b[l]) & (n & 1 ? c[l] : ~c[l]);
    d[l] = r;
  });
  return Step::next;
}

std::uint32_t permute_selector(std::int32_t mode, std::uint32_t c) {   // the default mode's selector that a named mode stands for
  static constexpr std::uint32_t f4e[] = {0x3210, 0x4321, 0x5432, 0x6543}, b4e[] = {0x5670, 0x6701, 0x7012, 0x0123},
                                 rc8[] = {0x0000, 0x1111, 0x2222, 0x3333}, ecl[] = {0x3210, 0x3211, 0x3222, 0x3333},
                                 ecr[] = {0x0000, 0x1110, 0x2210, 0x3210}, rc16[] = {0x1010, 0x3232, 0x1010, 0x3232};
  switch (mode) {
    case 1: return f4e[c & 3];
    case 2: return b4e[c & 3];
    case 3: return rc8[c & 3];
    case 4: return ecl[c & 3];
    case 5: return ecr[c & 3];
    case 6: return rc16[c & 3];
    default: return c;
  }
}

Step prmt(Warp& w, const Instruction& i, LaneMask m) {
  auto* d = w.out<std::uint32_t>(i.out[0]);
  const auto* a = w.in<std::uint32_t>(i.in[0]);
  const auto* b = w.in<std::uint32_t>(i.in[1]);
  const auto* c = w.in<std::uint32_t>(i.in[2]);
  each_lane(m, [&](unsigned l) {
    const std::uint64_t bytes = std::uint64_t{b[l]} << 32 | a[l];
    const std::uint32_t selector = permute_selector(i.extra[0], c[l]);
    std::uint32_t r = 0;
    for (unsigned n = 0; n < 4; ++n) {
      const std::uint32_t s = selector >> 4 * n & 15;
      auto byte = static_cast<std::uint32_t>(bytes >> 8 * (s & 7) & 0xff);
      if (s & 8) byte = byte & 0x80 ? 0xff : 0;
      r |= byte << 8 * n;
    }
    d[l] = r;
  });
  return Step::next;
}

template <class F>
Step predicate_logic(Warp& w, const Instruction& i, LaneMask m) {
  const auto value = [&](Ref r) { return r == -1 ? all_lanes : r == -2 ? 0u : w.predicates[static_cast<std::size_t>(r)]; };
  if constexpr (requires { F::apply(0u, 0u); }) w.set_predicate(i.out[0], m, F::apply(value(i.in[0]), value(i.in[1])));
  else w.set_predicate(i.out[0], m, F::apply(value(i.in[0])));
  return Step::next;
}

Ref predicate_source(Decode& d, const ptx::Operand& o) {
  if (o.kind == ptx::Operand::Kind::integer) return o.value ? -1 : -2;
  return d.predicate(o);
}

template <class F, unsigned sources>
void decode_logic(Decode& d) {
  Instruction& i = d.instruction();
  const ScalarType t = d.type();
  if (t == ScalarType::pred) {
    i.group = InstructionClass::predicate;
    d.expect_operands(sources + 1, sources + 1);
    i.out[0] = d.predicate_out(d.operand(0));
    for (unsigned n = 0; n < sources; ++n) i.in[n] = predicate_source(d, d.operand(n + 1));
    i.exec = predicate_logic<F>;
    return;
  }
  i.group = InstructionClass::integer;
  take_operands(d, t, sources);
  if constexpr (sources == 1) set_exec(d, for_integer<MakeUnary, F>(t));
  else set_exec(d, for_integer<MakeBinary, F>(t));
}

template <class T, class F> struct MakeShift { static constexpr Execute value = binary_lanes<T, T, std::uint32_t, F>; };
template <class T, class F> struct MakeField { static constexpr Execute value = ternary_lanes<T, T, std::uint32_t, std::uint32_t, F>; };

template <class F>
void decode_shift(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::integer;
  const ScalarType t = d.type();
  d.expect_operands(3, 3);
  i.out[0] = d.out(0, t);
  i.in[0] = d.in(1, t);
  i.in[1] = d.in(2, ScalarType::u32);
  set_exec(d, for_integer<MakeShift, F>(t));
}

template <class F>
void decode_count(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::integer;
  const ScalarType t = d.type();
  d.expect_operands(2, 2);
  i.out[0] = d.out(0, ScalarType::u32);
  i.in[0] = d.in(1, t);
  set_exec(d, ptx::bytes_of(t) == 4 ? unary_lanes<std::uint32_t, std::uint32_t, F> : ptx::bytes_of(t) == 8 ? unary_lanes<std::uint32_t, std::uint64_t, F> : nullptr);
}

void decode_field(Decode& d) {   // bfe, bfi, bfind, brev
  Instruction& i = d.instruction();
  i.group = InstructionClass::integer;
  const std::string_view name = d.statement().parts[0];
  i.extra[0] = d.take("shiftamt");
  const ScalarType t = d.type();
  const bool wide = ptx::bytes_of(t) == 8;
  if (!wide && ptx::bytes_of(t) != 4) d.unsupported();
  if (name == "brev") {
    take_operands(d, t, 1);
    return set_exec(d, wide ? unary<std::uint64_t, Brev> : unary<std::uint32_t, Brev>);
  }
  if (name == "bfind") {
    d.expect_operands(2, 2);
    i.out[0] = d.out(0, ScalarType::u32);
    i.in[0] = d.in(1, t);
    return set_exec(d, ptx::is_signed(t) ? (wide ? bfind<std::int64_t> : bfind<std::int32_t>) : wide ? bfind<std::uint64_t> : bfind<std::uint32_t>);
  }
  const unsigned values = name == "bfi" ? 2 : 1;
  d.expect_operands(values + 3, values + 3);
  i.out[0] = d.out(0, t);
  for (unsigned n = 0; n < values; ++n) i.in[n] = d.in(n + 1, t);
  for (unsigned n = values; n < values + 2; ++n) i.in[n] = d.in(n + 1, ScalarType::u32);
  set_exec(d, name == "bfi" ? (wide ? bfi<std::uint64_t> : bfi<std::uint32_t>) : for_integer<MakeField, Bfe>(t));
}

void decode_three(Decode& d) {   // lop3, prmt, shf
  Instruction& i = d.instruction();
  i.group = InstructionClass::integer;
  const std::string_view name = d.statement().parts[0];
  const bool left = d.take("l"), right = d.take("r"), wrap = d.take("wrap"), clamp = d.take("clamp");
  const ScalarType t = d.type();
  if (t != ScalarType::b32) d.unsupported();
  if (name == "prmt") {
    const std::string_view mode = d.take_any({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
    i.extra[0] = mode == "f4e" ? 1 : mode == "b4e" ? 2 : mode == "rc8" ? 3 : mode == "ecl" ? 4 : mode == "ecr" ? 5 : mode == "rc16" ? 6 : 0;
  }
  d.expect_operands(name == "lop3" ? 5 : 4, name == "lop3" ? 5 : 4);
  i.out[0] = d.out(0, t);
  for (unsigned n = 0; n < 3; ++n) i.in[n] = d.in(n + 1, t);
  if (name == "lop3") i.extra[0] = static_cast<int>(d.immediate(d.operand(4)) & 0xff);
  set_exec(d, name == "lop3" ? lop3 : name == "prmt" ? prmt
              : left && wrap ? ternary<std::uint32_t, FunnelLeftWrap> : left && clamp ? ternary<std::uint32_t, FunnelLeftClamp>
              : right && wrap ? ternary<std::uint32_t, FunnelRightWrap> : right && clamp ? ternary<std::uint32_t, FunnelRightClamp> : nullptr);
}

}  // namespace

void add_bit_family(DecoderTable& t) {
  t["and"] = decode_logic<And, 2>;
  t["or"] = decode_logic<Or, 2>;
  t["xor"] = decode_logic<Xor, 2>;
  t["not"] = decode_logic<Not, 1>;
  t["cnot"] = decode_logic<CNot, 1>;
  t["shl"] = decode_shift<Shl>;
  t["shr"] = decode_shift<Shr>;
  t["popc"] = decode_count<Popc>;
  t["clz"] = decode_count<Clz>;
  for (const char* n : {"bfe", "bfi", "bfind", "brev"}) t[n] = decode_field;
  for (const char* n : {"lop3", "prmt", "shf"}) t[n] = decode_three;
}

}  // namespace tilewright::runtime::sim
