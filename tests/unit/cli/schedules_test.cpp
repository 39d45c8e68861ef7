// run --schedules K and --schedule SEED: what the simulated device leaves open is drawn from a seed, and the same seed draws the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/cli/ran.h"

namespace tilewright::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Which warp did what in which step, under a seed: the time line of a CTA.
std::string steps_under(int seed) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "schedule.json";
  const Ran r = ran("trace gemm-two-roles --shape 128x256x256 --device sim --schedule " + std::to_string(seed) + " -o " + file.string());
  EXPECT_EQ(r.status, 0) << r.err;
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Schedule, TheSameSeedRepeatsEveryStep) {
  const std::string first = steps_under(7);
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(steps_under(7), first);
  EXPECT_NE(steps_under(8), first);
  EXPECT_NE(steps_under(0), first);
}

TEST(Schedules, RunOneAfterAnother) {
  const Ran three = ran("run copy --device sim --check --schedules 3");
  EXPECT_EQ(three.status, 0) << three.err;
  EXPECT_THAT(three.out, AllOf(HasSubstr("pass"), HasSubstr("schedules 1 to 3: all 3 passed")));
  EXPECT_THAT(ran("run copy --device sim --check --schedules 2 --schedule 7").out, HasSubstr("schedules 7 to 8: all 2 passed"));
}

TEST(Schedules, AreOfTheSimulatedDeviceAndAtLeastOne) {
  EXPECT_EQ(ran("run copy --device sim --schedules 2 --json").status, 2);
  EXPECT_EQ(ran("run copy --device sim --schedules 0").status, 2);
  EXPECT_EQ(ran("run copy --device sim --schedules -3").status, 2);
}

}  // namespace
}  // namespace tilewright::cli
