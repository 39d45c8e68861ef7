// tilewright trace
#include <fmt/format.h>

#include <fstream>
#include <ostream>
#include <sstream>

#include "runtime/cli/registry.h"
#include "runtime/cli/tracer.h"

namespace tilewright::cli {
namespace {

runtime::DeviceVariable variable_of(runtime::Device& device, const ops::Step& step, const nlohmann::json& sidecar) {
  if (!sidecar.contains("trace")) throw Error("kernel " + sidecar.at("name").get<std::string>() + " was not compiled for a trace");
  return device.variable(*step.program->kernel, sidecar.at("trace").at("variable").get<std::string>());
}

nlohmann::json sidecar_of(const ops::Step& step) { return nlohmann::json::parse(step.program->built->program.sidecar_json()); }

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw Error("cannot write " + path);
}

}  // namespace

void Tracer::begin(runtime::Device& device, const ops::Steps& steps) {
  for (const ops::Step& step : steps) {
    const runtime::DeviceVariable variable = variable_of(device, step, sidecar_of(step));
    device.fill(variable.address, 0, variable.bytes);
    device.copy_to_device(variable.address, &cta_, sizeof cta_);
  }
}

void Tracer::end(runtime::Device& device, const ops::Steps& steps) {
  timelines_.clear();
  for (const ops::Step& step : steps) {
    const nlohmann::json sidecar = sidecar_of(step);
    const runtime::DeviceVariable variable = variable_of(device, step, sidecar);
    std::vector<std::uint32_t> words(variable.bytes / 4);
    device.copy_to_host(words.data(), variable.address, words.size() * 4);
    timelines_.push_back(read_timeline(sidecar, words, device.kind() == "cuda" ? "cycles" : "steps"));
  }
}

int trace(const Options& given, std::ostream& out) {
  if (given.twice || given.json) throw UsageError("trace: --twice and --json are options of run");
  Options o = given;
  Tracer tracer(o.cta);
  o.watcher = &tracer;
  o.stamped = true;
  std::ostringstream of_run;
  const int status = run(o, of_run);
  out << of_run.str();
  const std::string path = o.out.empty() ? "trace.json" : o.out;
  write(path, chrome_trace(tracer.timelines()));
  out << timeline_table(tracer.timelines()) << "wrote " << path << ", for ui.perfetto.dev";
  if (!o.svg.empty()) {
    write(o.svg, timeline_svg(tracer.timelines()));
    out << ", and " << o.svg;
  }
  out << "\n";
  return status;
}

}  // namespace tilewright::cli
