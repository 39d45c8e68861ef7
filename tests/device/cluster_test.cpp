// Clusters: multicast, other CTAs' shared memory, barriers across CTAs.
#include "tests/device/launch.h"

namespace tilewright::test {
namespace {

TEST(Cluster, RanksOfEveryCta) {
  auto program = kernel("ranks", [](Kernel& k) {
    auto y = k.out<i32>("y", {4, 6});
    auto [i, j, z] = k.grid(6, 4);
    k.cluster(2, 2);
    k.role("all", warps(1))([&] {
      if_(k.lane() == 0, [&] { y.write({j, i}, k.cluster_rank()); });
    });
  });
  Launch run(program);
  run.out("y", "i32", {4, 6}).run();
  expect_matrix(run["y"], 0, [](auto r, auto c) { return c % 2 + 2 * (r % 2); });
}

TEST(Cluster, SharedMemoryOfOthers) {
  // Each CTA adds up what the four CTAs of its cluster hold, and leaves a word in the next one.
  auto program = kernel("others", [](Kernel& k) {
    auto y = k.out<f32>("y", {8, 32});
    auto left = k.out<i32>("left", {8, 32});
    auto own = k.shared<f32>("own", {2, 32});
    auto inbox = k.shared<i32>("inbox", {1, 32});
    auto [cta, j, z] = k.grid(8);
    k.cluster(4);
    k.role("all", warps(1))([&] {
      own.write(1, k.lane(), to_real(cta * 100 + k.lane()));
      k.cluster_sync();
      Var<Real> sum(k.real(0.0));
      for (int r = 0; r < 4; ++r) sum.set(sum.get() + remote_read(own, r, 1, k.lane()));
      remote_write(inbox, (k.cluster_rank() + 1) % 4, 0, k.lane(), cta);
      y.write({cta, k.lane()}, sum.get());
      k.cluster_sync();
      left.write({cta, k.lane()}, inbox.read(0, k.lane()));
    });
  });
  Launch run(program);
  run.out("y", "f32", {8, 32}).out("left", "i32", {8, 32}).run();
  expect_matrix(run["y"], 0, [](auto r, auto c) { return (r / 4 * 16 + 6) * 100 + 4 * c; });
  expect_matrix(run["left"], 0, [](auto r, auto) { return r / 4 * 4 + (r + 3) % 4; });
}

TEST(Cluster, BarrierBetweenRolesOfAllCtas) {
  // The makers of both CTAs fill their halves of each other's tile; the users wait for both.
  auto program = kernel("crossed", [](Kernel& k) {
    Dim n = k.dim("n");
    auto y = k.out<i32>("y", {n, 2, 64});
    auto tile = k.shared<i32>("tile", {2, 64});
    auto [cta, j, z] = k.grid(2);
    k.cluster(2);
    Role make = k.role("make", warps(1)), use = k.role("use", warpgroups(1));
    Barrier full = k.cluster_barrier("full", {make}, {use}), empty = k.cluster_barrier("empty", {use}, {make});
    make([&] {
      for_(n, [&](Index i) {
        if_(i > 0, [&] { empty.wait(); });
        Index rank = k.cluster_rank();
        for (int to : {0, 1}) remote_write(tile, to, i % 2, rank * 32 + k.lane(), i * 1000 + rank * 100 + k.lane());
        full.arrive();
      });
    });
    use([&] {
      for_(n, [&](Index i) {
        full.wait();
        if_(k.thread() < 64, [&] { y.write({i, cta, k.thread()}, tile.read(i % 2, k.thread())); });
        empty.arrive();
      });
    });
  });
  for (int n : {1, 2, 5}) {
    Launch run(program);
    run.out("y", "i32", {n, 2, 64}).run();
    expect_matrix(run["y"], 0, [](auto r, auto c) { return r / 2 * 1000 + c / 32 * 100 + c % 32; });
  }
}

TEST(Cluster, MulticastFeedsProducts) {
  // C = A B^T: every CTA has rows of A of its own; each brings half of B's tile for both.
  auto program = kernel("multicast", [](Kernel& k) {
    Dim K = k.dim("K");
    auto a = k.in<bf16>("a", {256, K}), b = k.in<bf16>("b", {64, K});
    auto c = k.out<f32>("c", {256, 64});
    auto [cta, j, z] = k.grid(4);
    k.cluster(2);
    auto at = k.staged<bf16>("at", 2, {64, 64}), bt = k.staged<bf16>("bt", 2, {64, 64});
    Role load_ = k.role("load", one_thread()), math = k.role("math", warpgroups(1));
    Ring ring = k.ring("ring", 2, load_, {math}, at, bt);
    load_([&] {
      Index rank = k.cluster_rank();
      for_((K.index() + 63) / 64, [&](Index i) {
        Stage s = ring.acquire();
        ring.tma_load(s, at, a.tile({cta * 64, i * 64}, {64, 64}));
        ring.tma_multicast(s, bt[s].view(rank * 32, 0, {32, 64}), b.tile({rank * 32, i * 64}, {32, 64}));
      });
    });
    math([&] {
      auto acc = k.frag<f32>({64, 64});
      fill(acc, 0.0);
      for_((K.index() + 63) / 64, [&](Index) {
        Stage s = ring.wait();
        gemm_add(acc, at[s], bt[s].t());
        settle(k.batch());
        ring.release(s);
      });
      store_global(c, {cta * 64, 0}, acc, 0, 1);
    });
  });
  for (int depth : {64, 128, 320, 456}) {
    auto a = noise("bf16", {256, depth}, 1), b = noise("bf16", {64, depth}, 2);
    Launch run(program);
    run.in("a", a).in("b", b).out("c", "f32", {256, 64}).run();
    expect_matrix(run["c"], 2e-3, [&](auto r, auto c) {
      return dot(depth, [&](auto i, auto l) { return a.at(i, l); }, [&](auto l, auto n) { return b.at(n, l); }, r, c);
    });
  }
}

TEST(Cluster, SequencesOfDifferentLengthsByMulticast) {
  // Cluster c sums the first n[c] tiles of x; the first is asked for before the loop. All its CTAs take n from the cluster's index.
  auto program = kernel("sums", [](Kernel& k) {
    Dim clusters = k.dim("clusters"), rows = k.dim("rows");
    auto x = k.in<f32>("x", {rows, 32});
    auto n = k.in<i32>("n", {clusters});
    auto y = k.out<f32>("y", {clusters * 2, 32});
    auto [cta, j, z] = k.grid(clusters * 2);
    k.cluster(2);
    auto tile = k.staged<f32>("tile", 3, {16, 32});
    Role load_ = k.role("load", one_thread()), add = k.role("add", warps(1));
    Ring ring = k.ring("ring", 3, load_, {add}, tile);
    load_([&] {
      const auto bring = [&](Index i) {
        Stage s = ring.acquire();
        Index part = k.cluster_rank() * 8;
        ring.tma_multicast(s, tile[s].view(part, 0, {8, 32}), x.tile({i * 16 + part, 0}, {8, 32}));
      };
      Index count = n.read({k.cluster_index()});
      if_(count > 0, [&] { bring(k.index(0)); });
      for_range(k.index(1), count, 1, bring);
    });
    add([&] {
      Var<Real> sum(k.real(0.0));
      for_(n.read({k.cluster_index()}), [&](Index) {
        Stage s = ring.wait();
        for_(k.index(16), [&](Index row) { sum.set(sum.get() + tile[s].read(row, k.lane())); });
        ring.release(s);
      });
      y.write({cta, k.lane()}, sum.get());
    });
  });
  const std::vector<double> counts{5, 0, 1, 9};
  auto x = noise("f32", {9 * 16, 32}, 1);
  Launch run(program);
  run.in("x", x).in("n", Array{"i32", {4}, counts}).out("y", "f32", {8, 32}).run();
  expect_matrix(run["y"], 1e-4, [&](auto r, auto c) {
    double sum = 0;
    for (std::int64_t i = 0; i < std::int64_t(counts[std::size_t(r / 2)]) * 16; ++i) sum += x.at(i, c);
    return sum;
  });
}

}  // namespace
}  // namespace tilewright::test
