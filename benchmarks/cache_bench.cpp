// How long it takes to find kernels that were built before: in this process, and on disk.
#include <benchmark/benchmark.h>

#include "kernels/gdn/inputs.h"
#include "kernels/gdn/plan.h"
#include "runtime/assemble/process.h"
#include "runtime/ops/build_key.h"
#include "runtime/ops/gdn_forward.h"
#include "runtime/ops/loaded_programs.h"
#include "runtime/ops/stored_kernel.h"

namespace {

using namespace tilewright;

struct Configuration {
  gdn::HeadCounts heads;
  gdn::DType dtype;
  gdn::StateOrder order;
  gdn::Form form;
};

const Configuration kConfiguration{{16, 64}, gdn::DType::bf16, gdn::StateOrder::k_first, gdn::Form::full};

std::vector<ops::Source> sources_of(const Configuration& c) {
  return {ops::gdn_prologue_source(c.heads, c.dtype), ops::gdn_forward_source(c.heads, c.dtype, c.order, c.form)};
}

ops::LoadedPrograms& programs() {
  static const auto device = runtime::make_simulated_device();
  static ops::LoadedPrograms instance(*device);
  return instance;
}

void find_by_configuration(benchmark::State& state) {
  static ops::KernelTable<Configuration> table;
  table.get(programs(), kConfiguration, [] { return sources_of(kConfiguration); });
  for (auto _ : state) benchmark::DoNotOptimize(table.get(programs(), kConfiguration, [] { return sources_of(kConfiguration); }));
}
BENCHMARK(find_by_configuration)->Threads(1)->Threads(2);

void find_by_sources(benchmark::State& state) {
  programs().get(sources_of(kConfiguration));
  for (auto _ : state) benchmark::DoNotOptimize(programs().get(sources_of(kConfiguration)));
}
BENCHMARK(find_by_sources);

struct Folder {
  assemble::TemporaryFolder folder;
  cache::DiskCache disk{{folder.path(), "benchmark"}, [](const std::string&) {}};
};

void read_from_disk(benchmark::State& state) {
  Folder f;
  ops::Builder(f.disk).build(sources_of(kConfiguration));
  const auto assembler = ops::find_assembler({}, f.disk);
  const auto key = ops::key_of("configuration", sources_of(kConfiguration)[1].key, {}, assembler);
  for (auto _ : state) {
    const auto record = f.disk.load(*key);
    if (!record) return state.SkipWithError("not stored");
    benchmark::DoNotOptimize(ops::from_record(*record));
  }
}
BENCHMARK(read_from_disk)->Unit(benchmark::kMicrosecond);

void build_from_disk(benchmark::State& state) {
  Folder f;
  ops::Builder(f.disk).build(sources_of(kConfiguration));
  for (auto _ : state) benchmark::DoNotOptimize(ops::Builder(f.disk).build(sources_of(kConfiguration)));  // as a new process does
}
BENCHMARK(build_from_disk)->Unit(benchmark::kMicrosecond);

}  // namespace
