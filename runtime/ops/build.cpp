#include "runtime/ops/build.h"

#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "compiler/compile.h"
#include "runtime/ops/build_key.h"
#include "runtime/ops/build_steps.h"
#include "runtime/ops/stored_kernel.h"

namespace tilewright::ops {
namespace {

/// How long a process waits for another that makes the same kernel, before it makes the kernel itself.
constexpr auto kWaitForOthers = std::chrono::seconds(30);

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

/// The disk keeps kernels whoever asked for them; those who enforce contracts get only what holds them.
void check_stored(const Built& built, const BuildOptions& options) {
  bool clean = true;
  for (const assemble::ResourceReport& r : built.assembled.kernels)
    clean = clean && r.spill_store_bytes + r.spill_load_bytes + r.stack_bytes == 0 && r.performance_loss.empty();
  if (!clean) assemble::check_contract(built.assembled.kernels, contract_of(built.stages.sidecar, options.enforce_contract), built.stages.ptx);
}

Built make(const Program& program, const compiler::Options& compile_options, const BuildOptions& options,
           const std::optional<Assembler>& assembler, StepClock& clock) {
  Built built;
  built.stages = compiler::compile(program, compile_options, [&](const char* step) { clock.begin(step); });
  if (options.assemble) {
    clock.begin("ptxas");
    assemble::AssembleOptions assemble_options;
    if (assembler) assemble_options.ptxas = assembler->file.path;
    assemble_options.contract = contract_of(built.stages.sidecar, options.enforce_contract);
    built.assembled = assemble::assemble(built.stages.ptx, assemble_options);
  }
  built.program = program::Program::from(built.stages.sidecar, built.stages.ptx, built.assembled.cubin);
  built.making.at = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  return built;
}

/// What a kernel is known by in this process. `identity` is a Source::key, or the digest of a program's text.
std::string memory_key(const char* part, const std::string& identity, const BuildOptions& options) {
  return std::string(part) + "|" + identity + (options.assemble ? "|cubin" : "|ptx") + (options.enforce_contract ? "|contract" : "") +
         (options.keep_stages ? "|stages" : "") + (options.trace ? "|trace" : "") + (options.record_passes ? "|passes|" : "|") + options.ptxas.string();
}

std::string name_of(const Source& source) { return source.key.empty() ? "a program" : source.key; }

constexpr const char* kConfiguration = "configuration";
constexpr const char* kProgram = "program";

}  // namespace

/// One call of build().
class Builder::Job {
 public:
  Job(Builder& builder, const BuildOptions& options, std::size_t kernels)
      : builder_(builder), disk_(builder.disk_), options_(options), reporter_(options, kernels) {
    compile_options_.keep_stages = options.keep_stages;
    compile_options_.record_passes = options.record_passes;
    compile_options_.trace = options.trace;
  }

  BuiltPointer build(const Source& source) {
    if (const auto given = options_.instead.find(source.key); given != options_.instead.end()) return given->second;
    StepClock clock(reporter_, name_of(source));
    if (!source.key.empty()) return in_place(kConfiguration, source.key, memory_key(kConfiguration, source.key, options_), source.key, source.make, clock);
    clock.begin("program");
    const Program program = source.make();
    const std::string text = compiler::text_of(program, compile_options_);
    const std::string digest = cache::KeyBuilder().add(kProgram, text).finish().text();
    return in_place(kProgram, text, memory_key(kProgram, digest, options_), "", [&]() -> const Program& { return program; }, clock);
  }

 private:
  /// The assembler, looked up once for all kernels.
  const std::optional<Assembler>& assembler() {
    std::call_once(once_, [&] { assembler_ = find_assembler(options_, disk_); });
    return assembler_;
  }

  template <class Make>
  BuiltPointer in_place(const char* part, const std::string& value, const std::string& in_memory, const std::string& configuration,
                        const Make& make_program, StepClock& clock) {
    const std::shared_ptr<Place> place = builder_.place_of(in_memory);
    const std::lock_guard lock(place->mutex);
    if (place->built) {
      clock.end("cache");
      return place->built;
    }
    const std::optional<cache::Key> key = key_of(part, value, options_, assembler());
    BuiltPointer built = key ? stored(*key) : nullptr;
    if (built) {
      clock.end("cache");
    } else {
      const cache::KeyLock others = key ? disk_.lock(*key, kWaitForOthers) : cache::KeyLock();
      if (key) built = stored(*key);  // somebody may have made it while we waited
      if (built) {
        clock.end("cache");
      } else {
        if (!configuration.empty()) clock.begin("program");
        const Program& program = make_program();
        auto made = std::make_shared<Built>(make(program, compile_options_, options_, assembler(), clock));
        made->making.steps = clock.end("done");
        made->making.configuration = configuration.empty() ? "program " + made->stages.name : configuration;
        // The key says nothing of NVRTC and of the headers that a CUDA function includes.
        if (key && !made->stages.calls_cuda) {
          made->making.key = *key;
          disk_.store(*key, to_record(*made));
        }
        built = std::move(made);
      }
    }
    place->built = built;
    return built;
  }

  /// The kernel on disk; null when there is none.
  BuiltPointer stored(const cache::Key& key) {
    if (options_.keep_stages || options_.record_passes) return nullptr;
    const std::optional<cache::Record> record = disk_.load(key);
    if (!record) return nullptr;
    auto built = std::make_shared<Built>();
    try {
      *built = from_record(*record);
    } catch (const Error& error) {
      disk_.discard(key, error.what());
      return nullptr;
    }
    check_stored(*built, options_);
    built->making.key = key;
    return built;
  }

  Builder& builder_;
  cache::DiskCache& disk_;
  const BuildOptions& options_;
  compiler::Options compile_options_;
  ProgressReporter reporter_;
  std::once_flag once_;
  std::optional<Assembler> assembler_;
};

std::shared_ptr<Builder::Place> Builder::place_of(const std::string& key) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Place>& place = places_[key];
  if (!place) place = std::make_shared<Place>();
  return place;
}

std::vector<BuiltPointer> Builder::build(const std::vector<Source>& sources, const BuildOptions& options) {
  std::vector<BuiltPointer> result(sources.size());
  std::vector<std::exception_ptr> failures(sources.size());
  Job job(*this, options, sources.size());
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const auto work = [&, i] {
        try {
          result[i] = job.build(sources[i]);
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
      // A program of the author's has no name here, and its message begins with the author's line.
      throw BuildError(sources[i].key.empty() ? error.what() : "building " + sources[i].key + ": " + error.what());
    }
  }
  return result;
}

Builder& process_builder() {
  static Builder& builder = *new Builder(cache::process_cache());  // never destroyed: threads may outlive main()
  return builder;
}

std::vector<BuiltPointer> build(const std::vector<Source>& sources, const BuildOptions& options) {
  return process_builder().build(sources, options);
}

}  // namespace tilewright::ops
