// printf, assertions, inline PTX.
#include <gmock/gmock.h>

#include "tests/device/launch.h"

namespace tilewright::test {
namespace {

using testing::HasSubstr;

TEST(Printf, EveryKindOfValue) {
  auto program = kernel("prints", [](Kernel& k) {
    auto y = k.out<i32>("y", {32});
    k.role("all", warps(1))([&] {
      if_(k.lane() == 5, [&] {
        k.printf("lane %d: %.2f and %lld, 100%%\n", k.lane(), to_real(k.lane()) * 0.5, to_long(k.lane()) * 1000000000000);
        k.printf("here\n");
      });
      y.write({k.lane()}, k.lane());
    });
  });
  testing::internal::CaptureStderr();
  Launch run(program);
  run.out("y", "i32", {32}).run();
  const std::string said = testing::internal::GetCapturedStderr();
  if (simulated()) EXPECT_EQ(said, "[prints CTA (0, 0, 0) warp 0 lane 5] lane 5: 2.50 and 5000000000000, 100%\n[prints CTA (0, 0, 0) warp 0 lane 5] here\n");
  EXPECT_EQ(run["y"].values[31], 31);
}

TEST(Assert, HoldsOrEndsTheKernel) {
  auto program = kernel("asserts", [](Kernel& k) {
    Index limit = k.scalar_i32("limit");
    auto y = k.out<i32>("y", {32});
    k.role("all", warps(1))([&] {
      k.assert_(k.lane() < limit, "lane < limit");
      y.write({k.lane()}, k.lane());
    });
  });
  Launch run(program);
  run.scalar("limit", std::int64_t{32}).out("y", "i32", {32}).run();
  EXPECT_EQ(run["y"].values[31], 31);
  if (!simulated()) return;   // on a card the process could not go on
  try {
    Launch(program).scalar("limit", std::int64_t{20}).out("y", "i32", {32}).run();
    ADD_FAILURE() << "the assertion held";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("lane 20"), HasSubstr("assertion `lane < limit` failed at"), HasSubstr("debug_test.cpp:")));
  }
}

TEST(Ptx, ValuesInAndOut) {
  auto program = kernel("by_hand", [](Kernel& k) {
    auto y = k.out<i32>("y", {4, 32});
    auto x = k.out<f32>("x", {32});
    k.role("all", warps(1))([&] {
      y.write({0, k.lane()}, k.ptx<Index>("popc.b32 #out0, #0;", k.lane()));
      auto [high, low] = k.ptx<Index, Index>("{ .reg .b64 p; mul.wide.u32 p, #0, #1; mov.b64 {#out1, #out0}, p; }", k.lane(), k.index(1 << 30));
      y.write({1, k.lane()}, high);
      y.write({2, k.lane()}, low);
      Pred odd = k.ptx<Pred>("{ .reg .b32 r; and.b32 r, #0, 1; setp.eq.u32 #out0, r, 1; }", k.lane());
      y.write({3, k.lane()}, select(odd, k.index(1), 0));
      x.write({k.lane()}, k.ptx<Real>("{ LOOP_#uid: add.f32 #out0, #0, #1; }", to_real(k.lane()), k.real(0.5)));
      k.ptx("bar.warp.sync 0xffffffff;");
    });
  });
  Launch run(program);
  run.out("y", "i32", {4, 32}).out("x", "f32", {32}).run();
  expect_matrix(run["y"], 0, [](auto r, auto c) -> double {
    if (r == 0) return __builtin_popcount(static_cast<unsigned>(c));
    const std::uint64_t product = static_cast<std::uint64_t>(c) << 30;
    if (r == 1) return static_cast<double>(product >> 32);
    if (r == 2) return static_cast<std::int32_t>(product);
    return c % 2;
  });
  expect_matrix(run["x"], 0, [](auto, auto c) { return c + 0.5; });
}

}  // namespace
}  // namespace tilewright::test
