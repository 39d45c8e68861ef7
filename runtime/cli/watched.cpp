// tilewright run --count, run --shadow fp64 and inspect --stage conflicts
#include "runtime/cli/watched.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <sstream>

#include "runtime/cli/watcher.h"

namespace tilewright::cli {
namespace {

namespace sim = runtime::sim;
using Json = nlohmann::ordered_json;

constexpr std::size_t kShownLines = 20;   // of a shadow table

class CountWatcher final : public Watcher {
 public:
  void begin(runtime::Device& device, const ops::Steps&) override { sim::watch(device, counting); }
  void end(runtime::Device& device, const ops::Steps&) override { sim::watch(device, nullptr); }
  std::shared_ptr<sim::Counting> counting = std::make_shared<sim::Counting>();
};

class ShadowWatcher final : public Watcher {
 public:
  void begin(runtime::Device& device, const ops::Steps&) override {
    outputs.clear();
    sim::watch(device, shadow);
  }
  void end(runtime::Device& device, const ops::Steps&) override { sim::watch(device, nullptr); }
  void output(const std::string& name, runtime::DeviceAddress address, std::size_t elements, const std::string& element) override {
    outputs.push_back({name, shadow->compare(address, elements, element)});
  }
  std::shared_ptr<sim::Shadow> shadow = std::make_shared<sim::Shadow>();
  std::vector<ShadowedOutput> outputs;
};

/// File and line without the folders.
std::string short_source(const std::string& source) { return source.empty() ? "-" : source.substr(source.rfind('/') + 1); }
std::string shown(const std::string& role) { return role.empty() ? "-" : role; }

/// The roles of a kernel in the order of its code.
std::vector<std::string> roles_of(const sim::KernelCounts& k) {
  std::vector<std::string> roles;
  for (const sim::Site& s : k.sites)
    if (std::find(roles.begin(), roles.end(), s.role) == roles.end()) roles.push_back(s.role);
  return roles;
}

std::vector<sim::Site> conflict_sites(const sim::KernelCounts& k) {
  std::vector<sim::Site> sites;
  std::copy_if(k.sites.begin(), k.sites.end(), std::back_inserter(sites), [](const sim::Site& s) { return s.passes > 0; });
  std::stable_sort(sites.begin(), sites.end(), [](const sim::Site& a, const sim::Site& b) { return a.passes - a.least > b.passes - b.least; });
  return sites;
}

Options on_the_simulator(const Options& given, const char* option) {
  if (given.device == "cuda") throw UsageError(std::string("run: ") + option + " needs the simulated device: --device sim");
  Options o = given;
  o.device = "sim";
  return o;
}

std::string bits(double error) { return error > 0 ? fmt::format("{:.1f}", -std::log2(error)) : "exact"; }

}  // namespace

int run_watched(const Options& given, std::ostream& out) {
  if (given.count && !given.shadow.empty()) throw UsageError("run: --count and --shadow look at different things; expected one of them");
  Options o = on_the_simulator(given, given.count ? "--count" : "--shadow");
  CountWatcher counts;
  ShadowWatcher shadow;
  o.watcher = given.count ? static_cast<Watcher*>(&counts) : &shadow;
  std::ostringstream of_run;
  const int status = run(o, of_run);
  const auto kernels = counts.counting->kernels();
  const auto lines = shadow.shadow->lines();
  if (given.json) {
    Json json = Json::parse(of_run.str());
    json[given.count ? "counts" : "shadow"] = given.count ? counts_json(kernels) : shadow_json(lines, shadow.outputs);
    out << json.dump(2) << "\n";
  } else {
    out << of_run.str() << (given.count ? count_table(kernels) : shadow_table(lines, shadow.outputs));
  }
  return status;
}

std::vector<sim::KernelCounts> counted(const Options& given) {
  Options o = on_the_simulator(given, "--stage conflicts");
  CountWatcher counts;
  o.watcher = &counts;
  o.json = false;
  std::ostringstream of_run;
  run(o, of_run);
  return counts.counting->kernels();
}

std::string count_table(const std::vector<sim::KernelCounts>& kernels) {
  std::string text;
  for (const sim::KernelCounts& k : kernels) {
    const auto roles = roles_of(k);
    std::map<sim::InstructionClass, std::map<std::string, std::uint64_t>> classes;
    std::map<std::string, std::uint64_t> warps, threads;
    std::uint64_t all = 0, all_threads = 0;
    for (const sim::Site& s : k.sites) {
      classes[s.group][s.role] += s.executed;
      warps[s.role] += s.executed, threads[s.role] += s.threads;
      all += s.executed, all_threads += s.threads;
    }
    const auto row = [&](std::string_view name, std::map<std::string, std::uint64_t>& counts, std::uint64_t sum) {
      text += fmt::format("  {:<20}", name);
      for (const std::string& role : roles) text += fmt::format("{:>13}", counts[role]);
      text += fmt::format("{:>13}\n", sum);
    };
    text += fmt::format("{}, {} launch{}\n  {:<20}", k.kernel, k.launches, k.launches == 1 ? "" : "es", "warp instructions");
    for (const std::string& role : roles) text += fmt::format("{:>13}", shown(role).substr(0, 12));
    text += fmt::format("{:>13}\n", "sum");
    for (auto& [group, counts] : classes) {
      std::uint64_t sum = 0;
      for (const auto& [role, n] : counts) sum += n;
      row(sim::name_of(group), counts, sum);
    }
    row("sum", warps, all);
    row("thread instructions", threads, all_threads);
    text += "  bytes\n";
    for (std::size_t n = 0; n < k.traffic.size(); ++n)
      if (k.traffic[n]) text += fmt::format("    {:<18}{:>13}\n", sim::name_of(static_cast<sim::Traffic>(n)), k.traffic[n]);
  }
  return text;
}

std::string conflict_table(const std::vector<sim::KernelCounts>& kernels) {
  std::string text;
  for (const sim::KernelCounts& k : kernels) {
    const auto sites = conflict_sites(k);
    std::uint64_t passes = 0, least = 0;
    for (const sim::Site& s : sites) passes += s.passes, least += s.least;
    text += fmt::format("{}: {} passes over the banks of shared memory, {} without conflicts\n", k.kernel, passes, least);
    if (sites.empty()) continue;
    text += fmt::format("  {:<26} {:<12} {:>9} {:>10} {:>10} {:>6}  {}\n", "where", "role", "executed", "passes", "at least", "ratio", "instruction (PTX line of the first)");
    for (const sim::Site& s : sites)
      text += fmt::format("  {:<26} {:<12} {:>9} {:>10} {:>10} {:>6.2f}  {} ({})\n", short_source(s.source), shown(s.role), s.executed, s.passes, s.least,
                          double(s.passes) / double(s.least), s.opcode, s.ptx_line);
  }
  return text;
}

Json counts_json(const std::vector<sim::KernelCounts>& kernels) {
  Json list = Json::array();
  for (const sim::KernelCounts& k : kernels) {
    Json classes = Json::object(), bytes = Json::object(), sites = Json::array();
    for (const sim::Site& s : k.sites) {
      Json& count = classes[std::string(sim::name_of(s.group))][shown(s.role)];
      count = (count.is_null() ? std::uint64_t{0} : count.get<std::uint64_t>()) + s.executed;
      sites.push_back({{"source", s.source}, {"role", s.role}, {"opcode", s.opcode}, {"ptx_line", s.ptx_line}, {"instructions", s.instructions},
                       {"executed", s.executed}, {"threads", s.threads}, {"passes", s.passes}, {"least", s.least}});
    }
    for (std::size_t n = 0; n < k.traffic.size(); ++n)
      if (k.traffic[n]) bytes[std::string(sim::name_of(static_cast<sim::Traffic>(n)))] = k.traffic[n];
    list.push_back({{"kernel", k.kernel}, {"launches", k.launches}, {"classes", classes}, {"bytes", bytes}, {"sites", sites}});
  }
  return list;
}

std::string shadow_table(const std::vector<sim::ShadowLine>& lines, const std::vector<ShadowedOutput>& outputs) {
  std::string text = "against fp64 throughout: lines that lost accuracy, the worst first (in, out: right bits of the least accurate operand, of the result)\n";
  text += fmt::format("  {:<26} {:<12} {:>6} {:>6} {:>10} {:>10}  {}\n", "where", "role", "in", "out", "introduced", "results", "instruction (PTX line of the first)");
  std::size_t shown_lines = 0;
  for (const sim::ShadowLine& l : lines) {
    if (shown_lines++ == kShownLines) break;
    const sim::Accuracy& a = l.accuracy;
    text += fmt::format("  {:<26} {:<12} {:>6} {:>6} {:>10.1e} {:>10}  {} ({}){}\n", short_source(l.source), shown(l.role), bits(a.operand_error), bits(a.result_error),
                        a.introduced, a.results, l.opcode, l.ptx_line, a.not_finite ? fmt::format(", {} not finite", a.not_finite) : "");
  }
  if (lines.size() > kShownLines) text += fmt::format("  and {} more\n", lines.size() - kShownLines);
  for (const ShadowedOutput& o : outputs)
    text += fmt::format("  {}: rms {:.2e} of its size, at most {:.1e}{}\n", o.name, o.array.rms_error, o.array.largest_error,
                        o.array.without_shadow ? fmt::format(", {} of {} elements without a shadow", o.array.without_shadow, o.array.elements) : "");
  return text;
}

Json shadow_json(const std::vector<sim::ShadowLine>& lines, const std::vector<ShadowedOutput>& outputs) {
  Json list = Json::array(), arrays = Json::array();
  for (const sim::ShadowLine& l : lines)
    list.push_back({{"kernel", l.kernel}, {"source", l.source}, {"role", l.role}, {"opcode", l.opcode}, {"ptx_line", l.ptx_line}, {"instructions", l.instructions},
                    {"results", l.accuracy.results}, {"not_finite", l.accuracy.not_finite}, {"operand_error", l.accuracy.operand_error},
                    {"result_error", l.accuracy.result_error}, {"introduced", l.accuracy.introduced}});
  for (const ShadowedOutput& o : outputs)
    arrays.push_back({{"name", o.name}, {"elements", o.array.elements}, {"without_shadow", o.array.without_shadow}, {"rms_error", o.array.rms_error}, {"largest_error", o.array.largest_error}});
  return {{"lines", list}, {"outputs", arrays}};
}

}  // namespace tilewright::cli
