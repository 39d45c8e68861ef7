// From times to costs: known costs come back from the times that they give.
#include "kernels/gdn/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/unit/error_of.h"
#include "tests/unit/gdn/probe_times.h"

namespace tilewright::gdn {
namespace {

/// Times of all probes; each is off by up to `noise` microseconds.
std::vector<Measured> times_of(const Costs& costs, double noise) {
  std::mt19937 random(1);
  std::vector<Measured> times;
  for (const Probe& p : probes(costs.sms)) {
    const double exact = of_the_chain(p.quantity) ? testing::chain_time(p, costs) : testing::prologue_time(p, costs);
    times.push_back({p, exact + std::uniform_real_distribution(-noise, noise)(random)});
  }
  return times;
}

void expect_near(Costs found, Costs costs, double part) {
  const auto is = fields_of(found), expected = fields_of(costs);
  for (std::size_t i = 0; i < is.size(); ++i) {
    if (is[i].name == "planning") continue;
    EXPECT_NEAR(is[i].value, expected[i].value, part * expected[i].value) << is[i].full_name() << " on " << costs.sms << " SMs";
  }
  EXPECT_EQ(found.sms, costs.sms);
}

TEST(Calibration, FindsTheCostsThatTimesComeFrom) {
  for (const int sms : {132, 114, 78, 67, 36})
    for (const Costs& costs : {Costs{kFullCosts, kSplitCosts, kAheadCosts, sms}, Costs{{3.1, 1.2, 0.7, 1.5, 0.3}, {2.0, 0.5, 1.1, 6.0, 0.3}, {4, 0.01, 20, 0.9}, sms}}) {
      const Costs exact = calibrate(times_of(costs, 0), sms);
      expect_near(exact, costs, 1e-6);
      // What a prologue of 32 chunks a head does not hide.
      EXPECT_NEAR(exact.full.planning, costs.ahead.planner_chain - 32 * costs.ahead.prologue_chunk, 1e-9);
      EXPECT_EQ(exact.full.planning, exact.split.planning);
    }
}

TEST(Calibration, StandsNoiseAndBadTimes) {
  const Costs costs = kShippedCosts;
  auto times = times_of(costs, 0.2);
  expect_near(calibrate(times, costs.sms), costs, 0.08);
  times = times_of(costs, 0);
  std::set<std::pair<Quantity, Form>> spoilt;
  for (Measured& m : times)  // one time of each quantity that has five
    if (m.probe.quantity != Quantity::items && m.probe.at != 64 && spoilt.emplace(m.probe.quantity, m.probe.form).second) m.us *= 1.2;
  expect_near(calibrate(times, costs.sms), costs, 0.15);
}

TEST(Calibration, APlannerThatIsHiddenCostsNothing) {
  Costs costs = kShippedCosts;
  costs.ahead.planner_chain = 1e-3;
  EXPECT_EQ(calibrate(times_of(costs, 0), costs.sms).full.planning, 0);
}

TEST(Calibration, RefusesNonsense) {
  using ::testing::HasSubstr;
  auto times = times_of(kShippedCosts, 0);
  const auto refusal = [&] { return test::error_of([&] { calibrate(times, 132); }); };
  for (Measured& m : times) m.us = 3;
  EXPECT_EQ(refusal(), "the times that were measured make no sense: full.full_step is 0, expected microseconds above 0 and at most 1000");
  times = times_of(kShippedCosts, 0);
  for (Measured& m : times)
    if (m.probe.quantity == Quantity::records && m.probe.form == Form::split) m.us = 400 - m.us;
  EXPECT_THAT(refusal(), HasSubstr("split.hop is -2.1, expected"));
  times = times_of(kShippedCosts, 0);
  for (Measured& m : times)
    if (m.probe.quantity == Quantity::keeping && m.probe.form == Form::full) m.us *= 3;
  EXPECT_THAT(refusal(), HasSubstr("full.state_step is "));
  times.clear();
  EXPECT_THAT(refusal(), HasSubstr("full.full_step is nan"));
}

TEST(Calibration, ProbesHaveThePlannersThatTheyMeasure) {
  for (const int sms : {132, 114, 78, 36})
    for (const Probe& p : probes(sms)) {
      const CallSizes sizes{.tokens = p.chunks * 64, .sequences = 1, .heads = p.heads, .packed = true, .cp = p.cp};
      EXPECT_EQ(choose(sizes, probing_costs(shipped_costs("", sms).costs)).segments, p.cp != 1) << name_of(p.quantity) << " at " << p.at << " on " << sms << " SMs";
    }
  EXPECT_EQ(test::error_of([] { probes(35); }), "a device of 35 multiprocessors, expected at least 36: hops are measured on chains whose segments run at a time");
}

}  // namespace
}  // namespace tilewright::gdn
