#include "examples/copy.h"

#include "tests/device/launch.h"

namespace tilewright::test {
namespace {

void check(examples::CopyConfig c, std::int64_t M) {
  SCOPED_TRACE(testing::Message() << "M = " << M << ", tiles of " << c.rows << " x " << c.cols << ", " << c.stages << " stages");
  auto x = noise("bf16", {M, c.cols}, 1);
  auto program = examples::copy(c);
  Launch run(program);
  run.in("x", x).out("y", "bf16", {M, c.cols}).run();
  expect_matrix(run["y"], 0, [&](auto r, auto col) { return x.at(r, col); });
}

TEST(Copy, RowsThatAreNoMultipleOfTheTile) {
  for (std::int64_t M : {1, 63, 64, 65, 255, 256, 257, 1000}) check({}, M);
}
TEST(Copy, OtherTilesAndDepths) {
  check({.rows = 8, .cols = 128, .stages = 1, .tiles_per_cta = 1}, 30);
  check({.rows = 128, .cols = 256, .stages = 3, .tiles_per_cta = 5}, 700);
  check({.rows = 256, .cols = 64, .stages = 4, .tiles_per_cta = 2}, 513);
}
TEST(Copy, ColumnsThatFillNoSwizzledPanel) {
  check({.rows = 16, .cols = 8, .stages = 2, .tiles_per_cta = 3}, 100);
  check({.rows = 64, .cols = 40, .stages = 2, .tiles_per_cta = 3}, 200);
}
TEST(Copy, NothingToCopy) {
  auto program = examples::copy({});
  Launch run(program);
  run.in("x", noise("bf16", {0, 64}, 1)).out("y", "bf16", {0, 64}).run();
}

}  // namespace
}  // namespace tilewright::test
