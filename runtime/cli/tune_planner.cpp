// tilewright tune-planner
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <tuple>

#include "kernels/gdn/calibration.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/cache/files.h"
#include "runtime/cli/command.h"
#include "runtime/cli/gdn_bench_call.h"
#include "runtime/cuda/timing.h"
#include "runtime/ops/gdn_costs.h"

namespace tilewright::cli {
namespace {

using Json = nlohmann::ordered_json;

/// The calls of one device, with the operators that bind them: one for each form and way to start segments.
class Measurement {
 public:
  Measurement(runtime::Device& device, const gdn::Costs& shipped, ops::BuildOptions build)
      : device_(device), costs_(gdn::probing_costs(shipped)), build_(std::move(build)) {}

  /// Microseconds of the kernel that the probe is about. What comes before the chain kernel is timed and taken off: alone the chain kernel would find no list.
  double us(const gdn::Probe& p) {
    GdnBenchCall call(device_, {std::int64_t{p.chunks} * 64}, inputs_of(p));
    call.arguments.cp = p.cp, call.arguments.costs = &costs_;
    call.allocate_workspace();
    auto& op = operators_[{p.form, p.classes}];
    if (!op) op = std::make_unique<ops::GdnForward>(device_, ops::GdnForwardOptions{p.form, build_, p.classes});
    if ((op->kernels_of(call.arguments).segments != 0) != (p.cp != 1)) throw InternalError("a call of tune-planner has the wrong kernels");
    const ops::Steps steps = op->prepare(call.arguments);
    const double ahead = time_of({steps.front()});
    return gdn::of_the_chain(p.quantity) ? time_of(steps) - ahead : ahead;
  }

 private:
  double time_of(const ops::Steps& steps) {
    cuda::TimingOptions timing;
    timing.graph = true;
    return 1000 * cuda::time_launches_ms(device_, [&](void* stream) { ops::launch_steps(device_, steps, stream); }, timing);
  }
  const gdn::Inputs& inputs_of(const gdn::Probe& p) {
    auto& in = inputs_[{p.heads, p.group, p.memory}];
    if (!in) {
      gdn::InputShape shape;
      shape.lens = {GdnBenchCall::kTokens};
      shape.hk = p.heads / p.group, shape.hv = p.heads;
      in = gdn::generate(shape, p.memory == gdn::Memory::endless ? gdn::Kind::no_decay : gdn::Kind::ordinary, 0);
      if (p.memory == gdn::Memory::brief) std::fill(in->g.begin(), in->g.end(), -1.0f);  // a chunk leaves e^-64
    }
    return *in;
  }

  runtime::Device& device_;
  gdn::Costs costs_;
  ops::BuildOptions build_;
  std::map<std::pair<gdn::Form, gdn::HeadClass>, std::unique_ptr<ops::GdnForward>> operators_;
  std::map<std::tuple<int, int, gdn::Memory>, std::optional<gdn::Inputs>> inputs_;
};

/// The medians of the rounds, and how far each cost's rounds lie apart, as a part of it.
struct Tuned {
  gdn::Costs costs;
  std::array<double, gdn::kCostFields> spread{};
};
Tuned medians(std::vector<gdn::Costs> rounds) {
  Tuned t{rounds.front()};
  const auto fields = gdn::fields_of(t.costs);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    std::vector<double> values;
    for (gdn::Costs& round : rounds) values.push_back(gdn::fields_of(round)[i].value);
    std::sort(values.begin(), values.end());
    fields[i].value = values[values.size() / 2];
    t.spread[i] = fields[i].value > 0 ? (values.back() - values.front()) / fields[i].value : 0;
  }
  return t;
}

Json json_of(gdn::Costs costs) {
  Json json;
  for (const gdn::CostField& field : gdn::fields_of(costs)) json[std::string(field.part)][std::string(field.name)] = field.value;
  return json;
}

std::filesystem::path place_of(const Options& o, const ops::Card& card) {
  if (!o.out.empty()) return o.out;
  const std::filesystem::path place = ops::gdn_costs_place(cache::process_cache().settings(), card);
  if (place.empty()) throw UsageError("tune-planner: there is no cache folder to write to (TILEWRIGHT_CACHE_DIR, HOME), expected --output FILE");
  return place;
}

void write(const std::filesystem::path& file, const std::string& text) {
  int failure = file.has_parent_path() ? cache::make_folders(file.parent_path()) : 0;
  if (failure == 0) failure = cache::replace_file(file, text);
  if (failure != 0) throw Error("tune-planner: '" + file.string() + "' could not be written: " + std::strerror(failure));
}

}  // namespace

int tune_planner(const Options& o, std::ostream& out) {
  const auto device = card_for("tune-planner");
  const ops::Card card = ops::card_of(*device);
  const std::filesystem::path file = place_of(o, card);
  const gdn::ShippedCosts shipped = gdn::shipped_costs(card.name, card.sms);
  const std::vector<gdn::Probe> probes = gdn::probes(card.sms);
  Measurement measurement(*device, shipped.costs, build_options_of(o));
  std::vector<gdn::Costs> rounds;
  Json times = Json::array();
  for (int round = 0; round < o.rounds; ++round) {
    std::vector<gdn::Measured> measured;
    for (const gdn::Probe& probe : probes) {
      measured.push_back({probe, measurement.us(probe)});
      times.push_back({{"round", round}, {"quantity", gdn::name_of(probe.quantity)}, {"form", gdn::name_of(probe.form)}, {"at", probe.at}, {"us", measured.back().us}});
    }
    rounds.push_back(gdn::calibrate(measured, card.sms));
  }
  Tuned tuned = medians(rounds);
  write(file, ops::gdn_costs_text(tuned.costs, card, device->description()));

  if (o.json) {
    out << Json{{"description", device->description()}, {"file", file.string()}, {"measured", json_of(tuned.costs)}, {"shipped", json_of(shipped.costs)}, {"times", times}}.dump(2) << "\n";
    return 0;
  }
  out << device->description() << "\n";
  out << fmt::format("{:<22} {:>10} {:>8} {:>10}\n", "microseconds", "measured", "+-", "shipped");
  gdn::Costs known = shipped.costs;
  const auto fields = gdn::fields_of(tuned.costs), before = gdn::fields_of(known);
  for (std::size_t i = 0; i < fields.size(); ++i)
    out << fmt::format("{:<22} {:>10.4f} {:>6.1f} % {:>10.4f}\n", fields[i].full_name(), fields[i].value, 50 * tuned.spread[i], before[i].value);
  out << fmt::format("shipped: measured on {}\nwrote {}\n", shipped.measured_on, file.string());
  out << (o.out.empty() ? "calls of processes that start from now on are planned by it\n" : fmt::format("calls are planned by it with {}={}\n", ops::kGdnCostsVariable, file.string()));
  return 0;
}

}  // namespace tilewright::cli
