// Mistakes in CUDA C++ text and in its use.
#include "tests/broken/mistake.h"

namespace tilewright::test {
namespace {

/// A kernel whose one role calls `f`.
template <class F>
void calls(Kernel& k, F f) {
  auto y = k.out<f32>("y", {1, 32});
  Role all = k.role("all", warps(1));
  all([&] { y.write({0, k.thread()}, f(to_real(k.thread()))); });
}

TEST(BrokenCudaFunctions, AnErrorInTheTextPointsIntoIt) {
  Mistake([](Kernel& k, int& line) {
    line = __LINE__ + 3;
    auto f = k.cuda_function<Real(Real)>(R"(
      float f(float x) {
        return x * alpha;
      })", "f");
    calls(k, f);
  }).says({"identifier \"alpha\" is undefined", "return x * alpha;"});
}

TEST(BrokenCudaFunctions, NoSuchFunction) {
  Mistake([](Kernel& k, int& line) {
    line = __LINE__ + 1;
    auto f = k.cuda_function<Real(Real)>("float g(float x) { return x; }", "f");
    calls(k, f);
  }).says({"CUDA function 'f'", "identifier \"f\" is undefined", "expected float f(float)"});
}

TEST(BrokenCudaFunctions, AnotherType) {
  Mistake([](Kernel& k, int& line) {
    line = __LINE__ + 1;
    auto f = k.cuda_function<Real(Real)>("float f(int x) { return x; }", "f");
    calls(k, f);
  }).says({"CUDA function 'f'", "float (*)(int)", "expected float f(float)"});
}

TEST(BrokenCudaFunctions, AnotherNumberOfArguments) {
  Mistake([](Kernel& k, int& line) {
    line = __LINE__ + 1;
    auto f = k.cuda_function<Real(Real)>("float f(float x, float y) { return x + y; }", "f");
    calls(k, f);
  }).says({"CUDA function 'f'", "float (*)(float, float)", "expected float f(float)"});
}

TEST(BrokenCudaFunctions, SharedMemoryOfItsOwn) {
  Mistake([](Kernel& k, int& line) {
    line = __LINE__ + 1;
    auto f = k.cuda_function<Real(Real)>("float f(float x) { __shared__ float s[32]; s[threadIdx.x] = x; __syncwarp(); return s[0]; }", "f");
    calls(k, f);
  }).says({"CUDA function 'f'", "__shared__", "use a tile of the kernel"});
}

TEST(BrokenCudaFunctions, DeclaredInARole) {
  Mistake([](Kernel& k, int& line) {
    Role all = k.role("all", warps(1));
    all([&] { line = __LINE__, k.cuda_function<Real(Real)>("float f(float x) { return x; }", "f"); });
  }).says({"a CUDA function", "declared in the kernel"});
}

TEST(BrokenCudaFunctions, CalledOutsideOfRoles) {
  Mistake([](Kernel& k, int& line) {
    auto f = k.cuda_function<Real(Real)>("float f(float x) { return x; }", "f");
    line = __LINE__, f(k.real(1));
  }).says({"the call of a CUDA function", "role"});
}

}  // namespace
}  // namespace tilewright::test
