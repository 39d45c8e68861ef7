// The planner on the host: the same list as the device makes (planner.h), and the course that it takes.
#pragma once
#include <vector>

#include "kernels/gdn/planner_rules.h"
#include "kernels/gdn/segment_plan.h"

namespace tilewright::gdn {

/// What a list is made from.
struct PlanRequest {
  std::vector<std::int32_t> chunks;  ///< of each sequence
  std::vector<std::int32_t> erase;   ///< of each head: chunks after which nothing is left of its state, at most kNeverErased
  int slots = 0;                     ///< items that run at a time
  PlannerCosts costs;
  int item_capacity = 0, record_capacity = 0;
  int cp = 0;  ///< 0: as the costs say; 1: no list; N: every chain of at least two chunks in N segments, or in one for each chunk, as far as there is room
  HeadClass classes = HeadClass::chosen;
  int heads() const { return static_cast<int>(erase.size()); }
};

struct SegmentItem {
  std::int32_t sequence, head, first, chunks;
  SegmentKind kind;
  std::int32_t base, segment;
  bool operator==(const SegmentItem&) const = default;
};

struct SegmentPlan {
  std::vector<SegmentItem> items;
  std::int32_t longest_whole = std::numeric_limits<std::int32_t>::max();
  int records = 0;
  int makespan = 0;  ///< as planned, in units of PlannerCosts; 0 without a list
};

/// Throws Error for a request without heads or slots.
SegmentPlan reference_plan(const PlanRequest& request);

/// One CTA's time with an item, in microseconds; `begin` to `ready` it waits for others.
struct Span {
  int sm, item;  ///< item -1 - i: the i-th whole chain behind the list
  double begin, ready, end;
  SegmentItem what;
};
struct Timeline {
  std::vector<Span> spans;  ///< in the order of dispatch
  double makespan = 0;
};

/// The course of a list on `sms` SMs with `splits` CTAs an item, each going to the SM that is free first. `erase` is what the heads really need.
Timeline simulate(const SegmentPlan& plan, const std::vector<std::int32_t>& chunks, const std::vector<std::int32_t>& erase,
                  const CostModel& costs, int sms, int splits);

}  // namespace tilewright::gdn
