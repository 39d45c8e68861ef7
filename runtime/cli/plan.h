// What a kernel's sidecar says, for people.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::cli {

/// Launch, roles with their warps and registers, barriers with their participants, the map of shared memory, named fragments; each
/// with the author's line.
std::string plan_text(const nlohmann::json& sidecar);

/// Where a shared tile or a fragment has its elements.
struct LayoutPicture {
  std::string text;  ///< the first rows and columns, and what a warp's accesses cost
  std::string svg;
};

/// Names of the shared tiles and fragments that can be drawn.
std::vector<std::string> drawable(const nlohmann::json& sidecar);
/// Draws one of them; nothing when the kernel has none of this name.
std::optional<LayoutPicture> layout_picture(const nlohmann::json& sidecar, const std::string& name);

}  // namespace tilewright::cli
