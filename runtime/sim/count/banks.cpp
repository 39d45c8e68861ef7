#include "runtime/sim/count/banks.h"

#include <algorithm>

#include "dialect/layout/layout.h"

namespace tilewright::runtime::sim {
namespace {

constexpr unsigned banks = 32;

unsigned groups_in_use(const std::array<std::int64_t, warp_lanes>& addresses, unsigned bytes) {
  const unsigned lanes = bytes <= 4 ? warp_lanes : warp_lanes * 4 / bytes;
  unsigned groups = 0;
  for (unsigned first = 0; first < warp_lanes; first += lanes)
    groups += std::any_of(addresses.begin() + first, addresses.begin() + first + lanes, [](std::int64_t a) { return a >= 0; });
  return groups;
}

}  // namespace

Passes passes_of_access(const std::array<std::int64_t, warp_lanes>& addresses, unsigned bytes) {
  const unsigned least = groups_in_use(addresses, bytes);
  return {least + static_cast<unsigned>(layout::bank_conflicts(addresses, static_cast<int>(bytes))), least};
}

Passes passes_of_atomic(const std::array<std::int64_t, warp_lanes>& addresses, unsigned bytes) {
  const unsigned words = std::max(1u, bytes / 4), lanes = warp_lanes / words;
  Passes all;
  for (unsigned first = 0; first < warp_lanes; first += lanes) {
    std::array<unsigned, banks> turns{};
    unsigned most = 0;
    for (unsigned l = first; l < first + lanes; ++l)
      for (unsigned n = 0; addresses[l] >= 0 && n < words; ++n)
        most = std::max(most, ++turns[(static_cast<std::uint64_t>(addresses[l]) / 4 + n) % banks]);
    all.passes += most;
    all.least += most > 0;
  }
  return all;
}

}  // namespace tilewright::runtime::sim
