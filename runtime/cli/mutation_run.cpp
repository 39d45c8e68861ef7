#include "runtime/cli/mutation_run.h"

#include <chrono>

#include "runtime/sim/simulator.h"

namespace tilewright::cli {
namespace {

/// Warp instructions without a visible effect after which a mutant hangs; unspoilt kernels poll a few hundred times.
constexpr std::uint64_t kStepLimit = 2'000'000;

std::unique_ptr<runtime::Device> device_for(unsigned schedule, unsigned multiprocessors) {
  runtime::sim::SimulatorOptions options;
  options.multiprocessors = multiprocessors;
  options.schedule = schedule;
  options.threads = 1;  // mutants run side by side
  options.step_limit = kStepLimit;
  return runtime::sim::make_simulated_device(options);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

ops::BuiltPointer built(const ops::Source& source, const compiler::Mutation& mutation) {
  auto kernel = std::make_shared<ops::Built>();
  compiler::Options options;
  options.keep_stages = false;
  options.mutation = mutation;
  kernel->stages = compiler::compile(source.make(), options);
  kernel->program = program::Program::from(kernel->stages.sidecar, kernel->stages.ptx, {});
  kernel->making.configuration = source.key;
  return kernel;
}

}  // namespace

std::string_view name_of(Finder f) {
  switch (f) {
    case Finder::verifier: return "verifier";
    case Finder::simulator: return "simulator";
    case Finder::result: return "result";
    case Finder::nobody: return "nobody";
  }
  return "";
}

Verdict try_mutant(const MutatedKernel& kernel, const compiler::Mutation& mutation, unsigned schedules) {
  const auto begin = std::chrono::steady_clock::now();
  Verdict v;
  const auto found = [&](Finder finder, const std::string& report) {
    v.finder = finder;
    v.report = first_line(report);
    v.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return v;
  };
  ops::BuildOptions build;
  build.assemble = false;
  try {
    build.instead[kernel.source.key] = built(kernel.source, mutation);
  } catch (const CompileError& error) {
    return found(Finder::verifier, error.what());
  }
  for (v.schedule = 0; v.schedule < schedules; ++v.schedule)
    for (const MutationCase* one : kernel.cases) {
      v.on = one->name;
      const auto device = device_for(v.schedule, one->multiprocessors);
      try {
        if (const std::string wrong = one->run(*device, build); !wrong.empty()) return found(Finder::result, wrong);
      } catch (const Error& error) {
        return found(Finder::simulator, error.what());
      }
    }
  v.on.clear();
  return found(Finder::nobody, "");
}

}  // namespace tilewright::cli
