// Rings: trip counts around the number of stages, tiles written by hand, several consumers, rings in rings.
#include "tests/device/launch.h"

namespace tilewright::test {
namespace {

TEST(Ring, AnyNumberOfTrips) {
  for (int stages : {1, 2, 3}) {
    auto program = kernel("trips", [=](Kernel& k) {
      Dim n = k.dim("n");
      auto x = k.in<f32>("x", {n, 8, 32});
      auto y = k.out<f32>("y", {8, 32});
      auto tile = k.staged<f32>("tile", stages, {8, 32});
      Role load_ = k.role("load", one_thread()), sum = k.role("sum", warps(1));
      Ring ring = k.ring("ring", stages, load_, {sum}, tile);
      load_([&] {
        for_(n, [&](Index i) {
          Stage s = ring.acquire();
          ring.tma_load(s, tile, x.tile({i, 0, 0}, {1, 8, 32}));
        });
      });
      sum([&] {
        std::vector<Var<Real>> total;
        for (int r = 0; r < 8; ++r) total.emplace_back(k.real(0.0));
        for_(n, [&](Index i) {
          Stage s = ring.wait();
          for (int r = 0; r < 8; ++r) total[r].set(total[r].get() * 0.5 + tile[s].read(r, k.lane()) + to_real(i));
          ring.release(s);
        });
        for (int r = 0; r < 8; ++r) y.write({r, k.lane()}, total[r].get());
      });
    });
    for (int n : {0, 1, stages - 1, stages, stages + 1, 2 * stages, 17}) {
      SCOPED_TRACE(testing::Message() << n << " trips, " << stages << " stages");
      auto x = noise("f32", {n, 8, 32}, 1);
      Launch run(program);
      run.in("x", x).out("y", "f32", {8, 32}).run();
      expect_matrix(run["y"], 1e-4, [&](auto r, auto c) {
        double total = 0;
        for (int i = 0; i < n; ++i) total = total * 0.5 + x.values[(i * 8 + r) * 32 + c] + i;
        return total;
      });
    }
  }
}

TEST(Ring, TilesWrittenByHandFeedAProduct) {
  auto program = kernel("handed", [](Kernel& k) {
    Dim n = k.dim("n");
    auto x = k.in<f32>("x", {n, 64, 64});
    auto y = k.out<f32>("y", {64, 64});
    auto tile = k.staged<bf16>("tile", 2, {64, 64});
    Role make = k.role("make", warpgroups(1)), math = k.role("math", warpgroups(1));
    Ring ring = k.ring("ring", 2, make, {math}, tile);
    make([&] {
      auto f = k.frag<f32>({64, 64});
      for_(n, [&](Index i) {
        load_global(f, x, {i, 0, 0}, 1, 2);
        Stage s = ring.acquire();
        store(tile[s], map<bf16>([](Index r, Index c, Real v) { return select(r >= c, v, 0.0); }, f));
        ring.commit(s);
      });
    });
    math([&] {
      auto acc = k.frag<f32>({64, 64});
      fill(acc, 0.0);
      for_(n, [&](Index) {
        Stage s = ring.wait();
        gemm_add(acc, tile[s], tile[s].t());
        settle(k.batch());
        ring.release(s);
      });
      store_global(y, {0, 0}, acc, 0, 1);
    });
  });
  for (int n : {0, 1, 2, 5}) {
    auto x = noise("f32", {n, 64, 64}, 2);
    Launch run(program);
    run.in("x", x).out("y", "f32", {64, 64}).run();
    expect_matrix(run["y"], 1e-3, [&](auto r, auto c) {
      double sum = 0;
      for (int i = 0; i < n; ++i)
        for (int j = 0; j <= std::min(r, c); ++j) sum += rounded("bf16", x.values[(i * 64 + r) * 64 + j]) * rounded("bf16", x.values[(i * 64 + c) * 64 + j]);
      return sum;
    });
  }
}

TEST(Ring, BytesAndOrdinaryWritesOfOneStage) {
  auto program = kernel("mixed", [](Kernel& k) {
    Dim n = k.dim("n");
    auto x = k.in<f32>("x", {n, 32});
    auto y = k.out<f32>("y", {n, 32});
    auto copied = k.staged<f32>("copied", 2, {1, 32}), made = k.staged<f32>("made", 2, {1, 32});
    Role make = k.role("make", warps(1)), use = k.role("use", warps(1));
    Ring ring = k.ring("ring", 2, make, {use}, copied, made);
    make([&] {
      for_(n, [&](Index i) {
        Stage s = ring.acquire();
        ring.tma_load(s, copied, x.tile({i, 0}, {1, 32}));
        made[s].write(0, k.lane(), to_real(i * 32 + k.lane()));
        ring.commit(s);
      });
    });
    use([&] {
      for_(n, [&](Index i) {
        Stage s = ring.wait();
        y.write({i, k.lane()}, copied[s].read(0, k.lane()) + made[s].read(0, k.lane()));
        ring.release(s);
      });
    });
  });
  auto x = noise("f32", {9, 32}, 3);
  Launch run(program);
  run.in("x", x).out("y", "f32", {9, 32}).run();
  expect_matrix(run["y"], 1e-4, [&](auto r, auto c) { return x.at(r, c) + r * 32 + c; });
}

TEST(Ring, SeveralConsumersOfDifferentSizes) {
  auto program = kernel("consumers", [](Kernel& k) {
    Dim n = k.dim("n");
    auto x = k.in<f32>("x", {n, 128});
    auto y = k.out<f32>("y", {3, n, 128});
    auto tile = k.staged<f32>("tile", 2, {1, 128});
    Role load_ = k.role("load", one_thread());
    Role a = k.role("a", warpgroups(1)), b = k.role("b", warps(1)), c = k.role("c", one_thread());
    Ring ring = k.ring("ring", 2, load_, {a, b, c}, tile);
    load_([&] {
      for_(n, [&](Index i) {
        Stage s = ring.acquire();
        ring.tma_load(s, tile, x.tile({i, 0}, {1, 128}));
      });
    });
    a([&] {
      for_(n, [&](Index i) {
        Stage s = ring.wait();
        y.write({0, i, k.thread()}, tile[s].read(0, k.thread()));
        ring.release(s);
      });
    });
    b([&] {
      for_(n, [&](Index i) {
        Stage s = ring.wait();
        for (int j = 0; j < 4; ++j) y.write({1, i, k.lane() + 32 * j}, tile[s].read(0, k.lane() + 32 * j) * 2.0);
        ring.release(s);
      });
    });
    c([&] {
      for_(n, [&](Index i) {
        Stage s = ring.wait();
        for_(k.index(128), [&](Index j) { y.write({2, i, j}, tile[s].read(0, j) * 3.0); });
        ring.release(s);
      });
    });
  });
  auto x = noise("f32", {7, 128}, 4);
  Launch run(program);
  run.in("x", x).out("y", "f32", {3, 7, 128}).run();
  expect_matrix(run["y"], 1e-5, [&](auto r, auto c) { return x.at(r % 7, c) * (r / 7 + 1); });
}

TEST(Ring, PositionsRunOnThroughNestedLoops) {
  auto program = kernel("nested", [](Kernel& k) {
    Dim n = k.dim("n"), m = k.dim("m");
    auto x = k.in<f32>("x", {n, m, 32});
    auto y = k.out<f32>("y", {n, 32});
    auto tile = k.staged<f32>("tile", 3, {1, 32}), sums = k.staged<f32>("sums", 2, {1, 32});
    Role load_ = k.role("load", one_thread()), add = k.role("add", warps(1)), save = k.role("save", warps(1));
    Ring ring = k.ring("in", 3, load_, {add}, tile), out = k.ring("out", 2, add, {save}, sums);
    load_([&] {
      for_(n, [&](Index i) {
        for_(m, [&](Index j) {
          Stage s = ring.acquire();
          ring.tma_load(s, tile, x.tile({i, j, 0}, {1, 1, 32}));
        });
      });
    });
    add([&] {
      for_(n, [&](Index) {
        Var<Real> total(k.real(0.0));
        for_(m, [&](Index) {
          Stage s = ring.wait();
          total.set(total.get() + tile[s].read(0, k.lane()));
          ring.release(s);
        });
        Stage to = out.acquire();
        sums[to].write(0, k.lane(), total.get());
        out.commit(to);
      });
    });
    save([&] {
      for_(n, [&](Index i) {
        Stage s = out.wait();
        y.write({i, k.lane()}, sums[s].read(0, k.lane()));
        out.release(s);
      });
    });
  });
  for (auto [n, m] : {std::pair{5, 4}, {4, 3}, {1, 7}, {3, 1}}) {
    auto x = noise("f32", {n, m, 32}, 5);
    Launch run(program);
    run.in("x", x).out("y", "f32", {n, 32}).run();
    expect_matrix(run["y"], 1e-5, [&](auto r, auto c) {
      double total = 0;
      for (int j = 0; j < m; ++j) total += x.values[(r * m + j) * 32 + c];
      return total;
    });
  }
}

TEST(Overlay, OneTileTakesOverAnother) {
  auto program = kernel("overlaid", [](Kernel& k) {
    auto x = k.in<bf16>("x", {64, 64});
    auto y = k.out<f32>("y", {64, 64});
    auto tile = k.staged<bf16>("tile", 1, {64, 64});
    auto result = k.shared<f32>("result", {64, 64});
    k.overlay(result, tile);
    Role all = k.role("all", warpgroups(1));
    Ring ring = k.ring("ring", 1, all, {all}, tile);
    all([&] {
      Stage s = ring.acquire();
      ring.tma_load(s, tile, x.tile({0, 0}, {64, 64}));
      s = ring.wait();
      auto acc = k.frag<f32>({64, 64});
      gemm_zero(acc, tile[s], tile[s].t());
      settle(k.batch());
      ring.release(s);
      k.sync();
      store(result, acc);
      k.sync();
      if_(k.thread() == 0, [&] {
        tma_store(y.tile({0, 0}, {64, 64}), result);
        k.store_wait_complete();
      });
    });
  });
  auto x = noise("bf16", {64, 64}, 6);
  Launch run(program);
  run.in("x", x).out("y", "f32", {64, 64}).run();
  expect_matrix(run["y"], 1e-3, [&](auto r, auto c) {
    return dot(64, [&](auto i, auto j) { return x.at(i, j); }, [&](auto i, auto j) { return x.at(j, i); }, r, c);
  });
}

}  // namespace
}  // namespace tilewright::test
