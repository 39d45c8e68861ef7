// wgmma: every operand layout against the product computed on the host, and its asynchrony.
#include <cmath>

#include "runtime/sim/numeric.h"
#include "tests/unit/sim/kernels.h"

namespace tilewright::test {
namespace {

using testing::HasSubstr;

struct Operand {
  unsigned span = 128;    // bytes of the swizzle, 0: none
  bool mn_major = false;
};

struct Shape {
  const char* name;
  const char* type;       // bf16, f16, tf32
  unsigned n;
  Operand a, b;
  bool registers = false;      // A from registers
  bool half = false;           // f16 accumulator
  int scale_a = 1, scale_b = 1;
  bool accumulate = true;
};

void PrintTo(const Shape& s, std::ostream* os) { *os << s.name; }

// Byte offset of element (row, k) in a tile of k16 (k8 for tf32) that starts at a multiple of 1024 bytes, and the descriptor's strides.
unsigned offset(const Operand& o, unsigned row, unsigned k, unsigned size) {
  if (!o.mn_major) {
    if (o.span == 0) return row / 8 * 256 + row % 8 * 16 + k * size / 16 * 128 + k * size % 16;
    const unsigned linear = row * o.span + k * size;
    return linear ^ ((linear >> 3) & (o.span - 16));
  }
  if (o.span == 0) return row / 8 * 256 + k / 8 * 128 + k % 8 * 16 + row % 8 * 2;
  const unsigned width = o.span / 2, linear = row / width * (16 * o.span) + k * o.span + row % width * 2;
  return linear ^ ((linear >> 3) & (o.span - 16));
}
std::uint64_t descriptor(const Operand& o) {
  const std::uint64_t swizzle = o.span == 128 ? 1 : o.span == 64 ? 2 : o.span == 32 ? 3 : 0;
  const std::uint64_t stride = o.span ? 8 * o.span : 256, leading = o.span == 0 ? 128 : o.mn_major ? 16 * o.span : 16;
  return swizzle << 62 | stride >> 4 << 32 | leading >> 4 << 16;
}

float value(unsigned row, unsigned k, unsigned seed) { return static_cast<float>(static_cast<int>((row * 7 + k * 13 + seed * 5 + row * k) % 9) - 4); }

void put(std::vector<std::uint32_t>& image, unsigned byte, const std::string& type, float v) {
  if (type == "tf32") {
    image[byte / 4] = bits(v);
    return;
  }
  const std::uint32_t h = type == "bf16" ? runtime::sim::float_to_bfloat(v) : runtime::sim::float_to_half(v);
  image[byte / 4] = (image[byte / 4] & ~(0xffffu << byte % 4 * 8)) | h << byte % 4 * 8;
}

std::string registers(const char* kind, unsigned first, unsigned count) {
  std::string s;
  for (unsigned n = 0; n < count; ++n) s += (n ? ", %" : "%") + std::string(kind) + std::to_string(first + n);
  return s;
}

constexpr unsigned b_at = 8192, image_words = 8192;

// Copies the image to shared memory and builds the two descriptors in %rd10 and %rd11.
std::string prologue(std::uint64_t a, std::uint64_t b) {
  return R"(
mov.u32 %r1, tile; mov.u32 %r2, %r0;
L: shl.b32 %r3, %r2, 2; add.u32 %r4, %r1, %r3; cvt.u64.u32 %rd5, %r3; add.s64 %rd5, %rd0, %rd5; ld.global.u32 %r5, [%rd5]; st.shared.u32 [%r4], %r5;
add.u32 %r2, %r2, 128; setp.lt.u32 %p1, %r2, )" + std::to_string(image_words) + R"(; @%p1 bra L;
fence.proxy.async.shared::cta; bar.sync 0;
and.b32 %r6, %r1, 0x3ffff; shr.u32 %r6, %r6, 4; cvt.u64.u32 %rd9, %r6; or.b64 %rd10, %rd9, )" + std::to_string(a) + R"(;
add.s64 %rd9, %rd9, )" + std::to_string(b_at >> 4) + R"(; or.b64 %rd11, %rd9, )" + std::to_string(b) + ";\n";
}

std::string store_accumulators(const char* kind, unsigned count) {
  std::string s = "mul.lo.u32 %r7, %r0, " + std::to_string(count * 4) + "; cvt.u64.u32 %rd6, %r7; add.s64 %rd6, %rd1, %rd6;\n";
  for (unsigned n = 0; n < count; ++n) s += "st.global.b32 [%rd6+" + std::to_string(4 * n) + "], %" + kind + std::to_string(n + (kind[0] == 'r' ? 32 : 0)) + ";\n";
  return s;
}

const std::string tile = ".extern .shared .align 1024 .b8 tile[];";

class Wgmma : public testing::TestWithParam<Shape> {};

TEST_P(Wgmma, MatchesTheProduct) {
  const Shape& s = GetParam();
  const std::string type = s.type;
  const unsigned size = type == "tf32" ? 4 : 2, k = 32 / size, count = s.half ? s.n / 4 : s.n / 2;
  std::vector<std::uint32_t> image(image_words);
  for (unsigned kk = 0; kk < k; ++kk) {
    for (unsigned m = 0; m < 64; ++m) put(image, offset(s.a, m, kk, size), type, value(m, kk, 1));
    for (unsigned n = 0; n < s.n; ++n) put(image, b_at + offset(s.b, n, kk, size), type, value(n, kk, 2));
  }
  const char* kind = s.half ? "r" : "f";
  const unsigned first = s.half ? 32 : 0;
  std::string body = prologue(descriptor(s.a), descriptor(s.b));
  for (unsigned n = 0; n < count; ++n)
    body += s.half ? "mov.b32 %r" + std::to_string(first + n) + ", 0x40004000;\n" : "mov.f32 %f" + std::to_string(n) + ", 0f40000000;\n";   // 2.0
  std::string a = "%rd10";
  if (s.registers) {   // the fragment is read from the tile by plain loads: row l/4 + 8 (j & 1), k of the register's columns
    body += "and.b32 %r10, %r0, 31; shr.u32 %r11, %r10, 2; shr.u32 %r12, %r0, 5; shl.b32 %r12, %r12, 4; add.u32 %r11, %r11, %r12; and.b32 %r12, %r10, 3; shl.b32 %r12, %r12, 2;\n";
    for (unsigned j = 0; j < 4; ++j)   // A is stored without swizzle: row / 8 * 256 + row % 8 * 16 + chunk * 128
      body += "add.u32 %r13, %r11, " + std::to_string(8 * (j & 1)) + "; shr.u32 %r14, %r13, 3; shl.b32 %r14, %r14, 8; and.b32 %r13, %r13, 7; shl.b32 %r13, %r13, 4; add.u32 %r13, %r13, %r14;\n"
              "add.u32 %r13, %r13, %r12; add.u32 %r13, %r13, %r1; ld.shared.b32 %r" + std::to_string(16 + j) + ", [%r13+" + std::to_string(128 * (j >> 1)) + "];\n";
    a = "{%r16, %r17, %r18, %r19}";
  }
  body += "setp.eq.u32 %p2, 1, " + std::to_string(s.accumulate ? 1 : 0) + ";\nwgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n" + std::to_string(s.n) + "k" + std::to_string(k) +
          (s.half ? ".f16." : ".f32.") + type + "." + type + " {" + registers(kind, first, count) + "}, " + a + ", %rd11, %p2, " + std::to_string(s.scale_a) + ", " + std::to_string(s.scale_b) +
          (size == 4 ? "" : s.registers ? std::string(", ") + (s.b.mn_major ? "1" : "0") : std::string(", ") + (s.a.mn_major ? "1" : "0") + ", " + (s.b.mn_major ? "1" : "0")) +
          ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n" + store_accumulators(kind, count);
  for (const auto& device : devices()) {
    SCOPED_TRACE(std::string(device->kind()));
    const auto r = run_words(*device, module_text(body, 128, tile), 128, 128 * count, image, image_words * 4);
    for (unsigned t = 0; t < 128; ++t)
      for (unsigned e = 0; e < s.n / 2; ++e) {
        const unsigned m = t / 32 * 16 + t % 32 / 4 + 8 * (e >> 1 & 1), n = 8 * (e / 4) + 2 * (t % 4) + (e & 1);
        float sum = s.accumulate ? 2.0f : 0.0f;
        for (unsigned kk = 0; kk < k; ++kk) sum += static_cast<float>(s.scale_a * s.scale_b) * value(m, kk, 1) * value(n, kk, 2);
        const float got = s.half ? runtime::sim::half_to_float(static_cast<std::uint16_t>(r[t * count + e / 2] >> 16 * (e & 1))) : as_float(r[t * count + e]);
        ASSERT_EQ(got, sum) << "row " << m << " column " << n;
      }
  }
}

constexpr Operand plain{0, false}, k32{32, false}, k64{64, false}, k128{128, false}, mn0{0, true}, mn32{32, true}, mn64{64, true}, mn128{128, true};

const Shape shapes[] = {
    {"bf16_128", "bf16", 64, k128, k128},
    {"bf16_64", "bf16", 32, k64, k64},
    {"bf16_32", "bf16", 24, k32, k32},
    {"bf16_no_swizzle", "bf16", 8, plain, plain},
    {"bf16_b_transposed", "bf16", 128, k128, mn128},
    {"bf16_a_transposed", "bf16", 64, mn128, k128},
    {"bf16_both_transposed_64", "bf16", 64, mn64, mn64},
    {"bf16_both_transposed_32", "bf16", 32, mn32, mn32},
    {"bf16_both_transposed_no_swizzle", "bf16", 16, mn0, mn0},
    {"bf16_n256", "bf16", 256, k128, k32},
    {"bf16_overwrites", "bf16", 64, k128, k128, false, false, 1, 1, false},
    {"bf16_negated", "bf16", 64, k128, k128, false, false, -1, 1},
    {"bf16_twice_negated", "bf16", 64, k128, k128, false, false, -1, -1},
    {"bf16_registers", "bf16", 64, plain, k128, true},
    {"bf16_registers_b_transposed", "bf16", 128, plain, mn128, true},
    {"f16_128", "f16", 64, k128, k128},
    {"f16_half_accumulator", "f16", 64, k128, k128, false, true},
    {"f16_registers", "f16", 96, plain, k64, true},
    {"tf32_128", "tf32", 64, k128, k128},
    {"tf32_no_swizzle", "tf32", 40, plain, plain},
};
INSTANTIATE_TEST_SUITE_P(, Wgmma, testing::ValuesIn(shapes), [](const auto& info) { return std::string(info.param.name); });

std::string product(unsigned first, bool accumulate) {
  return "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {" + registers("f", first, 4) + "}, %rd10, %rd11, " + (accumulate ? "%p3" : "%p4") + ", 1, 1, 0, 0;\n";
}
const std::string both = "setp.eq.u32 %p3, 1, 1; setp.eq.u32 %p4, 1, 0;\nwgmma.fence.sync.aligned;\n";

std::vector<std::uint32_t> ones() {
  std::vector<std::uint32_t> image(image_words);
  for (unsigned n = 0; n < 64 * 16; ++n) put(image, offset(plain, n / 16, n % 16, 2), "bf16", 1.0f);
  for (unsigned n = 0; n < 8 * 16; ++n) put(image, b_at + offset(plain, n / 16, n % 16, 2), "bf16", 2.0f);
  return image;
}

TEST(WgmmaOrder, BatchesSettleInOrder) {
  const std::string body = prologue(descriptor(plain), descriptor(plain)) + both + product(0, false) + "wgmma.commit_group.sync.aligned;\n" + product(4, false) + product(4, true) +
                           "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;\nmov.f32 %f8, %f0;\nwgmma.wait_group.sync.aligned 0;\nadd.f32 %f0, %f8, %f4;\n" + store_accumulators("f", 1);
  EXPECT_EQ(as_float(run_words(simulator(), module_text(body, 128, tile), 128, 128, ones(), image_words * 4)[77]), 32.0f + 64.0f);
}

TEST(WgmmaOrder, ARegisterMovedInFlightHasItsValue) {
  // Compilers copy accumulators around a loop's end while the product is in flight; the assembler follows the data.
  const std::string body = prologue(descriptor(plain), descriptor(plain)) + both + product(0, false) + "wgmma.commit_group.sync.aligned;\nmov.f32 %f9, %f0;\nwgmma.wait_group.sync.aligned 0;\nmov.f32 %f0, %f9;\n" +
                           store_accumulators("f", 1);
  EXPECT_EQ(as_float(run_words(simulator(), module_text(body, 128, tile), 128, 128, ones(), image_words * 4)[5]), 32.0f);
}

TEST(WgmmaOrder, OperandsAreReadLate) {
  // A tile overwritten before the wait: operands are read when the wait asks, so the mistake shows also without the checks that report it.
  const std::string body = prologue(descriptor(plain), descriptor(plain)) + both + product(0, false) + "wgmma.commit_group.sync.aligned;\nmov.b32 %r20, 0; mov.u32 %r21, %r0; shl.b32 %r21, %r21, 2; add.u32 %r21, %r21, %r1;\n"
                           "st.shared.b32 [%r21+8192], %r20; bar.sync 0;\nwgmma.wait_group.sync.aligned 0;\n" + store_accumulators("f", 1);
  runtime::sim::SimulatorOptions options;
  options.checks = false;
  const auto device = runtime::sim::make_simulated_device(options);
  EXPECT_NE(as_float(run_words(*device, module_text(body, 128, tile), 128, 128, ones(), image_words * 4)[5]), 32.0f);
}

TEST(WgmmaOrder, MistakesAreNamed) {
  const std::string start = prologue(descriptor(plain), descriptor(plain)) + both;
  const auto text = [&](const std::string& body, unsigned threads = 128) {
    return error_of([&] { run_words(simulator(), module_text(body, threads, tile), threads, 128, ones(), image_words * 4); });
  };
  EXPECT_THAT(text("mov.u64 %rd10, 0; mov.u64 %rd11, 0;" + both + product(0, false) + "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"),
              HasSubstr("wgmma A of 16 bytes at shared address 0x0 is out of bounds"));
  EXPECT_THAT(text(both + product(0, false), 64), HasSubstr("wgmma in a warpgroup of less than four warps: the CTA has 2 warps"));
  EXPECT_THAT(text(start + "shr.u32 %r8, %r0, 5; setp.eq.u32 %p5, %r8, 2; @%p5 bra E;" + product(0, false) + "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; E: bar.sync 0;"),
              HasSubstr("waits for the other warps of its warpgroup to issue the same wgmma"));
}

}  // namespace
}  // namespace tilewright::test
