// Integer arithmetic: add, sub, mul, mad, div, rem, abs, neg, min, max, sad. Float types of the same opcodes go to float.cpp.
#include "runtime/sim/integer.h"

#include <limits>
#include <type_traits>

#include "runtime/sim/elementwise.h"

namespace tilewright::runtime::sim {

using ptx::ScalarType;

namespace {

template <class T> using Bits = std::make_unsigned_t<T>;

struct Add { template <class T> static T apply(T a, T b) { return static_cast<T>(Bits<T>(a) + Bits<T>(b)); } };
struct Sub { template <class T> static T apply(T a, T b) { return static_cast<T>(Bits<T>(a) - Bits<T>(b)); } };
struct MulLow { template <class T> static T apply(T a, T b) { return static_cast<T>(std::uint64_t(Bits<T>(a)) * Bits<T>(b)); } };
struct MulHigh {
  template <class T> static T apply(T a, T b) {
    if constexpr (sizeof(T) == 8) {
      using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
      return static_cast<T>((static_cast<Wide>(a) * b) >> 64);
    } else {
      using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
      return static_cast<T>((Wide{a} * Wide{b}) >> (8 * sizeof(T)));
    }
  }
};
struct Min { template <class T> static T apply(T a, T b) { return a < b ? a : b; } };
struct Max { template <class T> static T apply(T a, T b) { return a > b ? a : b; } };
struct MinRelu { template <class T> static T apply(T a, T b) { const T m = a < b ? a : b; return m > 0 ? m : T{0}; } };
struct MaxRelu { template <class T> static T apply(T a, T b) { const T m = a > b ? a : b; return m > 0 ? m : T{0}; } };
// Division by zero gives all ones, its remainder the dividend (unspecified in PTX; what the card does).
struct Div {
  template <class T> static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(~Bits<T>{0});
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return static_cast<T>(Bits<T>{0} - Bits<T>(a));
    return static_cast<T>(a / b);
  }
};
struct Rem {
  template <class T> static T apply(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return static_cast<T>(a % b);
  }
};
struct Abs { template <class T> static T apply(T a) { return a < 0 ? static_cast<T>(Bits<T>{0} - Bits<T>(a)) : a; } };
struct Neg { template <class T> static T apply(T a) { return static_cast<T>(Bits<T>{0} - Bits<T>(a)); } };
struct MadLow { template <class T> static T apply(T a, T b, T c) { return Add::apply(MulLow::apply(a, b), c); } };
struct MadHigh { template <class T> static T apply(T a, T b, T c) { return Add::apply(MulHigh::apply(a, b), c); } };
struct Sad { template <class T> static T apply(T a, T b, T c) { return Add::apply(c, a < b ? Sub::apply(b, a) : Sub::apply(a, b)); } };

std::int32_t clamp32(std::int64_t v) {
  return static_cast<std::int32_t>(std::min<std::int64_t>(std::max<std::int64_t>(v, std::numeric_limits<std::int32_t>::min()),
                                                          std::numeric_limits<std::int32_t>::max()));
}
struct AddSat { static std::int32_t apply(std::int32_t a, std::int32_t b) { return clamp32(std::int64_t{a} + b); } };
struct SubSat { static std::int32_t apply(std::int32_t a, std::int32_t b) { return clamp32(std::int64_t{a} - b); } };

// The wide forms: sources of half the result's width.
template <class W> struct MulWide { template <class T> static W apply(T a, T b) { return static_cast<W>(W{a} * W{b}); } };
template <class W> struct MadWide {
  template <class T> static W apply(T a, T b, W c) { return static_cast<W>(Bits<W>(W{a} * W{b}) + Bits<W>(c)); }
};

Execute mul_wide(ScalarType t) {
  switch (t) {
    case ScalarType::u16: return binary_lanes<std::uint32_t, std::uint16_t, std::uint16_t, MulWide<std::uint32_t>>;
    case ScalarType::s16: return binary_lanes<std::int32_t, std::int16_t, std::int16_t, MulWide<std::int32_t>>;
    case ScalarType::u32: return binary_lanes<std::uint64_t, std::uint32_t, std::uint32_t, MulWide<std::uint64_t>>;
    case ScalarType::s32: return binary_lanes<std::int64_t, std::int32_t, std::int32_t, MulWide<std::int64_t>>;
    default: return nullptr;
  }
}
Execute mad_wide(ScalarType t) {
  switch (t) {
    case ScalarType::u16: return ternary_lanes<std::uint32_t, std::uint16_t, std::uint16_t, std::uint32_t, MadWide<std::uint32_t>>;
    case ScalarType::s16: return ternary_lanes<std::int32_t, std::int16_t, std::int16_t, std::int32_t, MadWide<std::int32_t>>;
    case ScalarType::u32: return ternary_lanes<std::uint64_t, std::uint32_t, std::uint32_t, std::uint64_t, MadWide<std::uint64_t>>;
    case ScalarType::s32: return ternary_lanes<std::int64_t, std::int32_t, std::int32_t, std::int64_t, MadWide<std::int64_t>>;
    default: return nullptr;
  }
}

ScalarType wider(ScalarType t) {
  return ptx::bytes_of(t) == 2 ? (ptx::is_signed(t) ? ScalarType::s32 : ScalarType::u32)
                               : (ptx::is_signed(t) ? ScalarType::s64 : ScalarType::u64);
}

struct MulLow24 { template <class T> static T apply(T a, T b) { return static_cast<T>((Bits<T>(a) << 8 >> 8) * (Bits<T>(b) << 8 >> 8)); } };

Step carry_chain(Warp& w, const Instruction& i, LaneMask m) {   // extra: 0 subtract, 1 carry in, 2 carry out
  auto* d = w.out<std::uint32_t>(i.out[0]);
  const auto* a = w.in<std::uint32_t>(i.in[0]);
  const auto* b = w.in<std::uint32_t>(i.in[1]);
  LaneMask carry = w.carry;
  each_lane(m, [&](unsigned l) {
    const std::uint64_t in = i.extra[1] ? (w.carry >> l) & 1 : 0;
    const std::uint64_t r = i.extra[0] ? std::uint64_t{a[l]} - b[l] - in : std::uint64_t{a[l]} + b[l] + in;
    d[l] = static_cast<std::uint32_t>(r);
    carry = (carry & ~(1u << l)) | static_cast<LaneMask>((r >> 32) & 1) << l;
  });
  if (i.extra[2]) w.carry = carry;
  return Step::next;
}

void decode_carry(Decode& d) {   // add.cc, addc, sub.cc, subc of 32 bits
  Instruction& i = d.instruction();
  i.group = InstructionClass::integer;
  const std::string_view name = d.statement().parts[0];
  i.extra = {name.starts_with("sub"), name.ends_with("c"), d.take("cc")};
  const ScalarType t = d.type();
  if (ptx::bytes_of(t) != 4) d.unsupported("only 32-bit types");
  take_operands(d, t, 2);
  i.exec = carry_chain;
}

template <class F>
void decode_two(Decode& d, ScalarType t) { take_operands(d, t, 2); set_exec(d, for_integer<MakeBinary, F>(t)); }

}  // namespace

void decode_integer(Decode& d) {
  const std::string_view name = d.statement().parts[0];
  Instruction& i = d.instruction();
  i.group = InstructionClass::integer;
  const bool relu = d.take("relu");
  const std::string_view part = d.take_any({"lo", "hi", "wide"});
  const bool sat = d.take("sat");
  const ScalarType t = d.type();
  if ((sat && (t != ScalarType::s32 || (name != "add" && name != "sub"))) || (relu && t != ScalarType::s32)) d.unsupported();
  if (name == "add") { decode_two<Add>(d, t); if (sat) i.exec = binary<std::int32_t, AddSat>; }
  else if (name == "sub") { decode_two<Sub>(d, t); if (sat) i.exec = binary<std::int32_t, SubSat>; }
  else if (name == "min") { decode_two<Min>(d, t); if (relu) i.exec = binary<std::int32_t, MinRelu>; }
  else if (name == "max") { decode_two<Max>(d, t); if (relu) i.exec = binary<std::int32_t, MaxRelu>; }
  else if (name == "div") decode_two<Div>(d, t);
  else if (name == "rem") decode_two<Rem>(d, t);
  else if (name == "mul24" && part == "lo") decode_two<MulLow24>(d, t);
  else if (name == "mul" && part == "hi") decode_two<MulHigh>(d, t);
  else if (name == "mul" && part == "lo") decode_two<MulLow>(d, t);
  else if (name == "mul" && part == "wide") {
    d.expect_operands(3, 3);
    i.out[0] = d.out(0, wider(t));
    i.in[0] = d.in(1, t);
    i.in[1] = d.in(2, t);
    set_exec(d, mul_wide(t));
  } else if (name == "mad" && part == "wide") {
    d.expect_operands(4, 4);
    i.out[0] = d.out(0, wider(t));
    i.in[0] = d.in(1, t);
    i.in[1] = d.in(2, t);
    i.in[2] = d.in(3, wider(t));
    set_exec(d, mad_wide(t));
  } else if (name == "mad" || name == "sad") {
    take_operands(d, t, 3);
    set_exec(d, name == "sad" ? for_integer<MakeTernary, Sad>(t) : part == "hi" ? for_integer<MakeTernary, MadHigh>(t)
                              : part == "lo" ? for_integer<MakeTernary, MadLow>(t) : nullptr);
  } else if (name == "abs" || name == "neg") {
    take_operands(d, t, 1);
    set_exec(d, name == "abs" ? for_integer<MakeUnary, Abs>(t) : for_integer<MakeUnary, Neg>(t));
  } else {
    d.unsupported();
  }
}

void add_integer_family(DecoderTable& t) {
  for (const char* n : {"div", "rem", "mad", "sad", "mul24"}) t[n] = decode_integer;
  t["addc"] = decode_carry;
  t["subc"] = decode_carry;
}

void decode_carry_out(Decode& d) { decode_carry(d); }

}  // namespace tilewright::runtime::sim
