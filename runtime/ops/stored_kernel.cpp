#include "runtime/ops/stored_kernel.h"

#include <nlohmann/json.hpp>

namespace tilewright::ops {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const assemble::ResourceReport& r) {
  return {{"name", r.name},           {"registers", r.registers},       {"spill_store_bytes", r.spill_store_bytes}, {"spill_load_bytes", r.spill_load_bytes},
          {"stack_bytes", r.stack_bytes}, {"shared_bytes", r.shared_bytes}, {"barriers", r.barriers},                   {"performance_loss", r.performance_loss}};
}

assemble::ResourceReport report_of(const Json& json, const std::string& assembler) {
  assemble::ResourceReport r;
  json.at("name").get_to(r.name);
  json.at("registers").get_to(r.registers);
  json.at("spill_store_bytes").get_to(r.spill_store_bytes);
  json.at("spill_load_bytes").get_to(r.spill_load_bytes);
  json.at("stack_bytes").get_to(r.stack_bytes);
  json.at("shared_bytes").get_to(r.shared_bytes);
  json.at("barriers").get_to(r.barriers);
  json.at("performance_loss").get_to(r.performance_loss);
  r.assembler = assembler;
  return r;
}

const std::string& section(const cache::Record& record, const char* name) {
  const std::string* bytes = record.find(name);
  if (bytes == nullptr) throw Error(std::string("it has no section '") + name + "'");
  return *bytes;
}

}  // namespace

cache::Record to_record(const Built& built) {
  Json kernels = Json::array(), steps = Json::array();
  for (const auto& report : built.assembled.kernels) kernels.push_back(json_of(report));
  for (const auto& [name, milliseconds] : built.making.steps) steps.push_back({name, milliseconds});
  const Json kernel{{"name", built.stages.name},           {"configuration", built.making.configuration},
                    {"at", built.making.at},               {"steps", steps},
                    {"assembler", built.assembled.assembler},
                    {"dynamic_shared_bytes", built.program.sidecar().dynamic_shared_bytes}, {"kernels", kernels}};
  cache::Record record;
  // The author's paths and ptxas' words may hold bytes that are not UTF-8.
  record.add("kernel", kernel.dump(-1, ' ', false, Json::error_handler_t::replace));
  record.add("sidecar", built.stages.sidecar);
  record.add("ptx", built.stages.ptx);
  record.add("cubin", std::string(built.assembled.cubin.begin(), built.assembled.cubin.end()));
  record.add("ptxas", built.assembled.log);
  return record;
}

std::optional<KernelSummary> summary_of(const cache::Record& record) {
  const std::string* kernel = record.find("kernel");
  if (kernel == nullptr) return std::nullopt;
  try {
    const Json json = Json::parse(*kernel);
    KernelSummary s;
    json.at("name").get_to(s.name);
    json.at("configuration").get_to(s.making.configuration);
    json.at("at").get_to(s.making.at);
    for (const Json& step : json.at("steps")) s.making.steps.emplace_back(step.at(0), step.at(1));
    json.at("assembler").get_to(s.assembler);
    json.at("dynamic_shared_bytes").get_to(s.dynamic_shared_bytes);
    for (const Json& report : json.at("kernels")) s.kernels.push_back(report_of(report, s.assembler));
    s.making.from_disk = true;
    return s;
  } catch (const Json::exception& error) {
    throw Error(std::string("its description cannot be read: ") + error.what());
  }
}

Built from_record(const cache::Record& record) {
  std::optional<KernelSummary> summary = summary_of(record);
  if (!summary) throw Error("it is no kernel");
  Built built;
  built.stages.name = summary->name;
  for (const auto& [name, milliseconds] : summary->making.steps) built.stages.milliseconds += name == "ptxas" ? 0 : milliseconds;
  built.stages.sidecar = section(record, "sidecar");
  built.stages.ptx = section(record, "ptx");
  const std::string& cubin = section(record, "cubin");
  built.assembled.cubin.assign(cubin.begin(), cubin.end());
  built.assembled.log = section(record, "ptxas");
  built.assembled.assembler = summary->assembler;
  built.assembled.kernels = std::move(summary->kernels);
  built.making = std::move(summary->making);
  built.program = program::Program::from(built.stages.sidecar, built.stages.ptx, built.assembled.cubin);
  return built;
}

}  // namespace tilewright::ops
