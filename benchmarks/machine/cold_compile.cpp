// Time to compile, assemble and load the forward kernels of a head configuration in a fresh process.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <iostream>

#include "benchmarks/machine/bench.h"
#include "kernels/gdn/inputs.h"
#include "runtime/assemble/tools.h"
#include "runtime/ops/gdn_forward.h"

namespace tilewright::machine {
namespace {

using Clock = std::chrono::steady_clock;
double milliseconds(Clock::time_point from, Clock::time_point to) { return std::chrono::duration<double, std::milli>(to - from).count(); }

/// What this program prints when it is started with these arguments.
Json start_afresh(const Setup& setup, const std::string& heads) {
  int ends[2];
  if (pipe(ends) != 0) throw Error("pipe failed");
  const std::string device = setup.card ? "cuda" : "sim";
  const auto begin = Clock::now();
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    close(ends[0]);
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
  const gdn::HeadCounts heads = gdn::parse_heads(text);
  const auto start = Clock::now();
  const auto device = runtime::make_device(kind);
  const auto ready = Clock::now();
  ops::LoadedPrograms programs(*device);
  const auto loaded = programs.get({ops::gdn_prologue_source(heads, gdn::DType::bf16),
                                    ops::gdn_forward_source(heads, gdn::DType::bf16, gdn::StateOrder::k_first, gdn::Form::full),
                                    ops::gdn_forward_source(heads, gdn::DType::bf16, gdn::StateOrder::k_first, gdn::Form::split)});
  const auto end = Clock::now();
  Json kernels = Json::array();
  for (const auto& k : loaded) kernels.push_back({{"name", k->built->program.name()}, {"compile_ms", k->built->stages.milliseconds}, {"cubin_bytes", k->built->assembled.cubin.size()}});
  const auto tool = assemble::find_tool(assemble::Tool::ptxas);
  std::cout << Json{{"heads", text}, {"device_ms", milliseconds(start, ready)}, {"kernels_ms", milliseconds(ready, end)},
                    {"ptxas", tool ? assemble::version_of(tool->path) : "none"}, {"kernels", kernels}}.dump() << "\n";
  return 0;
}

Json cold_compile(Setup& setup) {
  constexpr double kBar = 1500;
  Json rows = Json::array();
  bool passed = true;
  for (const char* heads : {"8x24", "16x64"})
    for (int run = 0; run < (setup.small ? 1 : 5); ++run) {
      rows.push_back(start_afresh(setup, heads));
      passed = passed && (!setup.card || rows.back()["kernels_ms"].get<double>() <= kBar);
    }
  return {{"pass", passed}, {"bar_ms", kBar}, {"rows", rows}};
}

}  // namespace tilewright::machine
