#include "runtime/cli/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tilewright::cli {
namespace {

using Json = nlohmann::json;

/// An extent expression as people write it.
std::string expression(const Json& e) {
  if (e.is_string()) return e.get<std::string>();
  if (!e.is_array()) return e.dump();
  const std::string op = e.at(0).get<std::string>(), a = expression(e.at(1)), b = expression(e.at(2));
  if (op == "ceildiv") return "ceil(" + a + " / " + b + ")";
  if (op == "min" || op == "max") return op + "(" + a + ", " + b + ")";
  const char* sign = op == "add" ? " + " : op == "sub" ? " - " : op == "mul" ? " * " : " / ";
  return "(" + a + sign + b + ")";
}

std::string joined(const Json& list, const char* between = ", ") {
  std::string text;
  for (const Json& one : list) text += (text.empty() ? "" : between) + (one.is_string() ? one.get<std::string>() : expression(one));
  return text;
}

std::string text_of(const Json& object, const char* key) { return object.value(key, std::string()); }

/// File and line without the folders.
std::string line_of(const Json& object) {
  const std::string line = text_of(object, "line");
  return line.substr(line.rfind('/') + 1);
}

std::string counted(long long count, const char* what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

std::string shape(const Json& object) { return "[" + joined(object.at("shape")) + "] " + text_of(object, "element"); }

std::string launch(const Json& s) {
  std::string text = fmt::format("{}  {}\n", text_of(s, "name"), text_of(s, "line"));
  text += fmt::format("  grid {}, {} threads\n", joined(s.at("grid"), " x "), s.at("threads").get<int>());
  if (s.contains("cluster") && s.at("cluster") != Json{1, 1, 1}) text += "  clusters of " + joined(s.at("cluster"), " x ") + " CTAs\n";
  text += "  tensors\n";
  for (const Json& t : s.value("tensors", Json::array()))
    text += fmt::format("    {:<16} {:<28} {}{}\n", text_of(t, "name"), shape(t), text_of(t, "role"), t.value("optional", false) ? ", optional" : "");
  const Json dims = s.value("dims", Json::array()), scalars = s.value("scalars", Json::array());
  if (!dims.empty()) text += "  extents      " + joined(dims) + "\n";
  if (!scalars.empty()) text += "  scalars      " + joined(scalars) + "\n";
  return text;
}

std::string roles(const Json& s) {
  std::string text = "  roles\n";
  long long asked = 0, single = 0;
  for (const Json& r : s.at("roles")) {
    const int first = r.at("first_warp"), warps = r.at("warps"), registers = r.value("registers", 0);
    const std::string place = warps == 1 ? fmt::format("warp {}", first) : fmt::format("warps {}..{}", first, first + warps - 1);
    const std::string size = r.value("single_thread", false) ? "1 thread" : warps % 4 == 0 ? counted(warps / 4, "warpgroup") : counted(warps, "warp");
    text += fmt::format("    {:<16} {:<14} {:<14} {:<16} {}\n", text_of(r, "name"), place, size, registers ? counted(registers, "register") : "", line_of(r));
    if (warps % 4 == 0) asked += static_cast<long long>(registers) * (warps / 4);
    else single = std::max<long long>(single, registers);
  }
  if (s.contains("registers_at_entry")) {
    const long long entry = s.at("registers_at_entry"), groups = s.at("threads").get<int>() / 128;
    text += fmt::format("    register pool: {} at entry x {} = {}, the roles ask for {}\n", entry, counted(groups, "warpgroup"), entry * groups, asked + single);
  }
  return text;
}

std::string barriers(const Json& s) {
  std::string text;
  for (const Json& b : s.value("barriers", Json::array())) {
    text += fmt::format("    {:<16} {} -> {}, {}, tiles {}  {}\n", text_of(b, "name"), text_of(b, "producer"), joined(b.at("consumers")),
                        counted(b.at("stages"), "stage"), joined(b.value("tiles", Json::array())), line_of(b));
    const int bytes = b.at("bytes");
    text += fmt::format("    {:<16} full: {}{}; empty: {}\n", "", counted(b.at("full_arrivals"), "arrival"), bytes ? fmt::format(" and {} bytes", bytes) : "",
                        counted(b.at("empty_arrivals"), "arrival"));
  }
  if (!text.empty()) text = "  rings\n" + text;
  std::string hand_made;
  for (const Json& b : s.value("mbarriers", Json::array()))
    hand_made += fmt::format("    {:<16} {} -> {}, {}  {}\n", text_of(b, "name"), joined(b.at("arrivers")), joined(b.at("waiters")), counted(b.at("arrivals"), "arrival"), line_of(b));
  if (!hand_made.empty()) text += "  mbarriers\n" + hand_made;
  std::string named;
  for (const Json& r : s.at("roles"))
    if (r.contains("barrier")) named += fmt::format("    {:<16} role {}, {} threads\n", r.at("barrier").get<int>(), text_of(r, "name"), 32 * r.at("warps").get<int>());
  for (const Json& m : s.value("meetings", Json::array()))
    named += fmt::format("    {:<16} roles {}, {} threads\n", m.at("id").get<int>(), joined(m.at("roles")), m.at("threads").get<int>());
  if (!named.empty()) text += "  named barriers\n" + named;
  return text;
}

/// One line of the map of shared memory.
struct Piece {
  long long offset = 0, bytes = 0;
  std::string what;
};

std::string shared_map(const Json& s) {
  std::vector<Piece> pieces;
  for (const Json& t : s.value("shared", Json::array())) {
    const long long stages = t.value("stages", 1);
    std::string what = fmt::format("{:<16} {}, {}", text_of(t, "name"), shape(t), text_of(t, "layout"));
    if (const int pad = t.value("pad_bytes", 0)) what += fmt::format(", rows padded by {}", pad);
    if (stages > 1) what += fmt::format(", {} {} apart", counted(stages, "stage"), t.value("stage_stride", 0));
    if (t.contains("overlay")) what += ", takes over " + text_of(t, "overlay");
    pieces.push_back({t.at("offset"), t.value("bytes", 0), what + "  " + line_of(t)});
  }
  for (const Json& b : s.value("barriers", Json::array())) {
    const long long stages = b.at("stages"), offset = b.at("offset");
    pieces.push_back({offset, 16 * stages, fmt::format("{:<16} mbarriers: full, then empty", text_of(b, "name"))});
  }
  for (const Json& b : s.value("mbarriers", Json::array())) pieces.push_back({b.at("offset"), 8, fmt::format("{:<16} mbarrier", text_of(b, "name"))});
  std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.offset < b.offset; });
  std::string text = fmt::format("  shared memory, {} bytes\n", s.value("dynamic_shared_bytes", 0));
  for (const Piece& p : pieces) text += fmt::format("    {:>6} {:>6}    {}\n", p.offset, p.bytes, p.what);
  return text;
}

std::string fragments(const Json& s) {
  std::string text;
  for (const Json& f : s.value("fragments", Json::array()))
    text += fmt::format("    {:<16} {:<18} role {:<12} {:<14} {}\n", text_of(f, "name"), shape(f), text_of(f, "role"), counted(f.at("registers"), "register"), line_of(f));
  return text.empty() ? text : "  fragments, registers of a thread\n" + text;
}

}  // namespace

std::string plan_text(const nlohmann::json& sidecar) {
  return launch(sidecar) + roles(sidecar) + barriers(sidecar) + shared_map(sidecar) + fragments(sidecar);
}

}  // namespace tilewright::cli
