// cvt between all integer and float types, with roundings, saturation, flushing, relu and the packed forms.
#include <algorithm>
#include <cstring>

#include "runtime/sim/elementwise.h"
#include "runtime/sim/numeric.h"

namespace tilewright::runtime::sim {

using ptx::ScalarType;

namespace {

struct Same { template <class T> static T apply(T a) { return a; } };

// extra: 0 source type, 1 target type, 2 rounding, 3 flags, 4 source register width, 5 target register width
enum Flag : int { sat = 1, ftz = 2, relu = 4, to_integral = 8 };

std::int64_t read_integer(std::uint64_t bits, ScalarType t) {
  const unsigned shift = 64 - 8 * ptx::bytes_of(t);
  if (ptx::is_signed(t)) return static_cast<std::int64_t>(bits << shift) >> shift;
  return static_cast<std::int64_t>(bits << shift >> shift);
}

double read_float(std::uint64_t bits, ScalarType t) {
  switch (t) {
    case ScalarType::f16: return half_to_float(static_cast<std::uint16_t>(bits));
    case ScalarType::bf16: return bfloat_to_float(static_cast<std::uint16_t>(bits));
    case ScalarType::f64: return std::bit_cast<double>(bits);
    default: return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  }
}

Format format_of(ScalarType t) {
  switch (t) {
    case ScalarType::f16: case ScalarType::f16x2: return half_format;
    case ScalarType::bf16: case ScalarType::bf16x2: return bfloat_format;
    case ScalarType::tf32: return tf32_format;
    case ScalarType::f64: return double_format;
    default: return single_format;
  }
}

std::uint64_t write_float(double x, ScalarType t, Rounding r, int flags) {
  if (flags & relu && !(x > 0.0)) x = x != x ? x : 0.0;
  if (flags & sat) x = x > 0.0 ? std::min(x, 1.0) : 0.0;
  if (t == ScalarType::f64) return x != x ? canonical_nan(double_format) : std::bit_cast<std::uint64_t>(x);
  std::uint64_t bits = round_to(x, format_of(t), r);
  if (t == ScalarType::tf32) bits <<= 13;
  if (flags & ftz && t == ScalarType::f32 && (bits & 0x7f800000u) == 0) bits &= 0x80000000u;
  return bits;
}

double to_integral_value(double x, Rounding r) {
  switch (r) {
    case Rounding::nearest_even: return std::nearbyint(x);
    case Rounding::nearest_away: return std::round(x);
    case Rounding::zero: return std::trunc(x);
    case Rounding::down: return std::floor(x);
    case Rounding::up: return std::ceil(x);
  }
  return x;
}

std::uint64_t float_to_integer(double x, ScalarType t, Rounding r) {   // saturates; NaN gives 0
  if (x != x) return 0;
  x = to_integral_value(x, r);
  const unsigned bits = 8 * ptx::bytes_of(t);
  if (ptx::is_signed(t)) {
    const double limit = std::ldexp(1.0, static_cast<int>(bits) - 1);
    if (x >= limit) return (1ull << (bits - 1)) - 1;
    if (x < -limit) return static_cast<std::uint64_t>(-1) << (bits - 1);
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
  }
  const double limit = std::ldexp(1.0, static_cast<int>(bits));
  if (x >= limit) return bits == 64 ? ~0ull : (1ull << bits) - 1;
  return x <= 0.0 ? 0 : static_cast<std::uint64_t>(x);
}

std::uint64_t integer_to_float(std::int64_t v, bool is_unsigned, ScalarType t, Rounding r) {
  const bool negative = !is_unsigned && v < 0;
  const std::uint64_t magnitude = negative ? 0 - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
  return round_to(negative, magnitude, 0, false, format_of(t), r);
}

std::uint64_t integer_to_integer(std::int64_t v, ScalarType from, ScalarType to, int flags) {
  if (!(flags & sat)) return static_cast<std::uint64_t>(v);
  const unsigned bits = 8 * ptx::bytes_of(to);
  const bool huge = !ptx::is_signed(from) && v < 0;   // an unsigned 64-bit value past 2^63
  if (ptx::is_signed(to)) {
    const std::int64_t most = static_cast<std::int64_t>((1ull << (bits - 1)) - 1);
    return static_cast<std::uint64_t>(huge ? most : std::clamp(v, -most - 1, most));
  }
  if (!huge && v < 0) return 0;
  const std::uint64_t most = bits == 64 ? ~0ull : (1ull << bits) - 1;
  return std::min(static_cast<std::uint64_t>(v), most);
}

Step convert(Warp& w, const Instruction& i, LaneMask m) {
  const auto from = static_cast<ScalarType>(i.extra[0]);
  const auto to = static_cast<ScalarType>(i.extra[1]);
  const auto r = static_cast<Rounding>(i.extra[2]);
  const int flags = i.extra[3];
  const auto in_width = static_cast<unsigned>(i.extra[4]), out_width = static_cast<unsigned>(i.extra[5]);
  const std::byte* s = w.in<std::byte>(i.in[0]);
  std::byte* d = w.out<std::byte>(i.out[0]);
  each_lane(m, [&](unsigned l) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, s + l * in_width, in_width);
    std::uint64_t result;
    if (ptx::is_float(from)) {
      double x = read_float(bits, from);
      if (flags & ftz && from == ScalarType::f32) x = flush(static_cast<float>(x));
      if (ptx::is_float(to)) {
        if (flags & to_integral) x = to_integral_value(x, r);
        // Ties away is an addition to the bits on this machine, left out for a NaN, which keeps what is not cut off.
        const bool cut = to == ScalarType::tf32 && r == Rounding::nearest_away && x != x;
        result = cut ? bits & 0xffffe000u : write_float(x, to, r, flags);
      } else {
        result = float_to_integer(x, to, r);
      }
    } else {
      const std::int64_t v = read_integer(bits, from);
      result = ptx::is_float(to) ? integer_to_float(v, !ptx::is_signed(from), to, r)
                                 : static_cast<std::uint64_t>(read_integer(integer_to_integer(v, from, to, flags), to));
    }
    std::memcpy(d + l * out_width, &result, out_width);
  });
  return Step::next;
}

// Two f32 into a packed pair: the first source goes to the upper half.
template <class Type>
Step convert_pair(Warp& w, const Instruction& i, LaneMask m) {
  const float* high = w.in<float>(i.in[0]);
  const float* low = w.in<float>(i.in[1]);
  auto* d = w.out<std::uint32_t>(i.out[0]);
  set_lanes(d, m, [=](unsigned l) TILEWRIGHT_INTO_LOOP {
    std::uint32_t h, o;
    if constexpr (std::is_same_v<Type, Half>) {
      h = float_to_half(high[l]);
      o = float_to_half(low[l]);
    } else {
      h = float_to_bfloat(high[l]);
      o = float_to_bfloat(low[l]);
    }
    return h << 16 | o;
  });
  return Step::next;
}

Step convert_pair_any(Warp& w, const Instruction& i, LaneMask m) {
  const float* high = w.in<float>(i.in[0]);
  const float* low = w.in<float>(i.in[1]);
  auto* d = w.out<std::uint32_t>(i.out[0]);
  const auto to = static_cast<ScalarType>(i.extra[1]);
  const auto r = static_cast<Rounding>(i.extra[2]);
  each_lane(m, [&](unsigned l) {
    const auto h = write_float(high[l], to, r, i.extra[3]), o = write_float(low[l], to, r, i.extra[3]);
    d[l] = static_cast<std::uint32_t>(h << 16 | o);
  });
  return Step::next;
}

struct WidenHalf { static float apply(std::uint16_t h) { return canonical(half_to_float(h)); } };
struct WidenBfloat { static std::uint32_t apply(std::uint16_t h) { return static_cast<std::uint32_t>(h) << 16; } };   // a NaN keeps its bits
struct NarrowHalf { static std::uint16_t apply(float f) { return float_to_half(f); } };
struct NarrowBfloat { static std::uint16_t apply(float f) { return float_to_bfloat(f); } };

Execute common_form(const Instruction& i, ScalarType from, ScalarType to) {
  using enum ScalarType;
  using U16 = std::uint16_t;
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  if (i.extra[3] || i.extra[4] != std::max<int>(2, static_cast<int>(ptx::bytes_of(from))) ||
      i.extra[5] != std::max<int>(2, static_cast<int>(ptx::bytes_of(to)))) return nullptr;
  const bool nearest = static_cast<Rounding>(i.extra[2]) == Rounding::nearest_even;
  if (from == f16 && to == f32) return unary_lanes<float, U16, WidenHalf>;
  if (from == bf16 && to == f32) return unary_lanes<std::uint32_t, U16, WidenBfloat>;
  if (from == f32 && to == f16 && nearest) return unary_lanes<U16, float, NarrowHalf>;
  if (from == f32 && to == bf16 && nearest) return unary_lanes<U16, float, NarrowBfloat>;
  if (from == s32 && (to == s64 || to == u64)) return unary_lanes<U64, std::int32_t, Same>;
  if (from == u32 && (to == s64 || to == u64)) return unary_lanes<U64, U32, Same>;
  if ((from == u64 || from == s64) && (to == u32 || to == s32)) return unary_lanes<U32, U64, Same>;
  if (from == s32 && to == f32 && nearest) return unary_lanes<float, std::int32_t, Same>;
  if (from == u32 && to == f32 && nearest) return unary_lanes<float, U32, Same>;
  return nullptr;
}

void decode_cvt(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::conversion;
  static const std::unordered_map<std::string_view, Rounding> roundings{
      {"rn", Rounding::nearest_even}, {"rna", Rounding::nearest_away}, {"rz", Rounding::zero}, {"rm", Rounding::down}, {"rp", Rounding::up},
      {"rni", Rounding::nearest_even}, {"rzi", Rounding::zero}, {"rmi", Rounding::down}, {"rpi", Rounding::up}};
  const std::string_view mode = d.take_any({"rni", "rzi", "rmi", "rpi", "rna", "rn", "rz", "rm", "rp"});
  int flags = 0;
  if (mode.size() == 3 && mode != "rna") flags |= to_integral;
  if (d.take("sat")) flags |= sat;
  if (d.take("ftz")) flags |= ftz;
  if (d.take("relu")) flags |= relu;
  for (const std::string_view m : d.statement().parts)
    if (m == "satfinite") d.unsupported("modifier '.satfinite'");
  const ScalarType to = d.type(), from = d.type();
  i.extra[0] = static_cast<int>(from);
  i.extra[1] = static_cast<int>(to);
  i.extra[2] = static_cast<int>(mode.empty() ? (ptx::is_float(from) && !ptx::is_float(to) ? Rounding::zero : Rounding::nearest_even) : roundings.at(mode));
  i.extra[3] = flags;
  if (to == ScalarType::bf16x2 || to == ScalarType::f16x2) {
    if (from != ScalarType::f32) d.unsupported();
    d.expect_operands(3, 3);
    i.out[0] = d.out(0, to);
    i.in[0] = d.in(1, from);
    i.in[1] = d.in(2, from);
    const bool plain = flags == 0 && (mode == "rn");
    i.exec = !plain ? convert_pair_any : to == ScalarType::f16x2 ? convert_pair<Half> : convert_pair<Bfloat>;
    return;
  }
  if (from == ScalarType::f16x2 || from == ScalarType::bf16x2) d.unsupported();
  d.expect_operands(2, 2);
  unsigned in_width = 0, out_width = 0;
  i.out[0] = d.out_any(d.operand(0), to, out_width);
  i.in[0] = d.in_any(d.operand(1), from, in_width);
  i.extra[4] = static_cast<int>(in_width);
  i.extra[5] = static_cast<int>(out_width);
  const Execute quick = common_form(i, from, to);
  i.exec = quick ? quick : convert;
}

}  // namespace

void add_convert_family(DecoderTable& t) { t["cvt"] = decode_cvt; }

}  // namespace tilewright::runtime::sim
