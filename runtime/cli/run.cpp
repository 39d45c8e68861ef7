// tilewright run
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "runtime/cli/registry.h"
#include "runtime/cli/schedules.h"
#include "runtime/cli/watched.h"

namespace tilewright::cli {

namespace {

/// Refuses options that only gdn-forward reads, where they ask for something else than the default.
void check_options(const Options& o) {
  if (!o.lens.empty()) throw UsageError("run: " + o.kernel + " has no --lens, its size is --shape");
  const Options defaults;
  const std::pair<const char*, bool> given[]{{"--heads", o.heads != defaults.heads},
                                             {"--dk", o.dk != defaults.dk},
                                             {"--dv", o.dv != defaults.dv},
                                             {"--dtype", o.dtype != defaults.dtype},
                                             {"--form", o.form != defaults.form},
                                             {"--kind", o.kind != defaults.kind},
                                             {"--batch", o.batch != defaults.batch},
                                             {"--offsets", o.offsets != defaults.offsets},
                                             {"--margin", o.margin != defaults.margin},
                                             {"--state-v-first", o.state_v_first},
                                             {"--no-initial-state", o.no_initial_state},
                                             {"--in-place", o.in_place}};
  for (const auto& [option, is_given] : given)
    if (is_given) throw UsageError(std::string("run: ") + option + " is an option of gdn-forward, " + o.kernel + " has none");
}

}  // namespace

int run(const Options& o, std::ostream& out) {
  if (o.schedules) return run_schedules(o, out);
  if (!o.watcher && (o.count || !o.shadow.empty())) return run_watched(o, out);
  const Entry& entry = find(o.kernel);
  if (entry.name == "gdn-forward") return run_gdn_forward(o, out);
  check_options(o);
  const HostCase host = entry.host_case(o);
  const auto device = device_of(o);
  const auto begin = std::chrono::steady_clock::now();
  const auto results = run_case(*device, entry.sources(o)[0], build_options_of(o), host, o.twice, o.watcher);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  bool passed = true;
  nlohmann::ordered_json outputs = nlohmann::ordered_json::array();
  std::string text;
  for (const OutputResult& r : results) {
    passed = passed && r.passed;
    outputs.push_back({{"name", r.name}, {"rms", r.rms}, {"unwritten", r.unwritten}, {"guards_intact", r.guards_intact}, {"pass", r.passed}});
    text += fmt::format("  {}: rms {:.2e} (bar {:.2e}), {} elements unwritten, guards {}: {}\n", r.name, r.rms, host.bar, r.unwritten,
                        r.guards_intact ? "intact" : "OVERWRITTEN", r.passed ? "pass" : "FAIL");
  }
  if (o.json) {
    nlohmann::ordered_json json{{"kernel", entry.name}, {"size", host.size}, {"device", std::string(device->kind())},
                                {"description", device->description()}, {"seconds", seconds}, {"bar", host.bar}, {"outputs", outputs},
                                {"pass", passed}};
    out << json.dump(2) << "\n";
  } else {
    out << fmt::format("{} {} on {} ({}), {:.2f} s with compilation\n{}", entry.name, host.size, device->kind(), device->description(), seconds, text);
  }
  return passed || !o.check ? 0 : 1;
}

}  // namespace tilewright::cli
