// Fragments to and from shared and global memory, in either direction.
#include "tests/device/launch.h"

namespace tilewright::test {
namespace {

template <class T>
std::string name_of() {
  return T::element == Element::f32 ? "f32" : T::element == Element::bf16 ? "bf16" : "f16";
}

/// x -> tile (element by element) -> fragment -> second tile -> y. `in_t`, `out_t`: the tile holds the fragment's transpose.
template <ElementTag T>
void through_fragment(int groups, int R, int C, bool in_t, bool out_t, int pad) {
  SCOPED_TRACE(testing::Message() << name_of<T>() << " [" << R << ", " << C << "]" << (in_t ? " read transposed" : "")
                                  << (out_t ? " stored transposed" : "") << ", pad " << pad);
  const int ir = in_t ? C : R, ic = in_t ? R : C, orows = out_t ? C : R, oc = out_t ? R : C;
  auto program = kernel("through_fragment", [=](Kernel& k) {
    auto x = k.in<T>("x", {ir, ic});
    auto y = k.out<T>("y", {orows, oc});
    auto a = k.shared<T>("a", {ir, ic}, pad), b = k.shared<T>("b", {orows, oc}, pad);
    Role all = k.role("all", warpgroups(groups));
    all([&] {
      for_range(k.thread(), k.index(ir * ic), 128 * groups, [&](Index i) { a.write(i / ic, i % ic, x.read({i / ic, i % ic})); });
      k.sync();
      auto f = k.frag<T>({R, C});
      if (in_t) load(f, a.t());
      else load(f, a);
      if (out_t) store(b.t(), f);
      else store(b, f);
      k.sync();
      for_range(k.thread(), k.index(orows * oc), 128 * groups, [&](Index i) { y.write({i / oc, i % oc}, b.read(i / oc, i % oc)); });
    });
  });
  auto x = noise(name_of<T>(), {ir, ic}, 1);
  Launch run(program);
  run.in("x", x).out("y", name_of<T>(), {orows, oc}).run();
  expect_matrix(run["y"], 0, [&](auto r, auto c) { return in_t == out_t ? x.at(r, c) : x.at(c, r); });
}

TEST(Move, SharedTilesPlain) {
  through_fragment<bf16>(1, 64, 64, false, false, 0);
  through_fragment<f16>(1, 64, 128, false, false, 0);
  through_fragment<f32>(1, 64, 64, false, false, 0);
  through_fragment<bf16>(2, 128, 192, false, false, 0);
}
TEST(Move, SharedTilesReadTransposed) {
  through_fragment<bf16>(1, 64, 64, true, false, 0);
  through_fragment<f16>(1, 64, 128, true, false, 0);
  through_fragment<f32>(1, 64, 32, true, false, 0);
  through_fragment<bf16>(2, 128, 64, true, false, 0);
}
TEST(Move, SharedTilesStoredTransposed) {
  through_fragment<bf16>(1, 64, 64, false, true, 0);
  through_fragment<f16>(2, 128, 64, false, true, 0);
  through_fragment<f32>(1, 64, 40, false, true, 0);
}
TEST(Move, BothTransposed) {
  through_fragment<bf16>(1, 64, 64, true, true, 0);
  through_fragment<f32>(2, 128, 16, true, true, 0);
}
TEST(Move, RowMajorTiles) {
  through_fragment<bf16>(1, 64, 64, false, false, 16);
  through_fragment<bf16>(1, 64, 32, false, false, 16);
  through_fragment<f16>(1, 64, 64, true, false, 16);
  through_fragment<f32>(1, 64, 24, false, true, 16);
}
TEST(Move, OddNumberOfColumnBlocks) {  // columns a multiple of 8 but not of 16
  through_fragment<bf16>(1, 64, 8, false, false, 0);
  through_fragment<bf16>(1, 64, 24, false, false, 16);
  through_fragment<f32>(1, 64, 8, false, false, 0);
}

TEST(Move, GlobalRowsOfOddLength) {
  auto program = kernel("odd", [](Kernel& k) {
    auto x = k.in<f32>("x", {64, 25}), y = k.out<f32>("y", {64, 25});
    auto h = k.in<bf16>("h", {64, 25}), z = k.out<bf16>("z", {64, 25});
    Role all = k.role("all", warpgroups(1));
    all([&] {
      auto f = k.frag<f32>({64, 16});
      load_global(f, x, {0, 3}, 0, 1);
      store_global(y, {0, 9}, f, 0, 1);
      auto g = k.frag<bf16>({64, 16});
      load_global(g, h, {0, 9}, 0, 1);
      store_global(z, {0, 1}, g, 0, 1);
    });
  });
  auto x = noise("f32", {64, 25}, 1), h = noise("bf16", {64, 25}, 2);
  Launch run(program);
  run.in("x", x).in("h", h).out("y", "f32", {64, 25}).out("z", "bf16", {64, 25}).run();
  for (int r = 0; r < 64; ++r)
    for (int c = 0; c < 16; ++c) {
      ASSERT_EQ(run["y"].at(r, c + 9), x.at(r, c + 3));
      ASSERT_EQ(run["z"].at(r, c + 1), h.at(r, c + 9));
    }
}

template <ElementTag T>
void global(int groups, int R, int C, bool columns_first) {
  SCOPED_TRACE(testing::Message() << name_of<T>() << " [" << R << ", " << C << "]" << (columns_first ? ", columns along axis 0" : ""));
  const int d0 = columns_first ? C : R, d1 = columns_first ? R : C;
  auto program = kernel("global", [=](Kernel& k) {
    Dim N = k.dim("N");
    auto x = k.in<T>("x", {N, d0, d1});
    auto y = k.out<T>("y", {N, d0, d1});
    auto [n, u1, u2] = k.grid(N);
    Role all = k.role("all", warpgroups(groups));
    all([&] {
      auto f = k.frag<T>({R, C});
      load_global(f, x, {n, 0, 0}, columns_first ? 2 : 1, columns_first ? 1 : 2);
      map_to(f, [](Index r, Index c, Real v) { return select(r == c, 0.5, v); }, f);
      store_global(y, {n, 0, 0}, f, columns_first ? 2 : 1, columns_first ? 1 : 2);
    });
  });
  auto x = noise(name_of<T>(), {3, d0, d1}, 1);
  Launch run(program);
  run.in("x", x).out("y", name_of<T>(), {3, d0, d1}).run();
  for (std::int64_t i = 0; i < x.count(); ++i) {
    std::int64_t a = i / d1 % d0, b = i % d1;
    ASSERT_EQ(run["y"].values[i], a == b ? 0.5 : x.values[i]) << "element " << i;
  }
}

TEST(Move, GlobalRowsFirst) {
  global<f32>(1, 64, 128, false);
  global<f32>(2, 128, 24, false);
  global<bf16>(1, 64, 64, false);
  global<f16>(2, 128, 40, false);
}
TEST(Move, GlobalColumnsFirst) {
  global<f32>(1, 64, 128, true);
  global<f32>(2, 128, 24, true);
  global<bf16>(1, 64, 64, true);
  global<f16>(1, 64, 40, true);
}

TEST(Move, Views) {
  auto program = kernel("views", [](Kernel& k) {
    auto x = k.in<bf16>("x", {128, 128});
    auto y = k.out<bf16>("y", {64, 64});
    auto tile = k.shared<bf16>("tile", {128, 128});
    Role all = k.role("all", warpgroups(1));
    Index at = k.scalar_i32("row");
    all([&] {
      for_range(k.thread(), k.index(128 * 128), 128, [&](Index i) { tile.write(i / 128, i % 128, x.read({i / 128, i % 128})); });
      k.sync();
      auto f = k.frag<bf16>({64, 64});
      load(f, tile.view(at, 64, {64, 64}));                     // run-time row, constant column
      store(tile.view(64, at * 0, {64, 64}), f);
      k.sync();
      auto sub = tile.view(64, 0, {64, 64});
      for_range(k.thread(), k.index(64 * 64), 128, [&](Index i) { y.write({i / 64, i % 64}, sub.read(i / 64, i % 64)); });
    });
  });
  auto x = noise("bf16", {128, 128}, 1);
  for (int row : {0, 8, 32}) {
    Launch run(program);
    run.in("x", x).out("y", "bf16", {64, 64}).scalar("row", std::int64_t{row}).run();
    expect_matrix(run["y"], 0, [&](auto r, auto c) { return x.at(r + row, c + 64); });
  }
}

TEST(Move, ViewsThatBeginInsideASwizzledPanel) {
  for (bool constant : {false, true}) {
    auto program = kernel("inside", [=](Kernel& k) {
      auto x = k.in<bf16>("x", {64, 128});
      auto y = k.out<bf16>("y", {64, 128});
      auto a = k.shared<bf16>("a", {64, 128}), b = k.shared<bf16>("b", {64, 128});
      Role all = k.role("all", warpgroups(1));
      Index column = k.scalar_i32("column");
      all([&] {
        for_range(k.thread(), k.index(64 * 128), 128, [&](Index i) {
          a.write(i / 128, i % 128, x.read({i / 128, i % 128}));
          b.write(i / 128, i % 128, k.real(0.0));
        });
        k.sync();
        auto f = k.frag<bf16>({64, 48});
        load(f, constant ? a.view(0, 40, {64, 48}) : a.view(0, column, {64, 48}));
        store(constant ? b.view(0, 16, {64, 48}) : b.view(0, column - 24, {64, 48}), f);
        k.sync();
        for_range(k.thread(), k.index(64 * 128), 128, [&](Index i) { y.write({i / 128, i % 128}, b.read(i / 128, i % 128)); });
      });
    });
    auto x = noise("bf16", {64, 128}, 1);
    Launch run(program);
    run.in("x", x).out("y", "bf16", {64, 128}).scalar("column", std::int64_t{40}).run();
    expect_matrix(run["y"], 0, [&](auto r, auto c) { return c >= 16 && c < 64 ? x.at(r, c + 24) : 0.0; });
  }
}

template <ElementTag T>
void vectors() {
  SCOPED_TRACE(name_of<T>());
  auto program = kernel("vectors", [](Kernel& k) {
    auto x = k.in<T>("x", {2, 64});
    auto y = k.out<f32>("y", {64, 64});
    auto z = k.out<T>("z", {2, 64});
    auto tile = k.shared<T>("tile", {2, 64}), back = k.shared<T>("back", {2, 64});
    Role all = k.role("all", warpgroups(1));
    all([&] {
      if_(k.thread() < 64, [&] {
        for (int i = 0; i < 2; ++i) tile.write(i, k.thread(), x.read({i, k.thread()}));
      });
      k.sync();
      auto row = k.frag<T>({1, 64}), col = k.frag<T>({64, 1});
      load(row, tile.row(0));
      load(col, tile.row(1).t());
      auto outer = k.frag<f32>({64, 64});
      map_to(outer, [](Real a, Real b) { return a - b * 2.0; }, row, col);
      store_global(y, {0, 0}, outer, 0, 1);
      store(back.row(0), row);
      store(back.row(1).t(), col);
      k.sync();
      if_(k.thread() < 64, [&] {
        for (int i = 0; i < 2; ++i) z.write({i, k.thread()}, back.read(i, k.thread()));
      });
    });
  });
  auto x = noise(name_of<T>(), {2, 64}, 1);
  Launch run(program);
  run.in("x", x).out("y", "f32", {64, 64}).out("z", name_of<T>(), {2, 64}).run();
  expect_matrix(run["y"], 1e-6, [&](auto r, auto c) { return x.at(0, c) - 2 * x.at(1, r); });
  expect_matrix(run["z"], 0, [&](auto r, auto c) { return x.at(r, c); });
}
TEST(Move, Vectors) {
  vectors<f32>();
  vectors<bf16>();
  vectors<f16>();
}

}  // namespace
}  // namespace tilewright::test
