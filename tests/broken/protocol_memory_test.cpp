// Mistakes in barriers by hand, meetings, clusters, and in how warps share memory, one a kernel: the protocol verifier finds them.
#include "tests/broken/mistake.h"

namespace tilewright::test {
namespace {

TEST(BrokenBarrierProtocol, ArrivesAgainWithoutWaiting) {
  Mistake([](Kernel& k, int& line) {
    Dim n = k.dim("n");
    Role a = k.role("a", warps(1)), b = k.role("b", warps(1));
    Barrier ready = k.barrier("ready", {a}, {b});
    a([&] { for_(n, [&](Index) { line = __LINE__; ready.arrive(); }); });
    b([&] { for_(n, [&](Index) { ready.wait(); }); });
  }).says({"role \"a\" may arrive twice in one phase of barrier \"ready\"", "let the role wait for that phase"});
}
TEST(BrokenBarrierProtocol, OneOfSeveralArrivesAgain) {
  Mistake([](Kernel& k, int& line) {
    Dim n = k.dim("n");
    Role a = k.role("a", warps(1)), b = k.role("b", warps(1)), c = k.role("c", warps(1));
    Barrier ready = k.barrier("ready", {a, b}, {c});
    a([&] { for_(n, [&](Index) { line = __LINE__; ready.arrive(); }); });
    b([&] { for_(n, [&](Index) { ready.arrive(); }); });
    c([&] { for_(n, [&](Index) { ready.wait(); }); });
  }).says({"role \"a\" may arrive twice in one phase of barrier \"ready\"", "let the role wait for that phase"});
}
TEST(BrokenBarrierProtocol, OneWaitTooMany) {
  Mistake([](Kernel& k, int& line) {
    Role a = k.role("a", warps(1)), b = k.role("b", warps(1));
    Barrier ready = k.barrier("ready", {a}, {b});
    a([&] { ready.arrive(); });
    b([&] {
      ready.wait();
      line = __LINE__; ready.wait();
    });
  }).says({"role \"b\" waits for ever for barrier \"ready\": 0 of 1 arrivals have come", "role \"a\" has ended"});
}
TEST(BrokenBarrierProtocol, EachWaitsForTheOther) {
  Mistake([](Kernel& k, int& line) {
    Role a = k.role("a", warps(1)), b = k.role("b", warps(1));
    Barrier x = k.barrier("x", {a}, {b}), y = k.barrier("y", {b}, {a});
    a([&] {
      line = __LINE__; y.wait();
      x.arrive();
    });
    b([&] {
      x.wait();
      y.arrive();
    });
  }).says({"role \"a\" waits for ever for barrier \"y\"", "role \"b\" waits here: wait_for \"x\""});
}
TEST(BrokenBarrierProtocol, WaiterThatSeesEverySecondPhase) {
  Mistake([](Kernel& k, int& line) {
    Dim n = k.dim("n");
    Role a = k.role("a", warps(1)), b = k.role("b", warps(1)), c = k.role("c", warps(1));
    Barrier ready = k.barrier("ready", {a}, {b, c}), done = k.barrier("done", {b}, {a});
    a([&] {
      for_(n, [&](Index) {
        ready.arrive();
        done.wait();
      });
    });
    b([&] {
      for_(n, [&](Index) {
        ready.wait();
        done.arrive();
      });
    });
    c([&] { for_(n, [&](Index i) { if_(i % 2 == 1, [&] { line = __LINE__; ready.wait(); }); }); });
  }).says({"role \"c\"", "barrier \"ready\"", "see every phase before the next but one completes"});
}
TEST(BrokenMeetingProtocol, OneRoleComesMoreOften) {
  Mistake([](Kernel& k, int& line) {
    Dim n = k.dim("n");
    Role a = k.role("a", warps(1)), b = k.role("b", warps(1));
    a([&] { for_(n.index() + 1, [&](Index) { line = __LINE__; k.meet({a, b}); }); });
    b([&] { for_(n, [&](Index) { k.meet({a, b}); }); });
  }).says({"role \"a\" waits for ever for the meeting of a, b: 1 of 2 arrivals have come"});
}
TEST(BrokenSyncProtocol, OneWarpStaysAway) {
  Mistake([](Kernel& k, int& line) {
    k.role("all", warpgroups(1))([&] {
      if_(k.warp() < 3, [&] { line = __LINE__; k.sync(); });
    });
  }).says({"role \"all\" waits for ever for the rendezvous of role \"all\": 3 of 4 arrivals have come"});
}
TEST(BrokenSyncProtocol, SomeLanesStayAway) {
  Mistake([](Kernel& k, int& line) {
    k.role("all", warpgroups(1))([&] {
      if_(k.thread() < 100, [&] { line = __LINE__; k.sync(); });
    });
  }).says({"only some lanes of role \"all\" come here", "k.uniform"});
}
TEST(BrokenSyncProtocol, CommitByOneLane) {
  Mistake([](Kernel& k, int& line) {
    auto tile = k.staged<i32>("tile", 2, {1, 32});
    Role make = k.role("make", warps(1)), use = k.role("use", warps(1));
    Ring ring = k.ring("ring", 2, make, {use}, tile);
    make([&] {
      Stage s = ring.acquire();
      tile[s].write(0, k.lane(), k.lane());
      if_(k.lane() == 0, [&] { line = __LINE__; ring.commit(s); });
    });
    use([&] { ring.release(ring.wait()); });
  }).says({"only some lanes of role \"make\" come here"});
}
TEST(BrokenSharing, WarpsWithoutRendezvous) {
  Mistake([](Kernel& k, int& line) {
    auto y = k.out<i32>("y", {128});
    auto tile = k.shared<i32>("tile", {1, 128});
    k.role("all", warpgroups(1))([&] {
      tile.write(0, k.thread(), k.thread());
      line = __LINE__; y.write({k.thread()}, tile.read(0, k.index(127) - k.thread()));
    });
  }).says({"warps of role \"all\" meet in tile \"tile\": one reads what another writes", "call k.sync() between the two"});
}
TEST(BrokenSharing, NoRendezvousOverTheBackEdge) {
  Mistake([](Kernel& k, int& line) {
    Dim n = k.dim("n");
    auto y = k.out<i32>("y", {n, 128});
    auto tile = k.shared<i32>("tile", {1, 128});
    k.role("all", warpgroups(1))([&] {
      for_(n, [&](Index i) {
        tile.write(0, k.thread(), k.thread() + i);
        k.sync();
        line = __LINE__; y.write({i, k.thread()}, tile.read(0, k.index(127) - k.thread()));
      });
    });
  }).says({"warps of role \"all\" meet in tile \"tile\": one reads what another writes", "call k.sync()"});
}
TEST(BrokenSharing, LanesWithoutRendezvous) {
  Mistake([](Kernel& k, int& line) {
    auto y = k.out<i32>("y", {32});
    auto tile = k.shared<i32>("tile", {1, 32});
    k.role("all", warps(1))([&] {
      tile.write(0, k.lane(), k.lane());
      line = __LINE__; y.write({k.lane()}, tile.read(0, k.index(31) - k.lane()));
    });
  }).says({"lanes of a warp of role \"all\" meet in tile \"tile\"", "k.warp_sync() or k.sync()"});
}
TEST(BrokenSharing, FragmentsOfOtherLanes) {
  Mistake([](Kernel& k, int& line) {
    auto tile = k.shared<f32>("tile", {16, 16}, 16);
    k.role("all", warps(1))([&] {
      auto f = k.frag<f32>({16, 16});
      fill(f, 1.0);
      store(tile, f);
      line = __LINE__; load(f, tile.t());
    });
  }).says({"lanes of a warp of role \"all\" meet in tile \"tile\"", "k.warp_sync() or k.sync()"});
}
TEST(BrokenSharing, ProductOfWhatOtherLanesStore) {
  Mistake([](Kernel& k, int& line) {
    auto a = k.shared<f32>("a", {16, 16}, 16), b = k.shared<f32>("b", {16, 16}, 16);
    k.role("all", warps(1))([&] {
      auto f = k.frag<f32>({16, 16}), sum = k.frag<f32>({16, 16});
      fill(f, 1.0);
      fill(sum, 0.0);
      store(a, f);
      k.warp_sync();
      store(b, f);
      line = __LINE__; mma(sum, a, b);
    });
  }).says({"lanes of a warp of role \"all\" meet in tile \"b\""});
}
TEST(Sharing, FragmentsOfTheSameLanesNeedNoRendezvous) {
  EXPECT_NO_THROW(compiler::compile(kernel("same_lanes", [](Kernel& k) {
    auto tile = k.shared<f32>("tile", {16, 32}, 16);
    k.role("all", warps(1))([&] {
      auto f = k.frag<f32>({16, 16});
      fill(f, 1.0);
      store(tile.view(0, 8, {16, 16}), f);
      load(f, tile.view(0, 16, {16, 16}));  // eight columns on: the same lanes
    });
  })));
}
TEST(BrokenSharing, RolesWithoutABarrier) {
  Mistake([](Kernel& k, int& line) {
    auto y = k.out<i32>("y", {32});
    auto tile = k.shared<i32>("tile", {1, 32});
    Role a = k.role("a", warps(1)), b = k.role("b", warps(1));
    a([&] { tile.write(0, k.lane(), k.lane()); });
    b([&] { line = __LINE__; y.write({k.lane()}, tile.read(0, k.lane())); });
  }).says({"role \"b\" reads tile \"tile\", which role \"a\" writes; nothing orders the two", "hand the tile over through a ring or a barrier"});
}
TEST(BrokenSharing, CopyOutBeforeTheWarpsAreDone) {
  Mistake([](Kernel& k, int& line) {
    auto y = k.out<f32>("y", {64, 64});
    auto tile = k.shared<f32>("tile", {64, 64});
    k.role("all", warpgroups(1))([&] {
      auto f = k.frag<f32>({64, 64});
      fill(f, 1.0);
      store(tile, f);
      if_(k.thread() == 0, [&] {
        line = __LINE__; tma_store(y.tile({0, 0}, {64, 64}), tile);
        k.store_wait_complete();
      });
    });
  }).says({"of role \"all\" meet in tile \"tile\": one reads what another writes"});
}
TEST(BrokenSharing, OverwrittenWhileACopyReads) {
  Mistake([](Kernel& k, int& line) {
    Dim n = k.dim("n");
    auto y = k.out<f32>("y", {n, 64, 64});
    auto tile = k.shared<f32>("tile", {64, 64});
    k.role("all", warpgroups(1))([&] {
      auto f = k.frag<f32>({64, 64});
      fill(f, 1.0);
      for_(n, [&](Index i) {
        line = __LINE__; store(tile, f);
        k.sync();
        if_(k.thread() == 0, [&] {
          tma_store(y.tile({i, 0, 0}, {1, 64, 64}), tile);
          k.store_wait(1);
        });
        k.sync();
      });
      if_(k.thread() == 0, [&] { k.store_wait_complete(); });
    });
  }).says({"writes tile \"tile\" while a copy out of it may be in flight", "k.store_wait(0)"});
}
TEST(BrokenSharing, CopyThatNobodyWaitsFor) {
  Mistake([](Kernel& k, int& line) {
    auto y = k.out<f32>("y", {8, 32});
    auto tile = k.shared<f32>("tile", {8, 32});
    k.role("all", one_thread())([&] {
      for_(k.index(8), [&](Index r) { for_(k.index(32), [&](Index c) { tile.write(r, c, k.real(1.0)); }); });
      line = __LINE__; tma_store(y.tile({0, 0}, {8, 32}), tile);
    });
  }).says({"role \"all\" ends while this copy may still read shared memory", "k.store_wait_complete()"});
}
TEST(BrokenSharing, ProductThatNobodySettles) {
  Mistake([](Kernel& k, int& line) {
    auto a = k.shared<bf16>("a", {64, 64});
    k.role("math", warpgroups(1))([&] {
      auto acc = k.frag<f32>({64, 64});
      line = __LINE__; gemm_zero(acc, a, a.t());
      k.batch();
    });
  }).says({"role \"math\" ends while products are in flight", "k.settle_pending(0)"});
}
TEST(BrokenSharing, OverlayWrittenTooEarly) {
  Mistake([](Kernel& k, int& line) {
    auto x = k.in<bf16>("x", {64, 64});
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
      line = __LINE__; store(result, acc);  // other warps' products may still read `tile`
    });
  }).says({"role \"all\" writes tile \"result\" while a product that reads it may be in flight in role \"all\"", "role \"all\": gemm of tile \"tile\""});
}
TEST(BrokenClusterProtocol, RemoteReadWithoutRendezvous) {
  Mistake([](Kernel& k, int& line) {
    auto y = k.out<f32>("y", {8, 32});
    auto own = k.shared<f32>("own", {1, 32});
    auto [cta, j, z] = k.grid(8);
    k.cluster(2);
    k.role("all", warps(1))([&] {
      own.write(0, k.lane(), to_real(cta));
      line = __LINE__; y.write({cta, k.lane()}, remote_read(own, (k.cluster_rank() + 1) % 2, 0, k.lane()));
    });
  }).says({"role \"all\" of CTA 0 reads tile \"own\", which role \"all\" of CTA 1 writes; nothing orders the two"});
}
TEST(BrokenClusterProtocol, RolesThatComeUnequallyOften) {
  Mistake([](Kernel& k, int& line) {
    k.grid(8);
    k.cluster(2);
    Role a = k.role("a", warps(1)), b = k.role("b", warps(1));
    line = __LINE__;  a([&] {
      k.cluster_sync();
      k.cluster_sync();
    });
    b([&] { k.cluster_sync(); });
  }).says({"role \"a\" of CTA 0 waits for ever for the cluster's barrier", "every role comes to the cluster's barrier equally often"});
}
TEST(BrokenPtx, TextThatSynchronises) {
  Mistake([](Kernel& k, int& line) {
    k.role("all", warps(1))([&] { line = __LINE__; k.ptx<Index>("bar.sync 1, 64; mov.u32 #out0, #0;", k.lane()); });
  }).says({"cannot be decided: this PTX text synchronises", "k.waive(\"ptx\", \"ptx\", reason)"});
}
TEST(Waivers, UnknownProperty) {
  Mistake([](Kernel& k, int& line) {
    line = __LINE__; k.waive("ring", "races", "they cannot meet");
    k.role("all", warps(1))([&] { k.sync(); });
  }).says({"there is no such property; expected one of starvation phases bytes race"});
}
TEST(Waivers, RefutedAllTheSame) {
  Mistake([](Kernel& k, int& line) {
    auto tile = k.shared<i32>("tile", {1, 32});
    k.waive("tile", "race", "the roles take turns");
    Role a = k.role("a", warps(1)), b = k.role("b", warps(1));
    a([&] { tile.write(0, k.lane(), k.lane()); });
    b([&] { line = __LINE__; tile.write(0, k.lane(), k.lane()); });
  }).says({"role \"b\" writes tile \"tile\", which role \"a\" writes", "a waiver answers for what cannot be decided; this is refuted"});
}
TEST(Waivers, NotNeeded) {
  Mistake([](Kernel& k, int& line) {
    auto tile = k.shared<i32>("tile", {1, 32});
    line = __LINE__; k.waive("tile", "race", "the roles never meet");
    k.role("all", warps(1))([&] { tile.write(0, k.lane(), k.lane()); });
  }).says({"waiver of \"race\" for \"tile\" is not needed: nothing about it is undecided"});
}
TEST(Waivers, OfNothing) {
  Mistake([](Kernel& k, int& line) {
    line = __LINE__; k.waive("tiel", "race", "the roles never meet");
    k.role("all", warps(1))([&] { k.sync(); });
  }).says({"waiver of \"race\" for \"tiel\" is not needed"});
}
TEST(Waivers, LetsTheNamedPropertyPass) {
  const auto program = [](bool waived) {
    return kernel("waived", [=](Kernel& k) {
      Index row = k.scalar_i32("row");
      auto tile = k.shared<i32>("tile", {4, 32});
      if (waived) k.waive("tile", "race", "row is never 0");
      Role a = k.role("a", warps(1)), b = k.role("b", warps(1));
      a([&] { tile.write(row, k.lane(), k.lane()); });
      b([&] { tile.write(0, k.lane(), k.lane()); });
    });
  };
  EXPECT_THROW(compiler::compile(program(false)), CompileError);
  EXPECT_NO_THROW(compiler::compile(program(true)));
}

}  // namespace
}  // namespace tilewright::test
