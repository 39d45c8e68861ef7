// What the planner on the device and its reference on the host have in common: costs and bounds, all in integers, so that both make the same list.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/gdn/costs.h"

namespace tilewright::gdn {

/// A CostModel in units of a full step / 2^shift.
struct PlannerCosts {
  std::int32_t shift = 0, state = 0, start = 0, hop = 0, planning = 0;
};

/// Chains that a list can hold, heads for which there can be one, and SMs that it counts on.
inline constexpr int kMaxListedChains = 256, kMaxPlannedHeads = 128, kMaxPlannedSms = 256;
/// Plans that are compared at a time: half of them careful, half of them bold.
inline constexpr int kCandidates = 128;
/// Chunks after which nothing is left of a state, where that does not happen.
inline constexpr int kNeverErased = 1 << 20;
/// Segments of one chain.
inline constexpr int kMaxSegments = 256;
/// A list must save this part of the time without one, 1 / 8: what it takes is an estimate, and steps are slower where all SMs have one.
inline constexpr int kGain = 8;

/// Which heads start segments from zero: those that erase soon enough, or all of one kind (for tests).
enum class HeadClass : std::int32_t { chosen = 0, erasing = 1, matrix = 2 };

/// Candidates are of two kinds, by their answer to which heads start segments from zero.
/// The careful one counts work without a result: `length` chunks a segment with a matrix would have, and it costs two passes over them, less what the
/// first and the last segments save; a restart costs its warm-up. The bold one takes all heads that get a step done in `time` behind their warm-up.
constexpr int careful_limit(int length) { return std::min(length * 7 / 5, kNeverErased - 1); }
constexpr int bold_limit(const PlannerCosts& c, int time) { return std::min(std::max(time - c.start - (1 << c.shift), 0) / c.state, kNeverErased - 1); }

/// Times of one kind: first kTimes from `lowest` to lowest + range, for estimates; then as many around the best of them, from 1/8 below it to 2/5 above it,
/// for layouts. Both become less dense from the shortest time on.
inline constexpr int kTimes = kCandidates / 2;
constexpr int estimated_time(int lowest, int range, int i) { return lowest + ((range * (i + 1) / kTimes) * (i + 1)) / kTimes; }
constexpr int layout_time(int estimate, int i) {
  const int least = estimate - estimate / 8;
  return least + (((least >> 6) * (i * (i + 16))) >> 7);
}
/// There is no list for longer chains (in chunks): up to there the planner's divisions in fp32 are exact (planner_line.h).
inline constexpr int kLongestChain = 1 << 21;
/// There is no list where the time without one is longer: sums of times stay below 2^31, a time behind a thread's number too.
inline constexpr int kLongestTime = 1 << 23;
/// Turns that whole chains of heads with matrices may take on the SMs that those with segments leave.
inline constexpr int kMostTurns = 64;

/// Items and records of which there is always room enough, for a batch of any lengths.
constexpr int item_capacity(int sms) { return 4 * sms + kMaxListedChains; }
/// Items that are enough for `chains` chains where the costs say how they are cut. In the split form every one more is two CTAs that find no work.
constexpr int item_capacity(int slots, std::int64_t chains) { return 4 * slots + static_cast<int>(std::min<std::int64_t>(chains, kMaxListedChains)); }
constexpr int record_capacity(int sms) { return 2 * sms; }

/// Costs in the finest units in which no sum overflows, for a batch of up to `tokens` tokens in `sequences` sequences; shift -1, for which there is no
/// list, where a step is too fine.
inline PlannerCosts planner_costs(const CostModel& costs, std::int64_t tokens, std::int64_t sequences, int heads) {
  const std::int64_t chunks = tokens / 64 + sequences;
  const auto units = [&](double us, int shift) { return std::max(std::int32_t(us / costs.full_step * (1 << shift) + 0.5), std::int32_t(1)); };
  int shift = 7;
  while (shift >= 0 && (tokens / 64 > kLongestChain || ((tokens / 64 + 1) << shift) >= (1 << 22) || ((chunks << shift) + sequences * units(costs.start, shift)) * heads >= (1 << 29))) --shift;
  if (shift < 0) return {-1, 1, 1, 1, 1};
  return {shift, units(costs.state_step, shift), units(costs.start, shift), units(costs.hop, shift), units(costs.planning, shift)};
}

}  // namespace tilewright::gdn
