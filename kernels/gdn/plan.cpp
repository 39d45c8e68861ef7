#include "kernels/gdn/plan.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/gdn/planner_reference.h"

namespace tilewright::gdn {
namespace {

// Microseconds on an H200, as measured with heads (2,8) to (16,64) and up to 32768 tokens: what the works of a list take longer to begin and end than whole
// chains do.
constexpr double kListStart = 8;
// Steps are slower than the cost model's, which are those of a chain alone: whole chains on most of the SMs, and a list, which fills them and has hops.
constexpr double kFullCard = 1.13, kListed = 1.25;
// A call whose chains take so long may well be cut for lengths that are not known.
constexpr double kLongCall = 100;

double prologue_us(const CallSizes& s, const AheadCosts& c) { return c.prologue_start + c.prologue_chunk * double(s.tokens / 64) * s.heads; }
double planner_us(const CallSizes& s, const AheadCosts& c) { return c.planner_start + c.planner_chain * double(s.sequences * s.heads); }

double whole_us(const CallSizes& s, Form form, const Costs& all) {
  const CostModel& costs = costs_of(all, form);
  const std::int64_t slots = planner_slots(form, all.sms), chains = s.sequences * s.heads, chunks = (s.tokens / s.sequences + 63) / 64;
  return double((chains + slots - 1) / slots) * (double(chunks) * costs.full_step + costs.start) * (chains > slots * 3 / 4 ? kFullCard : 1.0);
}

/// For equal sequences, a quarter of whose heads never erase (as in models: few heads keep long memories); `none` without a plan.
double cut_us(const CallSizes& s, Form form, const Costs& all, double none) {
  constexpr int kErases = 8;
  const CostModel& costs = costs_of(all, form);
  PlanRequest request;
  request.costs = planner_costs(costs, s.tokens, s.sequences, s.heads);
  if (request.costs.shift < 0) return none;
  request.slots = planner_slots(form, all.sms);
  request.item_capacity = item_capacity(planner_slots(form, kTypicalSms), s.sequences * s.heads), request.record_capacity = record_capacity(kTypicalSms);
  request.chunks.assign(static_cast<std::size_t>(s.sequences), static_cast<std::int32_t>((s.tokens / s.sequences + 63) / 64));
  for (int h = 0; h < s.heads; ++h) request.erase.push_back(h % 4 == 0 ? kNeverErased : kErases);
  const SegmentPlan plan = reference_plan(request);
  if (plan.items.empty()) return none;
  return plan.makespan * costs.full_step / (1 << request.costs.shift) * kListed + kListStart + std::max(planner_us(s, all.ahead) - prologue_us(s, all.ahead), 0.0);
}

Choice choice_of(const CallSizes& s, const Costs& costs) {
  if (s.batch_invariant) return {batch_invariant_form(s.heads, s.dv), false};
  const Form whole = choose_form(s.sequences, s.heads, s.dv, costs.sms);
  const bool some = s.tokens > 0 && s.sequences > 0 && can_cut(s.dk, s.dv) && !s.whole_chains && s.heads <= kMaxPlannedHeads;
  const std::int64_t chains = s.sequences * s.heads;
  if (!some || s.cp == 1 || (s.cp == 0 && chains > kMaxListedChains)) return {whole, false};
  const double uncut = whole_us(s, whole, costs);
  const double split = cut_us(s, Form::split, costs, uncut), full = s.only_split ? std::numeric_limits<double>::infinity() : cut_us(s, Form::full, costs, uncut);
  if (s.cp == 0 && std::min(full, split) >= uncut) {
    // Nothing to gain with equal lengths. Packed sequences may have others: where all their chains run at a time the longest decides, and in a long call a
    // planner that is done in half of the prologue's time costs little where lengths are equal after all.
    const bool one_wave = chains <= costs.sms && uncut >= kLongCall, hidden = 2 * planner_us(s, costs.ahead) <= prologue_us(s, costs.ahead);
    return {whole, s.packed && s.sequences > 1 && one_wave && hidden && !(s.only_split && whole == Form::full)};
  }
  return {full <= split ? Form::full : Form::split, true};
}

}  // namespace

Choice choose(const CallSizes& sizes, const Costs& costs) {
  // A choice takes tens of microseconds; calls repeat their sizes.
  struct Known {
    CallSizes sizes;
    Costs costs;
    Choice choice;
  };
  constexpr std::size_t kRemembered = 16;
  thread_local std::vector<Known> remembered;
  thread_local std::size_t oldest = 0;
  for (const Known& k : remembered)
    if (k.sizes == sizes && k.costs == costs) return k.choice;
  const Known made{sizes, costs, choice_of(sizes, costs)};
  if (remembered.size() < kRemembered) remembered.push_back(made);
  else remembered[oldest++ % kRemembered] = made;
  return made.choice;
}

}  // namespace tilewright::gdn
