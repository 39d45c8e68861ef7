// CUDA C++ functions called from roles and maps.
#include <algorithm>
#include <cmath>

#include "compiler/nvrtc/library.h"
#include "examples/gemm_gelu.h"
#include "tests/device/launch.h"

namespace tilewright::test {
namespace {

/// Where the tests are built NVRTC is installed (tests/unit/nvrtc); a machine with a card only runs them.
class CudaFunctions : public testing::Test {
 protected:
  void SetUp() override {
    try {
      nvrtc::require();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
};

/// y = f(x, row) for x [64, 32].
template <class Signature>
Array mapped(const char* text, const char* name, const Array& x) {
  auto program = kernel("mapped", [&](Kernel& k) {
    auto in = k.in<f32>("x", {64, 32});
    auto y = k.out<f32>("y", {64, 32});
    auto f = k.cuda_function<Signature>(text, name);
    Role all = k.role("all", warpgroups(1));
    all([&] {
      auto values = k.frag<f32>({64, 32}, "x");
      load_global(values, in, {0, 0}, 0, 1);
      auto result = map<f32>([&](Index row, Index, Real v) {
        if constexpr (std::is_invocable_v<CudaFunction<Signature>, Real, Index>) return f(v, row);
        else return f(v);
      }, values);
      store_global(y, {0, 0}, result, 0, 1);
    });
  });
  Launch run(program);
  run.in("x", x).out("y", "f32", {64, 32}).run();
  return run["y"];
}

Array range(double from, double to) {
  return array("f32", {64, 32}, [=](auto i) { return from + (to - from) * double(i) / 2047; });
}

TEST_F(CudaFunctions, IsCalledForEveryElementOfAMap) {
  const Array x = range(-4, 4);
  const Array y = mapped<Real(Real)>("float relu6(float x) { return fminf(fmaxf(x, 0.0f), 6.0f) * 0.5f; }", "relu6", x);
  expect_matrix(y, 0, [&](auto r, auto c) { return 0.5 * std::max(0.0, x.at(r, c)); });
}

TEST_F(CudaFunctions, TakesIndicesAndBranches) {
  const char* text = R"(
    __noinline__ float power(float x, int n) {
      float y = 1;
      for (int i = 0; i < n; ++i) y *= x;
      return y;
    }
    float f(float x, int row) { return row < 3 ? power(x, row) : row % 2 ? -x : sqrtf(fabsf(x)); })";
  const Array x = range(-2, 2);
  const Array y = mapped<Real(Real, Index)>(text, "f", x);
  expect_matrix(y, 1e-6, [&](auto r, auto c) {
    const double v = x.at(r, c);
    return r < 3 ? std::pow(v, double(r)) : r % 2 ? -v : std::sqrt(std::fabs(v));
  });
}

/// The functions of the C library are what NVRTC makes of them: polynomials, tables, local memory.
TEST_F(CudaFunctions, MathematicsOfTheLibrary) {
  struct Case {
    const char* name;
    double (*exact)(double);
    double from, to, tolerance;
  };
  const Case cases[] = {
      {"expf", std::exp, -20, 3, 1e-5}, {"logf", std::log, 0.01, 50, 1e-6}, {"tanhf", std::tanh, -3, 3, 1e-6}, {"erff", std::erf, -3, 3, 1e-6},
      {"sinf", std::sin, -9, 9, 1e-5}, {"cosf", std::cos, 1e5, 2e5, 1e-2}, {"log1pf", std::log1p, -0.5, 3, 1e-6}, {"expm1f", std::expm1, -2, 1, 1e-6},
      {"cbrtf", std::cbrt, -8, 8, 1e-6}, {"roundf", std::round, -3.3, 3.4, 0}, {"floorf", std::floor, -3, 3, 0}, {"lgammaf", std::lgamma, 0.5, 9, 2e-5},
      {"rsqrtf", [](double x) { return 1 / std::sqrt(x); }, 0.1, 4, 1e-6}, {"erfcf", std::erfc, -2, 3, 1e-5}, {"atanf", std::atan, -4, 4, 1e-6},
      {"__expf", std::exp, -4, 2, 1e-4}, {"__logf", std::log, 0.1, 8, 1e-5}, {"log2f", std::log2, 0.1, 8, 1e-6}, {"exp10f", [](double x) { return std::pow(10, x); }, -2, 1, 1e-4},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    const Array x = range(one.from, one.to);
    const std::string text = std::string("float f(float x) { return ") + one.name + "(x); }";
    const Array y = mapped<Real(Real)>(text.c_str(), "f", x);
    expect_matrix(y, one.tolerance, [&](auto r, auto c) { return one.exact(x.at(r, c)); });
  }
}

TEST_F(CudaFunctions, IntegersAndConstantsInARole) {
  auto program = kernel("integers", [](Kernel& k) {
    auto y = k.out<i32>("y", {1, 96});
    auto mix = k.cuda_function<Index(Index, Index)>("int mix(int a, int b) { return __popc(a) * b + (a ^ b) % 7; }", "mix");
    auto answer = k.cuda_function<Index()>("int answer() { return 42; }", "answer");
    Role one = k.role("one", warps(1)), two = k.role("two", warps(1)), three = k.role("three", warps(1));
    one([&] { y.write({0, k.thread()}, mix(k.thread() * 77, 13)); });
    two([&] { if_(k.thread() > 3, [&] { y.write({0, k.thread() + 32}, mix(1000, k.thread())); }); });
    three([&] { y.write({0, k.thread() + 64}, answer()); });
  });
  Launch run(program);
  run.out("y", "i32", {1, 96}).run();
  const auto mix = [](int a, int b) { return __builtin_popcount(unsigned(a)) * b + (a ^ b) % 7; };
  for (int t = 0; t < 32; ++t) {
    EXPECT_EQ(run["y"].at(0, t), mix(t * 77, 13));
    if (t > 3) EXPECT_EQ(run["y"].at(0, 32 + t), mix(1000, t));
    EXPECT_EQ(run["y"].at(0, 64 + t), 42);
  }
}

TEST_F(CudaFunctions, GeluOfAProduct) {
  const std::int64_t M = 130, N = 264, K = 72;
  const Array a = noise("bf16", {M, K}, 1), b = noise("bf16", {N, K}, 2);
  auto program = examples::gemm_gelu<bf16>({});
  Launch run(program);
  run.in("a", a).in("b", b).out("c", "bf16", {M, N}).run();
  expect_matrix(run["c"], 0.06, [&](auto r, auto c) {
    const double x = dot(K, [&](auto i, auto k) { return a.at(i, k); }, [&](auto k, auto j) { return b.at(j, k); }, r, c);
    return x / (1 + std::exp(-2 * 0.7978845608028654 * (x + 0.044715 * x * x * x)));
  });
}

}  // namespace
}  // namespace tilewright::test
