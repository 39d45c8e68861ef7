// Kernels on a device, found again by key and by configuration.
#include "runtime/ops/loaded_programs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "examples/copy.h"

namespace tilewright::ops {
namespace {

struct CopyConfiguration {
  int rows = 64, columns = 64;
};

std::vector<Source> sources_of(const CopyConfiguration& c) {
  return {{"table copy " + std::to_string(c.rows) + "x" + std::to_string(c.columns), [c] { return examples::copy({.rows = c.rows, .cols = c.columns}); }}};
}

TEST(LoadedPrograms, LoadsEachKernelOnce) {
  const auto device = runtime::make_simulated_device();
  LoadedPrograms programs(*device);
  const Kernels first = programs.get(sources_of({64, 64})), both = programs.get({sources_of({128, 64})[0], sources_of({64, 64})[0]});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[1], first[0]);
  EXPECT_NE(both[0], first[0]);
  EXPECT_EQ(programs.get({}).size(), 0u);
  const auto program = [] { return examples::copy({}); };
  EXPECT_EQ(programs.get({{"", program}}), programs.get({{"", program}}));  // found by what it is
}

TEST(LoadedPrograms, AKernelThatIsThereDoesNotWaitForOneThatIsMade) {
  const auto device = runtime::make_simulated_device();
  LoadedPrograms programs(*device);
  const Kernels there = programs.get(sources_of({64, 64}));
  std::atomic<bool> begun{false}, looked{false};
  // Its program is not finished before this thread has found the other kernel.
  std::jthread slow([&] {
    programs.get({{"", [&] {
                     begun = true;
                     begun.notify_all();
                     looked.wait(false);
                     return examples::copy({.rows = 128});
                   }}});
  });
  begun.wait(false);
  EXPECT_EQ(programs.get(sources_of({64, 64})), there);
  looked = true;
  looked.notify_all();
}

TEST(KernelTable, FindsAConfigurationWithoutItsSources) {
  const auto device = runtime::make_simulated_device();
  LoadedPrograms programs(*device);
  KernelTable<CopyConfiguration> table;
  std::atomic<int> asked{0};
  const auto get = [&](CopyConfiguration c) { return table.get(c, [&] { return ++asked, programs.get(sources_of(c)); }); };
  const auto kernels = get({64, 64});
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(get({64, 64}), kernels);
  EXPECT_EQ(asked, 1);
  EXPECT_NE(get({128, 64}), kernels);
  EXPECT_NE(get({64, 128}), get({128, 64}));
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) EXPECT_EQ((*get({64 + 64 * ((t + i) % 2), 64}))[0]->built->program.name(), "copy");
    });
  threads.clear();
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace tilewright::ops
