// How long it takes to find kernels that were built before: in this process, and on disk.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "runtime/assemble/process.h"
#include "runtime/ops/build_key.h"
#include "runtime/ops/gdn_forward.h"
#include "runtime/ops/loaded_programs.h"
#include "runtime/ops/stored_kernel.h"

namespace {

using namespace tilewright;

/// Integers only, as KernelTable wants them.
struct Configuration {
  std::int32_t dtype, pack, form, options;
};
constexpr Configuration kConfiguration{0, 4, 0, 0};

std::vector<ops::Source> sources() { return {ops::gdn_prologue_source({}), ops::gdn_forward_source({})}; }

ops::LoadedPrograms& programs() {
  static const auto device = runtime::make_simulated_device();
  static ops::LoadedPrograms instance(*device);
  return instance;
}

void find_by_configuration(benchmark::State& state) {
  static ops::KernelTable<Configuration> table;
  const auto make = [] { return programs().get(sources()); };
  table.get(kConfiguration, make);
  for (auto _ : state) benchmark::DoNotOptimize(table.get(kConfiguration, make));
}
BENCHMARK(find_by_configuration)->Threads(1)->Threads(2);

void find_by_sources(benchmark::State& state) {
  programs().get(sources());
  for (auto _ : state) benchmark::DoNotOptimize(programs().get(sources()));
}
BENCHMARK(find_by_sources);

struct Folder {
  assemble::TemporaryFolder folder;
  cache::DiskCache disk{{folder.path(), "benchmark"}, [](const std::string&) {}};
};

void read_from_disk(benchmark::State& state) {
  Folder f;
  ops::Builder(f.disk).build(sources());
  const auto assembler = ops::find_assembler({}, f.disk);
  const auto key = ops::key_of("configuration", sources()[1].key, {}, assembler);
  for (auto _ : state) {
    const auto record = f.disk.load(*key);
    if (!record) return state.SkipWithError("not stored");
    benchmark::DoNotOptimize(ops::from_record(*record));
  }
}
BENCHMARK(read_from_disk)->Unit(benchmark::kMicrosecond);

void build_from_disk(benchmark::State& state) {
  Folder f;
  ops::Builder(f.disk).build(sources());
  for (auto _ : state) benchmark::DoNotOptimize(ops::Builder(f.disk).build(sources()));  // as a new process does
}
BENCHMARK(build_from_disk)->Unit(benchmark::kMicrosecond);

}  // namespace
