// mma.sync, ldmatrix and stmatrix.
#include "runtime/sim/numeric.h"
#include "tests/unit/sim/kernels.h"

namespace tilewright::test {
namespace {

TILEWRIGHT_ON_EACH_DEVICE(Matrix);

// Word w of shared memory is (2 w + 1) << 16 | 2 w: element e of 16 bits is e.
const std::string elements = ".shared .align 16 .b8 s[512]; mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r3, %r1, %r2; mov.u32 %r4, %r0;\n"
                             "F: shl.b32 %r5, %r4, 1; add.u32 %r6, %r5, 1; shl.b32 %r6, %r6, 16; or.b32 %r5, %r5, %r6; st.shared.u32 [%r3], %r5;\n"
                             "add.u32 %r3, %r3, 128; add.u32 %r4, %r4, 32; setp.lt.u32 %p1, %r4, 128; @%p1 bra F; bar.warp.sync -1; shl.b32 %r7, %r0, 4; add.u32 %r7, %r1, %r7;\n";

TEST_P(Matrix, LoadsFourMatrices) {
  const auto r = run_words(device(), module_text(elements + "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r7]; mul.wide.u32 %rd2, %r0, 16; add.s64 %rd2, %rd1, %rd2;"
                                                            "st.global.v4.u32 [%rd2], {%r10, %r11, %r12, %r13};"), 32, 128);
  for (unsigned l = 0; l < 32; ++l)
    for (unsigned n = 0; n < 4; ++n) {
      const unsigned e = n * 64 + l / 4 * 8 + 2 * (l % 4);
      EXPECT_EQ(r[l * 4 + n], (e + 1) << 16 | e);
    }
}

TEST_P(Matrix, LoadsTransposed) {
  const auto r = run_words(device(), module_text(elements + "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r10, %r11}, [%r7]; mul.wide.u32 %rd2, %r0, 8; add.s64 %rd2, %rd1, %rd2;"
                                                            "st.global.v2.u32 [%rd2], {%r10, %r11};"), 32, 64);
  for (unsigned l = 0; l < 32; ++l)
    for (unsigned n = 0; n < 2; ++n) {
      const unsigned e = n * 64 + 2 * (l % 4) * 8 + l / 4;
      EXPECT_EQ(r[l * 2 + n], (e + 8) << 16 | e);
    }
}

TEST_P(Matrix, StoreIsTheInverseOfLoad) {
  const auto r = run_words(device(), module_text(elements + R"(
    ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 {%r10, %r11, %r12, %r13}, [%r7]; bar.warp.sync -1;
    stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r7], {%r10, %r11, %r12, %r13}; bar.warp.sync -1;
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r7]; bar.warp.sync -1; stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r7], {%r10}; bar.warp.sync -1;
    ld.shared.u32 %r10, [%r1]; ld.shared.u32 %r11, [%r1+128]; st.global.v2.u32 [%rd1], {%r10, %r11};)"), 32, 2);
  EXPECT_EQ(r[0], 1u << 16);          // matrix 0: transposed twice
  EXPECT_EQ(r[1], 72u << 16 | 64u);   // matrix 1: transposed once
}

struct Shape {
  const char* name;
  const char* text;
  unsigned k;
  bool tf32, bfloat, half;
};
void PrintTo(const Shape& s, std::ostream* os) { *os << s.name; }
class Mma : public testing::TestWithParam<Shape> {};

TEST_P(Mma, MatchesTheProduct) {
  const Shape& s = GetParam();
  const unsigned na = s.tf32 ? s.k / 2 : s.k / 4, nb = s.tf32 ? s.k / 4 : s.k / 8, nd = s.half ? 2 : 4;
  const auto value = [](unsigned r, unsigned k, unsigned seed) { return static_cast<float>(static_cast<int>((r * 3 + k * 5 + seed + r * k) % 7) - 3); };
  const auto word = [&](float low, float high) {
    if (s.tf32) return bits(low);
    const auto h = [&](float v) -> std::uint32_t { return s.bfloat ? runtime::sim::float_to_bfloat(v) : runtime::sim::float_to_half(v); };
    return h(high) << 16 | h(low);
  };
  std::vector<std::uint32_t> in(32 * (na + nb));
  for (unsigned l = 0; l < 32; ++l) {
    for (unsigned j = 0; j < na; ++j) {
      const unsigned r = l / 4 + 8 * (j & 1), k = s.tf32 ? l % 4 + 4 * (j >> 1) : 2 * (l % 4) + 8 * (j >> 1);
      in[l * (na + nb) + j] = word(value(r, k, 1), value(r, k + 1, 1));
    }
    for (unsigned j = 0; j < nb; ++j) {
      const unsigned n = l / 4, k = s.tf32 ? l % 4 + 4 * j : 2 * (l % 4) + 8 * j;
      in[l * (na + nb) + na + j] = word(value(n, k, 2), value(n, k + 1, 2));
    }
  }
  std::string body = "mul.lo.u32 %r1, %r0, " + std::to_string(4 * (na + nb)) + "; cvt.u64.u32 %rd2, %r1; add.s64 %rd2, %rd0, %rd2;\n";
  const auto list = [](const char* kind, unsigned first, unsigned count) {
    std::string t = "{";
    for (unsigned n = 0; n < count; ++n) t += (n ? ", %" : "%") + std::string(kind) + std::to_string(first + n);
    return t + "}";
  };
  for (unsigned j = 0; j < na + nb; ++j) body += "ld.global.b32 %r" + std::to_string(10 + j) + ", [%rd2+" + std::to_string(4 * j) + "];\n";
  const char* kind = s.half ? "r" : "f";
  for (unsigned j = 0; j < nd; ++j) body += s.half ? "mov.b32 %r" + std::to_string(40 + j) + ", 0x3c003c00;\n" : "mov.f32 %f" + std::to_string(40 + j) + ", 0f3F800000;\n";
  body += std::string("mma.sync.aligned.") + s.text + " " + list(kind, 40, nd) + ", " + list("r", 10, na) + ", " + list("r", 10 + na, nb) + ", " + list(kind, 40, nd) + ";\n";
  body += "mul.wide.u32 %rd3, %r0, " + std::to_string(4 * nd) + "; add.s64 %rd3, %rd1, %rd3;\n";
  for (unsigned j = 0; j < nd; ++j) body += "st.global.b32 [%rd3+" + std::to_string(4 * j) + "], %" + kind + std::to_string(40 + j) + ";\n";
  for (const auto& device : devices()) {
    SCOPED_TRACE(std::string(device->kind()));
    const auto r = run_words(*device, module_text(body), 32, 32 * nd, in);
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned e = 0; e < 4; ++e) {
        const unsigned m = l / 4 + 8 * (e >> 1), n = 2 * (l % 4) + (e & 1);
        float sum = 1.0f;
        for (unsigned k = 0; k < s.k; ++k) sum += value(m, k, 1) * value(n, k, 2);
        const float got = s.half ? runtime::sim::half_to_float(static_cast<std::uint16_t>(r[l * 2 + e / 2] >> 16 * (e & 1))) : as_float(r[l * 4 + e]);
        ASSERT_EQ(got, sum) << "row " << m << " column " << n;
      }
  }
}

const Shape shapes[] = {
    {"bf16_k16", "m16n8k16.row.col.f32.bf16.bf16.f32", 16, false, true, false},
    {"bf16_k8", "m16n8k8.row.col.f32.bf16.bf16.f32", 8, false, true, false},
    {"f16_k16", "m16n8k16.row.col.f32.f16.f16.f32", 16, false, false, false},
    {"f16_k8", "m16n8k8.row.col.f32.f16.f16.f32", 8, false, false, false},
    {"f16_k16_half", "m16n8k16.row.col.f16.f16.f16.f16", 16, false, false, true},
    {"tf32_k8", "m16n8k8.row.col.f32.tf32.tf32.f32", 8, true, false, false},
    {"tf32_k4", "m16n8k4.row.col.f32.tf32.tf32.f32", 4, true, false, false},
};
INSTANTIATE_TEST_SUITE_P(, Mma, testing::ValuesIn(shapes), [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tilewright::test
