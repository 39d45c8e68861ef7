// Kernels that the protocol verifier cannot follow to the end: it says so, and takes no for an answer only by waiver.
#include "tests/broken/mistake.h"

namespace tilewright::test {
namespace {

/// Loops one behind another, of as many numbers of trips.
void many_loops(Kernel& k, int count) {
  std::vector<Index> trips;
  for (int i = 0; i < count; ++i) trips.push_back(k.scalar_i32("n" + std::to_string(i)));
  k.role("all", warps(1))([&] {
    for (const Index& n : trips) for_range(k.index(0), n, 1, [&](Index) { k.sync(); });
  });
}
/// Loops one in another.
void deep_loops(Kernel& k) {
  Index n = k.scalar_i32("n");
  k.role("all", warps(1))([&] {
    std::function<void(int)> nest = [&](int depth) {
      if (depth == 0) k.sync();
      else for_range(k.index(0), n, 1, [&](Index) { nest(depth - 1); });
    };
    nest(14);
  });
}

TEST(Limits, MoreCombinationsThanAreTried) {
  Mistake([](Kernel& k, int&) { many_loops(k, 24); }).says({"cannot be decided: its loops and branches have more combinations than are tried: 2000 of", "k.waive(\"kernel\", \"starvation\", reason)"});
}
TEST(Limits, LoopsTooLongToFollow) {
  Mistake([](Kernel& k, int&) { deep_loops(k); }).says({"cannot be decided: its loops take too long to be followed", "k.waive(\"kernel\", \"starvation\", reason)"});
}
TEST(Limits, Waived) {
  for (const bool deep : {true, false})
    EXPECT_NO_THROW(compiler::compile(kernel("waived", [&](Kernel& k) {
      k.waive("kernel", "starvation", "its loops have nothing to do with each other");
      deep ? deep_loops(k) : many_loops(k, 24);
    })));
}
TEST(Limits, WhatIsFoundBeforeIsAnErrorAllTheSame) {
  Mistake([](Kernel& k, int& line) {
    k.waive("kernel", "starvation", "its loops have nothing to do with each other");
    auto tile = k.shared<i32>("tile", {1, 32});
    Role other = k.role("other", warps(1));
    many_loops(k, 24);
    other([&] {
      tile.write(0, k.lane(), k.lane());
      line = __LINE__; tile.read(0, 31 - k.lane());
    });
  }).says({"lanes of a warp of role \"other\" meet in tile \"tile\""});
}

}  // namespace
}  // namespace tilewright::test
