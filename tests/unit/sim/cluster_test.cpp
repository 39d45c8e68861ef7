// Clusters: ranks, the barrier, shared memory of other CTAs, multicast; and CTAs that wait for each other.
#include "tests/unit/sim/kernels.h"

namespace tilewright::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TILEWRIGHT_ON_EACH_DEVICE(Clusters);

std::string in_clusters(int ctas, const std::string& body, unsigned threads = 32, const std::string& before = {}) {
  std::string text = module_text(body, threads, before);
  return text.replace(text.find(".reqntid"), 0, ".explicitcluster\n.reqnctapercluster " + std::to_string(ctas) + "\n");
}

// %r9 = index of the thread in the grid, %rd9 = its place in `out`.
const std::string place = "mov.u32 %r8, %ctaid.x; mad.lo.u32 %r9, %r8, 32, %r0; mul.wide.u32 %rd9, %r9, 4; add.s64 %rd9, %rd1, %rd9;\n";
const std::string meet = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n";

TEST_P(Clusters, RanksAndNumbers) {
  const auto r = run_words(device(), in_clusters(2, place + R"(
    mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank; mov.u32 %r3, %clusterid.x; mov.u32 %r4, %nclusterid.x; mov.u32 %r5, %cluster_ctaid.x;
    mad.lo.u32 %r1, %r1, 10, %r2; mad.lo.u32 %r1, %r3, 100, %r1; mad.lo.u32 %r1, %r4, 1000, %r1; mad.lo.u32 %r1, %r5, 10000, %r1; st.global.u32 [%rd9], %r1;)"),
                           32, 6 * 32, {}, 0, 6);
  for (unsigned cta = 0; cta < 6; ++cta) EXPECT_EQ(r[cta * 32], cta % 2 * 10010 + 2 + cta / 2 * 100 + 3000);
}

TEST_P(Clusters, ReadsAndWritesOfOtherCtas) {
  // Each CTA writes its thread number + 100 x rank into the next CTA's memory, then reads the previous one's own value.
  const auto r = run_words(device(), in_clusters(4, place + R"(
    .shared .align 16 .b8 s[256]; mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r1, %r1, %r2;
    mov.u32 %r3, %cluster_ctarank; add.u32 %r4, %r3, 1; and.b32 %r4, %r4, 3; add.u32 %r5, %r3, 3; and.b32 %r5, %r5, 3;
    mad.lo.u32 %r6, %r3, 100, %r0; st.shared.u32 [%r1+128], %r6;)" + meet + R"(
    mapa.shared::cluster.u32 %r7, %r1, %r4; st.shared::cluster.u32 [%r7], %r6; mapa.shared::cluster.u32 %r7, %r1, %r5; ld.shared::cluster.u32 %r10, [%r7+128];)" + meet + R"(
    ld.shared.u32 %r11, [%r1]; mad.lo.u32 %r10, %r10, 1000, %r11; st.global.u32 [%rd9], %r10;)"), 32, 4 * 32, {}, 0, 4);
  for (unsigned cta = 0; cta < 4; ++cta)
    for (unsigned t = 0; t < 32; ++t) ASSERT_EQ(r[cta * 32 + t], ((cta + 3) % 4 * 100 + t) * 1001);
}

TEST_P(Clusters, GenericAddressesAndAtomicsOfOtherCtas) {
  const auto r = run_words(device(), in_clusters(2, place + R"(
    .shared .align 16 .u32 count; mov.u32 %r1, count; st.shared.u32 [count], 0;)" + meet + R"(
    mov.u32 %r2, 0; mapa.shared::cluster.u32 %r3, %r1, %r2; atom.shared::cluster.add.u32 %r4, [%r3], 1;
    cvt.u64.u32 %rd5, %r1; cvta.shared.u64 %rd5, %rd5; mapa.u64 %rd6, %rd5, %r2; red.add.u32 [%rd6], 2; getctarank.u64 %r6, %rd6; mov.u32 %r7, 1; mapa.shared::cluster.u32 %r3, %r1, %r7;
    getctarank.shared::cluster.u32 %r7, %r3;)" + meet + R"(
    ld.u32 %r5, [%rd6]; mad.lo.u32 %r5, %r6, 1000, %r5; mad.lo.u32 %r5, %r7, 10000, %r5; st.global.u32 [%rd9], %r5;)" + meet), 32, 64, {}, 0, 2);
  EXPECT_EQ(r[0], 10000u + 2 * 32 * 3);
  EXPECT_EQ(r[63], 10000u + 2 * 32 * 3);
}

TEST_P(Clusters, ArrivalsAndAsynchronousStoresComplete) {
  // Rank 1 sends two words and its arrivals to rank 0's mbarrier.
  const auto r = run_words(device(), in_clusters(2, place + R"(
    .shared .align 16 .b8 s[16]; .shared .align 8 .b64 bar; mov.u32 %r1, s; mov.u32 %r2, bar; mov.u32 %r3, %cluster_ctarank; mov.b32 %r10, 0;
    setp.ne.u32 %p1, %r0, 0; @%p1 bra READY; mbarrier.init.shared::cta.b64 [bar], 33; fence.mbarrier_init.release.cluster; READY:)" + meet + R"(
    setp.ne.u32 %p2, %r3, 0; @%p2 bra SEND; @%p1 bra WAIT; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 8;
    WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [bar], 0; @!%p3 bra WAIT; ld.shared.u32 %r4, [s+4]; ld.shared.u32 %r10, [s]; mad.lo.u32 %r10, %r4, 1000, %r10; bra END;
    SEND: mov.b32 %r5, 0; mapa.shared::cluster.u32 %r6, %r1, %r5; mapa.shared::cluster.u32 %r7, %r2, %r5; @%p1 bra ARRIVE; mov.b32 %r11, 7; mov.b32 %r12, 9;
    st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r6], {%r11, %r12}, [%r7];
    ARRIVE: mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r7]; END:)" + meet + "st.global.u32 [%rd9], %r10;"), 32, 64, {}, 0, 2);
  EXPECT_EQ(r[5], 9007u);
  EXPECT_EQ(r[40], 0u);
}

TEST_P(Clusters, BulkCopiesReachOtherCtas) {
  // Each CTA copies 64 bytes of its own into the other one's memory.
  const auto r = run_words(device(), in_clusters(2, place + R"(
    .shared .align 16 .b8 a[128]; .shared .align 16 .b8 b[128]; .shared .align 8 .b64 bar; mov.u32 %r3, %cluster_ctarank; xor.b32 %r4, %r3, 1;
    mov.u32 %r1, a; shl.b32 %r2, %r0, 2; add.u32 %r1, %r1, %r2; mad.lo.u32 %r5, %r3, 100, %r0; st.shared.u32 [%r1], %r5; fence.proxy.async.shared::cta;
    setp.ne.u32 %p1, %r0, 0; @%p1 bra READY; mbarrier.init.shared::cta.b64 [bar], 1; fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64; READY:)" + meet + R"(
    @%p1 bra WAIT; mov.u32 %r6, b; mapa.shared::cluster.u32 %r6, %r6, %r4; mov.u32 %r7, bar; mapa.shared::cluster.u32 %r7, %r7, %r4; mov.u32 %r11, a;
    cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r6], [%r11], 64, [%r7];
    WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [bar], 0; @!%p3 bra WAIT; mov.u32 %r1, b; add.u32 %r1, %r1, %r2; mov.b32 %r10, 0;
    setp.lt.u32 %p4, %r0, 16; @%p4 ld.shared.u32 %r10, [%r1];)" + meet + "st.global.u32 [%rd9], %r10;"), 32, 64, {}, 0, 2);
  EXPECT_EQ(r[3], 103u);
  EXPECT_EQ(r[32 + 15], 15u);
}

TEST_P(Clusters, MulticastFillsEveryTarget) {
  // Rank 0 copies 64 bytes of `in` to both CTAs, each signals its own mbarrier at the same place.
  std::vector<std::uint32_t> in(16);
  for (unsigned n = 0; n < 16; ++n) in[n] = n * n;
  const auto r = run_words(device(), in_clusters(2, place + R"(
    .shared .align 128 .b8 s[128]; .shared .align 8 .b64 bar; mov.u32 %r3, %cluster_ctarank; mov.u32 %r1, s; mov.u32 %r2, bar; setp.ne.u32 %p1, %r0, 0; @%p1 bra READY;
    mbarrier.init.shared::cta.b64 [bar], 1; fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64; READY:)" + meet + R"(
    or.b32 %r4, %r3, %r0; setp.ne.u32 %p2, %r4, 0; @%p2 bra WAIT; mov.b16 %h1, 3;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%rd0], 64, [%r2], %h1;
    WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [bar], 0; @!%p3 bra WAIT; shl.b32 %r5, %r0, 2; add.u32 %r5, %r1, %r5; mov.b32 %r10, 0;
    setp.lt.u32 %p4, %r0, 16; @%p4 ld.shared.u32 %r10, [%r5];)" + meet + "st.global.u32 [%rd9], %r10;"), 32, 64, in, 0, 2);
  for (unsigned n = 0; n < 16; ++n) EXPECT_EQ(r[n] + 1000 * r[32 + n], n * n * 1001);
}

TEST(ClusterMistakes, AreNamed) {
  const auto text = [](const std::string& body, unsigned grid = 2) { return error_of([&] { run_words(simulator(), in_clusters(2, body), 32, 1, {}, 0, grid); }); };
  EXPECT_THAT(text("ret;", 3), HasSubstr("grid of (3, 1, 1) CTAs; expected multiples of its cluster (2, 1, 1)"));
  const std::string own = ".shared .align 16 .b8 s[16]; mov.u32 %r1, s; mov.b32 %r2, 1; mov.u32 %r3, %cluster_ctarank; ";
  EXPECT_THAT(text(own + "mov.b32 %r2, 2; mapa.shared::cluster.u32 %r4, %r1, %r2;"), HasSubstr("mapa to CTA 2 of a cluster of 2"));
  EXPECT_THAT(text(own + "mapa.shared::cluster.u32 %r4, %r1, %r2; ld.shared::cta.u32 %r5, [%r4];"), HasSubstr("the instruction reaches its own CTA only"));
  EXPECT_THAT(text(own + "st.shared.u32 [%r1], %r2; " + meet + "setp.eq.u32 %p1, %r3, 1; @%p1 ret; L: add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 4096; @%p2 bra L; mapa.shared::cluster.u32 %r4, %r1, %r2; ld.shared::cluster.u32 %r5, [%r4];"),
              AllOf(HasSubstr("CTA (0, 0, 0), warp 0, lane 0"), HasSubstr("shared memory of CTA 1 of the cluster, which has ended")));
  EXPECT_THAT(text("barrier.cluster.wait.aligned;"), HasSubstr("waits at the cluster's barrier without having arrived"));
  EXPECT_THAT(text("barrier.cluster.arrive.aligned; barrier.cluster.arrive.aligned;"), HasSubstr("arrives at the cluster's barrier again without having waited"));
  EXPECT_THAT(text(own + ".shared .align 8 .b64 bar; setp.eq.u32 %p1, %r3, 1; @%p1 bra W; setp.ne.u32 %p1, %r0, 0; @%p1 ret; mbarrier.init.shared.b64 [bar], 33; X: mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0; @!%p2 bra X;"
                         "W: barrier.cluster.arrive; barrier.cluster.wait;"),
              AllOf(HasSubstr("no warp of the cluster of CTA (0, 0, 0) can go on"), HasSubstr("CTA (1, 0, 0), warp 0 at"), HasSubstr("waits at the barrier of the cluster: 32 of 33 threads")));
}

TILEWRIGHT_ON_EACH_DEVICE(Flags);

TEST_P(Flags, EarlierCtasWaitForLaterOnes) {
  // CTA n waits until CTA n + 1 has set its flag; the atomic keeps the simulator on one thread.
  const auto r = run_words(device(), module_text(R"(
    mov.u32 %r8, %ctaid.x; mul.wide.u32 %rd9, %r8, 4; add.s64 %rd9, %rd1, %rd9; setp.ne.u32 %p1, %r0, 0; @%p1 ret; atom.global.add.u32 %r1, [%rd1+32], 1;
    setp.eq.u32 %p2, %r8, 7; mov.b32 %r3, 1; @%p2 bra SET; P: ld.acquire.gpu.global.u32 %r2, [%rd9+4]; nanosleep.u32 40; setp.eq.u32 %p3, %r2, 0; @%p3 bra P; add.u32 %r3, %r2, 1;
    SET: st.release.gpu.global.u32 [%rd9], %r3;)"), 32, 9, {}, 0, 8);
  EXPECT_EQ(r, (std::vector<std::uint32_t>{8, 7, 6, 5, 4, 3, 2, 1, 8}));
}

TEST_P(Flags, ReleaseAndAcquireOnSeveralThreads) {
  const auto r = run_words(device(), module_text(R"(
    mov.u32 %r8, %ctaid.x; setp.ne.u32 %p1, %r0, 0; @%p1 ret; setp.eq.u32 %p2, %r8, 3; @%p2 bra SET;
    P: ld.acquire.gpu.global.u32 %r2, [%rd1]; setp.eq.u32 %p3, %r2, 0; @%p3 bra P; ld.global.u32 %r3, [%rd1+4]; mul.wide.u32 %rd9, %r8, 4; add.s64 %rd9, %rd1, %rd9; st.global.u32 [%rd9+8], %r3; ret;
    SET: mov.b32 %r4, 77; st.global.u32 [%rd1+4], %r4; st.release.gpu.global.u32 [%rd1], %r4;)"), 32, 5, {}, 0, 4);
  EXPECT_EQ(r, (std::vector<std::uint32_t>{77, 77, 77, 77, 77}));
}

}  // namespace
}  // namespace tilewright::test
