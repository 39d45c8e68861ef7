#include "kernels/gdn/costs.h"

#include <cmath>
#include <cstdio>

namespace tilewright::gdn {
namespace {

constexpr double kLargest = 1000;  // microseconds
// In full steps: the planner's sums stay below 2^31 (planner_rules.h).
constexpr double kMostSteps = 64;

constexpr ShippedCosts kMeasured[]{{"NVIDIA H200", kShippedCosts}};

std::string text(double x) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.6g", x);
  return digits;
}

}  // namespace

ShippedCosts shipped_costs(std::string_view card, int sms) {
  ShippedCosts result = kMeasured[0];
  for (const ShippedCosts& row : kMeasured)
    if (card == row.measured_on) result = row;
  result.costs.sms = sms;
  return result;
}

std::array<CostField, kCostFields> fields_of(Costs& c) {
  CostModel &f = c.full, &s = c.split;
  return {{{"full", "full_step", f.full_step}, {"full", "state_step", f.state_step}, {"full", "start", f.start}, {"full", "hop", f.hop}, {"full", "planning", f.planning},
           {"split", "full_step", s.full_step}, {"split", "state_step", s.state_step}, {"split", "start", s.start}, {"split", "hop", s.hop}, {"split", "planning", s.planning},
           {"ahead", "prologue_start", c.ahead.prologue_start}, {"ahead", "prologue_chunk", c.ahead.prologue_chunk},
           {"ahead", "planner_start", c.ahead.planner_start}, {"ahead", "planner_chain", c.ahead.planner_chain}}};
}

std::string why_not(const Costs& given) {
  Costs c = given;
  for (const CostField& field : fields_of(c)) {
    const bool zero = field.name == "planning";  // a prologue may hide all of it
    if (!(std::isfinite(field.value) && (field.value > 0 || (zero && field.value == 0)) && field.value <= kLargest))
      return field.full_name() + " is " + text(field.value) + ", expected microseconds " + (zero ? "from 0 to " : "above 0 and at most ") + text(kLargest);
    if (field.part == "ahead") continue;
    const double step = field.part == "full" ? c.full.full_step : c.split.full_step, most = field.name == "state_step" ? step : kMostSteps * step;
    if (field.value > most)
      return field.full_name() + " is " + text(field.value) + ", expected at most " + (most == step ? "" : text(kMostSteps) + " times ") + std::string(field.part) + ".full_step, " + text(most);
  }
  return "";
}

}  // namespace tilewright::gdn
