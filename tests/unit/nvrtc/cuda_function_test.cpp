// CUDA C++ text to PTX that can stand in a kernel's module.
#include "compiler/nvrtc/cuda_function.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "compiler/nvrtc/library.h"
#include "tests/unit/error_of.h"
#include "tilewright/dsl/builder.h"

namespace tilewright::test {
namespace {

using nvrtc::CudaFunction;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

CudaFunction function(const std::string& text, const std::string& name, std::vector<std::string> arguments = {"float"}, const std::string& result = "float") {
  return {"f0", name, text, "lesson.cpp", 10, result, std::move(arguments)};
}

TEST(Nvrtc, IsFound) {
  const nvrtc::Found found = nvrtc::require();
  EXPECT_TRUE(std::filesystem::exists(found.path)) << found.path;
  EXPECT_EQ(found.version, "12.8");
}

TEST(CudaFunction, BecomesAFunctionOfTheSymbol) {
  const std::string ptx = nvrtc::compile(function("float twice(float x) { return 2 * x; }", "twice"));
  EXPECT_THAT(ptx, AllOf(HasSubstr(".func  (.param .b32 func_retval0) f0("), Not(HasSubstr(".visible")), Not(HasSubstr(".version")), Not(HasSubstr("twice"))));
}

TEST(CudaFunction, TakesWhatItReachesWithItUnderNamesOfItsOwn) {
  const std::string text = "__device__ const int table[3] = {5, 6, 7}; __noinline__ int pick(int i) { return table[i]; } int unused(int i) { return i; }";
  const std::string ptx = nvrtc::compile(function(text, "pick", {"int"}, "int"));
  EXPECT_THAT(ptx, AllOf(HasSubstr("f0_"), HasSubstr("table"), Not(HasSubstr("unused"))));
}

TEST(CudaFunction, IsAnyExpressionOfItsType) {
  const std::string text = "namespace act { template <int N> float scaled(float x) { return N * x; } }\n"
                           "float sum(float a, float b) { return a + b; } int sum(int a, int b) { return a + b; }";
  EXPECT_THAT(nvrtc::compile(function(text, "act::scaled<3>")), HasSubstr("0f40400000"));
  EXPECT_THAT(nvrtc::compile(function(text, "sum", {"int", "int"}, "int")), HasSubstr("add.s32"));
  EXPECT_THAT(nvrtc::compile(function("extern \"C\" __device__ float half_of(float x) { return x / 2; }", "half_of")), HasSubstr("0f3F000000"));
}

std::string error(const CudaFunction& f) {
  return error_of([&] { nvrtc::compile(f); });
}

TEST(CudaFunction, ErrorsPointIntoTheText) {
  EXPECT_THAT(error(function("float f(float x) {\n  return y;\n}", "f")),
              AllOf(StartsWith("lesson.cpp:11: error: identifier \"y\" is undefined"), HasSubstr("return y;"), Not(HasSubstr("<call>"))));
  EXPECT_THAT(error(function("float f(float x) {\n  return x\n}\nint g() { return 1 +; }", "f")), AllOf(HasSubstr("lesson.cpp:12: error: "), HasSubstr("lesson.cpp:13: error: ")));
}

TEST(CudaFunction, ErrorsSayWhatWasExpected) {
  EXPECT_THAT(error(function("float f(float x) { return x; }", "g")),
              StartsWith("lesson.cpp:10: error: CUDA function 'g': identifier \"g\" is undefined; expected float g(float)"));
  EXPECT_THAT(error(function("float f(float x) { return x; }", "f", {"float", "int"})), AllOf(StartsWith("lesson.cpp:10: error: CUDA function 'f': "), HasSubstr("expected float f(float, int)")));
  EXPECT_THAT(error(function("double f(float x) { return x; }", "f")), AllOf(HasSubstr("double (*)(float)"), HasSubstr("expected float f(float)")));
  EXPECT_THAT(error(function("__global__ void f(float x) {}", "f")), HasSubstr("expected float f(float)"));
  EXPECT_THAT(error(function("float f(float x) { __shared__ float s[32]; s[threadIdx.x] = x; __syncthreads(); return s[31 - threadIdx.x]; }", "f")),
              AllOf(StartsWith("lesson.cpp:10: error: CUDA function 'f': "), HasSubstr("__shared__")));
}

const std::string kKernel = ".version 8.7\n.target sm_90a\n.address_size 64\n.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n.entry k() { ret; }\n";

TEST(Link, PutsFunctionsInFrontOfTheKernel) {
  const std::string ptx = nvrtc::link(kKernel, {function("float f(float x) { return x + 1; }", "f")});
  EXPECT_LT(ptx.find(".func  (.param"), ptx.find(".entry k"));
  EXPECT_THAT(ptx, StartsWith(".version 8.7\n.target sm_90a\n.address_size 64\n"));
  EXPECT_EQ(nvrtc::link(kKernel, {}).substr(0, 12), ".version 8.7");
}

TEST(Link, DeclaresWhatTheSystemOffersOnce) {
  auto first = function("extern \"C\" int printf(const char*, ...); float f(float x) { printf(\"%f\\n\", x); return x; }", "f"), second = first;
  second.symbol = "f1";
  const std::string ptx = nvrtc::link(kKernel, {first, second});
  EXPECT_EQ(ptx.find(".extern"), ptx.rfind(".extern"));
  EXPECT_THAT(ptx, AllOf(HasSubstr("f0("), HasSubstr("f1("), HasSubstr("vprintf")));
}

}  // namespace
}  // namespace tilewright::test
