// Costs: which are allowed, and what follows from them.
#include "kernels/gdn/costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "kernels/gdn/plan.h"

namespace tilewright::gdn {
namespace {

TEST(Costs, NamesWhatIsWrong) {
  EXPECT_EQ(why_not(kShippedCosts), "");
  const auto with = [](const std::string& name, double value) {
    Costs c = kShippedCosts;
    int found = 0;
    for (const CostField& field : fields_of(c))
      if (field.full_name() == name) field.value = value, ++found;
    EXPECT_EQ(found, 1) << name;
    return why_not(c);
  };
  EXPECT_EQ(with("full.full_step", 0), "full.full_step is 0, expected microseconds above 0 and at most 1000");
  EXPECT_EQ(with("split.hop", -3), "split.hop is -3, expected microseconds above 0 and at most 1000");
  EXPECT_EQ(with("full.state_step", std::numeric_limits<double>::quiet_NaN()), "full.state_step is nan, expected microseconds above 0 and at most 1000");
  EXPECT_EQ(with("ahead.prologue_start", 1e4), "ahead.prologue_start is 10000, expected microseconds above 0 and at most 1000");
  EXPECT_EQ(with("split.planning", -0.1), "split.planning is -0.1, expected microseconds from 0 to 1000");
  EXPECT_EQ(with("split.planning", 0), "");
  EXPECT_EQ(with("full.state_step", 2), "full.state_step is 2, expected at most full.full_step, 1.72");
  EXPECT_EQ(with("split.start", 100), "split.start is 100, expected at most 64 times split.full_step, 69.76");
}

TEST(Costs, ShippedOnesHaveTheCardsMultiprocessors) {
  EXPECT_EQ(shipped_costs("NVIDIA H200", 132).costs, kShippedCosts);
  for (const auto& [card, sms] : {std::pair("NVIDIA H100 PCIe", 114), std::pair("NVIDIA H20", 78), std::pair("NVIDIA H100 80GB HBM3", 132)}) {
    const ShippedCosts shipped = shipped_costs(card, sms);
    EXPECT_EQ(shipped.costs.sms, sms);
    EXPECT_EQ(shipped.costs.full, kFullCosts);
    EXPECT_EQ(shipped.measured_on, "NVIDIA H200") << "nobody has measured another card";
  }
}

bool cut(const Costs& costs, std::int64_t tokens, int heads, std::int64_t sequences = 1, bool packed = true) {
  return choose({.tokens = tokens, .sequences = sequences, .heads = heads, .packed = packed}, costs).segments;
}

TEST(Costs, TheChoiceFollowsFromThem) {
  EXPECT_TRUE(cut(kShippedCosts, 4096, 8));
  Costs c = kShippedCosts;
  c.ahead.planner_start = 200;
  EXPECT_FALSE(cut(c, 4096, 8)) << "a planner that takes so long is not worth it";
  EXPECT_TRUE(cut(kShippedCosts, 4096, 8)) << "the answer for other costs is another";
  c = kShippedCosts;
  c.full.start = c.split.start = 60;
  EXPECT_FALSE(cut(c, 4096, 8)) << "nor items that begin so slowly";
  // Two packed sequences of one wave: with a planner where the prologue hides it.
  EXPECT_TRUE(cut(kShippedCosts, 32768, 64, 2));
  c = kShippedCosts;
  c.ahead.prologue_chunk = 1e-4;
  EXPECT_FALSE(cut(c, 32768, 64, 2));
  // The slower form is not taken.
  for (const Form slow : {Form::full, Form::split}) {
    c = kShippedCosts;
    CostModel& costs = slow == Form::full ? c.full : c.split;
    costs = {9 * costs.full_step, 9 * costs.state_step, 9 * costs.start, 9 * costs.hop, costs.planning};
    EXPECT_NE(choose({.tokens = 32768, .sequences = 1, .heads = 8}, c).form, slow);
  }
}

TEST(Costs, TheChoiceCountsTheDevicesMultiprocessors) {
  EXPECT_EQ(choose_form(1, 60, 128), Form::split);
  EXPECT_EQ(choose_form(1, 60, 128, 114), Form::full);
  Costs pcie = kShippedCosts;
  pcie.sms = 114;
  EXPECT_EQ(choose({.tokens = 64, .sequences = 1, .heads = 60}, pcie).form, Form::full);
  EXPECT_EQ(choose({.tokens = 64, .sequences = 1, .heads = 60, .batch_invariant = true}, pcie).form, choose({.tokens = 64, .sequences = 1, .heads = 60, .batch_invariant = true}, kShippedCosts).form);
  // 128 chains are one wave of 132 SMs, and two of 114: there a list is worth it.
  EXPECT_FALSE(cut(kShippedCosts, 16384, 128, 1, false));
  EXPECT_TRUE(cut(pcie, 16384, 128, 1, false));
}

}  // namespace
}  // namespace tilewright::gdn
