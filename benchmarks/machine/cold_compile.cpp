// Time to the forward kernels of a head configuration in a fresh process: compiled and assembled, and from the disk.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "benchmarks/machine/bench.h"
#include "kernels/gdn/inputs.h"
#include "runtime/assemble/process.h"
#include "runtime/assemble/tools.h"
#include "runtime/ops/gdn_forward.h"

namespace tilewright::machine {
namespace {

using Clock = std::chrono::steady_clock;
double milliseconds(Clock::time_point from, Clock::time_point to) { return std::chrono::duration<double, std::milli>(to - from).count(); }

/// Nanoseconds of a clock that all processes share.
std::int64_t shared_clock() { return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count(); }

/// What this program prints when it is started with these arguments and this cache.
Json start_afresh(const Setup& setup, const std::string& heads, const std::filesystem::path& cache) {
  int ends[2];
  if (pipe(ends) != 0) throw Error("pipe failed");
  const std::string device = setup.card ? "cuda" : "sim", before = std::to_string(shared_clock());
  const auto begin = Clock::now();
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    close(ends[0]);
    setenv("TILEWRIGHT_CACHE_DIR", cache.c_str(), 1);
    setenv("TILEWRIGHT_BENCH_STARTED", before.c_str(), 1);
    execl(setup.executable.c_str(), "machine_bench", "cold-child", heads.c_str(), "--device", device.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;) text.append(part, std::size_t(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) throw Error("a fresh process for heads " + heads + " ended with status " + std::to_string(status));
  Json row = Json::parse(text);
  row["process_ms"] = milliseconds(begin, Clock::now());
  return row;
}

}  // namespace

int cold_child(const std::string& text, const std::string& kind) {
  // From before the fork to here: the loader, relocations and static constructors are in it.
  const char* before = std::getenv("TILEWRIGHT_BENCH_STARTED");
  const double start_ms = before != nullptr ? 1e-6 * double(shared_clock() - std::strtoll(before, nullptr, 10)) : 0;
  const gdn::HeadCounts heads = gdn::parse_heads(text);
  const auto start = Clock::now();
  const auto device = runtime::make_device(kind);
  const auto ready = Clock::now();
  ops::LoadedPrograms programs(*device);
  ops::GdnForwardKernels full, split;
  full.pack = ops::gdn_prologue_pack(heads.hv / heads.hk);
  split.form = gdn::Form::split;
  const auto loaded = programs.get({ops::gdn_prologue_source(full), ops::gdn_forward_source(full), ops::gdn_forward_source(split)});
  const auto end = Clock::now();
  Json kernels = Json::array();
  for (const auto& k : loaded) {
    Json steps = Json::object();
    for (const auto& [step, ms] : k->built->making.steps) steps[step] = ms;
    kernels.push_back({{"name", k->built->program.name()}, {"from_disk", k->built->making.from_disk}, {"made_ms", steps}, {"cubin_bytes", k->built->assembled.cubin.size()}});
  }
  const auto tool = assemble::find_tool(assemble::Tool::ptxas);
  std::cout << Json{{"heads", text}, {"start_ms", start_ms}, {"device_ms", milliseconds(start, ready)}, {"kernels_ms", milliseconds(ready, end)},
                    {"ptxas", tool ? assemble::version_of(tool->path) : "none"}, {"kernels", kernels}}.dump() << "\n";
  return 0;
}

Json cold_compile(Setup& setup) {
  // Without the device's own start, which for a card is the CUDA context. A simulated device parses PTX as it loads: no bars there.
  constexpr double kCompiledBar = 1000, kDiskBar = 50;
  Json rows = Json::array();
  bool passed = true;
  for (const char* heads : {"8x24", "16x64"})
    for (int run = 0; run < (setup.small ? 1 : 5); ++run) {
      const assemble::TemporaryFolder cache;
      for (const bool filled : {false, true}) {
        Json row = start_afresh(setup, heads, cache.path());
        row["cache"] = filled ? "filled" : "empty";
        for (const Json& kernel : row["kernels"]) passed = passed && kernel["from_disk"] == filled;
        const double ms = row["start_ms"].get<double>() + row["kernels_ms"].get<double>();
        passed = passed && (!setup.card || ms <= (filled ? kDiskBar : kCompiledBar));
        rows.push_back(std::move(row));
      }
    }
  return {{"pass", passed}, {"compiled_bar_ms", kCompiledBar}, {"disk_bar_ms", kDiskBar}, {"rows", rows}};
}

}  // namespace tilewright::machine
