// Loops that begin their next trip's work one trip ahead, under a condition that says whether there is one.
#include "tests/broken/mistake.h"

namespace tilewright::test {
namespace {

/// A ring of one stage: filled for the first trip before the loop, in each trip for the next one if there is one.
void look_ahead(Kernel& k, int& line, const std::function<void(Ring&, Stage)>& use) {
  Index n = k.scalar_i32("n"), step = k.scalar_i32("step");
  auto [cta, unused1, unused2] = k.grid(132);
  auto tile = k.staged<i32>("tile", 1, {1, 32});
  Role load = k.role("load", warps(1)), math = k.role("math", warps(1));
  Ring ring = k.ring("ring", 1, load, {math}, tile);
  Index first = cta;
  load([&] {
    const auto fill = [&] {
      line = __LINE__; Stage s = ring.acquire();
      tile[s].write(0, k.lane(), k.lane());
      ring.commit(s);
    };
    if_(first < n, fill);
    for_range(first, n, step, [&](Index i) { if_(i + step < n, fill); });
  });
  math([&] { for_range(first, n, step, [&](Index) { use(ring, ring.wait()); }); });
}
void release(Ring& ring, Stage s) { ring.release(s); }

TEST(LookAhead, IsFollowed) {
  EXPECT_NO_THROW(compiler::compile(kernel("ahead", [](Kernel& k) {
    int line = 0;
    look_ahead(k, line, release);
  })));
}
TEST(BrokenLookAhead, NeverReleased) {
  Mistake([](Kernel& k, int& line) {
    look_ahead(k, line, [&](Ring& ring, Stage s) { if_(k.lane() < 0, [&] { ring.release(s); }); });
  }).says({"waits for ever for stage 0 of ring \"ring\" to be released"});
}

}  // namespace
}  // namespace tilewright::test
