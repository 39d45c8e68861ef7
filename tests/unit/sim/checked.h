// A kernel with one mistake, what the simulated device says of it, and the mended kernel, which passes.
#pragma once
#include "tests/unit/sim/kernels.h"

namespace tilewright::test {

struct Mistake {
  const char* name;
  std::string broken, mended;            // bodies for module_text
  std::vector<const char*> report;       // parts of it
  unsigned threads = 64;
  unsigned grid = 1;
};

inline runtime::sim::SimulatorOptions checked() {
  runtime::sim::SimulatorOptions options;
  options.checks = true;
  return options;
}

/// What the simulated device says of a body on the plain schedule; empty when it passes. 1024 bytes of input, 4096 of output.
inline std::string report_of(const std::string& body, unsigned threads = 64, unsigned grid = 1, std::uint64_t schedule = 0) {
  runtime::sim::SimulatorOptions options = checked();
  options.schedule = schedule;
  options.step_limit = 200'000;
  options.roles = {{"k", 0, 1, "producer"}, {"k", 1, 1, "consumer"}};
  const auto device = runtime::sim::make_simulated_device(options);
  const std::vector<std::uint32_t> input(256, 0x3f800000u);
  const std::string report = error_of([&] { run_words(*device, module_text(body, threads, ".file 1 \"lesson.cpp\"\n.extern .shared .align 1024 .b8 dynamic[];"), threads, 1024, input, 32768, grid); });
  return report == "no error" ? "" : report;
}

inline void expect_found(const Mistake& m) {
  const std::string report = report_of(m.broken, m.threads, m.grid);
  for (const char* part : m.report) EXPECT_THAT(report, testing::HasSubstr(part)) << m.name;
  EXPECT_EQ(report_of(m.mended, m.threads, m.grid), "") << m.name << ", mended";
  // A schedule decides when, not whether.
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    EXPECT_NE(report_of(m.broken, m.threads, m.grid, seed), "") << m.name << ", schedule " << seed;
    EXPECT_EQ(report_of(m.mended, m.threads, m.grid, seed), "") << m.name << ", mended, schedule " << seed;
  }
}

/// `text` with `from` replaced; the test fails where it is not there.
inline std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

}  // namespace tilewright::test
