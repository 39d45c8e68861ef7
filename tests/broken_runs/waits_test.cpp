// Kernels that wait for what never comes, or that end in the middle.
#include "tests/broken_runs/broken_run.h"

namespace tilewright::test {
namespace {

/// A producer and a consumer that copy tiles of x to y, each as often as it thinks.
BrokenRun copies(int produced, int consumed, bool producer_waits) {
  BrokenRun run([&](Kernel& k, int& line) {
    Index rounds_in = k.scalar_i32("produced"), rounds_out = k.scalar_i32("consumed");
    Dim M = k.dim("M");
    auto x = k.in<bf16>("x", {M, 64}), y = k.out<bf16>("y", {M, 64});
    auto tile = k.staged<bf16>("tile", 2, {64, 64});
    Role load = k.role("load", one_thread()), save = k.role("save", one_thread());
    Ring ring = k.ring("ring", 2, load, {save}, tile);
    load([&] {
      for_(rounds_in, [&](Index i) {
        if (producer_waits) line = __LINE__ + 1;
        Stage s = ring.acquire();
        ring.tma_load(s, tile, x.tile({i * 64, 0}, {64, 64}));
      });
    });
    save([&] {
      for_(rounds_out, [&](Index i) {
        if (!producer_waits) line = __LINE__ + 1;
        Stage s = ring.wait();
        tma_store(y.tile({i * 64, 0}, {64, 64}), tile[s]);
        k.store_wait(0);
        ring.release(s);
      });
      k.store_wait_complete();
    });
  });
  run.tensor("x", "bf16", {512, 64}).tensor("y", "bf16", {512, 64}).scalar("produced", produced).scalar("consumed", consumed);
  return run;
}

TEST(BrokenWaits, EqualCountsPass) {
  copies(5, 5, true).passes();
  copies(0, 0, true).passes();
}
TEST(BrokenWaits, ConsumerExpectsOneTileMore) { copies(4, 5, false).reports({"deadlock", "(save)", "ring.full[0]", "1 of 1 arrivals pending"}); }
TEST(BrokenWaits, ProducerBringsMoreThanTheRingHolds) { copies(8, 5, true).reports({"deadlock", "(load)", "ring.empty[1]"}); }

TEST(BrokenWaits, ABarrierThatOneRoleSkips) {
  BrokenRun run([](Kernel& k, int& line) {
    Index late = k.scalar_i32("late");
    auto y = k.out<i32>("y", {32});
    Role make = k.role("make", warps(1)), use = k.role("use", warps(1));
    Barrier ready = k.barrier("ready", {make}, {use});
    make([&] { if_(late == 0, [&] { ready.arrive(); }); });
    use([&] {
      line = __LINE__ + 1;
      ready.wait();
      y.write({k.lane()}, k.lane());
    });
  });
  run.tensor("y", "i32", {32}).scalar("late", 1).reports({"deadlock", "(use)", "ready"});
}

TEST(BrokenWaits, AMeetingThatOneRoleLeavesOut) {
  BrokenRun run([](Kernel& k, int& line) {
    Index rounds = k.scalar_i32("rounds");
    Role a = k.role("a", warps(1)), b = k.role("b", warps(1));
    auto y = k.out<i32>("y", {32});
    a([&] {
      for_(rounds, [&](Index) {
        line = __LINE__ + 1;
        k.meet({a, b});
      });
    });
    b([&] {
      for_(k.index(3), [&](Index) { k.meet({a, b}); });
      y.write({k.lane()}, k.lane());
    });
  });
  run.tensor("y", "i32", {32}).scalar("rounds", 4).reports({"deadlock", "(a)", "32 of 64 threads have arrived"});
}

TEST(BrokenWaits, SyncInABranchOfOneWarp) {
  BrokenRun run([](Kernel& k, int& line) {
    Index who = k.scalar_i32("who");
    auto y = k.out<i32>("y", {128});
    k.role("all", warpgroups(1))([&] {
      if_(k.warp() == who, [&] {
        line = __LINE__ + 1;
        k.sync();
      });
      y.write({k.thread()}, k.thread());
    });
  });
  run.tensor("y", "i32", {128}).scalar("who", 1).reports({"(all)", "32 of 128 threads have arrived"});
}

TEST(BrokenWaits, SyncInABranchOfSomeLanes) {
  BrokenRun run([](Kernel& k, int& line) {
    auto y = k.out<i32>("y", {128});
    k.role("all", warpgroups(1))([&] {
      if_(k.thread() < 40, [&] {
        line = __LINE__ + 1;
        k.sync();
        y.write({k.thread()}, k.thread());
      });
    });
  });
  run.tensor("y", "i32", {128}).reports({"(all)"});
}

TEST(BrokenWaits, AFlagThatNobodySets) {
  BrokenRun run([](Kernel& k, int& line) {
    auto flag = k.inout<i32>("flag", {1});
    k.grid(2);
    k.role("all", warps(1))([&] {
      line = __LINE__ + 1;
      k.poll_until([&] { return load_acquire(flag, {0}) == 1; });
    });
  });
  run.tensor("flag", "i32", {1}).reports({"no forward progress", "(all)"});
}

TEST(BrokenWaits, ALoopWhoseConditionNeverChanges) {
  BrokenRun run([](Kernel& k, int& line) {
    auto y = k.out<i32>("y", {32});
    k.role("all", warps(1))([&] {
      Var<Index> left(k.index(3));
      line = __LINE__ + 1;
      k.while_([&] { return left.get() > 0; }, [&] { left.set(left.get() | 1); });
      y.write({k.lane()}, k.lane());
    });
  });
  run.tensor("y", "i32", {32}).reports({"no forward progress", "(all)"});
}

TEST(BrokenWaits, AnAssertionThatDoesNotHold) {
  BrokenRun run([](Kernel& k, int& line) {
    Index limit = k.scalar_i32("limit");
    k.role("all", warps(1))([&] {
      line = __LINE__ + 1;
      k.assert_(k.lane() < limit, "lane < limit");
    });
  });
  run.scalar("limit", 20).reports({"assertion `lane < limit` failed", "lane 20", "(all)"});
}

}  // namespace
}  // namespace tilewright::test
