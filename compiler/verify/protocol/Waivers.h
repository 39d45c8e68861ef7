// What an author answers for: properties of one ring, barrier, tile, tensor or role that the verifier need not prove.
#pragma once
#include <string>
#include <vector>

#include "dialect/tile/Tile.h"

namespace tilewright::verify::protocol {

/// Words for properties, see docs/verifier.md.
inline constexpr const char* kProperties[] = {"starvation", "phases", "bytes", "race", "fence", "groups", "convergence", "unwritten", "flags", "ptx"};

class Waivers {
 public:
  /// The kernel's attribute `waivers`: [subject, property, reason] each.
  mlir::LogicalResult read(tile::KernelOp kernel);
  bool covers(const std::string& subject, const std::string& property) const;

 private:
  std::vector<std::pair<std::string, std::string>> all_;
};

}  // namespace tilewright::verify::protocol
