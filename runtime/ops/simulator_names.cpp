#include "runtime/ops/simulator_names.h"

#include <nlohmann/json.hpp>

#include "runtime/sim/simulator.h"

namespace tilewright::ops {

void name_for_reports(runtime::Device& device, const program::Program& program) {
  if (device.kind() != "sim") return;
  std::vector<runtime::sim::RoleName> roles;
  for (const program::RoleDescription& role : program.sidecar().roles)
    roles.push_back({program.name(), role.first_warp, role.warps, role.name});
  // A ring has its full barriers and then its empty ones, eight bytes each.
  std::vector<runtime::sim::BarrierName> barriers;
  const auto sidecar = nlohmann::json::parse(program.sidecar_json());
  for (const auto& ring : sidecar.value("barriers", nlohmann::json::array())) {
    const auto offset = ring.at("offset").get<std::uint32_t>(), stages = ring.at("stages").get<std::uint32_t>();
    const auto name = ring.at("name").get<std::string>();
    for (std::uint32_t i = 0; i < stages; ++i) {
      const std::string stage = "[" + std::to_string(i) + "]";
      barriers.push_back({program.name(), offset + 8 * i, name + ".full" + stage});
      barriers.push_back({program.name(), offset + 8 * (stages + i), name + ".empty" + stage});
    }
  }
  for (const auto& barrier : sidecar.value("mbarriers", nlohmann::json::array()))
    barriers.push_back({program.name(), barrier.at("offset").get<std::uint32_t>(), barrier.at("name").get<std::string>()});
  runtime::sim::add_names(device, roles, barriers);
}

}  // namespace tilewright::ops
