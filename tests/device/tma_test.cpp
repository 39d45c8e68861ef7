// TMA: boxes of tensors of higher rank, edges, and rows of packed sequences.
#include <cmath>
#include <limits>

#include "tests/device/launch.h"

namespace tilewright::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Copies rows [first, first + count) of head `h` of x [T, H, 64] to y, a tile of 32 rows at a time.
Program ragged_copy() {
  return kernel("ragged_copy", [](Kernel& k) {
    Dim T = k.dim("T"), S = k.dim("S");
    auto x = k.in<bf16>("x", {T, 3, 64});
    auto y = k.out<bf16>("y", {T, 3, 64}), raw = k.out<bf16>("raw", {S, 64});
    Index first = k.scalar_i32("first"), count = k.scalar_i32("count"), head = k.scalar_i32("head");
    auto tile = k.staged<bf16>("tile", 2, {32, 64});
    Role load_ = k.role("load", one_thread()), save = k.role("save", one_thread());
    Ring ring = k.ring("ring", 2, load_, {save}, tile);
    Index tiles = ceil_div(S.index(), 32);
    load_([&] {
      for_(tiles, [&](Index i) {
        Stage s = ring.acquire();
        ring.tma_load(s, tile, x.ragged_tile(first, count, {i * 32, head, 0}, {32, 1, 64}));
      });
    });
    save([&] {
      for_(tiles, [&](Index i) {
        Stage s = ring.wait();
        tma_store(y.ragged_tile(first, count, {i * 32, head, 0}, {32, 1, 64}), tile[s]);
        tma_store(raw.tile({i * 32, 0}, {32, 64}), tile[s]);  // what was in shared memory
        k.store_wait(0);
        ring.release(s);
      });
      k.store_wait_complete();
    });
  });
}

TEST(Ragged, RowsPastTheEndReadZeroAndAreNotWritten) {
  auto program = ragged_copy();
  struct { int T, first, count; } cases[] = {{100, 10, 40}, {100, 0, 100}, {100, 60, 40}, {100, 7, 1}, {100, 99, 1}, {100, 50, 0}, {64, 0, 32}};
  for (auto c : cases)
    for (int head : {0, 2}) {
      SCOPED_TRACE(testing::Message() << "rows " << c.first << " to " << c.first + c.count << " of " << c.T << ", head " << head);
      auto x = noise("bf16", {c.T, 3, 64}, 1);
      auto inside = [&](std::int64_t t, std::int64_t h) { return h == head && t >= c.first && t < c.first + c.count; };
      for (std::int64_t i = 0; i < x.count(); ++i)
        if (!inside(i / 192, i / 64 % 3)) x.values[i] = kNaN;  // neighbours must not leak
      const int S = (c.count + 31) / 32 * 32 + 32;           // one tile more than the sequence has
      Launch run(program);
      run.in("x", x).out("y", "bf16", {c.T, 3, 64}).out("raw", "bf16", {S, 64});
      run.scalar("first", std::int64_t{c.first}).scalar("count", std::int64_t{c.count}).scalar("head", std::int64_t{head}).run();
      expect_matrix(run["raw"], 0, [&](auto r, auto col) { return r < c.count ? x.values[((c.first + r) * 3 + head) * 64 + col] : 0.0; });
      for (std::int64_t i = 0; i < x.count(); ++i) {
        if (inside(i / 192, i / 64 % 3)) ASSERT_EQ(run["y"].values[i], x.values[i]) << "row " << i / 192;
        else ASSERT_TRUE(std::isnan(run["y"].values[i])) << "row " << i / 192 << " of head " << i / 64 % 3 << " was written";
      }
    }
}

TEST(Boxes, OfATensorOfRankFour) {
  auto program = kernel("rank4", [](Kernel& k) {
    Dim B = k.dim("B");
    auto x = k.in<f32>("x", {B, 4, 16, 32});
    auto y = k.out<f32>("y", {B, 4, 16, 32});
    auto [b, h, u] = k.grid(B, 4);
    auto tile = k.staged<f32>("tile", 1, {16, 32});
    Role all = k.role("all", one_thread());
    Ring ring = k.ring("ring", 1, all, {all}, tile);
    all([&] {
      Stage s = ring.acquire();
      ring.tma_load(s, tile, x.tile({b, h, 0, 0}, {1, 1, 16, 32}));
      s = ring.wait();
      tma_store(y.tile({b, k.index(3) - h, 0, 0}, {1, 1, 16, 32}), tile[s]);
      k.store_wait_complete();
      ring.release(s);
    });
  });
  auto x = noise("f32", {3, 4, 16, 32}, 2);
  Launch run(program);
  run.in("x", x).out("y", "f32", {3, 4, 16, 32}).run();
  for (std::int64_t i = 0; i < x.count(); ++i) {
    auto b = i / 2048, h = i / 512 % 4, rest = i % 512;
    ASSERT_EQ(run["y"].values[(b * 4 + 3 - h) * 512 + rest], x.values[i]);
  }
}

/// Loads a box of 64 x 128 that begins at (row, col) of a tensor of 100 x 200, and stores it there too where `back`.
void edge(int row, int col, bool back = true) {
  auto program = kernel("edges", [=](Kernel& k) {
    Dim M = k.dim("M"), N = k.dim("N");
    auto x = k.in<f16>("x", {M, N});
    auto y = k.out<f16>("y", {M, N}), raw = k.out<f16>("raw", {64, 128});
    Index r = k.scalar_i32("row"), c = k.scalar_i32("col");
    auto tile = k.staged<f16>("tile", 1, {64, 128});
    Role all = k.role("all", one_thread());
    Ring ring = k.ring("ring", 1, all, {all}, tile);
    all([&] {
      Stage s = ring.acquire();
      ring.tma_load(s, tile, x.tile({r, c}, {64, 128}));
      s = ring.wait();
      if (back) tma_store(y.tile({r, c}, {64, 128}), tile[s]);
      tma_store(raw.tile({0, 0}, {64, 128}), tile[s]);
      k.store_wait_complete();
      ring.release(s);
    });
  });
  auto x = noise("f16", {100, 200}, 3);
  SCOPED_TRACE(testing::Message() << "box at " << row << ", " << col);
  Launch run(program);
  run.in("x", x).out("y", "f16", {100, 200}).out("raw", "f16", {64, 128}).scalar("row", std::int64_t{row}).scalar("col", std::int64_t{col}).run();
  expect_matrix(run["raw"], 0, [&](auto r, auto c) {
    bool inside = r + row >= 0 && r + row < 100 && c + col >= 0 && c + col < 200;
    return inside ? x.at(r + row, c + col) : 0.0;
  });
  for (int r = 0; r < 100; ++r)
    for (int c = 0; c < 200; ++c) {
      bool written = back && r >= row && r < row + 64 && c >= col && c < col + 128;
      if (written) ASSERT_EQ(run["y"].at(r, c), x.at(r, c));
      else ASSERT_TRUE(std::isnan(run["y"].at(r, c))) << r << ", " << c;
    }
}
TEST(Boxes, Inside) { edge(20, 40); }
TEST(Boxes, PastTheLastRow) { edge(70, 0); }
TEST(Boxes, PastTheLastColumn) { edge(0, 104); }
TEST(Boxes, PastTheLastColumnByAPanel) { edge(0, 160); }
TEST(Boxes, PastBothEnds) { edge(70, 160); }
TEST(Boxes, LoadedFromBeforeTheFirstRow) { edge(-20, 0, false); }
TEST(Boxes, LoadedFromBeforeTheFirstColumn) { edge(0, -40, false); }

TEST(Boxes, StoredByTwoRolesAtOnce) {
  auto program = kernel("two_stores", [](Kernel& k) {
    auto y = k.out<f32>("y", {32, 32});
    Role even = k.role("even", warps(1)), odd = k.role("odd", warps(1));
    auto a = k.shared<f32>("a", {16, 32}), b = k.shared<f32>("b", {16, 32});
    auto body = [&](const Shared<f32>& tile, int first) {
      for (int r = 0; r < 16; ++r) tile.write(r, k.lane(), to_real(k.lane() + (first + r) * 100));
      k.fence_async();
      k.warp_sync();
      if_(k.lane() == 0, [&] {
        tma_store(y.tile({first, 0}, {16, 32}), tile);
        k.store_wait_complete();
      });
    };
    even([&] { body(a, 0); });
    odd([&] { body(b, 16); });
  });
  Launch run(program);
  run.out("y", "f32", {32, 32}).run();
  expect_matrix(run["y"], 0, [](auto r, auto c) { return r * 100 + c; });
}

}  // namespace
}  // namespace tilewright::test
