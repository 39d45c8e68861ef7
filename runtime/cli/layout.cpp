// Pictures of the tiles and fragments that a sidecar names; the drawing is dialect/layout's.
#include <fmt/format.h>

#include "dialect/layout/picture.h"
#include "runtime/cli/plan.h"
#include "runtime/program/sidecar.h"

namespace tilewright::cli {
namespace {

using Json = nlohmann::json;

LayoutPicture shared_picture(const Json& tile, const std::string& title) {
  layout::SharedLayout s{tile.at("shape").at(0), tile.at("shape").at(1), static_cast<int>(program::element_bytes(tile.at("element").get<std::string>())),
                         tile.at("layout") == "swizzle128" ? layout::SharedLayout::swizzle128 : layout::SharedLayout::row_major, tile.value("pad_bytes", 0)};
  return {title + "\n" + layout::picture(s) + "what a warp's access costs\n" + layout::access_report(s), layout::svg(s, title)};
}

LayoutPicture fragment_picture(const Json& fragment, const Json& sidecar, const std::string& title) {
  const int rows = fragment.at("shape").at(0), cols = fragment.at("shape").at(1);
  int warps = 1;
  for (const Json& role : sidecar.at("roles"))
    if (role.at("name") == fragment.at("role") && rows != 16) warps = role.at("warps");
  const layout::FragmentLayout f{rows, cols, warps};
  f.check();
  const int bytes = static_cast<int>(program::element_bytes(fragment.at("element").get<std::string>()));
  return {title + "\n" + layout::picture(f), layout::svg(f, bytes, title)};
}

std::string title_of(const Json& sidecar, const Json& object, const std::string& kind) {
  return fmt::format("{} {} [{}, {}] {} of {}", kind, object.at("name").get<std::string>(), object.at("shape").at(0).get<int>(), object.at("shape").at(1).get<int>(),
                     object.at("element").get<std::string>(), sidecar.at("name").get<std::string>());
}

/// The first of a list's objects of the name.
const Json* find(const Json& sidecar, const char* list, const std::string& name) {
  if (const auto found = sidecar.find(list); found != sidecar.end())
    for (const Json& one : *found)
      if (one.at("name") == name) return &one;
  return nullptr;
}

bool is_matrix(const Json& fragment) { return fragment.at("shape").at(0) > 1 && fragment.at("shape").at(1) > 1; }

}  // namespace

std::vector<std::string> drawable(const Json& sidecar) {
  std::vector<std::string> names;
  for (const Json& tile : sidecar.value("shared", Json::array())) names.push_back(tile.at("name"));
  for (const Json& fragment : sidecar.value("fragments", Json::array()))
    if (is_matrix(fragment)) names.push_back(fragment.at("name"));
  return names;
}

std::optional<LayoutPicture> layout_picture(const Json& sidecar, const std::string& name) {
  if (const Json* tile = find(sidecar, "shared", name)) return shared_picture(*tile, title_of(sidecar, *tile, "tile") + ", " + tile->at("layout").get<std::string>());
  const Json* fragment = find(sidecar, "fragments", name);
  if (fragment == nullptr || !is_matrix(*fragment)) return std::nullopt;   // a vector is replicated where its other index would be
  return fragment_picture(*fragment, sidecar, title_of(sidecar, *fragment, "fragment"));
}

}  // namespace tilewright::cli
