// Elementwise maps, broadcasts and reductions.
#include <cmath>

#include "tests/device/launch.h"

namespace tilewright::test {
namespace {

/// A kernel of one role of `groups` warpgroups; x [64 groups, N] f32 comes in as a fragment, what `body` returns goes out as y.
template <class F>
Program on_fragment(int groups, int N, F body) {
  return kernel("on_fragment", [=](Kernel& k) {
    auto x = k.in<f32>("x", {64 * groups, N});
    auto y = k.out<f32>("y", {64 * groups, N});
    Role all = k.role("all", warpgroups(groups));
    all([&] {
      auto f = k.frag<f32>({64 * groups, N}, "x");
      load_global(f, x, {0, 0}, 0, 1);
      Frag<f32> result = body(k, f);
      store_global(y, {0, 0}, result, 0, 1);
    });
  });
}

TEST(Map, RowAndColumnIndex) {
  for (int groups : {1, 2}) {
    auto program = on_fragment(groups, 40, [](Kernel&, const Frag<f32>& x) {
      return map<f32>([](Index r, Index c, Real v) { return select(r >= c, v + to_real(r * 100 + c), -1.0); }, x);
    });
    auto x = noise("f32", {64 * groups, 40}, 1);
    Launch run(program);
    run.in("x", x).out("y", "f32", {64 * groups, 40}).run();
    expect_matrix(run["y"], 1e-3, [&](auto r, auto c) { return r >= c ? x.at(r, c) + r * 100 + c : -1.0; });
  }
}

TEST(Map, BroadcastsVectors) {
  auto program = kernel("broadcast", [](Kernel& k) {
    auto x = k.in<f32>("x", {128, 72}), rows = k.in<f32>("rows", {1, 128}), cols = k.in<f32>("cols", {1, 72});
    auto y = k.out<f32>("y", {128, 72});
    auto row_tile = k.shared<f32>("row_tile", {1, 128}), col_tile = k.shared<f32>("col_tile", {1, 72});
    Role all = k.role("all", warpgroups(2));
    all([&] {
      Index t = k.thread();
      if_(t < 128, [&] { row_tile.write(0, t, rows.read({0, t})); });
      if_(t < 72, [&] { col_tile.write(0, t, cols.read({0, t})); });
      k.sync();
      auto f = k.frag<f32>({128, 72}), r = k.frag<f32>({128, 1}), c = k.frag<f32>({1, 72});
      load_global(f, x, {0, 0}, 0, 1);
      load(r, row_tile.t());
      load(c, col_tile);
      auto out = map<f32>([](Real v, Real a, Real b) { return v * a + b; }, f, r, c);
      out *= c;   // compound operators broadcast as well
      out += r;
      out -= c;
      scale(out, k.real(0.5));
      store_global(y, {0, 0}, out, 0, 1);
    });
  });
  auto x = noise("f32", {128, 72}, 1), rows = noise("f32", {1, 128}, 2), cols = noise("f32", {1, 72}, 3);
  Launch run(program);
  run.in("x", x).in("rows", rows).in("cols", cols).out("y", "f32", {128, 72}).run();
  expect_matrix(run["y"], 1e-5, [&](auto r, auto c) {
    double a = rows.values[r], b = cols.values[c];
    return 0.5 * ((x.at(r, c) * a + b) * b + a - b);
  });
}

TEST(Map, TwoResultsAndCasts) {
  auto program = on_fragment(1, 64, [](Kernel&, const Frag<f32>& x) {
    auto [twice, square] = map2<bf16, f16>([](Real v) { return std::array{v + v, v * v}; }, x);
    return map<f32>([](Real a, Real b) { return a - b; }, twice, square);
  });
  auto x = noise("f32", {64, 64}, 4);
  Launch run(program);
  run.in("x", x).out("y", "f32", {64, 64}).run();
  expect_matrix(run["y"], 1e-6, [&](auto r, auto c) {
    double v = x.at(r, c);
    return rounded("bf16", 2 * v) - rounded("f16", v * v);
  });
}

TEST(Map, ScalarMathematics) {
  auto program = on_fragment(1, 16, [](Kernel&, const Frag<f32>& x) {
    return map<f32>([](Real v) {
      Real p = max(v, 0.125);  // positive
      return exp2(v) + log2(p) * reciprocal(p) + min(v, 0.25) / (p + 1.0) - (-v);
    }, x);
  });
  auto x = noise("f32", {64, 16}, 5);
  Launch run(program);
  run.in("x", x).out("y", "f32", {64, 16}).run();
  expect_matrix(run["y"], 2e-5, [&](auto r, auto c) {
    double v = x.at(r, c), p = std::max(v, 0.125);
    return std::exp2(v) + std::log2(p) / p + std::min(v, 0.25) / (p + 1) + v;
  });
}

TEST(Map, OntoItself) {
  auto program = on_fragment(1, 24, [](Kernel& k, const Frag<f32>& x) {
    auto y = k.frag<f32>({64, 24});
    fill(y, 2.0);
    map_to(y, [](Index, Index c, Real a, Real b) { return a * b + to_real(c); }, y, x);
    return y;
  });
  auto x = noise("f32", {64, 24}, 6);
  Launch run(program);
  run.in("x", x).out("y", "f32", {64, 24}).run();
  expect_matrix(run["y"], 1e-5, [&](auto r, auto c) { return 2 * x.at(r, c) + c; });
}

TEST(Reduce, SumAndMaximumOfRows) {
  for (int groups : {1, 2})
    for (int N : {8, 16, 72, 128}) {
      SCOPED_TRACE(testing::Message() << groups << " warpgroups, " << N << " columns");
      auto program = on_fragment(groups, N, [](Kernel&, const Frag<f32>& x) {
        auto sum = row_sum(x), top = row_max(x);
        return map<f32>([](Index, Index c, Real s, Real m, Real) { return select(c == 0, s, m); }, sum, top, x);
      });
      auto x = noise("f32", {64 * groups, N}, 7);
      Launch run(program);
      run.in("x", x).out("y", "f32", {64 * groups, N}).run();
      expect_matrix(run["y"], 1e-4, [&](auto r, auto c) {
        double sum = 0, top = -2;
        for (int j = 0; j < N; ++j) sum += x.at(r, j), top = std::max(top, x.at(r, j));
        return c == 0 ? sum : top;
      });
    }
}

TEST(Reduce, WithinEachWarp) {
  auto program = kernel("warp_rows", [](Kernel& k) {
    auto x = k.in<f32>("x", {64, 32}), y = k.out<f32>("y", {64, 32});
    Role all = k.role("all", warpgroups(1));
    all([&] {
      auto f = k.frag<f32>({16, 32});
      load_global(f, x, {k.warp() * 16, 0}, 0, 1);
      auto sum = row_sum(f);
      auto out = map<f32>([](Real a, Real s) { return a + s; }, f, sum);
      store_global(y, {k.warp() * 16, 0}, out, 0, 1);
    });
  });
  auto x = noise("f32", {64, 32}, 8);
  Launch run(program);
  run.in("x", x).out("y", "f32", {64, 32}).run();
  expect_matrix(run["y"], 1e-5, [&](auto r, auto c) {
    double sum = x.at(r, c);
    for (int j = 0; j < 32; ++j) sum += x.at(r, j);
    return sum;
  });
}

}  // namespace
}  // namespace tilewright::test
