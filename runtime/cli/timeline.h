// What the warps of a CTA did when: from the stamps of a traced kernel to a trace for Perfetto and a picture.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tilewright::cli {

/// A warp does `what` from `begin` to `end`, in cycles or steps after the kernel's first stamp.
struct Interval {
  std::string what;
  std::uint64_t begin = 0, end = 0;
};

struct WarpLine {
  std::string role;
  unsigned warp = 0;             ///< in the CTA
  std::vector<Interval> intervals;
  bool full = false;             ///< there was no room for later stamps
};

struct Timeline {
  std::string kernel, unit;      ///< unit: "cycles" or "steps"
  unsigned cta = 0;              ///< its number in the grid
  std::vector<WarpLine> warps;   ///< of roles, in their order
  std::uint64_t length() const;
};

/// Reads the variable of a traced kernel (see the sidecar's "trace"). Throws Error where no warp has left a stamp: the grid has no
/// such CTA.
Timeline read_timeline(const nlohmann::json& sidecar, const std::vector<std::uint32_t>& words, const std::string& unit);

/// Chrome's trace event format, which Perfetto (ui.perfetto.dev) opens: a process for each kernel, a thread for each warp. A
/// nanosecond there is a cycle or a step.
std::string chrome_trace(const std::vector<Timeline>&);

/// One lane for each warp, time from left to right, a colour for each name; the kernels below each other.
std::string timeline_svg(const std::vector<Timeline>&);

/// What each role spent its time on: shares of its warps' time, the largest first.
std::string timeline_table(const std::vector<Timeline>&);

}  // namespace tilewright::cli
