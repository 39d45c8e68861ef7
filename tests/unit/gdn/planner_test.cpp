// The planner's reference: what every list must be, and how good the lists are.
#include "kernels/gdn/planner_reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "kernels/gdn/inputs.h"
#include "tests/unit/gdn/plan_search.h"
#include "tilewright/error.h"

namespace tilewright::gdn {
namespace {

constexpr int kSms = 132;

/// Every fourth head does not erase, the others do within seven chunks.
std::vector<std::int32_t> usual_heads(int heads) {
  std::vector<std::int32_t> erase;
  for (int h = 0; h < heads; ++h) erase.push_back(h % 4 == 3 ? kNeverErased : 7);
  return erase;
}

std::vector<std::int32_t> chunks_of(const std::string& lens) {
  std::vector<std::int32_t> chunks;
  for (const std::int64_t n : parse_lens(lens)) chunks.push_back(static_cast<std::int32_t>((n + 63) / 64));
  return chunks;
}

PlanRequest request(std::vector<std::int32_t> chunks, std::vector<std::int32_t> erase, int splits = 1, int sms = kSms) {
  PlanRequest r;
  std::int64_t tokens = 0;
  for (const int n : chunks) tokens += 64 * std::int64_t(n);
  r.costs = planner_costs(splits == 1 ? kFullCosts : kSplitCosts, tokens, static_cast<std::int64_t>(chunks.size()), static_cast<int>(erase.size()));
  r.chunks = std::move(chunks), r.erase = std::move(erase), r.slots = sms / splits;
  r.item_capacity = item_capacity(sms), r.record_capacity = record_capacity(sms);
  return r;
}

/// What makes a list valid, whatever it is worth.
void expect_valid(const PlanRequest& r, const SegmentPlan& plan) {
  ASSERT_LE(plan.items.size(), std::size_t(r.item_capacity));
  ASSERT_LE(plan.records, r.record_capacity);
  std::map<std::pair<int, int>, std::vector<SegmentItem>> finals;
  std::map<std::tuple<int, int, int>, std::set<SegmentKind>> written;  // by chain and segment
  std::map<int, std::pair<int, int>> owner;                            // of a record
  for (const SegmentItem& i : plan.items) {
    const auto chain = std::pair(i.sequence, i.head);
    ASSERT_GE(i.sequence, 0);
    ASSERT_LT(i.sequence, static_cast<int>(r.chunks.size()));
    ASSERT_TRUE(i.head >= 0 && i.head < r.heads());
    ASSERT_GT(r.chunks[std::size_t(i.sequence)], plan.longest_whole) << "this chain follows the list, too";
    ASSERT_GE(i.chunks, 1);
    if (i.kind != SegmentKind::final) {
      ASSERT_TRUE(i.base >= 0 && i.base + i.segment < plan.records);
      ASSERT_TRUE(owner.emplace(i.base + i.segment, chain).first->second == chain) << "two chains have record " << i.base + i.segment;
      ASSERT_TRUE((written[{i.sequence, i.head, i.segment}].insert(i.kind).second));
      continue;
    }
    finals[chain].push_back(i);
    for (int j = 0; j < i.segment && i.base >= 0; ++j) {
      const auto& kinds = written[{i.sequence, i.head, j}];
      ASSERT_TRUE(kinds.count(SegmentKind::end) && (j == 0 || kinds.count(SegmentKind::transition))) << "a final comes before what it waits for";
    }
  }
  for (int n = 0; n < static_cast<int>(r.chunks.size()); ++n) {
    if (r.chunks[std::size_t(n)] <= plan.longest_whole) continue;
    for (int h = 0; h < r.heads(); ++h) {
      auto& parts = finals[{n, h}];
      std::sort(parts.begin(), parts.end(), [](const SegmentItem& a, const SegmentItem& b) { return a.first < b.first; });
      int next = 0, segment = 0;
      for (const SegmentItem& i : parts) {
        ASSERT_EQ(i.first, next) << "sequence " << n << " head " << h;
        ASSERT_EQ(i.segment, segment++);
        ASSERT_EQ(i.base, parts.front().base);
        next += i.chunks;
        for (const SegmentKind kind : {SegmentKind::end, SegmentKind::transition})
          ASSERT_EQ((written[{n, h, i.segment}].count(kind)), i.base >= 0 && next < r.chunks[std::size_t(n)] && (kind == SegmentKind::end || i.segment > 0) ? 1u : 0u);
      }
      ASSERT_EQ(next, r.chunks[std::size_t(n)]) << "sequence " << n << " head " << h;
    }
  }
}

double uncut(const PlanRequest& r, const CostModel& costs, int splits) { return simulate({}, r.chunks, r.erase, costs, kSms, splits).makespan; }

/// What a plan must save at least.
double planning(const PlanRequest& r, const CostModel& costs) { return costs.planning * static_cast<double>(r.chunks.size()) * r.heads(); }

struct Row {
  int heads;
  const char* lens;
};
std::vector<Row> rows() {
  return {{8, "32768"}, {8, "16384"}, {8, "8192"}, {8, "4096"}, {8, "2048"}, {16, "32768"}, {16, "16384"}, {16, "8192"}, {16, "4096"}, {16, "2048"},
          {32, "32768"}, {32, "8192"}, {24, "32768"}, {24, "8192"}, {8, "8192x4"}, {8, "4096x8"}, {8, "2048x4"}, {8, "28672+4096"}, {8, "4096+28672"},
          {8, "131072"}, {64, "8192x4"}, {64, "4096x8"}, {64, "32768"}, {64, "16384x2"}, {64, "28672+4096"}, {64, "8192"}, {64, "4096x2"}, {64, "2048"},
          {64, "2048x4"}, {64, "1024x8"}, {32, "8192x4"}, {32, "4096x8"}, {32, "2048x4"}, {32, "1024x8"}, {16, "4096x8"}, {16, "1024x8"}, {8, "1024x8"}};
}

TEST(Planner, ComesCloseToAWideSearchOfPlans) {
  for (const auto& [heads, lens] : rows())
    for (const int splits : {1, 2}) {
      const PlanRequest r = request(chunks_of(lens), usual_heads(heads), splits);
      const CostModel costs = splits == 1 ? kFullCosts : kSplitCosts;
      const SegmentPlan plan = reference_plan(r);
      expect_valid(r, plan);
      const double time = simulate(plan, r.chunks, r.erase, costs, kSms, splits).makespan, best = testing::SimplePlans{r.chunks, heads, heads / 4, 7, kSms, splits, costs}.best();
      EXPECT_LE(time, 1.02 * best + planning(r, costs)) << heads << " heads, " << lens << ", " << splits << " CTAs an item";
      EXPECT_LE(time, uncut(r, costs, splits)) << heads << " heads, " << lens;
      if (!plan.items.empty()) {
        EXPECT_NEAR(plan.makespan * costs.full_step / (1 << r.costs.shift), time, 0.1 * time);
      }
    }
}

TEST(Planner, StandsCostsThatAreWrong) {
  for (const auto& [heads, lens] : rows())
    for (const double off : {0.8, 1.2}) {
      const PlanRequest r = request(chunks_of(lens), usual_heads(heads));
      for (int which = 0; which < 3; ++which) {
        CostModel real = kFullCosts;
        (which == 0 ? real.state_step : which == 1 ? real.start : real.hop) *= off;
        const double time = simulate(reference_plan(r), r.chunks, r.erase, real, kSms, 1).makespan;
        const double best = testing::SimplePlans{r.chunks, heads, heads / 4, 7, kSms, 1, real}.best();
        EXPECT_LE(time, 1.05 * best + planning(r, kFullCosts)) << heads << " heads, " << lens << ", cost " << which << " x " << off;
      }
    }
}

TEST(Planner, IsNeverWorseThanNotCutting) {
  std::mt19937 random(7);
  const auto draw = [&](auto... from) { return std::vector<int>{from...}[random() % sizeof...(from)]; };
  int cut = 0;
  for (int round = 0; round < 700; ++round) {
    const int sequences = draw(1, 1, 2, 3, 4, 8, 20, 60, 200, 1000, 4096), heads = draw(1, 2, 3, 4, 8, 16, 24, 32, 48, 64, 128);
    if (sequences * heads > 20000) continue;
    const int most = draw(1, 4, 32, 128, 512), lengths = draw(0, 1, 2), erasing = draw(0, 1, 2, 3), splits = draw(1, 2);
    std::vector<std::int32_t> chunks, erase;
    for (int n = 0; n < sequences; ++n) {
      const double at = static_cast<double>(random() % 1000) / 1000;
      chunks.push_back(lengths == 0 ? most : lengths == 1 ? static_cast<int>(at * (most + 1)) : static_cast<int>(std::exp(std::log(most + 1.0) * at)));
    }
    for (int h = 0; h < heads; ++h) {
      const int some = static_cast<int>(random() % 60) + 1;
      erase.push_back(erasing == 0 ? 7 : erasing == 1 ? some % 20 + 1 : erasing == 2 && random() % 4 > 0 ? some : kNeverErased);
    }
    const PlanRequest r = request(chunks, erase, splits);
    const CostModel costs = splits == 1 ? kFullCosts : kSplitCosts;
    const SegmentPlan plan = reference_plan(r);
    expect_valid(r, plan);
    if (plan.items.empty()) continue;
    ++cut;
    EXPECT_LE(simulate(plan, chunks, erase, costs, kSms, splits).makespan, uncut(r, costs, splits)) << sequences << " sequences, " << heads << " heads, round " << round;
  }
  EXPECT_GT(cut, 100);
}

TEST(Planner, CutsIntoEqualSegmentsOnRequest) {
  for (const int cp : {2, 3, 8, 64})
    for (const HeadClass classes : {HeadClass::chosen, HeadClass::erasing, HeadClass::matrix}) {
      PlanRequest r = request({40, 0, 1, 2, 5}, usual_heads(4));
      r.cp = cp, r.classes = classes, r.item_capacity = 4000, r.record_capacity = 4000;
      const SegmentPlan plan = reference_plan(r);
      expect_valid(r, plan);
      std::map<std::pair<int, int>, std::pair<int, int>> lengths;  // of each chain's finals
      std::map<int, int> count;
      for (const SegmentItem& i : plan.items)
        if (i.kind == SegmentKind::final) {
          auto& [least, most] = lengths.emplace(std::pair(i.sequence, i.head), std::pair(i.chunks, i.chunks)).first->second;
          least = std::min(least, i.chunks), most = std::max(most, i.chunks);
          ++count[i.sequence];
          if (classes != HeadClass::chosen) {
            EXPECT_EQ(i.base >= 0, classes == HeadClass::matrix);
          }
        }
      for (const int n : {0, 3, 4}) EXPECT_EQ(count[n], 4 * std::min(cp, r.chunks[std::size_t(n)]));
      EXPECT_EQ(count[1] + count[2], 0);
      for (const auto& [chain, l] : lengths) EXPECT_LE(l.second - l.first, 1) << chain.first;
      EXPECT_EQ(plan.longest_whole, 1);
    }
}

TEST(Planner, CutsLessWhereThereIsNoRoom) {
  for (const int cp : {0, 16})
    for (const int items : {0, 1, 20, 60, 100, 300})
      for (const int records : {0, 3, 10, 400}) {
        PlanRequest r = request({512}, usual_heads(8));
        r.cp = cp, r.item_capacity = items, r.record_capacity = records;
        expect_valid(r, reference_plan(r));
      }
}

TEST(Planner, LeavesAloneWhatIsNotWorthIt) {
  PlanRequest off = request({512}, usual_heads(8));
  off.cp = 1;
  for (const PlanRequest& r : {off, request({}, usual_heads(8)), request({0, 0}, usual_heads(8)), request({1}, usual_heads(8)), request(std::vector<std::int32_t>(4096, 1), usual_heads(128)),
                               request({512, 512}, usual_heads(64)), request(std::vector<std::int32_t>(8, 64), usual_heads(64)), request({16}, usual_heads(64))}) {
    const SegmentPlan plan = reference_plan(r);
    EXPECT_TRUE(plan.items.empty());
    EXPECT_EQ(plan.longest_whole, std::numeric_limits<std::int32_t>::max());
  }
}

TEST(Planner, CutsOneLongSequenceAmongManyShortOnes) {
  std::vector<std::int32_t> chunks(1000, 3);
  chunks[500] = 2048;
  const PlanRequest r = request(chunks, usual_heads(8));
  const SegmentPlan plan = reference_plan(r);
  expect_valid(r, plan);
  EXPECT_GE(plan.longest_whole, 3);
  EXPECT_LT(simulate(plan, chunks, r.erase, kFullCosts, kSms, 1).makespan, 0.22 * uncut(r, kFullCosts, 1));
}

TEST(Planner, StandsAnyCostsThatAFileMayHave) {
  int cut = 0;
  for (unsigned corner = 0; corner < 16; ++corner) {
    CostModel c{1, corner & 1 ? 1 : 1e-9, corner & 2 ? 64 : 1e-9, corner & 4 ? 64 : 1e-9, corner & 8 ? 64.0 : 0};
    ASSERT_EQ(why_not({c, c, kAheadCosts}), "");
    for (const auto& [heads, lens] : std::vector<Row>{{8, "32768"}, {2, "1048576"}, {64, "28672+4096"}, {24, "8192"}, {128, "131072+64"}})
      for (const auto& erase : {usual_heads(heads), std::vector<std::int32_t>(std::size_t(heads), kNeverErased), std::vector<std::int32_t>(std::size_t(heads), 1)}) {
        PlanRequest r = request(chunks_of(lens), erase);
        std::int64_t tokens = 0;
        for (const int n : r.chunks) tokens += 64 * std::int64_t(n);
        r.costs = planner_costs(c, tokens, static_cast<std::int64_t>(r.chunks.size()), heads);
        const SegmentPlan plan = reference_plan(r);
        expect_valid(r, plan);
        cut += plan.items.empty() ? 0 : 1;
      }
  }
  EXPECT_GT(cut, 60);
}

TEST(Planner, UnitsHoldAnyBatch) {
  const PlannerCosts huge = planner_costs(kFullCosts, std::int64_t(1) << 27, 4096, 128), small = planner_costs(kFullCosts, 4096, 1, 8);
  ASSERT_GE(huge.shift, 0);
  EXPECT_LE(((std::int64_t(1) << 27) / 64 + 4096) * 128 << huge.shift, std::int64_t(1) << 30);
  EXPECT_EQ(small.shift, 7);
  EXPECT_NEAR(small.state * kFullCosts.full_step / 128, kFullCosts.state_step, 0.01);
  PlanRequest beyond = request({512}, usual_heads(8));
  beyond.costs = planner_costs(kFullCosts, std::int64_t(1) << 31, 4096, 128);
  EXPECT_TRUE(reference_plan(beyond).items.empty());
}

TEST(Planner, RefusesRequestsWithoutHeads) { EXPECT_THROW(reference_plan(PlanRequest{}), Error); }

}  // namespace
}  // namespace tilewright::gdn
