#include "dialect/target/machine.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tilewright::target;
using testing::HasSubstr;
using testing::Optional;

TEST(RegistersAtEntry, AreTheFileDividedByTheThreadsInStepsOfEight) {
  EXPECT_EQ(registersAtEntry(1024), 64);
  EXPECT_EQ(registersAtEntry(512), 128);
  EXPECT_EQ(registersAtEntry(384), 168); // 170.67 rounded down
  EXPECT_EQ(registersAtEntry(640), 96);  // 102.4 rounded down
  EXPECT_EQ(registersAtEntry(128), 248); // a thread addresses no more
}

TEST(RegisterPool, TakesWhatTheLaunchGot) {
  EXPECT_EQ(registerPoolProblem(std::vector{24, 240, 240}), std::nullopt);     // 504 = 3 x 168
  EXPECT_EQ(registerPoolProblem(std::vector{208, 208, 72, 24}), std::nullopt); // 512 = 4 x 128
  EXPECT_EQ(registerPoolProblem({}), std::nullopt);
}

TEST(RegisterPool, RefusesASumAboveIt) {
  auto problem = registerPoolProblem(std::vector{216, 216, 80});
  EXPECT_THAT(problem, Optional(HasSubstr("216 + 216 + 80 = 512 exceed the pool of 3 warpgroups x 168")));
  EXPECT_THAT(problem, Optional(HasSubstr("= 504; the kernel would wait for ever")));
}

TEST(RegisterPool, RefusesBudgetsThatSetmaxnregDoesNotTake) {
  EXPECT_THAT(registerPoolProblem(std::vector{100, 100}), Optional(HasSubstr("register budget 100")));
  EXPECT_THAT(registerBudgetProblem(16), Optional(HasSubstr("24..256")));
  EXPECT_THAT(registerBudgetProblem(264), Optional(HasSubstr("24..256")));
  EXPECT_EQ(registerBudgetProblem(24), std::nullopt);
  EXPECT_EQ(registerBudgetProblem(256), std::nullopt);
}

TEST(RegisterPool, RefusesMoreWarpgroupsThanACtaHas) {
  EXPECT_THAT(registerPoolProblem(std::vector<int>(9, 24)), Optional(HasSubstr("1152 threads")));
}

TEST(Threads, AreWholeWarpsUpTo1024) {
  EXPECT_EQ(threadCountProblem(32), std::nullopt);
  EXPECT_EQ(threadCountProblem(1024), std::nullopt);
  EXPECT_THAT(threadCountProblem(0), Optional(HasSubstr("0 threads")));
  EXPECT_THAT(threadCountProblem(100), Optional(HasSubstr("multiple of 32")));
  EXPECT_THAT(threadCountProblem(1056), Optional(HasSubstr("1056 threads")));
}

TEST(SharedMemory, Is227KiB) {
  EXPECT_EQ(kMaxSharedBytes, 227 * 1024);
  EXPECT_EQ(sharedMemoryProblem(0), std::nullopt);
  EXPECT_EQ(sharedMemoryProblem(kMaxSharedBytes), std::nullopt);
  EXPECT_THAT(sharedMemoryProblem(kMaxSharedBytes + 1), Optional(HasSubstr("at most 232448")));
  EXPECT_THAT(sharedMemoryProblem(-1), Optional(HasSubstr("-1 bytes")));
}

TEST(NamedBarriers, AreOneToFifteenOfWholeWarps) {
  EXPECT_EQ(namedBarrierProblem(1, 32), std::nullopt);
  EXPECT_EQ(namedBarrierProblem(15, 1024), std::nullopt);
  EXPECT_THAT(namedBarrierProblem(0, 128), Optional(HasSubstr("1..15")));
  EXPECT_THAT(namedBarrierProblem(16, 128), Optional(HasSubstr("named barrier 16")));
  EXPECT_THAT(namedBarrierProblem(1, 48), Optional(HasSubstr("48 threads")));
}
