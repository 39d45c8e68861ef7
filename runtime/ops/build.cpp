#include "runtime/ops/build.h"

#include <exception>
#include <nlohmann/json.hpp>
#include <thread>
#include <unordered_map>

#include "runtime/ops/simulator_names.h"

namespace tilewright::ops {
namespace {

/// The contract of a kernel: nothing is allowed but what its author opted out of.
assemble::ResourceContract contract_of(const std::string& sidecar, bool enforce) {
  assemble::ResourceContract contract{!enforce, !enforce, !enforce};
  const auto json = nlohmann::json::parse(sidecar);
  for (const auto& entry : json.value("allow", nlohmann::json::array())) {
    const auto what = entry.get<std::string>();
    if (what == "spills") contract.allow_spills = true;
    else if (what == "stack") contract.allow_stack = true;
    else if (what == "performance_loss") contract.allow_performance_loss = true;
    else throw Error("a kernel allows '" + what + "', expected spills, stack or performance_loss");
  }
  return contract;
}

BuiltPointer build_one(const Source& source, const BuildOptions& options) {
  auto built = std::make_shared<Built>();
  compiler::Options compile_options;
  compile_options.keep_stages = options.keep_stages;
  built->stages = compiler::compile(source.make(), compile_options);
  if (options.assemble) {
    assemble::AssembleOptions assemble_options;
    assemble_options.ptxas = options.ptxas;
    assemble_options.contract = contract_of(built->stages.sidecar, options.enforce_contract);
    built->assembled = assemble::assemble(built->stages.ptx, assemble_options);
  }
  built->program = program::Program::from(built->stages.sidecar, built->stages.ptx, built->assembled.cubin);
  return built;
}

struct Cache {
  std::mutex mutex;
  std::unordered_map<std::string, BuiltPointer> built;
};

Cache& cache() {
  static Cache instance;
  return instance;
}

std::string cache_key(const Source& source, const BuildOptions& options) {
  return source.key + (options.assemble ? "|cubin" : "|ptx") + (options.enforce_contract ? "|contract" : "") +
         (options.keep_stages ? "|stages|" : "|") + options.ptxas.string();
}

}  // namespace

std::vector<BuiltPointer> build(const std::vector<Source>& sources, const BuildOptions& options) {
  std::vector<BuiltPointer> result(sources.size());
  std::vector<std::exception_ptr> failures(sources.size());
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const std::string key = cache_key(sources[i], options);
      {
        const std::lock_guard lock(cache().mutex);
        if (const auto found = cache().built.find(key); found != cache().built.end()) {
          result[i] = found->second;
          continue;
        }
      }
      const auto work = [&, i, key] {
        try {
          result[i] = build_one(sources[i], options);
          const std::lock_guard lock(cache().mutex);
          cache().built.emplace(key, result[i]);
        } catch (...) {
          failures[i] = std::current_exception();
        }
      };
      if (i + 1 < sources.size()) workers.emplace_back(work);
      else work();
    }
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!failures[i]) continue;
    try {
      std::rethrow_exception(failures[i]);
    } catch (const Error& error) {
      throw BuildError("building " + sources[i].key + ": " + error.what());
    }
  }
  return result;
}

LoadedPrograms::LoadedPrograms(runtime::Device& device, BuildOptions options) : device_(device), options_(std::move(options)) {
  // The simulated device runs the PTX itself.
  if (device.kind() != "cuda") options_.assemble = false;
}

std::vector<std::shared_ptr<const Loaded>> LoadedPrograms::get(const std::vector<Source>& sources) {
  const std::lock_guard lock(mutex_);
  std::vector<Source> missing;
  for (const Source& source : sources)
    if (!loaded_.contains(source.key)) missing.push_back(source);
  if (!missing.empty()) {
    const std::vector<BuiltPointer> built = build(missing, options_);
    for (std::size_t i = 0; i < missing.size(); ++i) {
      loaded_[missing[i].key] = std::make_shared<const Loaded>(Loaded{built[i], device_.load(built[i]->program.image())});
      name_for_reports(device_, built[i]->program);
    }
  }
  std::vector<std::shared_ptr<const Loaded>> result;
  for (const Source& source : sources) result.push_back(loaded_.at(source.key));
  return result;
}

}  // namespace tilewright::ops
