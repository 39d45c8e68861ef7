// Scalars, variables, branches, loops, indices, shuffles, optional tensors, launch geometry.
#include "tests/device/launch.h"

namespace tilewright::test {
namespace {

/// One warp; y[lane] = body(k, lane).
template <class F>
Array per_lane(F body, std::int64_t a = 0, std::int64_t b = 0) {
  auto program = kernel("per_lane", [=](Kernel& k) {
    auto y = k.out<i32>("y", {32});
    Index p = k.scalar_i32("a"), q = k.scalar_i32("b");
    Role all = k.role("all", warps(1));
    all([&] { y.write({k.lane()}, body(k, p, q)); });
  });
  Launch run(program);
  run.out("y", "i32", {32}).scalar("a", a).scalar("b", b).run();
  return run["y"];
}
void expect_lanes(const Array& y, const std::function<int(int)>& f) {
  for (int lane = 0; lane < 32; ++lane) EXPECT_EQ(y.values[lane], f(lane)) << "lane " << lane;
}

TEST(Scalars, IntegerArithmetic) {
  for (int a : {0, 7, -13, 1000})
    for (int b : {1, 3, -5}) {
      auto y = per_lane([](Kernel& k, Index a, Index b) {
        Index x = k.lane() + a;
        return (x / b) * 100 + x % b + min(x, b) - max(x, 4) + ((x & 12) >> 2) + ceil_div(k.lane(), 5);
      }, a, b);
      expect_lanes(y, [&](int lane) {
        int x = lane + a;
        return x / b * 100 + x % b + std::min(x, b) - std::max(x, 4) + ((x & 12) >> 2) + (lane + 4) / 5;
      });
    }
}
TEST(Scalars, ComparisonsAndLogic) {
  auto y = per_lane([](Kernel& k, Index a, Index) {
    Index x = k.lane();
    Index one = k.index(1);
    auto bit = [&](Pred p, int at) { return select(p, one * (1 << at), 0); };
    return bit(x == a, 0) + bit(x != a, 1) + bit(x < a, 2) + bit(x <= a, 3) + bit(x > a, 4) + bit(x >= a, 5) + bit((x > 3) & (x < 9), 6) +
           bit((x < 3) | (x > 9), 7) + bit(!(x == 5), 8);
  }, 8);
  expect_lanes(y, [](int x) {
    return (x == 8) | (x != 8) << 1 | (x < 8) << 2 | (x <= 8) << 3 | (x > 8) << 4 | (x >= 8) << 5 | (x > 3 && x < 9) << 6 | (x < 3 || x > 9) << 7 |
           (x != 5) << 8;
  });
}
TEST(Control, BranchesAndVariables) {
  auto y = per_lane([](Kernel& k, Index a, Index) {
    Var<Index> v(k.index(1));
    if_(k.lane() > a, [&] { v.set(v.get() + 10); }, [&] { v.set(k.lane() * 3); });
    if_(k.lane() == 31, [&] {
      if_(a > 3, [&] { v.set(v.get() + 1000); });
    });
    return v.get();
  }, 6);
  expect_lanes(y, [](int lane) { return (lane > 6 ? 11 : lane * 3) + (lane == 31 ? 1000 : 0); });
}
TEST(Control, LoopsWithRunTimeBoundsAndSteps) {
  for (int n : {0, 1, 10})
    for (int step : {1, 3}) {
      auto y = per_lane([](Kernel& k, Index n, Index step) {
        Var<Index> total(k.index(0));
        for_range(k.lane(), n + 20, step, [&](Index i) {
          for_(n, [&](Index j) { total.set(total.get() + i * j + 1); });
        });
        return total.get();
      }, n, step);
      expect_lanes(y, [&](int lane) {
        int total = 0;
        for (int i = lane; i < n + 20; i += step)
          for (int j = 0; j < n; ++j) total += i * j + 1;
        return total;
      });
    }
}
TEST(Lanes, Shuffles) {
  auto y = per_lane([](Kernel& k, Index, Index) {
    Index sum = k.lane();
    for (int mask : {16, 8, 4, 2, 1}) sum = sum + k.shuffle_xor(sum, mask);
    return sum * 100 + k.shuffle_xor(k.lane(), 5);
  });
  expect_lanes(y, [](int lane) { return 49600 + (lane ^ 5); });

  auto program = kernel("real_shuffles", [](Kernel& k) {
    auto y = k.out<f32>("y", {2, 32});
    Role all = k.role("all", warps(1));
    all([&] {
      Real x = to_real(k.lane());
      y.write({0, k.lane()}, k.shuffle_up(x, 3));
      y.write({1, k.lane()}, k.shuffle(x, (k.lane() * 7) & 31));
    });
  });
  Launch run(program);
  run.out("y", "f32", {2, 32}).run();
  expect_matrix(run["y"], 0, [](auto r, auto c) { return r ? c * 7 % 32 : c < 3 ? c : c - 3; });
}
TEST(Lanes, IndicesOfThreadsInTheirRoles) {
  auto program = kernel("indices", [](Kernel& k) {
    auto y = k.out<i32>("y", {3, 256});
    Role one = k.role("one", one_thread()), pair = k.role("pair", warpgroups(2)), last = k.role("last", warps(1));
    auto body = [&](int row) { y.write({row, k.thread()}, k.warp() * 1000 + k.lane() + k.uniform(k.warp() * 100000)); };
    one([&] { y.write({0, 0}, k.thread()); });
    pair([&] { body(1); });
    last([&] { body(2); });
  });
  Launch run(program);
  run.out("y", "i32", {3, 256}).run();
  EXPECT_EQ(run["y"].at(0, 0), 0) << "role 'one' counts from 0 wherever its warp lies";
  for (int t = 0; t < 256; ++t) EXPECT_EQ(run["y"].at(1, t), t / 32 * 101000 + t % 32);
  for (int t = 0; t < 32; ++t) EXPECT_EQ(run["y"].at(2, t), t);
  EXPECT_EQ(run["y"].at(2, 32), -1);
}
TEST(Geometry, GridAndExtents) {
  auto program = kernel("grid", [](Kernel& k) {
    Dim M = k.dim("M"), N = k.dim("N");
    auto y = k.out<i32>("y", {M, N, 4});
    auto [x, yy, z] = k.grid(ceil_div(N, 2), M, 2);
    Role all = k.role("all", one_thread());
    all([&] {
      Index n = x * 2 + z;
      if_(n < N, [&] { for (int i = 0; i < 4; ++i) y.write({yy, n, i}, yy * 10000 + n * 100 + i + y.extent(0) * 1000000 + y.extent(2)); });
    });
  });
  Launch run(program);
  run.out("y", "i32", {3, 5, 4}).run();
  for (int i = 0; i < 60; ++i) EXPECT_EQ(run["y"].values[i], i / 20 * 10000 + i / 4 % 5 * 100 + i % 4 + 3000004);
}
TEST(Optional, TensorsThatAreNotGiven) {
  auto program = kernel("optional", [](Kernel& k) {
    auto x = k.optional_in<f32>("x", {32});
    auto y = k.out<f32>("y", {32});
    auto z = k.optional_out<f32>("z", {32});
    Real factor = k.scalar_f32("factor");
    Role all = k.role("all", warps(1));
    all([&] {
      Var<Real> v(k.real(7.0));
      if_(x.present(), [&] { v.set(x.read({k.lane()}) * factor); });
      y.write({k.lane()}, v.get());
      if_(z.present(), [&] { z.write({k.lane()}, v.get() + 1.0); });
    });
  });
  auto x = noise("f32", {32}, 1);
  for (bool with_x : {false, true})
    for (bool with_z : {false, true}) {
      Launch run(program);
      if (with_x) run.in("x", x);
      if (with_z) run.out("z", "f32", {32});
      run.out("y", "f32", {32}).scalar("factor", 3.0).run();
      for (int i = 0; i < 32; ++i) {
        double v = with_x ? 3.0 * x.values[i] : 7.0;
        EXPECT_NEAR(run["y"].values[i], v, 1e-6);
        if (with_z) EXPECT_NEAR(run["z"].values[i], v + 1, 1e-6);
      }
    }
}
TEST(Elements, SixtyFourBitIntegersAndHalves) {
  auto program = kernel("elements", [](Kernel& k) {
    auto l = k.in<i64>("l", {32});
    auto h = k.in<f16>("h", {32});
    auto b = k.in<bf16>("b", {32});
    auto y = k.out<f32>("y", {2, 32});
    auto hy = k.out<f16>("hy", {32});
    Role all = k.role("all", warps(1));
    all([&] {
      Index i = k.lane();
      y.write({0, i}, to_real(l.read({i}).index()));
      y.write({1, i}, h.read({i}) + b.read({i}));
      hy.write({i}, h.read({i}) * b.read({i}));
    });
  });
  auto l = array("i64", {32}, [](auto i) { return i * 1000 - 7; });
  auto h = noise("f16", {32}, 2), b = noise("bf16", {32}, 3);
  Launch run(program);
  run.in("l", l).in("h", h).in("b", b).out("y", "f32", {2, 32}).out("hy", "f16", {32}).run();
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(run["y"].at(0, i), i * 1000 - 7);
    EXPECT_NEAR(run["y"].at(1, i), h.values[i] + b.values[i], 1e-6);
    EXPECT_EQ(run["hy"].values[i], rounded("f16", h.values[i] * b.values[i]));
  }
}

}  // namespace
}  // namespace tilewright::test
