#include "runtime/cli/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

using Json = nlohmann::json;

constexpr const char* kColours[] = {"#8fb8de", "#f2a65a", "#9bc995", "#e88d8d", "#b7a3d8", "#f0d264", "#7fc8c2", "#d9a0c8", "#b5b08c", "#c7c7c7"};
constexpr const char* kWaiting = "#eeeeee";

bool waits(const std::string& what) { return what.starts_with("wait ") || what.starts_with("acquire "); }

/// Names in the order in which they come first.
std::vector<std::string> names_of(const std::vector<Timeline>& all) {
  std::vector<std::string> names;
  for (const Timeline& t : all)
    for (const WarpLine& w : t.warps)
      for (const Interval& i : w.intervals)
        if (!waits(i.what) && std::find(names.begin(), names.end(), i.what) == names.end()) names.push_back(i.what);
  return names;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

}  // namespace

std::uint64_t Timeline::length() const {
  std::uint64_t end = 0;
  for (const WarpLine& w : warps)
    if (!w.intervals.empty()) end = std::max(end, w.intervals.back().end);
  return end;
}

Timeline read_timeline(const Json& sidecar, const std::vector<std::uint32_t>& words, const std::string& unit) {
  const Json& trace = sidecar.at("trace");
  const auto names = trace.at("stamps").get<std::vector<std::string>>();
  const std::size_t header = trace.at("header_bytes").get<std::size_t>() / 4, capacity = trace.at("stamps_of_a_warp");
  Timeline t{sidecar.at("name"), unit, words.at(0), {}};
  struct Stamp {
    std::uint32_t id, clock;
  };
  const auto stamps_of = [&](unsigned warp) {
    std::vector<Stamp> stamps;
    for (std::size_t n = 0; n < capacity; ++n) {
      const std::size_t at = header + 2 * (warp * capacity + n);
      if (at + 1 >= words.size() || words[at] == 0 || words[at] > names.size()) break;
      stamps.push_back({words[at], words[at + 1]});
    }
    return stamps;
  };
  // The counter has 32 bits: times count from any stamp, modulo 2^32, and then from the earliest.
  std::uint32_t reference = 0;
  bool any = false;
  std::int64_t earliest = 0;
  std::vector<std::pair<WarpLine, std::vector<Stamp>>> lines;
  for (const Json& role : sidecar.at("roles"))
    for (unsigned w = 0; w < role.at("warps").get<unsigned>(); ++w) {
      const unsigned warp = role.at("first_warp").get<unsigned>() + w;
      std::vector<Stamp> stamps = stamps_of(warp);
      if (stamps.empty()) continue;
      if (!any) reference = stamps.front().clock;
      any = true;
      earliest = std::min<std::int64_t>(earliest, static_cast<std::int32_t>(stamps.front().clock - reference));
      lines.push_back({{role.at("name"), warp, {}, stamps.size() == capacity}, std::move(stamps)});
    }
  if (!any) throw Error("kernel " + t.kernel + ": no warp of CTA " + std::to_string(t.cta) + " has left a stamp; has the grid so many CTAs?");
  for (auto& [line, stamps] : lines) {
    std::int64_t time = static_cast<std::int32_t>(stamps.front().clock - reference) - earliest;
    for (std::size_t n = 0; n + 1 < stamps.size(); ++n) {
      const std::int64_t next = time + static_cast<std::int64_t>(stamps[n + 1].clock - stamps[n].clock);
      if (next > time) line.intervals.push_back({names[stamps[n].id - 1], static_cast<std::uint64_t>(time), static_cast<std::uint64_t>(next)});
      time = next;
    }
    t.warps.push_back(std::move(line));
  }
  return t;
}

std::string chrome_trace(const std::vector<Timeline>& all) {
  nlohmann::ordered_json events = nlohmann::ordered_json::array();
  for (std::size_t pid = 0; pid < all.size(); ++pid) {
    const Timeline& t = all[pid];
    events.push_back({{"ph", "M"}, {"name", "process_name"}, {"pid", pid}, {"args", {{"name", fmt::format("{}, CTA {}, {}", t.kernel, t.cta, t.unit)}}}});
    for (const WarpLine& w : t.warps) {
      events.push_back({{"ph", "M"}, {"name", "thread_name"}, {"pid", pid}, {"tid", w.warp}, {"args", {{"name", fmt::format("{} (warp {})", w.role, w.warp)}}}});
      events.push_back({{"ph", "M"}, {"name", "thread_sort_index"}, {"pid", pid}, {"tid", w.warp}, {"args", {{"sort_index", w.warp}}}});
      for (const Interval& i : w.intervals)
        events.push_back({{"ph", "X"}, {"name", i.what}, {"cat", w.role}, {"pid", pid}, {"tid", w.warp}, {"ts", double(i.begin) / 1000}, {"dur", double(i.end - i.begin) / 1000}});
    }
  }
  return nlohmann::ordered_json{{"displayTimeUnit", "ns"}, {"traceEvents", events}}.dump(1) + "\n";
}

std::string timeline_svg(const std::vector<Timeline>& all) {
  constexpr int kLeft = 150, kWidth = 1200, kLane = 16, kGap = 44;
  const std::vector<std::string> names = names_of(all);
  const auto colour = [&](const std::string& what) {
    if (waits(what)) return kWaiting;
    return kColours[static_cast<std::size_t>(std::find(names.begin(), names.end(), what) - names.begin()) % std::size(kColours)];
  };
  std::string body;
  const auto text = [&](double x, int y, const std::string& what, const char* anchor = "start") {
    body += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escaped(what));
  };
  const auto box = [&](double x, int y, double width, int height, const char* fill, const std::string& tooltip) {
    body += fmt::format("<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\" stroke=\"#666\" stroke-width=\"0.3\"><title>{}</title></rect>\n", x, y,
                        width, height, fill, escaped(tooltip));
  };
  int y = 12;
  double x = 8;
  for (const std::string& name : names) {
    box(x, y, 10, 10, colour(name), name);
    text(x + 14, y + 9, name);
    x += 30 + 6.5 * double(name.size());
    if (x > kLeft + kWidth - 100) x = 8, y += 16;
  }
  box(x, y, 10, 10, kWaiting, "waits");
  text(x + 14, y + 9, "waits");
  y += 16;
  for (const Timeline& t : all) {
    y += kGap - 16;
    const double length = double(std::max<std::uint64_t>(t.length(), 1));
    text(8, y - 6, fmt::format("{}, CTA {}: {} {}", t.kernel, t.cta, t.length(), t.unit));
    for (const WarpLine& w : t.warps) {
      text(kLeft - 6, y + 12, fmt::format("{} (warp {})", w.role, w.warp), "end");
      for (const Interval& i : w.intervals)
        box(kLeft + kWidth * double(i.begin) / length, y + 1, kWidth * double(i.end - i.begin) / length, kLane - 2, colour(i.what),
            fmt::format("{}: {} to {}, {} {}", i.what, i.begin, i.end, i.end - i.begin, t.unit));
      y += kLane;
    }
    y += 16;
  }
  return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"monospace\" font-size=\"10\">\n<rect width=\"100%\" "
                     "height=\"100%\" fill=\"white\"/>\n{}</svg>\n", kLeft + kWidth + 10, y, body);
}

std::string timeline_table(const std::vector<Timeline>& all) {
  std::string text;
  for (const Timeline& t : all) {
    text += fmt::format("{}, CTA {}: {} {}\n", t.kernel, t.cta, t.length(), t.unit);
    std::vector<std::string> roles;
    std::map<std::string, std::map<std::string, std::uint64_t>> spent;
    for (const WarpLine& w : t.warps) {
      if (!spent.contains(w.role)) roles.push_back(w.role);
      for (const Interval& i : w.intervals) spent[w.role][i.what] += i.end - i.begin;
      if (w.full) text += fmt::format("  warp {} had room for no more stamps: its line ends early\n", w.warp);
    }
    for (const std::string& role : roles) {
      std::vector<std::pair<std::uint64_t, std::string>> parts;
      std::uint64_t sum = 0;
      for (const auto& [what, time] : spent[role]) parts.push_back({time, what}), sum += time;
      std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
      text += fmt::format("  {:<12}", role);
      for (const auto& [time, what] : parts) text += fmt::format("  {} {:.0f}%", what, 100.0 * double(time) / double(std::max<std::uint64_t>(sum, 1)));
      text += "\n";
    }
  }
  return text;
}

}  // namespace tilewright::cli
