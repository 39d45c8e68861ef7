#include "kernels/gdn/calibration.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "tilewright/error.h"

namespace tilewright::gdn {
namespace {

constexpr int kChains = 8;           // whole chains or pairs of segments that are timed at once: as few as have SMs of their own everywhere
constexpr int kSegmentChunks = 16;   // of a segment with records
constexpr int kLeastSegments = 4, kLeastPoints = 4;
constexpr int kItemChunks = 12;      // that an SM has altogether; 1 to 4 items divide them
constexpr int kPrologueHeads = 32, kPlannedChunks = 32;

double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

struct Line {
  double slope, beginning;
};

/// Theil's line: the median of the slopes of all pairs.
Line line(const std::vector<Measured>& times, Quantity quantity, Form form) {
  std::vector<Measured> points;
  std::copy_if(times.begin(), times.end(), std::back_inserter(points), [&](const Measured& m) { return m.probe.quantity == quantity && m.probe.form == form; });
  std::vector<double> slopes, beginnings;
  for (std::size_t i = 0; i < points.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (points[i].probe.at != points[j].probe.at) slopes.push_back((points[i].us - points[j].us) / (points[i].probe.at - points[j].probe.at));
  const double slope = median(std::move(slopes));
  for (const Measured& m : points) beginnings.push_back(m.us - slope * m.probe.at);
  return {slope, median(std::move(beginnings))};
}

/// Heads whose segments fill the slots `n` at a time: the largest divisor up to 16.
int heads_that_fill(int slots) {
  int heads = 1;
  for (int h = 2; h <= std::min(slots, 16); ++h)
    if (slots % h == 0) heads = h;
  return heads;
}

}  // namespace

std::vector<Probe> probes(int sms) {
  std::vector<Probe> all;
  for (const Form form : {Form::full, Form::split}) {
    const int slots = planner_slots(form, sms), chains = std::min(kChains, slots / 2);
    for (const int chunks : {64, 96, 128, 192, 256}) {
      all.push_back({.quantity = Quantity::whole, .at = double(chunks), .form = form, .heads = chains, .chunks = chunks});
      for (const auto& [quantity, memory] : {std::pair(Quantity::erasing, Memory::brief), std::pair(Quantity::keeping, Memory::endless)})
        all.push_back({.quantity = quantity, .at = double(chunks), .form = form, .heads = chains, .chunks = chunks, .cp = 2, .classes = HeadClass::erasing, .memory = memory});
    }
    const int filling = heads_that_fill(slots), segments = slots / filling;
    for (int items = 1; items <= 4; ++items)
      if (items * segments <= kMaxSegments && items * slots <= item_capacity(kTypicalSms))
        all.push_back({.quantity = Quantity::items, .at = double(items), .form = form, .heads = filling, .chunks = segments * kItemChunks, .cp = items * segments,
                       .classes = HeadClass::erasing, .memory = Memory::brief});
    // N segments are N finals, N - 1 ends and N - 2 transitions, each on an SM of its own.
    const int linked = slots >= 2 * (3 * (kLeastSegments + kLeastPoints) - 3) ? 2 : 1, most = std::min((slots / linked + 3) / 3, 24);
    if (most < kLeastSegments + kLeastPoints - 1)
      throw Error("a device of " + std::to_string(sms) + " multiprocessors, expected at least 36: hops are measured on chains whose segments run at a time");
    for (int i = 0; i <= kLeastPoints; ++i) {
      const int n = kLeastSegments + (most - kLeastSegments) * i / kLeastPoints;
      all.push_back({.quantity = Quantity::records, .at = double(n), .form = form, .heads = linked, .chunks = n * kSegmentChunks, .cp = n, .classes = HeadClass::matrix,
                     .memory = Memory::endless});
    }
  }
  for (const int chunks : {64, 128, 192, 256, 512})
    all.push_back({.quantity = Quantity::prologue, .at = double(chunks) * kPrologueHeads, .form = Form::full, .heads = kPrologueHeads, .chunks = chunks, .group = 4});
  // Up to 24 heads on 132 SMs, and as many for each SM elsewhere: so few that there is always something to cut.
  const int group = sms >= kTypicalSms / 2 ? 4 : 2;
  for (const int part : {2, 3, 4, 5, 6}) {
    const int heads = part * sms * 4 / kTypicalSms / group * group;
    for (const auto& [quantity, cp] : {std::pair(Quantity::planner, 0), std::pair(Quantity::beside, 1)})
      all.push_back({.quantity = quantity, .at = double(heads), .form = Form::full, .heads = heads, .chunks = kPlannedChunks, .group = group, .cp = cp});
  }
  return all;
}

Costs probing_costs(const Costs& shipped) {
  Costs costs = shipped;
  for (CostModel* form : {&costs.full, &costs.split})
    for (double* cost : {&form->full_step, &form->state_step, &form->start, &form->hop, &form->planning}) *cost *= 10;
  costs.ahead = {};
  return costs;
}

Costs calibrate(const std::vector<Measured>& times, int sms) {
  const auto of_form = [&](Form form) {
    const auto slope = [&](Quantity q) { return line(times, q, form).slope; };
    CostModel c{};
    c.full_step = slope(Quantity::whole);
    c.state_step = 2 * (slope(Quantity::keeping) - slope(Quantity::erasing));
    c.start = slope(Quantity::items) - c.state_step;
    c.hop = slope(Quantity::records);
    return c;
  };
  Costs costs{of_form(Form::full), of_form(Form::split), {}, sms};
  const Line prologue = line(times, Quantity::prologue, Form::full), planner = line(times, Quantity::planner, Form::full), beside = line(times, Quantity::beside, Form::full);
  costs.ahead = {prologue.beginning, prologue.slope, planner.beginning, planner.slope};
  // In short calls, where lists have little to gain.
  costs.full.planning = costs.split.planning = std::max(planner.slope - beside.slope, 0.0);
  if (const std::string why = why_not(costs); !why.empty()) throw Error("the times that were measured make no sense: " + why);
  return costs;
}

}  // namespace tilewright::gdn
