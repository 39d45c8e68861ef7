// Kernels of one's own through the C interface: every argument wrong in turn, and one that is right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "examples/copy.h"
#include "tilewright/jit.h"

namespace {

using namespace tilewright;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// y = x for f32 [M, 64], by ordinary loads; `s` is an unused integer scalar of the grid.
Program plain_copy() {
  return kernel("plain_copy", [](Kernel& k) {
    Dim M = k.dim("M");
    auto x = k.in<f32>("x", {M, 64});
    auto y = k.out<f32>("y", {M, 64});
    Real factor = k.scalar_f32("factor");
    auto [row, u1, u2] = k.grid(M);
    k.role("all", warps(1))([&] {
      for (int half = 0; half < 64; half += 32) y.write({row, k.lane() + half}, x.read({row, k.lane() + half}) * factor);
    });
  });
}

CompiledKernel compiled() { return compile(plain_copy(), {.assemble = false}); }

struct Loaded {
  Device device{TILEWRIGHT_DEVICE_SIM};
  CompiledKernel kernel = compiled();
  tilewright_function* function = nullptr;
  std::vector<float> x = std::vector<float>(3 * 64, 2.0f), y = std::vector<float>(3 * 64, -1.0f);
  std::vector<tilewright_argument> arguments;

  Loaded() {
    EXPECT_EQ(tilewright_load(device.get(), kernel.get(), &function), TILEWRIGHT_OK) << tilewright_last_error();
    for (const Argument& a : {Argument::tensor<f32>("x", x.data(), {3, 64}), Argument::tensor<f32>("y", y.data(), {3, 64}), Argument::real("factor", 0.5)})
      arguments.push_back(a.get());
    arguments[0].name = "x", arguments[1].name = "y", arguments[2].name = "factor";
  }
  ~Loaded() { tilewright_function_destroy(function); }
  tilewright_status launch() { return tilewright_launch(function, arguments.data(), arguments.size(), nullptr, 0); }
};

TEST(KernelApi, RunsAKernelOfOnesOwn) {
  Loaded l;
  ASSERT_EQ(l.launch(), TILEWRIGHT_OK) << tilewright_last_error();
  EXPECT_THAT(l.y, testing::Each(1.0f));
}

/// y = x by TMA: the descriptor takes the caller's strides.
TEST(KernelApi, StridedTensors) {
  const Device device(TILEWRIGHT_DEVICE_SIM);
  const Function copy = device.load(compile(examples::copy({.rows = 32, .cols = 64}), {.assemble = false}));
  std::vector<std::uint16_t> x(32 * 80), y(32 * 64);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint16_t>(i);
  copy({Argument::tensor<bf16>("x", x.data(), {32, 64}, {80, 1}), Argument::tensor<bf16>("y", y.data(), {32, 64})});
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 64; ++j) ASSERT_EQ(y[i * 64 + j], x[i * 80 + j]);
}

TEST(KernelApi, TextsOfAKernel) {
  const CompiledKernel kernel = compile(plain_copy(), {.keep_stages = true, .assemble = false});
  EXPECT_EQ(kernel.name(), "plain_copy");
  EXPECT_THAT(kernel.ptx(), HasSubstr(".entry plain_copy"));
  EXPECT_THAT(kernel.text("sidecar"), StartsWith("{"));
  EXPECT_THAT(kernel.text("tile"), HasSubstr("tile.kernel"));
  EXPECT_THAT(kernel.text("hopper"), HasSubstr("hopper."));
  EXPECT_THAT(kernel.text("llvm"), HasSubstr("define"));
  EXPECT_EQ(tilewright_kernel_text(kernel.get(), "poem"), nullptr);
  EXPECT_EQ(tilewright_kernel_text(kernel.get(), nullptr), nullptr);
  EXPECT_EQ(tilewright_kernel_text(nullptr, "ptx"), nullptr);
  EXPECT_EQ(compiled().text("tile"), "") << "kept without being asked";
  EXPECT_EQ(kernel.resources().threads, 32u);
}

TEST(KernelApi, ProgressEndsWithDone) {
  std::vector<std::string> steps;
  unsigned last = 0, total = 0;
  compile(kernel("watched", [](Kernel& k) { k.role("all", warps(1))([] {}); }), {.assemble = false, .progress = [&](const char*, const char* step, unsigned done, unsigned all) {
    steps.push_back(step), last = done, total = all;
  }});
  ASSERT_FALSE(steps.empty());
  EXPECT_THAT(steps.back(), testing::AnyOf("done", "cache"));
  EXPECT_EQ(last, total);
}

TEST(KernelApi, TwoProgramsOfOneNameAreTwoKernels) {
  const auto with = [](float factor) {
    return compile(kernel("same", [&](Kernel& k) {
      auto y = k.out<f32>("y", {32});
      k.role("all", warps(1))([&] { y.write({k.lane()}, k.real(factor)); });
    }), {.assemble = false}).ptx();
  };
  EXPECT_NE(with(1.0f), with(2.0f));
}

TEST(KernelApi, MistakesInLaunches) {
  struct Case {
    std::function<void(Loaded&)> spoil;
    std::string says;
  };
  const std::vector<Case> cases{
      {[](Loaded& l) { l.arguments[0].size = 8; }, "argument 0: size is 8"},
      {[](Loaded& l) { l.arguments[0].name = nullptr; }, "argument 0: name is NULL"},
      {[](Loaded& l) { l.arguments[0].name = "z"; }, "unknown tensor 'z', expected: x, y"},
      {[](Loaded& l) { l.arguments[1].name = "x"; }, "'x' is given twice"},
      {[](Loaded& l) { l.arguments[0].data = nullptr; }, "x"},
      {[](Loaded& l) { l.arguments[0].data = reinterpret_cast<char*>(l.x.data()) + 2; }, "x"},
      {[](Loaded& l) { l.arguments[0].dtype = TILEWRIGHT_BF16; }, "given elements bf16, expected f32"},
      {[](Loaded& l) { l.arguments[0].dtype = 77; }, "dtype is 77"},
      {[](Loaded& l) { l.arguments[0].rank = 1; }, "rank"},
      {[](Loaded& l) { l.arguments[0].rank = 9; }, "rank is 9, expected at most 8"},
      {[](Loaded& l) { l.arguments[0].shape[1] = 32; }, "32"},
      {[](Loaded& l) { l.arguments[0].shape[0] = -3; }, "-3"},
      {[](Loaded& l) { l.arguments[0].shape[0] = 4; }, "M"},
      {[](Loaded& l) { l.arguments[0].strides[0] = 80, l.arguments[0].strides[1] = 1; }, "given strides [80, 1], expected [64, 1]"},
      {[](Loaded& l) { l.arguments.pop_back(); }, "factor"},
      {[](Loaded& l) { l.arguments.clear(); }, "missing"},
  };
  for (const Case& c : cases) {
    Loaded l;
    c.spoil(l);
    EXPECT_EQ(l.launch(), TILEWRIGHT_INVALID_ARGUMENT) << c.says;
    EXPECT_THAT(tilewright_last_error(), HasSubstr(c.says));
    EXPECT_THAT(l.y, testing::Each(-1.0f)) << "something ran: " << c.says;
  }
  EXPECT_EQ(tilewright_launch(nullptr, nullptr, 0, nullptr, 0), TILEWRIGHT_INVALID_ARGUMENT);
  Loaded l;
  EXPECT_EQ(tilewright_launch(l.function, nullptr, 3, nullptr, 0), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_THAT(tilewright_last_error(), HasSubstr("arguments is NULL, but count is 3"));
}

TEST(KernelApi, AMistakeBeginsWithTheAuthorsLine) {
  const Program twice = kernel("twice", [](Kernel& k) {
    for (int i = 0; i < 2; ++i) k.role("all", warps(1))([] {});
  });
  try {
    compile(twice);
    FAIL() << "it compiled";
  } catch (const CompileError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith(std::string(__FILE__) + ":"));
    EXPECT_THAT(error.what(), HasSubstr(": error: role: \"all\" is defined twice"));
  }
}

TEST(KernelApi, MistakesInCompilations) {
  tilewright_kernel* out = nullptr;
  EXPECT_EQ(tilewright_compile(nullptr, nullptr, &out), TILEWRIGHT_INVALID_ARGUMENT);
  const Program program = plain_copy();
  EXPECT_EQ(tilewright_compile(program.builder().program(), nullptr, nullptr), TILEWRIGHT_INVALID_ARGUMENT);
  tilewright_compile_options options{};
  EXPECT_EQ(tilewright_compile(program.builder().program(), &options, &out), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_THAT(tilewright_last_error(), HasSubstr("options: size is 0"));
  options.size = sizeof options;
  options.ptxas = "/no/such/ptxas";
  EXPECT_EQ(tilewright_compile(program.builder().program(), &options, &out), TILEWRIGHT_COMPILE_FAILED);
  EXPECT_THAT(tilewright_last_error(), HasSubstr("/no/such/ptxas"));
  EXPECT_EQ(out, nullptr);
  tilewright_kernel_destroy(nullptr);
}

TEST(KernelApi, MistakesInLoadsAndResources) {
  const Device device(TILEWRIGHT_DEVICE_SIM);
  const CompiledKernel kernel = compiled();
  tilewright_function* function = nullptr;
  EXPECT_EQ(tilewright_load(nullptr, kernel.get(), &function), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_EQ(tilewright_load(device.get(), nullptr, &function), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_EQ(tilewright_load(device.get(), kernel.get(), nullptr), TILEWRIGHT_INVALID_ARGUMENT);
  tilewright_function_destroy(nullptr);
  tilewright_resources r{};
  EXPECT_EQ(tilewright_kernel_resources(kernel.get(), &r), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_THAT(tilewright_last_error(), HasSubstr("size is 0"));
  EXPECT_EQ(tilewright_kernel_resources(kernel.get(), nullptr), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_EQ(tilewright_kernel_resources(nullptr, &r), TILEWRIGHT_INVALID_ARGUMENT);
}

TEST(KernelApi, MistakesWithMemory) {
  const Device device(TILEWRIGHT_DEVICE_SIM);
  void* memory = nullptr;
  char byte = 0;
  EXPECT_EQ(tilewright_allocate(nullptr, 1, &memory), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_EQ(tilewright_allocate(device.get(), 0, &memory), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_EQ(tilewright_allocate(device.get(), 1, nullptr), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_EQ(tilewright_allocate(device.get(), std::uint64_t{1} << 60, &memory), TILEWRIGHT_DEVICE_ERROR);
  EXPECT_THAT(tilewright_last_error(), AllOf(HasSubstr("1152921504606846976"), HasSubstr("memory")));
  EXPECT_EQ(tilewright_free(device.get(), nullptr), TILEWRIGHT_OK);
  EXPECT_EQ(tilewright_copy_to_device(device.get(), nullptr, &byte, 1), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_EQ(tilewright_copy_to_host(device.get(), &byte, nullptr, 1), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_EQ(tilewright_copy_to_host(device.get(), &byte, &byte, 0), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_EQ(tilewright_synchronize(nullptr), TILEWRIGHT_INVALID_ARGUMENT);
  EXPECT_STREQ(tilewright_device_kind(nullptr), "");
}

TEST(KernelApi, ProgramsAreRecordedAndCompiledInParallel) {
  std::vector<std::jthread> threads;
  std::vector<std::string> ptx(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] { ptx[i] = compile(examples::copy({.rows = 32 + 32 * (i % 2)}), {.assemble = false}).ptx(); });
  threads.clear();
  EXPECT_EQ(ptx[0], ptx[2]);
  EXPECT_EQ(ptx[1], ptx[3]);
}

}  // namespace
