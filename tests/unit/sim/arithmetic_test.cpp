// One known answer for each arithmetic instruction and form.
#include "tests/unit/sim/kernels.h"

namespace tilewright::test {
namespace {

struct Case {
  const char* name;
  const char* body;
  Inputs in;
  std::uint64_t expected;   // of lane 0
};

void PrintTo(const Case& c, std::ostream* os) { *os << c.name; }

class Arithmetic : public testing::TestWithParam<Case> {};

TEST_P(Arithmetic, KnownAnswer) {
  for (const auto& device : devices()) {
    SCOPED_TRACE(std::string(device->kind()));
    EXPECT_EQ(run_lanes(*device, GetParam().body, GetParam().in)[0], GetParam().expected) << GetParam().body;
  }
}

constexpr std::uint64_t minus(std::uint64_t v) { return 0u - static_cast<std::uint32_t>(v); }
std::uint64_t f(float x) { return bits(x); }

const Case cases[] = {
    {"add_wraps", "add.s32 %out, %a, %b;", {{0xffffffff}, {2}, {}, {}}, 1},
    {"add_sat", "add.sat.s32 %out, %a, %b;", {{0x7fffffff}, {2}, {}, {}}, 0x7fffffff},
    {"sub_64", "sub.s64 %wide, %wa, %wb;", {{1}, {2}, {}, {}}, ~0ull},
    {"carry", "add.cc.u32 %r1, %a, %b; addc.u32 %out, %c, 0;", {{0xffffffff}, {1}, {5}, {}}, 6},
    {"mul_lo", "mul.lo.s32 %out, %a, %b;", {{minus(3)}, {7}, {}, {}}, minus(21)},
    {"mul_hi_signed", "mul.hi.s32 %out, %a, %b;", {{0x80000000}, {4}, {}, {}}, minus(2)},
    {"mul_hi_64", "mul.hi.u64 %wide, %wa, %wb;", {{1ull << 63}, {6}, {}, {}}, 3},
    {"mul_wide", "mul.wide.s32 %wide, %a, %b;", {{minus(2)}, {0x40000000}, {}, {}}, 0xffffffff80000000ull},
    {"mul_wide_16", "mul.wide.u16 %out, %ha, %hb;", {{0xffff}, {0xffff}, {}, {}}, 0xfffe0001},
    {"mad_lo", "mad.lo.s32 %out, %a, %b, %c;", {{3}, {4}, {5}, {}}, 17},
    {"mad_wide", "mad.wide.u32 %wide, %a, %b, %wc;", {{0xffffffff}, {2}, {3}, {}}, 0x200000001ull},
    {"div_signed", "div.s32 %out, %a, %b;", {{minus(7)}, {2}, {}, {}}, minus(3)},
    {"rem_signed", "rem.s32 %out, %a, %b;", {{minus(7)}, {2}, {}, {}}, minus(1)},
    {"div_unsigned_64", "div.u64 %wide, %wa, %wb;", {{~0ull}, {3}, {}, {}}, 0x5555555555555555ull},
    {"min_signed", "min.s32 %out, %a, %b;", {{minus(1)}, {1}, {}, {}}, minus(1)},
    {"max_unsigned", "max.u32 %out, %a, %b;", {{minus(1)}, {1}, {}, {}}, 0xffffffff},
    {"abs", "abs.s32 %out, %a;", {{minus(9)}, {}, {}, {}}, 9},
    {"neg_16", "neg.s16 %h0, %ha; cvt.s32.s16 %out, %h0;", {{9}, {}, {}, {}}, minus(9)},
    {"sad", "sad.u32 %out, %a, %b, %c;", {{3}, {10}, {1}, {}}, 8},
    {"and_or_xor_not", "and.b32 %r1, %a, %b; or.b32 %r1, %r1, %c; xor.b32 %r1, %r1, 1; not.b32 %out, %r1;", {{12}, {10}, {3}, {}}, ~10u & 0xffffffffu},
    {"lop3", "lop3.b32 %out, %a, %b, %c, 0xca;", {{0xff00}, {0x1234}, {0x5678}, {}}, 0x1278},
    {"shl_too_far", "shl.b32 %out, %a, %b;", {{1}, {32}, {}, {}}, 0},
    {"shr_signed_too_far", "shr.s32 %out, %a, %b;", {{0x80000000}, {40}, {}, {}}, 0xffffffff},
    {"shf_left_wrap", "shf.l.wrap.b32 %out, %a, %b, %c;", {{0x80000000}, {1}, {33}, {}}, 3},
    {"shf_right_clamp", "shf.r.clamp.b32 %out, %a, %b, %c;", {{5}, {7}, {40}, {}}, 7},
    {"bfe_signed", "bfe.s32 %out, %a, 4, 4;", {{0xf0}, {}, {}, {}}, 0xffffffff},
    {"bfe_unsigned_past_end", "bfe.u32 %out, %a, 28, 16;", {{0xa0000000}, {}, {}, {}}, 10},
    {"bfi", "bfi.b32 %out, %a, %b, 8, 8;", {{0xab}, {0x11111111}, {}, {}}, 0x1111ab11},
    {"bfind", "bfind.u32 %out, %a;", {{0x00010000}, {}, {}, {}}, 16},
    {"brev", "brev.b32 %out, %a;", {{1}, {}, {}, {}}, 0x80000000},
    {"popc_64", "popc.b64 %out, %wa;", {{0xff000000000000ffull}, {}, {}, {}}, 16},
    {"clz", "clz.b32 %out, %a;", {{1}, {}, {}, {}}, 31},
    {"prmt", "prmt.b32 %out, %a, %b, 0x7531;", {{0x33221100}, {0x77665544}, {}, {}}, 0x77553311},
    {"prmt_sign", "prmt.b32 %out, %a, %b, 0xba98;", {{0x80017f80}, {0}, {}, {}}, 0xff0000ff},
    {"selp", "setp.lt.s32 %p1, %a, %b; selp.b32 %out, %c, %d, %p1;", {{minus(1)}, {0}, {7}, {8}}, 7},
    {"setp_combined", "setp.eq.u32 %p1, %a, 1; setp.gt.and.s32 %p2|%p3, %b, 0, !%p1; selp.b32 %out, 1, 0, %p2; @%p3 mov.b32 %out, 2;", {{0}, {5}, {}, {}}, 1},
    {"setp_unordered", "setp.ltu.f32 %p1, %fa, %fb; selp.b32 %out, 1, 0, %p1;", {{0x7fc00000}, {0}, {}, {}}, 1},
    {"setp_ordered_ne", "setp.ne.f32 %p1, %fa, %fb; selp.b32 %out, 1, 0, %p1;", {{0x7fc00000}, {0}, {}, {}}, 0},
    {"setp_unordered_ne", "setp.neu.f32 %p1, %fa, %fb; selp.b32 %out, 1, 0, %p1;", {{0x7fc00000}, {0}, {}, {}}, 1},
    {"set", "set.ge.u32.s32 %out, %a, %b;", {{3}, {3}, {}, {}}, 0xffffffff},
    {"slct", "slct.b32.s32 %out, %a, %b, %c;", {{1}, {2}, {minus(1)}, {}}, 2},
    {"pack", "mov.b32 %r1, {%ha, %hb}; mov.b32 {%h0, %h1}, %r1; mov.b32 %out, {%h1, %h0};", {{0x1111}, {0x2222}, {}, {}}, 0x11112222},
    {"pack_64", "mov.b64 %wide, {%a, %b};", {{1}, {2}, {}, {}}, 0x200000001ull},
    {"pred_logic", "setp.eq.u32 %p1, %a, 0; not.pred %p2, %p1; xor.pred %p3, %p1, %p2; selp.b32 %out, 1, 0, %p3;", {{}, {}, {}, {}}, 1},
    {"add_f32", "add.f32 %f1, %fa, %fb; mov.b32 %out, %f1;", {{f(1.5f)}, {f(2.25f)}, {}, {}}, f(3.75f)},
    {"add_f32_round_up", "add.rp.f32 %f1, %fa, %fb; mov.b32 %out, %f1;", {{f(1.0f)}, {f(0x1p-30f)}, {}, {}}, 0x3f800001},
    {"mul_f32_round_zero", "mul.rz.f32 %f1, %fa, %fb; mov.b32 %out, %f1;", {{0x3fffffff}, {0x3fffffff}, {}, {}}, 0x407ffffe},
    {"fma_f32_once", "fma.rn.f32 %f1, %fa, %fb, %fc; mov.b32 %out, %f1;", {{0x3f800001}, {0x3f800001}, {f(-1.0f)}, {}}, 0x34800000},
    {"ftz_flushes", "add.ftz.f32 %f1, %fa, %fb; mov.b32 %out, %f1;", {{0x00000001}, {0x80000000}, {}, {}}, 0},
    {"no_ftz_keeps", "add.f32 %f1, %fa, %fb; mov.b32 %out, %f1;", {{1}, {1}, {}, {}}, 2},
    {"nan_is_canonical", "sub.f32 %f1, %fa, %fb; mov.b32 %out, %f1;", {{0x7f800000}, {0x7f800000}, {}, {}}, 0x7fffffff},
    {"saturate", "add.sat.f32 %f1, %fa, %fb; mov.b32 %out, %f1;", {{f(3.0f)}, {f(1.0f)}, {}, {}}, f(1.0f)},
    {"min_f32_nan_loses", "min.f32 %f1, %fa, %fb; mov.b32 %out, %f1;", {{0x7fc00000}, {f(2.0f)}, {}, {}}, f(2.0f)},
    {"max_nan", "max.NaN.f32 %f1, %fa, %fb; mov.b32 %out, %f1;", {{0x7fc00000}, {f(2.0f)}, {}, {}}, 0x7fffffff},
    // What the card does with NaN, -0 and results just below the normal numbers.
    {"neg_f32_nan", "neg.f32 %f1, %fa; mov.b32 %out, %f1;", {{0x7fc00000}, {}, {}, {}}, 0x7fffffff},
    {"abs_f32_nan", "abs.f32 %f1, %fa; mov.b32 %out, %f1;", {{0xffc00001}, {}, {}, {}}, 0x7fffffff},
    {"add_sat_minus_zero", "add.rn.sat.f32 %f1, %fa, %fb; mov.b32 %out, %f1;", {{0x80000000}, {0x80000000}, {}, {}}, 0},
    {"cvt_sat_minus_zero", "cvt.sat.f32.f32 %f1, %fa; mov.b32 %out, %f1;", {{0x80000000}, {}, {}, {}}, 0},
    {"cvt_f32_bf16_nan", "cvt.f32.bf16 %f1, %ha; mov.b32 %out, %f1;", {{0xff81}, {}, {}, {}}, 0xff810000},
    {"cvt_tf32_away_nan", "cvt.rna.tf32.f32 %out, %fa;", {{0xffc01fff}, {}, {}, {}}, 0xffc00000},
    {"fma_relu_minus_zero", "fma.rn.relu.bf16x2 %out, %a, %b, %c;", {{0x80008000}, {0}, {0x80008000}, {}}, 0},
    {"fma_ftz_below_normal", "fma.rp.ftz.f32 %f1, %fa, %fb, %fc; mov.b32 %out, %f1;", {{0x075c51bd}, {0xacf85341}, {0x00800000}, {}}, 0},
    {"neg_f32", "neg.f32 %f1, %fa; mov.b32 %out, %f1;", {{f(2.0f)}, {}, {}, {}}, f(-2.0f)},
    {"div_rn", "div.rn.f32 %f1, %fa, %fb; mov.b32 %out, %f1;", {{f(1.0f)}, {f(3.0f)}, {}, {}}, 0x3eaaaaab},
    {"sqrt_rn", "sqrt.rn.f32 %f1, %fa; mov.b32 %out, %f1;", {{f(2.0f)}, {}, {}, {}}, 0x3fb504f3},
    {"ex2_exact", "ex2.approx.ftz.f32 %f1, %fa; mov.b32 %out, %f1;", {{f(-3.0f)}, {}, {}, {}}, f(0.125f)},
    {"lg2_exact", "lg2.approx.f32 %f1, %fa; mov.b32 %out, %f1;", {{f(8.0f)}, {}, {}, {}}, f(3.0f)},
    {"rcp_approx_exact", "rcp.approx.ftz.f32 %f1, %fa; mov.b32 %out, %f1;", {{f(4.0f)}, {}, {}, {}}, f(0.25f)},
    {"fma_f64", "mov.b64 %fd1, %wa; fma.rn.f64 %fd1, %fd1, 0d4000000000000000, 0d3FF0000000000000; mov.b64 %wide, %fd1;", {{0x3ff8000000000000ull}, {}, {}, {}}, 0x4010000000000000ull},
    {"fma_bf16x2", "fma.rn.bf16x2 %out, %a, %b, %c;", {{0x40003f80}, {0x40003f80}, {0x3f803f80}, {}}, 0x40a04000},
    {"mul_f16x2", "mul.rn.f16x2 %out, %a, %b;", {{0x40003c00}, {0x42003c00}, {}, {}}, 0x46003c00},
    {"add_f16", "add.f16 %h0, %ha, %hb; cvt.u32.u16 %out, %h0;", {{0x3c00}, {0x1000}, {}, {}}, 0x3c00},
    {"max_bf16x2", "max.bf16x2 %out, %a, %b;", {{0x3f80bf80}, {0xbf803f80}, {}, {}}, 0x3f803f80},
    {"cvt_bf16x2", "cvt.rn.bf16x2.f32 %out, %fa, %fb;", {{f(1.0f)}, {f(-2.0f)}, {}, {}}, 0x3f80c000},
    {"cvt_bf16_ties_to_even", "cvt.rn.bf16.f32 %h0, %fa; cvt.u32.u16 %out, %h0;", {{0x3f808000}, {}, {}, {}}, 0x3f80},
    {"cvt_f16x2_relu", "cvt.rn.relu.f16x2.f32 %out, %fa, %fb;", {{f(-1.0f)}, {f(1.0f)}, {}, {}}, 0x00003c00},
    {"cvt_f16_overflow", "cvt.rn.f16.f32 %h0, %fa; cvt.u32.u16 %out, %h0;", {{f(65520.0f)}, {}, {}, {}}, 0x7c00},
    {"cvt_f16_subnormal", "cvt.rn.f16.f32 %h0, %fa; cvt.u32.u16 %out, %h0;", {{f(0x1.8p-24f)}, {}, {}, {}}, 2},
    {"cvt_from_f16", "cvt.f32.f16 %f1, %ha; mov.b32 %out, %f1;", {{0x0001}, {}, {}, {}}, f(0x1p-24f)},
    {"cvt_tf32_away", "cvt.rna.tf32.f32 %out, %fa;", {{0x3f801000}, {}, {}, {}}, 0x3f802000},
    {"cvt_int_rz", "cvt.rzi.s32.f32 %out, %fa;", {{f(-1.75f)}, {}, {}, {}}, minus(1)},
    {"cvt_int_rn_even", "cvt.rni.s32.f32 %out, %fa;", {{f(2.5f)}, {}, {}, {}}, 2},
    {"cvt_int_saturates", "cvt.rzi.u32.f32 %out, %fa;", {{f(-5.0f)}, {}, {}, {}}, 0},
    {"cvt_int_nan", "cvt.rzi.s32.f32 %out, %fa;", {{0x7fc00000}, {}, {}, {}}, 0},
    {"cvt_float_from_int", "cvt.rn.f32.u32 %f1, %a; mov.b32 %out, %f1;", {{0xffffffff}, {}, {}, {}}, f(4294967296.0f)},
    {"cvt_float_from_int_rz", "cvt.rz.f32.u32 %f1, %a; mov.b32 %out, %f1;", {{0xffffffff}, {}, {}, {}}, 0x4f7fffff},
    {"cvt_round_in_place", "cvt.rmi.f32.f32 %f1, %fa; mov.b32 %out, %f1;", {{f(-0.5f)}, {}, {}, {}}, f(-1.0f)},
    {"cvt_narrow_sign", "cvt.s32.s8 %out, %a;", {{0x180}, {}, {}, {}}, 0xffffff80},
    {"cvt_sat_int", "cvt.sat.u8.s32 %r1, %a; mov.b32 %out, %r1;", {{300}, {}, {}, {}}, 255},
};
INSTANTIATE_TEST_SUITE_P(, Arithmetic, testing::ValuesIn(cases), [](const auto& info) { return std::string(info.param.name); });

TEST(Approximations, AreClose) {
  const Inputs in{{bits(0.7f)}, {bits(3.0f)}, {}, {}};
  const auto value = [&](const std::string& op) { return as_float(static_cast<std::uint32_t>(run_lanes(simulator(), op + " mov.b32 %out, %f1;", in)[0])); };
  EXPECT_NEAR(value("sin.approx.f32 %f1, %fa;"), 0.644217687f, 1e-6f);
  EXPECT_NEAR(value("cos.approx.f32 %f1, %fa;"), 0.764842187f, 1e-6f);
  EXPECT_NEAR(value("tanh.approx.f32 %f1, %fa;"), 0.604367777f, 1e-6f);
  EXPECT_NEAR(value("rsqrt.approx.f32 %f1, %fb;"), 0.577350269f, 1e-6f);
  EXPECT_NEAR(value("sqrt.approx.ftz.f32 %f1, %fb;"), 1.73205081f, 2e-6f);
  EXPECT_NEAR(value("div.full.f32 %f1, %fa, %fb;"), 0.233333333f, 1e-6f);
}

}  // namespace
}  // namespace tilewright::test
