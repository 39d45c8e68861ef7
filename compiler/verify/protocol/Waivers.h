// What an author answers for: properties of one ring, barrier, tile, tensor or role that the verifier need not decide.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "dialect/tile/Tile.h"

namespace tilewright::verify::protocol {

/// Words for properties, see docs/verifier.md.
inline constexpr const char* kProperties[] = {"starvation", "phases", "bytes", "race", "fence", "groups", "convergence", "unwritten", "once", "flags", "ptx"};

class Waivers {
 public:
  /// The kernel's attribute `waivers`: [subject, property, reason, place] each; the place, a location, may be missing.
  mlir::LogicalResult read(tile::KernelOp kernel);
  /// Whether the author answers for what cannot be decided; the waiver counts as used.
  bool covers(const std::string& subject, const std::string& property);
  /// Where the author waived this, if so.
  std::optional<mlir::Location> place_of(const std::string& subject, const std::string& property) const;
  /// Fails where one was not used: it would hide a question that comes up later.
  mlir::LogicalResult check_used() const;

 private:
  struct Waiver {
    std::string subject, property;
    mlir::Location at;
    bool used = false;
  };
  std::vector<Waiver> all_;
};

}  // namespace tilewright::verify::protocol
