#include "tests/broken/mistake.h"

namespace tilewright::test {
namespace {

TEST(BrokenCluster, RankWithoutACluster) {
  Mistake([](Kernel& k, int& line) {
    k.role("all", warps(1))([&] { line = __LINE__, k.cluster_rank(); });
  }).says({"needs a cluster of several CTAs; call k.cluster(...) first"});
}
TEST(BrokenCluster, IndexWithoutACluster) {
  Mistake([](Kernel& k, int& line) {
    k.role("all", warps(1))([&] { line = __LINE__, k.cluster_index(); });
  }).says({"needs a cluster of several CTAs; call k.cluster(...) first"});
}
TEST(BrokenCluster, IndexAlongAFourthAxis) {
  Mistake([](Kernel& k, int& line) {
    k.cluster(2);
    k.role("all", warps(1))([&] { line = __LINE__, k.cluster_index(3); });
  }).says({"axis 3 of the grid, expected 0, 1 or 2"});
}
TEST(BrokenCluster, CtasThatPassThroughAMulticastRingByTheirOwnCounts) {
  Mistake([](Kernel& k, int& line) {
    auto x = k.in<f32>("x", {64, 32});
    auto n = k.in<i32>("n", {k.dim("ctas")});
    auto [cta, j, z] = k.grid(4);
    k.cluster(2);
    auto tile = k.staged<f32>("tile", 2, {16, 32});
    Role load = k.role("load", one_thread()), use = k.role("use", warps(1));
    Ring ring = k.ring("ring", 2, load, {use}, tile);
    Index count = cta;
    load([&] {
      for_(n.read({count}), [&](Index) {
        Stage s = ring.acquire();
        Index part = k.cluster_rank() * 8;
        ring.tma_multicast(s, tile[s].view(part, 0, {8, 32}), x.tile({part, 0}, {8, 32}));
      });
    });
    use([&] {
      for_(n.read({count}), [&](Index) {
        line = __LINE__;  Stage s = ring.wait();
        ring.release(s);
      });
    });
  }).says({"of ring \"ring\"", "to be filled: 1024 of 2048 bytes have landed"});
}
TEST(BrokenCluster, TooLarge) {
  Mistake([](Kernel& k, int&) {
    k.cluster(4, 4);
    k.role("all", warps(1))([] {});
  }).says({"\"broken\" has clusters of 4 x 4 x 1 CTAs; expected 1 to 8 together"});
}
TEST(BrokenCluster, RoleThatDoesNotCome) {
  Mistake([](Kernel& k, int& line) {
    k.cluster(2);
    k.role("a", warps(1))([&] { k.cluster_sync(); });
    line = __LINE__;  k.role("b", warps(1))([] {});
  }).says({"role \"b\" never comes to the cluster's barrier, which counts every thread of the cluster, and role \"a\" does", "k.cluster_barrier(...)"});
}
TEST(BrokenCluster, MulticastOfTheWholeTileByEach) {
  Mistake([](Kernel& k, int& line) {
    k.cluster(2);
    auto x = k.in<bf16>("x", {64, 64});
    auto tile = k.staged<bf16>("tile", 1, {64, 64});
    Role all = k.role("all", warps(1));
    Ring ring = k.ring("ring", 1, all, {all}, tile);
    all([&] {
      Stage s = ring.acquire();
      line = __LINE__, ring.tma_multicast(s, tile[s], x.tile({0, 0}, {64, 64}));
      ring.release(ring.wait());
    });
  }).says({"multicast: each of 2 CTAs brings [64, 64] of tile \"tile\", 8192 elements together; expected its 4096 (a view that is 1/2 of the tile)"});
}
TEST(BrokenCluster, HalvesOfOtherCtas) {
  Mistake([](Kernel& k, int& line) {
    k.cluster(2);
    auto tile = k.shared<bf16>("tile", {1, 64});
    k.role("all", warps(1))([&] { line = __LINE__, remote_read(tile, 1, 0, k.lane()); });
  }).says({"the value is 'f32', the tile holds 'bf16'; elements of other CTAs are f32 or i32"});
}
TEST(BrokenPrintf, TooFewValues) {
  Mistake([](Kernel& k, int& line) {
    k.role("all", warps(1))([&] { line = __LINE__, k.printf("%d %d\n", k.lane()); });
  }).says({"the format has more conversions than the 1 values given"});
}
TEST(BrokenPrintf, TooManyValues) {
  Mistake([](Kernel& k, int& line) {
    k.role("all", warps(1))([&] { line = __LINE__, k.printf("%d 100%%\n", k.lane(), k.lane()); });
  }).says({"the format has 1 conversions, given 2 values"});
}
TEST(BrokenPrintf, IntegerForAReal) {
  Mistake([](Kernel& k, int& line) {
    k.role("all", warps(1))([&] { line = __LINE__, k.printf("%d\n", k.real(1.0)); });
  }).says({"value 1 is 'f32', its conversion %d; expected %f, %e or %g"});
}
TEST(BrokenPtx, InputThatIsNotThere) {
  Mistake([](Kernel& k, int& line) {
    k.role("all", warps(1))([&] { line = __LINE__, k.ptx<Index>("add.u32 #out0, #0, #1;", k.lane()); });
  }).says({"#1, but there are 1 inputs"});
}
TEST(BrokenPtx, ResultThatIsNeverWritten) {
  Mistake([](Kernel& k, int& line) {
    k.role("all", warps(1))([&] { line = __LINE__, k.ptx<Index, Index>("mov.u32 #out0, #0;", k.lane()); });
  }).says({"#out1 is not in the text; the result would be undefined"});
}
TEST(BrokenPtx, NoEnd) {
  Mistake([](Kernel& k, int& line) {
    k.role("all", warps(1))([&] { line = __LINE__, k.ptx<Index>("mov.u32 #out0, #0", k.lane()); });
  }).says({"the text does not end with ; or }"});
}

}  // namespace
}  // namespace tilewright::test
