// Copies by threads and in bulk, slots, additions by TMA, deferred fences.
#include "tests/device/launch.h"

namespace tilewright::test {
namespace {

/// Two roles and a ring: `threads` copies rows of x by its threads, `math` multiplies them with themselves.
Program copied_product(Warps producer) {
  return kernel("copied_product", [=](Kernel& k) {
    Dim n = k.dim("n"), rows = k.dim("rows");
    auto x = k.in<bf16>("x", {n, rows, 128});
    auto y = k.out<f32>("y", {n, 64, 64});
    auto tile = k.staged<bf16>("tile", 2, {64, 64});
    Role copy = k.role("copy", producer), math = k.role("math", warpgroups(1));
    Ring ring = k.ring("ring", 2, copy, {math}, tile);
    copy([&] {
      for_(n, [&](Index i) {
        Stage s = ring.acquire();
        ring.copy_async(s, tile, x.tile({i, 8, 64}, {1, 64, 64}));
        ring.commit(s);
      });
    });
    math([&] {
      auto acc = k.frag<f32>({64, 64});
      for_(n, [&](Index i) {
        Stage s = ring.wait();
        gemm_zero(acc, tile[s], tile[s].t());
        settle(k.batch());
        ring.release(s);
        store_global(y, {i, 0, 0}, acc, 1, 2);
      });
    });
  });
}

TEST(CopyAsync, FillsARingWithZerosOutside) {
  for (auto producer : {warps(1), warpgroups(1)}) {
    auto program = copied_product(producer);
    for (int rows : {72, 41}) {
      auto x = noise("bf16", {5, rows, 128}, 1);
      Launch run(program);
      run.in("x", x).out("y", "f32", {5, 64, 64}).run();
      auto at = [&](auto i, auto r, auto c) { return r + 8 < rows ? x.values[(i * rows + r + 8) * 128 + 64 + c] : 0.0; };
      expect_matrix(run["y"], 1e-3, [&](auto r, auto c) {
        double sum = 0;
        for (int j = 0; j < 64; ++j) sum += at(r / 64, r % 64, j) * at(r / 64, c, j);
        return sum;
      });
    }
  }
}

TEST(CopyInOut, RaggedRowsByOrdinaryAccesses) {
  auto program = kernel("ragged_copies", [](Kernel& k) {
    Dim T = k.dim("T"), N = k.dim("N");
    auto x = k.in<f32>("x", {T, 2, 32});
    auto y = k.out<f32>("y", {T, 2, 32});
    auto cu = k.in<i32>("cu", {N});
    auto [n, head, z] = k.grid(3, 2);
    auto tile = k.shared<f32>("tile", {16, 32});
    k.role("all", warps(1))([&] {
      Index first = cu.read({n}), count = cu.read({n + 1}) - first;
      for_((count + 15) / 16, [&](Index i) {
        copy_in(tile, x.ragged_tile(first, count, {i * 16, head, 0}, {16, 1, 32}));
        k.sync();
        for (int r = 0; r < 16; ++r) tile.write(r, k.lane(), tile.read(r, k.lane()) * 2.0 + 1.0);
        k.sync();
        copy_out(y.ragged_tile(first, count, {i * 16, head, 0}, {16, 1, 32}), tile);
        k.sync();
      });
    });
  });
  auto x = noise("f32", {40, 2, 32}, 2);
  Launch run(program);
  run.in("x", x).in("cu", Array{"i32", {4}, {0, 17, 17, 35}}).out("y", "f32", {40, 2, 32}).run();
  for (int i = 0; i < 35 * 64; ++i) ASSERT_NEAR(run["y"].values[i], x.values[i] * 2 + 1, 1e-6) << i;
  expect_unwritten(run["y"], 35, 40);
}

TEST(BulkCopies, ContiguousElements) {
  auto program = kernel("bulk", [](Kernel& k) {
    Dim n = k.dim("n");
    auto x = k.in<bf16>("x", {n, 512});
    auto y = k.out<bf16>("y", {n, 512});
    auto tile = k.staged<bf16>("tile", 2, {4, 64});
    Role all = k.role("all", warps(1));
    Ring ring = k.ring("ring", 2, all, {all}, tile);
    all([&] {
      for_(n, [&](Index i) {
        Stage s = ring.acquire();
        ring.bulk_load(s, tile, x, {i, 256});
        s = ring.wait();
        for (int r = 0; r < 4; ++r)
          for (int c : {0, 32}) tile[s].write(r, k.lane() + c, tile[s].read(r, k.lane() + c) + 1.0);
        k.sync();
        if_(k.lane() == 0, [&] {
          bulk_store(y, {i, 128}, tile[s]);
          k.store_wait_complete();
        });
        ring.release(s);
      });
    });
  });
  auto x = noise("bf16", {3, 512}, 3);
  Launch run(program);
  run.in("x", x).out("y", "bf16", {3, 512}).run();
  for (int i = 0; i < 3; ++i)
    for (int c = 0; c < 256; ++c) ASSERT_EQ(run["y"].values[i * 512 + 128 + c], rounded("bf16", x.at(i, 256 + c) + 1)) << i << " " << c;
}

TEST(Slots, NoneReadsZerosAndStoresNothing) {
  auto program = kernel("slots", [](Kernel& k) {
    Dim n = k.dim("n"), slots = k.dim("slots");
    auto pool = k.inout<f32>("pool", {slots, 8, 32});
    auto from = k.in<i32>("from", {n}), to = k.in<i32>("to", {n});
    auto tile = k.staged<f32>("tile", 1, {8, 32});
    auto [i, j, z] = k.grid(4);
    Role all = k.role("all", warps(1));
    Ring ring = k.ring("ring", 1, all, {all}, tile);
    all([&] {
      Stage s = ring.acquire();
      ring.tma_load(s, tile, pool.tile_at(from.read({i}), {0, 0}, {8, 32}));
      s = ring.wait();
      for (int r = 0; r < 8; ++r) tile[s].write(r, k.lane(), tile[s].read(r, k.lane()) + 1.0);
      k.sync();
      if_(k.lane() == 0, [&] {
        tma_store(pool.tile_at(to.read({i}), {0, 0}, {8, 32}), tile[s]);
        k.store_wait_complete();
      });
      ring.release(s);
    });
  });
  auto pool = noise("f32", {6, 8, 32}, 4);
  Launch run(program);
  run.inout("pool", pool).in("from", Array{"i32", {4}, {-1, 2, 0, -1}}).in("to", Array{"i32", {4}, {1, -1, 4, 5}}).run();
  for (int slot = 0; slot < 6; ++slot)
    for (int e = 0; e < 256; ++e) {
      const double was = pool.values[slot * 256 + e];
      const double expected = slot == 1 || slot == 5 ? 1 : slot == 4 ? pool.values[e] + 1 : was;
      ASSERT_NEAR(run["pool"].values[slot * 256 + e], expected, 1e-6) << slot << " " << e;
    }
}

TEST(TmaReduce, CtasAddToOneTile) {
  auto program = kernel("added", [](Kernel& k) {
    auto x = k.in<f32>("x", {4, 64, 64});
    auto sum = k.inout<f32>("sum", {64, 64});
    auto half = k.inout<bf16>("half", {64, 64});
    auto tile = k.shared<f32>("tile", {64, 64});
    auto narrow = k.shared<bf16>("narrow", {64, 64});
    auto [cta, j, z] = k.grid(4);
    k.role("all", warpgroups(1))([&] {
      auto f = k.frag<f32>({64, 64});
      load_global(f, x, {cta, 0, 0}, 1, 2);
      store(tile, f);
      store(narrow, cast<bf16>(map<f32>([](Real v) { return select(v > 0.0, 1.0, 0.5); }, f)));
      k.sync();
      if_(k.thread() == 0, [&] {
        tma_reduce_add(sum.tile({0, 0}, {64, 64}), tile);
        tma_reduce_add(half.tile({0, 0}, {64, 64}), narrow);
        k.store_wait_complete();
      });
    });
  });
  auto x = noise("f32", {4, 64, 64}, 5);
  Launch run(program);
  run.in("x", x).inout("sum", array("f32", {64, 64}, [](auto i) { return static_cast<double>(i % 7); })).inout("half", array("bf16", {64, 64}, [](auto) { return 2; })).run();
  expect_matrix(run["sum"], 1e-5, [&](auto r, auto c) {
    double s = (r * 64 + c) % 7;
    for (int i = 0; i < 4; ++i) s += x.values[(i * 64 + r) * 64 + c];
    return s;
  });
  expect_matrix(run["half"], 0, [&](auto r, auto c) {
    double s = 2;
    for (int i = 0; i < 4; ++i) s += x.values[(i * 64 + r) * 64 + c] > 0 ? 1 : 0.5;
    return s;
  });
}

TEST(OptionalTiles, AbsentTmaOperands) {
  auto program = kernel("optional_tiles", [](Kernel& k) {
    auto x = k.in<f32>("x", {8, 32});
    auto start = k.optional_in<f32>("start", {8, 32});
    auto last = k.optional_out<f32>("last", {8, 32});
    auto y = k.out<f32>("y", {8, 32});
    auto tile = k.staged<f32>("tile", 1, {8, 32});
    Role all = k.role("all", warps(1));
    Ring ring = k.ring("ring", 1, all, {all}, tile);
    all([&] {
      std::vector<Var<Real>> v;
      for (int r = 0; r < 8; ++r) v.emplace_back(x.read({r, k.lane()}));
      if_(start.present(), [&] {
        Stage s = ring.acquire();
        ring.tma_load(s, tile, start.tile({0, 0}, {8, 32}));
        s = ring.wait();
        for (int r = 0; r < 8; ++r) v[r].set(v[r].get() + tile[s].read(r, k.lane()));
        ring.release(s);
      });
      for (int r = 0; r < 8; ++r) y.write({r, k.lane()}, v[r].get());
      if_(last.present(), [&] {
        Stage s = ring.acquire();
        for (int r = 0; r < 8; ++r) tile[s].write(r, k.lane(), v[r].get());
        k.sync();
        if_(k.lane() == 0, [&] {
          tma_store(last.tile({0, 0}, {8, 32}), tile[s]);
          k.store_wait_complete();
        });
      });
    });
  });
  auto x = noise("f32", {8, 32}, 6), start = noise("f32", {8, 32}, 7);
  for (int given : {0, 1, 2, 3}) {
    SCOPED_TRACE(given);
    Launch run(program);
    run.in("x", x).out("y", "f32", {8, 32});
    if (given & 1) run.in("start", start);
    if (given & 2) run.out("last", "f32", {8, 32});
    run.run();
    for (const char* name : {"y", "last"})
      if (*name == 'y' || given & 2) expect_matrix(run[name], 1e-6, [&](auto r, auto c) { return x.at(r, c) + (given & 1 ? start.at(r, c) : 0); });
  }
}

TEST(Fences, SeveralTilesUnderOne) {
  auto program = kernel("deferred", [](Kernel& k) {
    auto x = k.in<bf16>("x", {64, 64});
    auto y = k.out<f32>("y", {64, 64});
    auto a = k.shared<bf16>("a", {64, 64}), b = k.shared<bf16>("b", {64, 64});
    k.defer_fences(a, b);
    Role left = k.role("left", warpgroups(1)), right = k.role("right", warpgroups(1)), math = k.role("math", warpgroups(1));
    auto write = [&](const Shared<bf16>& tile, double factor) {
      auto f = k.frag<bf16>({64, 64});
      load_global(f, x, {0, 0}, 0, 1);
      store(tile, map<bf16>([&](Real v) { return v * factor; }, f));
      k.meet({left, right, math});
    };
    left([&] { write(a, 1.0); });
    right([&] { write(b, 2.0); });
    math([&] {
      k.meet({left, right, math});
      auto acc = k.frag<f32>({64, 64});
      gemm_zero(acc, a, b.t());
      settle(k.batch());
      store_global(y, {0, 0}, acc, 0, 1);
    });
  });
  auto x = noise("bf16", {64, 64}, 8);
  Launch run(program);
  run.in("x", x).out("y", "f32", {64, 64}).run();
  expect_matrix(run["y"], 1e-3, [&](auto r, auto c) { return dot(64, [&](auto i, auto j) { return x.at(i, j); }, [&](auto i, auto j) { return 2 * x.at(j, i); }, r, c); });
}

TEST(Fences, GlobalWritesThatTmaReads) {
  auto program = kernel("written_and_loaded", [](Kernel& k) {
    auto work = k.inout<f32>("work", {8, 32});
    auto y = k.out<f32>("y", {8, 32});
    auto tile = k.staged<f32>("tile", 1, {8, 32});
    Role all = k.role("all", warps(1));
    Ring ring = k.ring("ring", 1, all, {all}, tile);
    all([&] {
      for (int r = 0; r < 8; ++r) work.write({r, k.lane()}, to_real(k.lane() * 10 + r));
      k.sync();
      Stage s = ring.acquire();
      ring.tma_load(s, tile, work.tile({0, 0}, {8, 32}));
      s = ring.wait();
      for (int r = 0; r < 8; ++r) y.write({r, k.lane()}, tile[s].read(r, k.lane()));
      ring.release(s);
    });
  });
  Launch run(program);
  run.inout("work", array("f32", {8, 32}, [](auto) { return 0; })).out("y", "f32", {8, 32}).run();
  expect_matrix(run["y"], 0, [](auto r, auto c) { return c * 10 + r; });
}

}  // namespace
}  // namespace tilewright::test
