// What the calls of the planner's calibration would take where costs are known.
#pragma once
#include "kernels/gdn/calibration.h"
#include "kernels/gdn/planner_reference.h"

namespace tilewright::gdn::testing {

/// What every time has that no cost is about.
inline constexpr double kLaunch = 4.5;

/// Microseconds of the prologue of a probe's call, and of its chain kernel by the course of the list that the planner makes for it.
inline double prologue_time(const Probe& p, const Costs& costs) {
  const double prologue = costs.ahead.prologue_start + costs.ahead.prologue_chunk * p.heads * p.chunks;
  return p.cp == 0 ? costs.ahead.planner_start + costs.ahead.planner_chain * p.heads : prologue;
}
inline double chain_time(const Probe& p, const Costs& costs) {
  PlanRequest r;
  r.costs = planner_costs(costs_of(kShippedCosts, p.form), p.chunks * 64, 1, p.heads);
  r.chunks = {p.chunks};
  r.erase.assign(std::size_t(p.heads), p.memory == Memory::brief ? 1 : kNeverErased);
  r.slots = planner_slots(p.form, costs.sms), r.cp = p.cp, r.classes = p.classes;
  r.item_capacity = item_capacity(kTypicalSms), r.record_capacity = record_capacity(kTypicalSms);
  return kLaunch + simulate(reference_plan(r), r.chunks, r.erase, costs_of(costs, p.form), costs.sms, p.form == Form::split ? 2 : 1).makespan;
}

}  // namespace tilewright::gdn::testing
