// Asynchronous copies and products: fences between the proxies, waits that are missing, phases and bytes of mbarriers.
#include "tests/unit/sim/checked.h"

namespace tilewright::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// ---- bulk stores ----

const std::string bulk_store = R"(
  .shared .align 16 .b8 s[512]; mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], %r0; fence.proxy.async.shared::cta; bar.sync 0;
  setp.ne.u32 %p1, %r0, 0; @%p1 bra WAITED; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 256; cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;
  WAITED: bar.sync 0; st.shared.u32 [%r3], %r2;)";

TEST(AsyncProxy, GenericWriteThenBulkStore) {
  expect_found({"no proxy fence", with(bulk_store, "fence.proxy.async.shared::cta;", ""), bulk_store,
                {"missing proxy fence: reads shared memory at 0x400 through the async proxy after the write by warp 0 (producer)", "`st.shared.u32 [%r3], %r0;`",
                 "no fence.proxy.async lies between the two"}});
  // The fence may stand on the other side of the barrier: it only has to lie on the way.
  EXPECT_EQ(report_of(with(with(bulk_store, "fence.proxy.async.shared::cta;", ""), "@%p1 bra WAITED;", "@%p1 bra WAITED; fence.proxy.async;")), "");
}

TEST(AsyncProxy, SharedMemoryRewrittenBeforeTheBulkStoreHasReadIt) {
  expect_found({"no wait_group.read", with(bulk_store, "cp.async.bulk.wait_group.read 0;", "") + "bar.sync 0; @!%p1 cp.async.bulk.wait_group 0;", bulk_store,
                {"race: writes shared memory at 0x400", "what a bulk store reads, issued by warp 0 (producer)", "cp.async.bulk.wait_group.read"}});
  expect_found({"one group too many in flight", with(bulk_store, "wait_group.read 0", "wait_group.read 1"), bulk_store, {"race: writes shared memory"}});
}

TEST(AsyncProxy, TheCtaEndsUnderABulkStore) {
  const std::string mended = bulk_store.substr(0, bulk_store.find("WAITED: ")) + "WAITED:";
  expect_found({"no wait at the end", with(mended, "cp.async.bulk.wait_group.read 0;", ""), mended, {"the CTA ends while a bulk store of warp 0 (producer) may still read its shared memory"}});
}

TEST(AsyncProxy, BulkStoreReadBackWithoutItsWait) {
  const std::string mended = with(bulk_store, "wait_group.read 0;", "wait_group 0; ld.global.u32 %r10, [%rd1];");
  expect_found({"only .read", with(mended, "wait_group 0;", "wait_group.read 0;"), mended, {"race: reads global memory", "what a bulk store writes"}});
}

// ---- bulk loads and mbarriers ----

// Warp 0 loads 256 bytes three times into one tile, warp 1 reads them and releases the tile.
const std::string ring = R"(
  .shared .align 16 .b8 bars[16]; .shared .align 128 .b8 s[256]; mov.u32 %r1, s; mov.b32 %r2, 1; mov.b32 %r3, 32; mov.b32 %r4, 0; mov.b32 %r5, 0; mov.b32 %r6, 256;
  setp.ne.u32 %p1, %r0, 0; @%p1 bra READY; mbarrier.init.shared::cta.b64 [bars], %r2; mbarrier.init.shared::cta.b64 [bars+8], %r3; fence.mbarrier_init.release.cluster;
  READY: bar.sync 0; setp.ge.u32 %p2, %r0, 32; @%p2 bra CONSUME; @%p1 ret;
  PRODUCE: xor.b32 %r7, %r5, 1; { .reg .pred q; W: mbarrier.try_wait.parity.shared::cta.b64 q, [bars+8], %r7; @!q bra W; }
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bars], %r6;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0], 256, [bars];
  xor.b32 %r5, %r5, 1; add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 3; @%p3 bra PRODUCE; ret;
  CONSUME: { .reg .pred q; W: mbarrier.try_wait.parity.shared::cta.b64 q, [bars], %r5; @!q bra W; }
  ld.shared.u32 %r8, [%r1+4]; mbarrier.arrive.shared::cta.b64 _, [bars+8];
  xor.b32 %r5, %r5, 1; add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 3; @%p3 bra CONSUME;)";
const std::string full_wait = "{ .reg .pred q; W: mbarrier.try_wait.parity.shared::cta.b64 q, [bars], %r5; @!q bra W; }";
const std::string empty_wait = "{ .reg .pred q; W: mbarrier.try_wait.parity.shared::cta.b64 q, [bars+8], %r7; @!q bra W; }";

TEST(Mbarrier, TileReadWithoutItsWait) {
  expect_found({"no wait", with(ring, full_wait, ""), ring, {"shared memory at 0x"}});
}

TEST(Mbarrier, TileRefilledWhileItIsRead) {
  const std::string broken = with(ring, empty_wait, "");
  EXPECT_NE(report_of(broken), "");
  EXPECT_EQ(report_of(ring), "");
  // Released before it is read.
  expect_found({"released too early", with(ring, "ld.shared.u32 %r8, [%r1+4]; mbarrier.arrive.shared::cta.b64 _, [bars+8];", "mbarrier.arrive.shared::cta.b64 _, [bars+8]; ld.shared.u32 %r8, [%r1+4];"), ring,
                {"race: "}});
}

TEST(Mbarrier, WrongByteCount) {
  const std::string few = with(ring, "mov.b32 %r6, 256;", "mov.b32 %r6, 128;");
  EXPECT_THAT(report_of(few), AllOf(HasSubstr("all arrivals of the phase have come to the mbarrier at shared address 0x400 and 128 bytes more have landed than it expects")));
  EXPECT_THAT(report_of(with(ring, "mov.b32 %r6, 256;", "mov.b32 %r6, 272;")),
              AllOf(HasSubstr("deadlock in kernel 'k'"), HasSubstr("16 bytes pending"), HasSubstr("complete phases: 0"), HasSubstr("bytes: 272 expected (last by warp 0 (producer)"), HasSubstr("256 landed")));
  EXPECT_THAT(report_of(with(ring, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bars], %r6;", "mbarrier.arrive.shared::cta.b64 _, [bars];"), 64, 1, 1), HasSubstr("mbarrier at shared address 0x400"));
}

TEST(Mbarrier, ReportsWhoHasNotArrived) {
  // The consumer's lane 31 stops arriving after its first round.
  const std::string broken = with(ring, "mbarrier.arrive.shared::cta.b64 _, [bars+8];",
                                  "setp.eq.u32 %p5, %r4, 0; setp.ne.u32 %p6, %r0, 63; or.pred %p5, %p5, %p6; @%p5 mbarrier.arrive.shared::cta.b64 _, [bars+8];");
  EXPECT_THAT(report_of(broken), AllOf(HasSubstr("deadlock"), HasSubstr("1 of 32 arrivals pending"), HasSubstr("arrived: warp 1 (consumer) at PTX line"), HasSubstr("31 times"),
                                       HasSubstr("has not arrived, but did in the phase before: warp 1 (consumer)")));
}

TEST(Mbarrier, InitialisationMustBeSeen) {
  const std::string alone = R"(.shared .align 8 .b64 bar; setp.ne.u32 %p1, %r0, 0; @%p1 bra READY; mbarrier.init.shared.b64 [bar], 64; READY: bar.sync 0; mbarrier.arrive.shared.b64 _, [bar];)";
  EXPECT_EQ(report_of(alone), "");
  EXPECT_THAT(report_of(with(alone, "bar.sync 0;", "bar.warp.sync -1;")), HasSubstr("whose initialisation is not ordered before: no barrier lies behind warp 0 (producer)"));
  expect_found({"no init fence", with(ring, "fence.mbarrier_init.release.cluster;", ""), ring,
                {"is used by the async proxy, but no fence.mbarrier_init or fence.proxy.async lies behind its initialisation by warp 0 (producer)"}});
  EXPECT_THAT(report_of(with(alone, "[bar], 64;", "[bar], 64; mbarrier.init.shared.b64 [bar], 64;")), HasSubstr("is initialised again without mbarrier.inval"));
  EXPECT_THAT(report_of(alone + "mov.b32 %r1, 0; st.shared.u32 [bar], %r1;"), HasSubstr("where an mbarrier lies that only mbarrier instructions may touch"));
}

TEST(Mbarrier, OneLaneArrivesForAWarp) {
  const std::string mended = R"(.shared .align 8 .b64 bar; .shared .align 16 .b8 s[128]; setp.ne.u32 %p1, %r0, 0; @%p1 bra READY; mbarrier.init.shared.b64 [bar], 1;
    READY: bar.sync 0; mov.u32 %r1, s; setp.ge.u32 %p2, %r0, 32; @%p2 bra LOOK;
    shl.b32 %r2, %r0, 2; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], %r0; bar.warp.sync -1; @%p1 bra END; mbarrier.arrive.shared.b64 _, [bar]; bra END;
    LOOK: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0; @!%p3 bra LOOK; ld.shared.u32 %r10, [%r1+4]; END:)";
  expect_found({"lanes apart", with(mended, "bar.warp.sync -1;", ""), mended,
                {"race: reads shared memory at 0x", "the write by warp 0 (producer)", "the lanes of that warp have not come together (bar.warp.sync) before one of them signalled for all"}});
  // What the lane has written by itself needs no other.
  EXPECT_EQ(report_of(with(with(mended, "st.shared.u32 [%r3], %r0; bar.warp.sync -1;", "ld.global.u32 %r4, [%rd0];"), "mbarrier.arrive", "st.shared.u32 [%r1+4], %r4; mbarrier.arrive")), "");
}

TEST(Mbarrier, LostPhase) {
  // Warp 0 completes phases as it likes; warp 1 looks for the first one later.
  const std::string mended = R"(.shared .align 8 .b64 bar; setp.ne.u32 %p1, %r0, 0; @%p1 bra READY; mbarrier.init.shared.b64 [bar], 1;
    READY: bar.sync 0; setp.ge.u32 %p2, %r0, 32; @%p2 bra LOOK; @%p1 bra DONE; mbarrier.arrive.shared.b64 _, [bar]; DONE: bar.sync 0; @!%p1 mbarrier.arrive.shared.b64 _, [bar]; bra END;
    LOOK: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0; @!%p3 bra LOOK; bar.sync 0;
    NEXT: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 1; @!%p3 bra NEXT; END:)";
  EXPECT_EQ(report_of(mended), "");
  const std::string free = with(with(mended, "DONE: bar.sync 0;", "DONE: "), "@!%p3 bra LOOK; bar.sync 0;", "@!%p3 bra LOOK;");
  bool lost = false, may_be = false;
  for (const std::uint64_t seed : {0, 1, 2, 3, 4, 5, 6, 7}) {
    const std::string report = report_of(free, 64, 1, seed);
    lost |= report.find("lost phase: waits for phase 0 (parity 0)") != std::string::npos;
    may_be |= report.find("phase that may be lost: phase 1 (parity 1)") != std::string::npos;
    EXPECT_NE(report, "") << seed;
  }
  EXPECT_TRUE(lost || may_be);
}

// ---- cp.async ----

TEST(SmallCopy, ReadBeforeItsWait) {
  const std::string mended = R"(.shared .align 16 .b8 s[1024]; mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r3, %r1, %r2; cvt.u64.u32 %rd2, %r2; add.s64 %rd2, %rd0, %rd2;
    cp.async.ca.shared.global [%r3], [%rd2], 4; cp.async.commit_group; cp.async.wait_group 0; ld.shared.u32 %r10, [%r3];)";
  expect_found({"no wait", with(mended, "cp.async.wait_group 0;", "cp.async.wait_group 1;"), mended, {"race: reads shared memory at 0x400", "what a cp.async writes", "nothing orders it after a wait for the cp.async"}});
}

// ---- wgmma ----

std::string registers(unsigned count) {
  std::string s;
  for (unsigned n = 0; n < count; ++n) s += (n ? ", %f" : "%f") + std::to_string(n + 1);
  return s;
}

// A tile of zeros written by the warpgroup, then one product of 64 x 8 x 16 without swizzle.
const std::string product = R"(
  mov.u32 %r1, dynamic; shl.b32 %r2, %r0, 4; add.u32 %r3, %r1, %r2; mov.b32 %r4, 0; st.shared.v4.b32 [%r3], {%r4, %r4, %r4, %r4}; st.shared.v4.b32 [%r3+2048], {%r4, %r4, %r4, %r4};
  fence.proxy.async; bar.sync 0; shr.u32 %r5, %r1, 4; or.b32 %r6, %r5, 0x80000; mov.b64 %rd2, {%r6, 0x10}; add.s64 %rd3, %rd2, 128;
  mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1; wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {)" + registers(4) + R"(}, %rd2, %rd3, 1, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; add.f32 %f9, %f1, %f2; bar.sync 0; st.shared.v4.b32 [%r3], {%r4, %r4, %r4, %r4};)";

TEST(Product, RegistersInFlight) {
  const std::string wait = "wgmma.wait_group.sync.aligned 0;";
  expect_found({"accumulator read", with(with(product, wait, ""), "bar.sync 0; st", wait + "bar.sync 0; st"), product,
                {"`add.f32 %f9, %f1, %f2;`", "reads an accumulator of a wgmma in flight, PTX line", "expected a wgmma.wait_group that covers it before"}, 128});
  expect_found({"accumulator written", with(product, wait, "mov.f32 %f3, 0f00000000; " + wait), product, {"writes an accumulator of a wgmma in flight"}, 128});
}

TEST(Product, Fences) {
  const std::string fence = "wgmma.fence.sync.aligned;";
  expect_found({"none", with(product, fence, ""), product, {"the first wgmma of the warp has no wgmma.fence before it"}, 128});
  expect_found({"a write behind it", with(product, fence, fence + " mov.f32 %f3, 0f00000000;"), product, {"an accumulator register was written after the last wgmma.fence"}, 128});
  expect_found({"a read behind it", with(product, fence, fence + " add.f32 %f9, %f1, %f2;"), product, {"an accumulator register was read after the last wgmma.fence"}, 128});
}

TEST(Product, AccumulatorsInCommon) {
  const auto mma = [](const std::string& list, const std::string& rest) { return "wgmma.mma_async.sync.aligned." + rest + " {" + list + "}, %rd2, %rd3, 1, 1, 1"; };
  const std::string commit = "wgmma.commit_group.sync.aligned;", settled = commit + " wgmma.wait_group.sync.aligned 0; wgmma.fence.sync.aligned; ";
  const std::string begin = with(product, "wgmma.fence", "mov.f32 %f5, %f1; wgmma.fence");
  EXPECT_EQ(report_of(with(begin, commit, mma("%f1, %f2, %f3, %f4", "m64n8k16.f32.f16.f16") + ", 0, 0; " + commit), 128), "");
  for (const std::string& other : {mma("%f2, %f3, %f4, %f5", "m64n8k16.f32.bf16.bf16") + ", 0, 0; ", mma("%f1, %f2, %f3, %f4", "m64n8k8.f32.tf32.tf32") + "; "})
    expect_found({"other places or shape", with(begin, commit, other + commit), with(begin, commit, settled + other + commit),
                  {"accumulates into a register of an earlier wgmma in flight that has another shape, or has it in another place: PTX line"}, 128});
}

TEST(Product, OperandsInFlight) {
  const std::string wait = "wgmma.wait_group.sync.aligned 0; add.f32 %f9, %f1, %f2;";
  expect_found({"operand overwritten", with(product, wait, "") + wait, product, {"race: writes shared memory at 0x", "the operand that a wgmma reads, issued by warp", "a wgmma.wait_group that covers the wgmma"}, 128});
  expect_found({"no proxy fence", with(product, "fence.proxy.async; bar.sync 0;", "bar.sync 0;"), product, {"missing proxy fence: reads shared memory at 0x400"}, 128});
  expect_found({"no barrier", with(product, "fence.proxy.async; bar.sync 0;", "fence.proxy.async;"), product, {"shared memory at 0x"}, 128});
}

TEST(Product, WrongDescriptor) {
  // The tile of B is 256 bytes behind the one the descriptor names; rows of a tile half as long are not there.
  EXPECT_THAT(report_of(with(product, "add.s64 %rd3, %rd2, 128;", "add.s64 %rd3, %rd2, 256;"), 128), HasSubstr("which nobody has written"));
  EXPECT_THAT(report_of(with(product, "mov.b64 %rd2, {%r6, 0x10};", "mov.b64 %rd2, {%r6, 0x100};"), 128), HasSubstr("which nobody has written"));
}

}  // namespace
}  // namespace tilewright::test
