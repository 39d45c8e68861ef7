// Functions of a number, alone and in maps.
#include <cmath>

#include "tests/device/launch.h"

namespace tilewright::test {
namespace {

/// y(r, c) = f(x) for many numbers, within `relative` of the reference.
void check_function(const char* name, const std::function<Real(Real)>& f, const std::function<double(double)>& reference, double from, double to,
                    double relative) {
  SCOPED_TRACE(name);
  auto program = kernel("function", [&](Kernel& k) {
    auto x = k.in<f32>("x", {64, 64});
    auto y = k.out<f32>("y", {64, 64});
    k.role("all", warpgroups(1))([&] {
      auto v = k.frag<f32>({64, 64});
      load_global(v, x, {0, 0}, 0, 1);
      map_to(v, [&](Real a) { return f(a); }, v);
      store_global(y, {0, 0}, v, 0, 1);
    });
  });
  auto x = array("f32", {64, 64}, [&](auto i) { return from + (to - from) * i / 4095; });
  Launch run(program);
  run.in("x", x).out("y", "f32", {64, 64}).run();
  double worst = 0;
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const double e = reference(x.values[i]);
    worst = std::max(worst, std::abs(run["y"].values[i] - e) / std::max(std::abs(e), 1e-30));
  }
  EXPECT_LE(worst, relative);
}

TEST(Function, OfANumber) {
  check_function("sqrt", [](Real x) { return sqrt(x); }, [](double x) { return std::sqrt(x); }, 0.01, 100, 0x1p-22);
  check_function("rsqrt", [](Real x) { return rsqrt(x); }, [](double x) { return 1 / std::sqrt(x); }, 0.01, 100, 0x1p-21);
  check_function("tanh", [](Real x) { return tanh(x); }, [](double x) { return std::tanh(x); }, -4, 4, 0x1p-10);
  check_function("abs", [](Real x) { return abs(x); }, [](double x) { return std::abs(x); }, -4, 4, 0);
  check_function("floor", [](Real x) { return floor(x); }, [](double x) { return std::floor(x); }, -4, 4, 0);
  check_function("sigmoid", [](Real x) { return sigmoid(x); }, [](double x) { return 1 / (1 + std::exp(-x)); }, -16, 16, 0x1p-19);
  check_function("softplus", [](Real x) { return softplus(x); }, [](double x) { return std::log1p(std::exp(-std::abs(x))) + std::max(x, 0.0); }, -16, 30, 0x1p-18);
  check_function("round_to<bf16>", [](Real x) { return round_to<bf16>(x); }, [](double x) { return rounded("bf16", x); }, -4, 4, 0);
  check_function("round_to<f16>", [](Real x) { return round_to<f16>(x); }, [](double x) { return rounded("f16", x); }, -4, 4, 0);
  check_function("round_tf32", [](Real x) { return round_tf32(x) - x; }, [](double x) { return std::round(std::ldexp(x, 10 - std::ilogb(x))) * std::ldexp(1, std::ilogb(x) - 10) - x; }, 1, 4, 1e-6);
}

TEST(Function, IntegersAndComparisons) {
  auto program = kernel("integers", [](Kernel& k) {
    auto y = k.out<i32>("y", {32, 8});
    auto z = k.out<f32>("z", {32, 4});
    k.role("all", warps(1))([&] {
      Index i = k.lane();
      Real x = to_real(i) - 8.0;
      y.write({i, 0}, i % 5), y.write({i, 1}, i ^ 21), y.write({i, 2}, i << 3), y.write({i, 3}, i | 12);
      y.write({i, 4}, select(x <= 0.0, k.index(1), 0)), y.write({i, 5}, select(x >= 0.0, k.index(1), 0));
      y.write({i, 6}, select(x == 0.0, k.index(1), 0)), y.write({i, 7}, select(x != x * x, k.index(1), 0));
      z.write({i, 0}, 1.0 - x), z.write({i, 1}, 2 * x), z.write({i, 2}, 1.0 + x), z.write({i, 3}, to_real(7 - i));
    });
  });
  Launch run(program);
  run.out("y", "i32", {32, 8}).out("z", "f32", {32, 4}).run();
  expect_matrix(run["y"], 0, [](auto i, auto c) -> double {
    const auto x = i - 8;
    const std::int64_t expected[] = {i % 5, i ^ 21, i << 3, i | 12, x <= 0, x >= 0, x == 0, x != x * x};
    return static_cast<double>(expected[c]);
  });
  expect_matrix(run["z"], 0, [](auto i, auto c) -> double {
    const auto x = i - 8;
    const std::int64_t expected[] = {1 - x, 2 * x, 1 + x, 7 - i};
    return static_cast<double>(expected[c]);
  });
}

}  // namespace
}  // namespace tilewright::test
