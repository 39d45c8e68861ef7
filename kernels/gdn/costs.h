// What the parts of a call take: what plans are made by, on the host (plan.h) and on the device (planner_rules.h). docs/kernels/gdn_plan.md explains them.
#pragma once
#include <array>
#include <string>
#include <string_view>

namespace tilewright::gdn {

/// What the chain kernel takes, in microseconds.
struct CostModel {
  double full_step;   ///< a chunk of a `final` item
  double state_step;  ///< a chunk of which only the state is wanted: before a segment that starts from zero, and in `end` and `transition` items
  double start;       ///< an item's beginning and end
  double hop;         ///< composition of one record
  double planning;    ///< what the planner takes for each chain that a list may hold, as far as the prologue does not hide it
  bool operator==(const CostModel&) const = default;
};

/// What runs ahead of the chain kernel, in microseconds. The planner runs beside the prologue.
struct AheadCosts {
  double prologue_start, prologue_chunk;  ///< `prologue_chunk` for each chunk of a head
  double planner_start, planner_chain;    ///< `planner_chain` for each chain
  bool operator==(const AheadCosts&) const = default;
};

struct Costs {
  CostModel full, split;  ///< one CTA an item, and two with half of the value columns each
  AheadCosts ahead;
  int sms = 132;  ///< multiprocessors of the device
  bool operator==(const Costs&) const = default;
};

/// As measured on an H200; the full form's lie between that and what its rows are planned best by (docs/kernels/gdn_plan.md).
inline constexpr CostModel kFullCosts{1.72, 1.04, 3.6, 3.6, 0.2}, kSplitCosts{1.09, 0.68, 3.6, 2.1, 0.16};
inline constexpr AheadCosts kAheadCosts{8.1, 0.0042, 7.9, 0.31};
inline constexpr Costs kShippedCosts{kFullCosts, kSplitCosts, kAheadCosts};

/// Costs of a card as they come with the library.
struct ShippedCosts {
  std::string_view measured_on;
  Costs costs;
};
/// Those measured on the card of this name, with its number of multiprocessors; for any other card those of an H200, whose clock and tensor cores are an
/// H100's too, with the card's own number of multiprocessors.
ShippedCosts shipped_costs(std::string_view card, int sms);

/// One number of Costs, with its name in files and tables: part "full", name "hop".
struct CostField {
  std::string_view part, name;
  double& value;
  std::string full_name() const { return std::string(part) + "." + std::string(name); }
};
inline constexpr std::size_t kCostFields = 14;
std::array<CostField, kCostFields> fields_of(Costs&);
/// What is wrong with a number, "full.hop is -3, expected microseconds above 0 and at most 1000", or an empty text: plans can be made by these costs.
std::string why_not(const Costs&);

}  // namespace tilewright::gdn
