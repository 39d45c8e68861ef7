// Barriers with named participants, loops with a condition, atomics, flags between CTAs.
#include <algorithm>

#include "tests/device/launch.h"

namespace tilewright::test {
namespace {

TEST(NamedBarrier, TwoRolesHandATileBackAndForth) {
  auto program = kernel("handed_over", [](Kernel& k) {
    Dim n = k.dim("n");
    auto y = k.out<i32>("y", {n, 128});
    auto tile = k.shared<i32>("tile", {1, 128});
    Role make = k.role("make", warps(1)), use = k.role("use", warpgroups(1));
    Barrier ready = k.barrier("ready", {make}, {use}), done = k.barrier("done", {use}, {make});
    make([&] {
      for_(n, [&](Index i) {
        if_(i > 0, [&] { done.wait(); });
        for (int c = 0; c < 4; ++c) tile.write(0, k.lane() + 32 * c, i * 1000 + k.lane() + 32 * c);
        ready.arrive();
      });
    });
    use([&] {
      for_(n, [&](Index i) {
        ready.wait();
        y.write({i, k.thread()}, tile.read(0, k.thread()));
        done.arrive();
      });
    });
  });
  for (int n : {0, 1, 2, 7}) {
    Launch run(program);
    run.out("y", "i32", {n, 128}).run();
    expect_matrix(run["y"], 0, [](auto r, auto c) { return r * 1000 + c; });
  }
}

TEST(NamedBarrier, SeveralArriveAndOneOfThemWaits) {
  auto program = kernel("gathered", [](Kernel& k) {
    auto y = k.out<i32>("y", {5, 1});
    auto tile = k.shared<i32>("tile", {1, 8});
    Role a = k.role("a", warpgroups(1)), b = k.role("b", warps(1)), c = k.role("c", one_thread());
    Barrier all = k.barrier("all", {a, b, c}, {a, b, c});
    auto part = [&](int slot, Index value) {
      if_(k.thread() == 0, [&] { tile.write(0, slot, value); });
    };
    a([&] {
      for_(k.index(5), [&](Index i) {
        part(0, i);
        all.arrive();
        all.wait();
        if_(k.thread() == 0, [&] { y.write({i, 0}, tile.read(0, 0) + tile.read(0, 1) + tile.read(0, 2)); });
        all.arrive();
        all.wait();
      });
    });
    b([&] {
      for_(k.index(5), [&](Index i) {
        part(1, i * 10);
        for (int phase = 0; phase < 2; ++phase) all.arrive(), all.wait();
      });
    });
    c([&] {
      for_(k.index(5), [&](Index i) {
        tile.write(0, 2, i * 100);
        for (int phase = 0; phase < 2; ++phase) all.arrive(), all.wait();
      });
    });
  });
  Launch run(program);
  run.out("y", "i32", {5, 1}).run();
  expect_matrix(run["y"], 0, [](auto r, auto) { return 111 * r; });
}

TEST(Meeting, OneRoleOnlyArrives) {
  auto program = kernel("one_arrives", [](Kernel& k) {
    auto y = k.out<i32>("y", {2, 32});
    auto tile = k.shared<i32>("tile", {2, 32});
    Role a = k.role("a", warps(1)), b = k.role("b", warps(1)), c = k.role("c", warps(1));
    a([&] {
      tile.write(0, k.lane(), k.lane() + 5);
      k.meet({a, b});
      k.meet_arrive({c, a});
    });
    b([&] {
      k.meet({b, a});
      y.write({0, k.lane()}, tile.read(0, k.index(31) - k.lane()));
    });
    c([&] {
      k.meet({a, c});
      y.write({1, k.lane()}, tile.read(0, k.lane()));
    });
  });
  Launch run(program);
  run.out("y", "i32", {2, 32}).run();
  expect_matrix(run["y"], 0, [](auto r, auto c) { return r == 0 ? 31 - c + 5 : c + 5; });
}

TEST(While, EveryKindOfMutableScalar) {
  auto program = kernel("collatz", [](Kernel& k) {
    auto y = k.out<i32>("y", {4, 32});
    auto big = k.out<i64>("big", {32});
    k.role("all", warps(1))([&] {
      Var<Index> n(k.lane() + 1), steps(k.index(0));
      k.while_([&] { return n.get() != 1; }, [&] {
        n.set(select(n.get() % 2 == 0, n.get() / 2, n.get() * 3 + 1));
        steps.set(steps.get() + 1);
      });
      y.write({0, k.lane()}, steps.get());
      Var<Real> x(k.real(1.0));
      Var<Pred> more(k.lane() > 3);
      k.while_([&] { return more.get(); }, [&] {
        x.set(x.get() * 2.0);
        more.set(x.get() < to_real(k.lane()));
      });
      y.write({1, k.lane()}, to_index(x.get()));
      Var<Long> wide(to_long(k.lane()));
      k.while_([&] { return wide.get() < 5000000000; }, [&] { wide.set(wide.get() * 3 + 1000000); });
      big.write({k.lane()}, wide.get());
      // Loops in loops.
      Var<Index> i(k.index(0)), sum(k.index(0));
      k.while_([&] { return i.get() < k.lane(); }, [&] {
        for_(i.get(), [&](Index j) { sum.set(sum.get() + j); });
        i.set(i.get() + 1);
      });
      y.write({2, k.lane()}, sum.get());
      y.write({3, k.lane()}, i.get());
    });
  });
  Launch run(program);
  run.out("y", "i32", {4, 32}).out("big", "i64", {32}).run();
  expect_matrix(run["y"], 0, [](auto r, auto c) -> double {
    if (r == 0) {
      int n = static_cast<int>(c) + 1, steps = 0;
      for (; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
      return steps;
    }
    if (r == 1) {
      double x = 1;
      for (bool more = c > 3; more; more = x < c) x *= 2;
      return x;
    }
    if (r == 3) return c;
    int sum = 0;
    for (int i = 0; i < c; ++i)
      for (int j = 0; j < i; ++j) sum += j;
    return sum;
  });
  for (std::int64_t c = 0; c < 32; ++c) {
    std::int64_t wide = c;
    while (wide < 5000000000) wide = wide * 3 + 1000000;
    EXPECT_EQ(run["big"].values[c], static_cast<double>(wide));
  }
}

TEST(Atomics, OnTensorsAndTiles) {
  auto program = kernel("atomics", [](Kernel& k) {
    auto counts = k.inout<i32>("counts", {8});
    auto sums = k.inout<f32>("sums", {8});
    auto wide = k.inout<i64>("wide", {1});
    auto half = k.inout<bf16>("half", {4});
    auto tickets = k.out<i32>("tickets", {64});
    auto local = k.out<i32>("local", {3});
    auto tile = k.shared<i32>("tile", {1, 4});
    k.role("all", warpgroups(1))([&] {
      if_(k.thread() < 4, [&] { tile.write(0, k.thread(), k.index(0)); });
      k.sync();
      if_(k.thread() < 64, [&] {
        tickets.write({k.thread()}, fetch_add(counts, {0}, 1));
        red_add(counts, {1}, k.thread());
        fetch_max(counts, {2}, k.thread());
        red_min(counts, {3}, k.index(0) - k.thread());
        fetch_or(counts, {4}, select(k.thread() % 2 == 0, k.index(1), 4));
        Index seen = compare_exchange(counts, {5}, 0, k.thread() + 1);
        if_(seen == 0, [&] { counts.write({6}, k.thread() + 1); });
        red_add(sums, {0}, to_real(k.thread()));
        fetch_add(sums, {1}, 0.5);
        red_add_row(sums, {2}, {k.real(1), k.real(2)});
        red_add_row(sums, {4}, {k.real(1), k.real(2), k.real(3), k.real(4)});
        red_add_row(half, {2}, {k.real(1), k.real(0.5)});
        fetch_add(wide, {0}, to_long(k.thread()) * 1000000000);
        fetch_add(tile, {0, 0}, 2);
        red_max(tile, {0, 1}, k.thread());
        exchange(tile, {0, 2}, 9);
      });
      k.sync();
      if_(k.thread() < 3, [&] { local.write({k.thread()}, tile.read(0, k.thread())); });
    });
  });
  Launch run(program);
  run.inout("counts", array("i32", {8}, [](auto) { return 0; })).inout("sums", array("f32", {8}, [](auto) { return 0; }));
  run.inout("wide", array("i64", {1}, [](auto) { return 7; })).inout("half", array("bf16", {4}, [](auto) { return 0; }));
  run.out("tickets", "i32", {64}).out("local", "i32", {3}).run();
  auto tickets = run["tickets"].values;
  std::sort(tickets.begin(), tickets.end());
  for (int i = 0; i < 64; ++i) EXPECT_EQ(tickets[i], i);
  const auto& counts = run["counts"].values;
  EXPECT_EQ(counts[0], 64);
  EXPECT_EQ(counts[1], 2016);
  EXPECT_EQ(counts[2], 63);
  EXPECT_EQ(counts[3], -63);
  EXPECT_EQ(counts[4], 5);
  EXPECT_EQ(counts[5], counts[6]);
  EXPECT_GT(counts[5], 0);
  EXPECT_EQ(run["sums"].values, (std::vector<double>{2016, 32, 64, 128, 64, 128, 192, 256}));
  EXPECT_EQ(run["half"].values, (std::vector<double>{0, 0, 64, 32}));
  EXPECT_EQ(run["wide"].values[0], 2016e9 + 7);
  EXPECT_EQ(run["local"].values, (std::vector<double>{128, 63, 9}));
}

TEST(Flags, ChainOfCtas) {
  // CTA i waits for CTA i + 1: later CTAs must be able to start.
  auto program = kernel("chain", [](Kernel& k) {
    auto y = k.inout<f32>("y", {6, 128});
    auto flags = k.inout<i32>("flags", {7});
    auto [cta, j, z] = k.grid(6);
    k.role("all", warpgroups(1))([&] {
      if_(cta < 5, [&] {
        if_(k.thread() == 0, [&] { k.poll_until([&] { return load_acquire(flags, {cta + 1}) != 0; }); });
        k.sync();
        y.write({cta, k.thread()}, y.read({cta + 1, k.thread()}) * 2.0 + 1.0);
      }, [&] { y.write({cta, k.thread()}, to_real(k.thread())); });
      k.sync();
      if_(k.thread() == 0, [&] { store_release(flags, {cta}, 1); });
    });
  });
  Launch run(program);
  run.inout("y", array("f32", {6, 128}, [](auto) { return -1; })).inout("flags", array("i32", {7}, [](auto) { return 0; })).run();
  expect_matrix(run["y"], 0, [](auto r, auto c) {
    double v = c;
    for (int i = 5; i > r; --i) v = v * 2 + 1;
    return v;
  });
}

TEST(Flags, TheLastOneOfAGroupFinishes) {
  // Split sums: each CTA adds its part; the one that comes last (release, then acquire) writes the result.
  auto program = kernel("last_one", [](Kernel& k) {
    auto x = k.in<f32>("x", {8, 32});
    auto parts = k.inout<f32>("parts", {8, 32});
    auto count = k.inout<i32>("count", {1});
    auto y = k.out<f32>("y", {1, 32});
    auto [cta, j, z] = k.grid(8);
    k.role("all", warps(1))([&] {
      parts.write({cta, k.lane()}, x.read({cta, k.lane()}) * 2.0);
      k.sync();
      Var<Index> ticket(k.index(0));
      if_(k.lane() == 0, [&] { ticket.set(fetch_add(count, {0}, 1, Scope::gpu, Order::acq_rel)); });
      k.sync();
      if_(k.uniform(ticket.get()) == 7, [&] {
        Var<Real> sum(k.real(0));
        for_(k.index(8), [&](Index i) { sum.set(sum.get() + parts.read({i, k.lane()})); });
        y.write({0, k.lane()}, sum.get());
      });
    });
  });
  auto x = noise("f32", {8, 32}, 3);
  Launch run(program);
  run.in("x", x).inout("parts", array("f32", {8, 32}, [](auto) { return 0; })).inout("count", array("i32", {1}, [](auto) { return 0; })).out("y", "f32", {1, 32}).run();
  expect_matrix(run["y"], 1e-5, [&](auto, auto c) {
    double sum = 0;
    for (int i = 0; i < 8; ++i) sum += 2 * x.at(i, c);
    return sum;
  });
}

TEST(Persistent, TicketsHandedThroughARing) {
  // One thread fetches item numbers and writes them into a staged tile; -1 ends.
  auto program = kernel("tickets", [](Kernel& k) {
    Dim items = k.dim("items");
    auto x = k.in<f32>("x", {items, 32});
    auto y = k.out<f32>("y", {items, 32});
    auto next = k.inout<i32>("next", {1});
    k.grid(3);
    auto item = k.staged<i32>("item", 2, {1, 1});
    Role fetch = k.role("fetch", one_thread()), work = k.role("work", warps(1));
    Ring ring = k.ring("ring", 2, fetch, {work}, item);
    fetch([&] {
      Var<Index> n(k.index(0));
      k.while_([&] { return n.get() >= 0; }, [&] {
        Index ticket = fetch_add(next, {0}, 1);
        n.set(select(ticket < items, ticket, -1));
        Stage s = ring.acquire();
        item[s].write(0, 0, n.get());
        ring.commit(s);
      });
    });
    work([&] {
      Var<Index> n(k.index(0));
      k.while_([&] { return n.get() >= 0; }, [&] {
        Stage s = ring.wait();
        n.set(item[s].read(0, 0));
        ring.release(s);
        if_(n.get() >= 0, [&] { y.write({n.get(), k.lane()}, x.read({n.get(), k.lane()}) + 1.0); });
      });
    });
  });
  for (int items : {1, 2, 3, 17}) {
    auto x = noise("f32", {items, 32}, 4);
    Launch run(program);
    run.in("x", x).inout("next", array("i32", {1}, [](auto) { return 0; })).out("y", "f32", {items, 32}).run();
    expect_matrix(run["y"], 1e-6, [&](auto r, auto c) { return x.at(r, c) + 1; });
    EXPECT_EQ(run["next"].values[0], items + 3);
  }
}

}  // namespace
}  // namespace tilewright::test
