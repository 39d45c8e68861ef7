#include <cmath>

#include "examples/linear_attention.h"
#include "examples/softmax.h"
#include "tests/device/launch.h"

namespace tilewright::test {
namespace {

void check_softmax(const Program& program, const std::string& element, std::int64_t M, std::int64_t N, double tolerance) {
  SCOPED_TRACE(testing::Message() << element << " " << M << " x " << N);
  auto x = noise(element, {M, N}, 1);
  for (auto& v : x.values) v = rounded(element, 8 * v);
  Launch run(program);
  run.in("x", x).out("y", element, {M, N}).run();
  std::vector<double> sums(M);
  for (std::int64_t r = 0; r < M; ++r)
    for (std::int64_t c = 0; c < N; ++c) sums[r] += std::exp(x.at(r, c) - 8);
  expect_matrix(run["y"], tolerance, [&](auto r, auto c) { return std::exp(x.at(r, c) - 8) / sums[r]; });
}

TEST(Softmax, Rows) {
  auto program = examples::softmax<bf16>({.columns = 256});
  check_softmax(program, "bf16", 64, 256, 0x1p-9);
  check_softmax(program, "bf16", 100, 200, 0x1p-9);
  check_softmax(program, "bf16", 1, 8, 0x1p-9);
  check_softmax(program, "bf16", 130, 72, 0x1p-9);
}
TEST(Softmax, LongRows) {
  auto program = examples::softmax<f16>({.columns = 1024});
  check_softmax(program, "f16", 65, 1024, 0x1p-12);
  check_softmax(program, "f16", 3, 1000, 0x1p-12);
}
TEST(Softmax, SinglePrecision) {
  auto program = examples::softmax<f32>({.columns = 128});
  check_softmax(program, "f32", 70, 128, 1e-6);
  check_softmax(program, "f32", 5, 100, 1e-6);
}
TEST(Softmax, HugeValuesDoNotOverflow) {
  auto program = examples::softmax<f32>({.columns = 64});
  auto x = array("f32", {2, 64}, [](auto i) { return i < 64 ? 1e4 * (i % 3) : -1e4; });
  Launch run(program);
  run.in("x", x).out("y", "f32", {2, 64}).run();
  expect_matrix(run["y"], 1e-6, [](auto r, auto c) { return r ? 1.0 / 64 : c % 3 == 2 ? 1.0 / 21 : 0.0; });
}

template <class T>
void check_attention(examples::LinearAttentionConfig c, std::int64_t B, std::int64_t T_) {
  SCOPED_TRACE(testing::Message() << B << " x " << T_ << " tokens, heads " << c.heads << ", dk " << c.dk << ", dv " << c.dv);
  const std::string element = T::element == Element::bf16 ? "bf16" : "f16";
  auto q = noise(element, {B, T_, c.heads, c.dk}, 1), k = noise(element, {B, T_, c.heads, c.dk}, 2), v = noise(element, {B, T_, c.heads, c.dv}, 3);
  auto program = examples::linear_attention<T>(c);
  Launch run(program);
  run.in("q", q).in("k", k).in("v", v).out("o", element, {B, T_, c.heads, c.dv}).scalar("scale", 0.25).run();
  double error = 0, size = 0;
  for (std::int64_t b = 0; b < B; ++b)
    for (int h = 0; h < c.heads; ++h) {
      std::vector<double> S(c.dk * c.dv);
      for (std::int64_t t = 0; t < T_; ++t) {
        const std::int64_t at = (b * T_ + t) * c.heads + h;
        for (int j = 0; j < c.dv; ++j) {
          double o = 0;
          for (int i = 0; i < c.dk; ++i) o += q.values[at * c.dk + i] * (S[i * c.dv + j] += k.values[at * c.dk + i] * v.values[at * c.dv + j]);
          const double given = run["o"].values[at * c.dv + j];
          ASSERT_TRUE(std::isfinite(given)) << "token " << t << ", head " << h << ", column " << j;
          error += (given - 0.25 * o) * (given - 0.25 * o), size += 0.0625 * o * o;
        }
      }
    }
  // The state, the scores and the result are rounded to 16 bits.
  if (T_ > 0) EXPECT_LT(std::sqrt(error / size), element == "bf16" ? 4e-3 : 6e-4);
}

TEST(LinearAttention, LengthsAroundTheChunk) {
  for (int tokens : {0, 1, 63, 64, 65, 200}) check_attention<bf16>({.heads = 2, .dk = 64, .dv = 64}, 2, tokens);
}
TEST(LinearAttention, WideHeads) {
  check_attention<bf16>({.heads = 1, .dk = 128, .dv = 128}, 1, 330);
  check_attention<f16>({.heads = 3, .dk = 128, .dv = 64, .stages = 3}, 1, 150);
  check_attention<bf16>({.heads = 1, .dk = 192, .dv = 128, .stages = 1}, 1, 100);
}

}  // namespace
}  // namespace tilewright::test
