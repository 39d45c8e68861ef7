#include <cmath>

#include "kernels/gemm/gemm.h"

#include "tests/device/launch.h"

namespace tilewright::test {
namespace {

struct Size {
  std::int64_t M, N, K;
};

void check(const Program& program, const std::string& element, Size s) {
  SCOPED_TRACE(testing::Message() << s.M << " x " << s.N << " x " << s.K << " " << element);
  auto a = noise(element, {s.M, s.K}, 1), b = noise(element, {s.N, s.K}, 2);
  Launch run(program);
  run.in("a", a).in("b", b).out("c", element, {s.M, s.N}).run();
  // Rounding of the result (half an ulp of up to sqrt(K) or so) and of the fp32 sums.
  const double tolerance = (element == "bf16" ? 0x1p-8 : 0x1p-11) * std::max(1.0, 0.34 * 5 * std::sqrt(double(s.K)));
  expect_matrix(run["c"], tolerance, [&](auto r, auto c) {
    return dot(s.K, [&](auto i, auto k) { return a.at(i, k); }, [&](auto k, auto j) { return b.at(j, k); }, r, c);
  });
}

// Multiples of the tile, a tail in every extent, less than one tile, one row.
const std::vector<Size> sizes = {{64, 128, 64}, {200, 136, 72}, {64, 128, 256}, {40, 24, 8}, {1, 8, 136}, {129, 264, 200}};

TEST(Gemm, OneRole) {
  auto program = gemm::gemm_one_role<bf16>({});
  for (auto s : sizes) check(program, "bf16", s);
}
TEST(Gemm, OneRoleF16) { check(gemm::gemm_one_role<f16>({}), "f16", {100, 160, 104}); }
TEST(Gemm, TwoRoles) {
  for (int stages : {1, 2, 4}) {
    auto program = gemm::gemm_two_roles<bf16>({.stages = stages});
    for (auto s : sizes) check(program, "bf16", s);
  }
}
TEST(Gemm, TwoRolesF16) { check(gemm::gemm_two_roles<f16>({}), "f16", {100, 160, 328}); }
TEST(Gemm, Fast) {
  auto program = gemm::gemm<bf16>({});
  for (auto s : sizes) check(program, "bf16", s);
  check(program, "bf16", {300, 520, 448});
}
TEST(Gemm, FastOtherTiles) {
  check(gemm::gemm<bf16>({.bm = 128, .bn = 128, .stages = 4, .group = 2}), "bf16", {400, 400, 264});
  check(gemm::gemm<f16>({.bm = 128, .bn = 64, .stages = 2, .group = 3}), "f16", {260, 200, 136});
}

}  // namespace
}  // namespace tilewright::test
