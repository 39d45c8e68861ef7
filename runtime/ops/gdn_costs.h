// The costs that calls of gdn_forward are planned by: shipped ones, or those that `tilewright tune-planner` has written.
#pragma once
#include <filesystem>
#include <string>

#include "kernels/gdn/costs.h"
#include "runtime/cache/settings.h"
#include "runtime/device/device.h"

namespace tilewright::ops {

/// A card as files name it.
struct Card {
  std::string name;  ///< empty: the simulated one
  int sms = 132;
};
Card card_of(const runtime::Device&);

struct GdnCosts {
  gdn::Costs costs;
  std::string origin;  ///< for people: "shipped, measured on NVIDIA H200", or the file and the card that it was measured on
};

/// The environment variable that names a file of costs. "off": shipped costs, whatever there is. Empty is as unset.
inline constexpr const char* kGdnCostsVariable = "TILEWRIGHT_PLANNER_COSTS";

/// A file of costs as text (JSON), and what its text says. `driver` is for people.
/// Throws ArgumentError, which names `file`, the field, what it is and what was expected: for text that is no such file, for another version, for numbers
/// by which no plans can be made.
std::string gdn_costs_text(const gdn::Costs&, const Card&, const std::string& driver);
struct GdnCostsFile {
  gdn::Costs costs;
  Card card;
};
GdnCostsFile read_gdn_costs(const std::filesystem::path& file);

/// Where a card's costs lie: planner/<name>-<SMs>.json in the cache's folder; empty without a cache or a name.
std::filesystem::path gdn_costs_place(const cache::Settings&, const Card&);

/// The costs for a card: those of the file that is `named` (may be null), of whichever card they are; else those in the card's place; else the shipped ones.
/// Throws ArgumentError for a named file that is damaged or absent. One in the card's place that is damaged is warned of, and shipped costs are used.
GdnCosts load_gdn_costs(const char* named, const cache::Settings&, const Card&, const cache::Warn&);

/// The costs for a device, by the environment as it is at the first call for its card in this process. May be called by several threads; the result stays
/// where it is. Throws ArgumentError, as load_gdn_costs does.
const GdnCosts& gdn_costs_of(const runtime::Device&);

}  // namespace tilewright::ops
