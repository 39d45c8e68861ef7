// The planner on the device makes the list that its reference makes.
#include "kernels/gdn/planner.h"

#include <optional>
#include <random>

#include "kernels/gdn/planner_reference.h"
#include "tests/device/launch.h"

namespace tilewright::test {
namespace {

using namespace gdn;

struct Call {
  std::vector<std::int64_t> lens;
  int heads;
  int splits = 1, cp = 0, sms = 132;
  HeadClass classes = HeadClass::chosen;
  std::optional<CostModel> costs{};       ///< other than the shipped ones
  std::int64_t items = -1, records = -1;  ///< capacities; -1: what is always enough
  bool wide_offsets = false, equal_lengths = false, raw = false;
  std::int64_t before = 0, behind = 0;  ///< rows of the batch that no sequence has; their gates do not decay
  std::function<double(int)> decay = [](int head) { return head % 4 == 3 ? 0.0 : -1.0 / 16; };  ///< natural log, of each head
};

/// Runs the planner and compares; gives the number of items.
std::size_t expect_reference_list(const Call& c) {
  static const Program program = planner(Element::f32, true);
  const CostModel costs = c.costs.value_or(c.splits == 1 ? kFullCosts : kSplitCosts);
  const auto sequences = static_cast<std::int64_t>(c.lens.size());
  std::vector<double> offsets{double(c.before)};
  for (const std::int64_t n : c.lens) offsets.push_back(offsets.back() + double(n));
  const auto end = static_cast<std::int64_t>(offsets.back()), tokens = end + c.behind;

  PlanRequest r;
  for (const std::int64_t n : c.lens) r.chunks.push_back(static_cast<std::int32_t>((n + 63) / 64));
  r.costs = planner_costs(costs, tokens, sequences, c.heads);
  r.slots = c.sms / c.splits, r.cp = c.cp, r.classes = c.classes;
  r.item_capacity = static_cast<int>(c.items < 0 ? item_capacity(c.sms) : c.items), r.record_capacity = static_cast<int>(c.records < 0 ? record_capacity(c.sms) : c.records);

  Launch run(program);
  const std::int64_t rows = std::max<std::int64_t>(tokens, 1);
  run.in("g", array("f32", {rows, c.heads}, [&](std::int64_t i) {
    if (const std::int64_t row = i / c.heads; row < c.before || row >= end) return 0.0;
    return c.raw ? 0.25 * double(i % 7) : c.decay(int(i % c.heads));
  }));
  run.scalar("T", rows).scalar("N", sequences).scalar("heads", std::int64_t(c.heads)).scalar("g_step", std::int64_t(1));
  run.scalar("gate_domain", std::int64_t(c.raw ? 2 : 0)).scalar("beta_domain", std::int64_t(0)).scalar("beta_scale", 1.0);
  for (const char* name : {"beta_step", "dt_bias_step", "A_log_step", "beta_pitch", "dt_bias_pitch"}) run.scalar(name, std::int64_t(1));
  if (!c.raw) run.scalar("A_log_pitch", std::int64_t(1));
  if (c.raw) run.in("A_log", array("f32", {1, c.heads}, [](std::int64_t h) { return double(h % 5) - 4.0; }));
  const int words = c.wide_offsets ? 2 : 1;
  if (c.equal_lengths) run.scalar("CU", std::int64_t(1));
  if (!c.equal_lengths) run.in("cu_seqlens", array("i32", {(sequences + 1) * words}, [&](std::int64_t i) { return i % words ? 0.0 : offsets[std::size_t(i / words)]; }));
  run.scalar("cu_words", std::int64_t(words)).scalar("length", c.lens[0]);
  run.scalar("plan_shift", std::int64_t(r.costs.shift)).scalar("plan_state", std::int64_t(r.costs.state)).scalar("plan_start", std::int64_t(r.costs.start));
  run.scalar("plan_planning", std::int64_t(r.costs.planning)).scalar("plan_hop", std::int64_t(r.costs.hop)).scalar("plan_slots", std::int64_t(r.slots)).scalar("plan_items", std::int64_t(r.item_capacity));
  run.scalar("plan_records", std::int64_t(r.record_capacity)).scalar("cp", std::int64_t(r.cp)).scalar("plan_classes", static_cast<std::int64_t>(c.classes));
  run.out("plan", "i32", {r.item_capacity + 1, kPlanWords}).out("sync", "i32", {77}).out("erase", "i32", {c.heads}).run();

  for (const double zero : run["sync"].values) EXPECT_EQ(zero, 0);
  const Array& plan = run["plan"];
  const auto word = [&](std::int64_t row, int w) { return static_cast<std::int32_t>(plan.at(row, w)); };
  for (const double w : run["erase"].values) r.erase.push_back(static_cast<std::int32_t>(w));
  if (c.before + c.behind > 0) {
    EXPECT_EQ(r.erase[0], 6) << "32 bits of log2(e) / 16 a token";
  }
  const SegmentPlan expected = reference_plan(r);
  EXPECT_EQ(word(0, plan_header::kItems), static_cast<int>(expected.items.size()));
  EXPECT_EQ(word(0, plan_header::kLongestWhole), expected.longest_whole);
  EXPECT_EQ(word(0, plan_header::kRecords), expected.records);
  int wrong = 0;
  for (std::size_t i = 0; i < expected.items.size() && wrong < 3; ++i) {
    const auto at = [&](int w) { return word(std::int64_t(i) + 1, w); };
    const SegmentItem item{at(plan_item::kSequence), at(plan_item::kHead), at(plan_item::kFirst), at(plan_item::kChunks), SegmentKind(at(plan_item::kKind)), at(plan_item::kBase), at(plan_item::kSegment)};
    const SegmentItem& e = expected.items[i];
    if (item == e) continue;
    ++wrong;
    ADD_FAILURE() << "item " << i << " of " << expected.items.size() << ": sequence " << item.sequence << " head " << item.head << " chunks " << item.first << "+" << item.chunks << " kind "
                  << int(item.kind) << " base " << item.base << " segment " << item.segment << ", expected " << e.sequence << " " << e.head << " " << e.first << "+" << e.chunks << " "
                  << int(e.kind) << " " << e.base << " " << e.segment;
  }
  expect_unwritten(plan, 1 + std::int64_t(expected.items.size()), 1 + r.item_capacity);
  return expected.items.size();
}

constexpr int kRounds = 30;
std::vector<std::int64_t> drawn(std::mt19937& random, int count, int most) {
  std::vector<std::int64_t> lens;
  for (int n = 0; n < count; ++n) lens.push_back(static_cast<std::int64_t>(random() % unsigned(most + 1)));
  return lens;
}

TEST(DevicePlanner, RowsOfOneSequence) {
  EXPECT_GT(expect_reference_list({.lens = {8192}, .heads = 8}), 60u);
  EXPECT_GT(expect_reference_list({.lens = {2048}, .heads = 16, .splits = 2}), 50u);
  EXPECT_GT(expect_reference_list({.lens = {4096}, .heads = 48}), 100u);
  EXPECT_GT(expect_reference_list({.lens = {6000}, .heads = 64}), 100u);
  EXPECT_EQ(expect_reference_list({.lens = {1024}, .heads = 64}), 0u) << "it would save less than planning takes";
  EXPECT_GT(expect_reference_list({.lens = {32768}, .heads = 1}), 100u);
  EXPECT_EQ(expect_reference_list({.lens = {512}, .heads = 128}), 0u);
}
TEST(DevicePlanner, SeveralSequences) {
  EXPECT_GT(expect_reference_list({.lens = {7168, 1024}, .heads = 8}), 50u);
  EXPECT_GT(expect_reference_list({.lens = {1024, 7168}, .heads = 64, .wide_offsets = true}), 100u);
  EXPECT_GT(expect_reference_list({.lens = {2048, 2048, 2048, 2048}, .heads = 8, .equal_lengths = true}), 50u);
  EXPECT_GT(expect_reference_list({.lens = {4096, 4096, 4096}, .heads = 56}), 170u) << "a wave and a half";
  EXPECT_GT(expect_reference_list({.lens = {3000, 0, 1, 64, 65, 2000}, .heads = 5}), 50u);
  EXPECT_GT(expect_reference_list({.lens = {3000, 2000}, .heads = 8, .before = 1000, .behind = 3000}), 50u) << "the gates are asked for again";
}
TEST(DevicePlanner, ManySequences) {
  std::mt19937 random(3);
  expect_reference_list({.lens = drawn(random, 131, 3000), .heads = 1});
  expect_reference_list({.lens = drawn(random, 40, 1000), .heads = 6, .wide_offsets = true});
  for (const int count : {300, 4096}) {
    auto lens = drawn(random, count, 64);
    lens[std::size_t(count / 3)] = 30000, lens[std::size_t(count / 2)] = 20000;
    EXPECT_GT(expect_reference_list({.lens = lens, .heads = 2}), 40u) << count;
  }
  EXPECT_EQ(expect_reference_list({.lens = std::vector<std::int64_t>(4096, 1), .heads = 4}), 0u);
  EXPECT_EQ(expect_reference_list({.lens = {0, 0, 0}, .heads = 4}), 0u);
}
TEST(DevicePlanner, HeadsThatEraseDifferently) {
  const auto some = [](int head) { return -1.0 / (8 << (head % 12)); };
  for (const int heads : {3, 8, 32}) expect_reference_list({.lens = {8192}, .heads = heads, .decay = some});
  expect_reference_list({.lens = {6000, 3000}, .heads = 16, .splits = 2, .decay = some});
  EXPECT_GT(expect_reference_list({.lens = {16384}, .heads = 4, .decay = [](int) { return 0.0; }}), 50u) << "matrices only, in two turns";
  EXPECT_GT(expect_reference_list({.lens = {4096}, .heads = 32, .decay = [](int) { return 0.0; }}), 50u);
  EXPECT_GT(expect_reference_list({.lens = {4096, 3000, 2000}, .heads = 12, .decay = [](int) { return 0.0; }}), 50u) << "two segments of a chain";
  EXPECT_GT(expect_reference_list({.lens = {8192}, .heads = 8, .decay = [](int) { return -1.0; }}), 50u);
  expect_reference_list({.lens = {5000}, .heads = 8, .raw = true});
}
TEST(DevicePlanner, BatchesAtRandom) {
  std::mt19937 random(11);
  const auto draw = [&](auto... from) { return std::vector<int>{from...}[random() % sizeof...(from)]; };
  int lists = 0;
  for (int round = 0; round < kRounds; ++round) {
    const int heads = draw(1, 2, 3, 5, 8, 13, 16, 24, 33, 48, 64, 100, 128), most = draw(1, 2, 3, 4, 8, 40), longest = draw(300, 3000, 20000);
    const int slowest = draw(1, 4, 7), never = draw(0, 1, 1000);
    Call c{.lens = drawn(random, std::max(std::min(most, 256 / heads), 1), longest), .heads = heads, .splits = draw(1, 2), .sms = draw(132, 132, 78, 200)};
    const unsigned shuffle = random();
    c.decay = [=](int head) {
      const unsigned of = (unsigned(head) * 2654435761u ^ shuffle) >> 8;
      return int(of % 1000) < never ? 0.0 : -1.0 / (4 << (of / 1000 % unsigned(slowest)));
    };
    SCOPED_TRACE("round " + std::to_string(round));
    lists += expect_reference_list(c) > 0;
  }
  EXPECT_GT(lists, kRounds / 3);
}
TEST(DevicePlanner, Capacities) {
  for (const std::int64_t items : {0, 40, 100})
    for (const std::int64_t records : {5, 40}) expect_reference_list({.lens = {8192}, .heads = 8, .items = items, .records = records});
  for (const std::int64_t items : {40, 100}) expect_reference_list({.lens = {2048}, .heads = 8, .cp = 8, .items = items});
  EXPECT_EQ(expect_reference_list({.lens = {8192}, .heads = 8, .cp = 1}), 0u);
  EXPECT_GT(expect_reference_list({.lens = {8192}, .heads = 8, .sms = 78}), 50u);
}
TEST(DevicePlanner, OtherCosts) {
  // A card's own, and the corners of what a file may say: nothing is recompiled for any of them.
  for (const CostModel& costs : {CostModel{2.3, 0.9, 1.4, 2.2, 0.07}, CostModel{1, 1e-9, 1e-9, 1e-9, 0}, CostModel{1, 1, 64, 64, 1}, CostModel{1, 1e-9, 1e-9, 64, 0}})
    for (const int sms : {132, 114}) expect_reference_list({.lens = {20000, 3000}, .heads = 6, .sms = sms, .costs = costs});
}
TEST(DevicePlanner, EqualSegments) {
  for (const int cp : {2, 16})
    for (const HeadClass classes : {HeadClass::chosen, HeadClass::erasing, HeadClass::matrix})
      EXPECT_GT(expect_reference_list({.lens = {2000, 0, 1, 64, 65, 300}, .heads = 6, .cp = cp, .classes = classes, .items = 1000, .records = 1000}), 10u);
}

}  // namespace
}  // namespace tilewright::test
