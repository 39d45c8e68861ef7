// vprintf and __assertfail.
#include "tests/unit/sim/kernels.h"

namespace tilewright::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string text_variable(const std::string& name, const std::string& text) {
  std::string bytes;
  for (const char c : text) bytes += std::to_string(static_cast<int>(c)) + ", ";
  return ".global .align 1 .b8 " + name + "[" + std::to_string(text.size() + 1) + "] = {" + bytes + "0};\n";
}

TEST(Call, PrintsEveryKindOfArgument) {
  const std::string before = ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n" +
                             text_variable("format", "i=%d u=%u x=%08x f=%.2f l=%lld s=%s %%\n") + text_variable("word", "abc");
  const std::string body = R"(
    .local .align 8 .b8 depot[64]; mov.u64 %rd5, depot; setp.ne.u32 %p1, %r0, 3; mov.b32 %r1, -5; mov.b32 %r2, 255; mov.f64 %fd1, 0d3FF8000000000000; mov.u64 %rd6, 123456789012;
    mov.u64 %rd7, word; st.local.u32 [%rd5], %r1; st.local.u32 [%rd5+4], %r2; st.local.u32 [%rd5+8], %r2; st.local.f64 [%rd5+16], %fd1; st.local.u64 [%rd5+24], %rd6; st.local.u64 [%rd5+32], %rd7;
    cvta.local.u64 %rd8, %rd5; mov.u64 %rd9, format; cvta.global.u64 %rd9, %rd9; @%p1 ret;
    { .param .b64 p0; st.param.b64 [p0], %rd9; .param .b64 p1; st.param.b64 [p1], %rd8; .param .b32 result;
      call.uni (result), vprintf, (p0, p1); ld.param.b32 %r3, [result]; }
    st.global.u32 [%rd1], %r3;)";
  testing::internal::CaptureStderr();
  const auto r = run_words(simulator(), module_text(body, 32, before), 32, 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "[k CTA (0, 0, 0) warp 0 lane 3] i=-5 u=255 x=000000ff f=1.50 l=123456789012 s=abc %\n");
  EXPECT_EQ(r[0], 6u);
}

TEST(Call, FailedAssertionsEndTheKernel) {
  const std::string before = ".extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n" +
                             text_variable("message", "x < 4") + text_variable("file", "lesson.cpp");
  const std::string body = R"(
    mov.u64 %rd5, message; mov.u64 %rd6, file; mov.b32 %r1, 17; mov.u64 %rd7, 1; setp.ne.u32 %p1, %r0, 9; @%p1 ret;
    { .param .b64 p0; st.param.b64 [p0], %rd5; .param .b64 p1; st.param.b64 [p1], %rd6; .param .b32 p2; st.param.b32 [p2], %r1; .param .b64 p3; st.param.b64 [p3], %rd5;
      .param .b64 p4; st.param.b64 [p4], %rd7; call.uni __assertfail, (p0, p1, p2, p3, p4); })";
  EXPECT_THAT(error_of([&] { run_words(simulator(), module_text(body, 32, before), 32, 1); }), AllOf(HasSubstr("warp 0, lane 9"), HasSubstr("assertion `x < 4` failed at lesson.cpp:17")));
}

TEST(Call, OtherFunctionsAreRefused) {
  EXPECT_THAT(error_of([&] { run_words(simulator(), module_text("{ .param .b64 p0; call.uni helper, (p0); }", 32, ".extern .func helper (.param .b64 a);"), 32, 1); }),
              HasSubstr("a call of 'helper'"));
}

}  // namespace
}  // namespace tilewright::test
