// Device functions of a module, called from a kernel.
#include "tests/unit/sim/kernels.h"

namespace tilewright::test {
namespace {

using testing::HasSubstr;

TILEWRIGHT_ON_EACH_DEVICE(Functions);

constexpr const char* kStep = R"(
.func (.param .b32 func_retval0) step (.param .b32 step_param_0, .param .b32 step_param_1) {
  .reg .pred %p<2>; .reg .b32 %r<6>;
  ld.param.u32 %r1, [step_param_0]; ld.param.u32 %r2, [step_param_1];
  setp.lt.u32 %p1, %r1, 8;
  @%p1 st.param.b32 [func_retval0+0], %r2;
  @%p1 ret;
  mul.lo.s32 %r3, %r1, %r2;
  st.param.b32 [func_retval0+0], %r3;
  ret;
}
)";

// y = step(x, n): the call sequence of NVRTC and LLVM.
std::string call_step(const std::string& x, const std::string& n, const std::string& y) {
  return "{ .param .b32 p0; st.param.b32 [p0], " + x + "; .param .b32 p1; st.param.b32 [p1], " + n +
         "; .param .b32 v; call.uni (v), step, (p0, p1); ld.param.b32 " + y + ", [v]; }\n";
}

const std::string kStore = "mul.wide.u32 %rd5, %r0, 4; add.u64 %rd5, %rd1, %rd5; st.global.u32 [%rd5], %r9;";

TEST_P(Functions, ReturnEarlyForSomeLanes) {
  const auto r = run_words(device(), module_text("mov.b32 %r1, 3;\n" + call_step("%r0", "%r1", "%r9") + kStore, 32, kStep), 32, 32);
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(r[lane], lane < 8 ? 3 : 3 * lane) << lane;
}

TEST_P(Functions, TwoCallsAndABranchBetween) {
  const std::string body = "mov.b32 %r1, 3; mov.b32 %r2, 5; setp.lt.u32 %p1, %r0, 20; @%p1 bra first;\n" + call_step("%r0", "%r2", "%r9") +
                           "bra.uni join; first:\n" + call_step("%r0", "%r1", "%r9") + "join:\n" + call_step("%r9", "%r2", "%r9") + kStore;
  const auto r = run_words(device(), module_text(body, 32, kStep), 32, 32);
  const auto step = [](std::uint32_t x, std::uint32_t n) { return x < 8 ? n : x * n; };
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(r[lane], step(step(lane, lane < 20 ? 3 : 5), 5)) << lane;
}

TEST_P(Functions, CallEachOtherAndUseLocalMemory) {
  const std::string twice = std::string(kStep) + R"(
.func (.param .b32 func_retval0) twice (.param .b32 twice_param_0) {
  .local .align 4 .b8 __local_depot1[8]; .reg .b64 %SPL; .reg .b32 %r<6>;
  mov.u64 %SPL, __local_depot1; ld.param.u32 %r1, [twice_param_0]; mov.b32 %r2, 7;
)" + call_step("%r1", "%r2", "%r3") + "st.local.u32 [%SPL+4], %r3;\n" + call_step("%r1", "%r2", "%r4") + R"(
  ld.local.u32 %r5, [%SPL+4]; add.s32 %r5, %r5, %r4; st.param.b32 [func_retval0+0], %r5; ret;
}
)";
  const std::string body = "{ .param .b32 p0; st.param.b32 [p0], %r0; .param .b32 v; call.uni (v), twice, (p0); ld.param.b32 %r9, [v]; }\n" + kStore;
  const auto r = run_words(device(), module_text(body, 32, twice), 32, 32);
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(r[lane], 2 * (lane < 8 ? 7 : 7 * lane)) << lane;
}

TEST_P(Functions, MayBeCalledByTheLanesOfAPredicate) {
  const std::string put = ".func put (.param .b64 at, .param .b32 value) { .reg .b64 %rd<2>; .reg .b32 %r<2>; ld.param.b64 %rd1, [at]; "
                          "ld.param.b32 %r1, [value]; st.global.u32 [%rd1], %r1; ret; }";
  const std::string body = "mov.b32 %r9, 1;" + kStore + R"(add.s32 %r9, %r0, 100; setp.ge.u32 %p1, %r0, 10;
    { .param .b64 p0; st.param.b64 [p0], %rd5; .param .b32 p1; st.param.b32 [p1], %r9; @%p1 call put, (p0, p1); })";
  const auto r = run_words(device(), module_text(body, 32, put), 32, 32);
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(r[lane], lane < 10 ? 1 : lane + 100) << lane;
}

TEST(FunctionErrors, NameTheFunction) {
  const std::string recursive = ".func f (.param .b32 x) { { .param .b32 p0; call.uni f, (p0); } ret; }";
  EXPECT_THAT(error_of([&] { run_words(simulator(), module_text("{ .param .b32 p0; call.uni f, (p0); }", 32, recursive), 32, 1); }),
              HasSubstr("function 'f' calls itself"));
  EXPECT_THAT(error_of([&] { run_words(simulator(), module_text("{ .param .b32 p0; call.uni step, (p0); }", 32, kStep), 32, 1); }),
              HasSubstr("the call of 'step' has 1 results and arguments, expected 3"));
  const std::string unknown = ".func f (.param .b32 x) { .reg .b32 %r<2>; tcgen05.alloc.b32 %r1; ret; }";
  EXPECT_THAT(error_of([&] { run_words(simulator(), module_text("{ .param .b32 p0; call.uni f, (p0); }", 32, unknown), 32, 1); }),
              HasSubstr("unsupported instruction 'tcgen05.alloc.b32'"));
}

}  // namespace
}  // namespace tilewright::test
