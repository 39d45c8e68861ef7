// Which warps run which role, and what the launch gives them.
#pragma once
#include <array>
#include <map>
#include <string>
#include <vector>

#include "dialect/tile/Tile.h"

namespace tilewright::verify {

/// Where a role runs.
struct RolePlace {
  int first_warp = 0;
  int warps = 0;
  bool single_thread = false;
  int barrier = 0;       // named barrier id
  int registers = 0;     // budget, 0 for none
};

/// The launch that a kernel needs, and which warps run which role.
struct LaunchPlan {
  int threads = 0;
  int warpgroups = 0;
  int entry_registers = 0;                 // of each thread at launch, when budgets are declared
  bool budgets = false;
  std::map<std::string, RolePlace> roles;  // by name
  std::vector<std::string> order;          // names by first warp
  std::array<int, 3> cluster{1, 1, 1};     // in CTAs
  int cluster_size() const { return cluster[0] * cluster[1] * cluster[2]; }
  std::map<std::vector<std::string>, int> meetings;  // barrier id by sorted names of the roles that meet
  /// Threads of the roles that meet.
  int threads_of(const std::vector<std::string>& names) const;
};
/// The sorted names of the roles of a tile.meet.
std::vector<std::string> meeting_of(tile::MeetOp op);
LaunchPlan plan_launch(tile::KernelOp kernel);

}  // namespace tilewright::verify
