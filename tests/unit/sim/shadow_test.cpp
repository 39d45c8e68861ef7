// Shadows in fp64: where they come from, what carries them, what drops them, and what is said of the instructions.
#include "runtime/sim/shadow/shadow.h"

#include <bit>
#include <cmath>

#include "tests/unit/sim/kernels.h"
#include "tilewright/half.h"

namespace tilewright::test {
namespace {

namespace sim = runtime::sim;

/// Runs a body on a warp whose inputs are %f1 and %f2 of the lane; it stores with [%rd1], which has the lane's place.
struct Shadowing {
  std::unique_ptr<Device> device = sim::make_simulated_device(sim::SimulatorOptions{});
  std::shared_ptr<sim::Shadow> shadow = std::make_shared<sim::Shadow>();
  DeviceAddress in = device->allocate(32 * 8), out = device->allocate(32 * 4);

  void run(const std::string& body, const std::function<std::pair<float, float>(unsigned)>& inputs, const std::string& before = {}) {
    std::vector<float> values;
    for (unsigned l = 0; l < 32; ++l) values.push_back(inputs(l).first), values.push_back(inputs(l).second);
    device->copy_to_device(in, values.data(), values.size() * 4);
    sim::watch(*device, shadow);
    runtime::KernelImage image;
    image.name = "k";
    image.ptx = module_text("mul.wide.u32 %rd2, %r0, 8; add.s64 %rd0, %rd0, %rd2; ld.global.v2.f32 {%f1, %f2}, [%rd0]; mul.wide.u32 %rd2, %r0, 4; add.s64 %rd1, %rd1, %rd2;\n" + body, 32, before);
    image.dynamic_shared_bytes = 4096;
    const auto kernel = device->load(image);
    const runtime::KernelParameter parameters[] = {std::as_bytes(std::span(&in, 1)), std::as_bytes(std::span(&out, 1))};
    device->launch(*kernel, {}, parameters);
  }
  sim::ShadowedArray output(std::uint64_t elements = 32, const char* element = "f32") { return shadow->compare(out, elements, element); }
  sim::ShadowLine line(std::string_view opcode) const {
    for (const sim::ShadowLine& l : shadow->lines())
      if (l.opcode == opcode) return l;
    return {};
  }
};

std::pair<float, float> one_and_tiny(unsigned) { return {1.0f, 0x1p-30f}; }

TEST(Shadow, FindsTheCancellationBehindARounding) {
  Shadowing s;
  s.run("add.rn.f32 %f3, %f1, %f2; sub.rn.f32 %f4, %f3, %f1; st.global.f32 [%rd1], %f4;", one_and_tiny);
  EXPECT_DOUBLE_EQ(s.output().largest_error, 0x1p-30);
  EXPECT_DOUBLE_EQ(s.output().rms_error, 1.0);
  EXPECT_EQ(s.output().without_shadow, 0u);
  const sim::ShadowLine add = s.line("add.rn.f32"), sub = s.line("sub.rn.f32");
  EXPECT_EQ(s.shadow->lines().front().opcode, "sub.rn.f32") << "it is what makes the small error a large one";
  EXPECT_NEAR(add.accuracy.introduced, 0x1p-30, 0x1p-50);
  EXPECT_EQ(add.accuracy.operand_error, 0);
  EXPECT_EQ(sub.accuracy.introduced, 0) << "the subtraction itself is exact";
  EXPECT_NEAR(sub.accuracy.result_error, 1, 1e-9);
  EXPECT_EQ(sub.accuracy.results, 32u);
}

TEST(Shadow, EachConversionToSixteenBitsIsARounding) {
  Shadowing s;
  const auto inputs = [](unsigned l) { return std::pair{1.0f + static_cast<float>(l) / 1000, 2.0f - static_cast<float>(l) / 3000}; };
  s.run("cvt.rn.bf16x2.f32 %r1, %f2, %f1; st.global.b32 [%rd1], %r1;", inputs);
  double error2 = 0, value2 = 0;
  for (unsigned l = 0; l < 32; ++l)
    for (const float x : {inputs(l).first, inputs(l).second}) {
      const double e = double(float_from_bf16(bf16_from_float(x))) - x;
      error2 += e * e, value2 += double(x) * x;
    }
  EXPECT_NEAR(s.output(64, "bf16").rms_error, std::sqrt(error2 / value2), 1e-12);
  EXPECT_NEAR(s.line("cvt.rn.bf16x2.f32").accuracy.introduced, std::sqrt(error2 / value2), 1e-12);
}

TEST(Shadow, MovesWithItsNumber) {
  // packed to bf16, through shared memory, shuffled, widened by moving bits, through another register and a select
  Shadowing s;
  s.run("mov.b32 %f5, 0f3F8147AE; add.rn.f32 %f6, %f1, %f5; cvt.rn.bf16x2.f32 %r1, %f6, %f6;\n"
        "mov.u32 %r2, tile; shl.b32 %r3, %r0, 2; add.u32 %r2, %r2, %r3; st.shared.b32 [%r2], %r1; ld.shared.b32 %r4, [%r2];\n"
        "shfl.sync.bfly.b32 %r5, %r4, 1, 31, -1; and.b32 %r6, %r5, -65536; shl.b32 %r7, %r5, 16; mov.b32 %f7, %r6; mov.b32 %f8, %r7;\n"
        "mov.b64 %rd5, {%f7, %f8}; mov.b64 {%f9, %f10}, %rd5; setp.lt.u32 %p1, %r0, 16; selp.f32 %f11, %f9, %f10, %p1; st.global.f32 [%rd1], %f11;",
        [](unsigned l) { return std::pair{static_cast<float>(l) / 7, 0.0f}; }, ".extern .shared .align 1024 .b8 tile[];\n");
  EXPECT_EQ(s.output().without_shadow, 0u);
  EXPECT_GT(s.output().rms_error, 0x1p-11);
  EXPECT_LT(s.output().rms_error, 0x1p-8);
}

TEST(Shadow, IntegerOperationsOnTheBitsDropIt) {
  Shadowing s;
  s.run("add.rn.f32 %f3, %f1, %f2; mov.b32 %r1, %f3; add.u32 %r1, %r1, 1; mov.b32 %f4, %r1; st.global.f32 [%rd1], %f4;", one_and_tiny);
  EXPECT_EQ(s.output().without_shadow, 32u);
  EXPECT_EQ(s.output().rms_error, 0);
}

TEST(Shadow, ARemainderOfARoundingIsNoLoss) {   // x = hi + lo, as products in two parts are made
  Shadowing s;
  s.run("mul.rn.f32 %f3, %f1, %f2; cvt.rna.tf32.f32 %r1, %f3; mov.b32 %f4, %r1; sub.rn.f32 %f5, %f3, %f4; add.rn.f32 %f6, %f4, %f5; st.global.f32 [%rd1], %f6;",
        [](unsigned l) { return std::pair{1.0f + static_cast<float>(l) / 77, 1.25f}; });
  EXPECT_EQ(s.line("sub.rn.f32").opcode, "");
  EXPECT_GT(s.line("cvt.rna.tf32.f32").lost(), 0x1p-14);
  EXPECT_LT(s.output().rms_error, 0x1p-24) << "the two parts together are as accurate as the product";
}

TEST(Shadow, OfAWarpProduct) {
  // A of ones rounded up from 1 + 2^-9 in bf16, B of ones: every sum of 16 products is 16, in fp64 16 (1 + 2^-9)
  Shadowing s;
  s.run("mov.b32 %f5, 0f3B000000; add.rn.f32 %f6, %f1, %f5; cvt.rn.bf16x2.f32 %r1, %f6, %f6; cvt.rn.bf16x2.f32 %r2, %f1, %f1; mov.b32 %f20, 0f00000000;\n"
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f10, %f11, %f12, %f13}, {%r1, %r1, %r1, %r1}, {%r2, %r2}, {%f20, %f20, %f20, %f20};\n"
        "st.global.f32 [%rd1], %f12;", [](unsigned) { return std::pair{1.0f, 0.0f}; });
  EXPECT_EQ(s.output().without_shadow, 0u);
  EXPECT_NEAR(s.output().largest_error, 16 * 0x1p-9, 1e-12);
}

TEST(Shadow, OfAtomicsAddsUp) {
  Shadowing s;
  s.run("mov.b32 %f5, 0f00000000; ld.param.u64 %rd1, [out]; setp.eq.u32 %p1, %r0, 0; @%p1 st.global.f32 [%rd1], %f1; bar.warp.sync -1; red.global.add.f32 [%rd1], %f2;", one_and_tiny);
  EXPECT_NEAR(s.output(1).largest_error, 32 * 0x1p-30, 1e-15);
}

TEST(Shadow, WhatIsNotFiniteIsLeftOut) {
  Shadowing s;
  s.run("rcp.rn.f32 %f3, %f2; add.rn.f32 %f4, %f1, %f3; st.global.f32 [%rd1], %f4;", [](unsigned l) { return std::pair{1.0f, l ? 3.0f : 0.0f}; });
  EXPECT_EQ(s.line("rcp.rn.f32").accuracy.not_finite, 1u);
  EXPECT_EQ(s.line("rcp.rn.f32").accuracy.results, 31u);
  EXPECT_EQ(s.output().without_shadow, 1u);
  EXPECT_THAT(error_of([&] { s.shadow->compare(s.out, 1, "u32"); }), testing::HasSubstr("expected f32, bf16 or f16"));
}

}  // namespace
}  // namespace tilewright::test
