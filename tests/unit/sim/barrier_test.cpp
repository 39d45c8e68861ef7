// Barriers, mbarriers, the register pool, and the report of a deadlock.
#include "tests/unit/sim/kernels.h"

namespace tilewright::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TILEWRIGHT_ON_EACH_DEVICE(Barrier);

const std::string store_result = "mul.wide.u32 %rd2, %r0, 4; add.s64 %rd2, %rd1, %rd2; st.global.u32 [%rd2], %r10;";

TEST_P(Barrier, OrdersSharedMemoryOfWarps) {
  const std::string body = R"(
    .shared .align 4 .b8 s[512]; mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], %r0; bar.sync 0;
    xor.b32 %r4, %r2, 508; add.u32 %r4, %r1, %r4; ld.shared.u32 %r10, [%r4];)";
  const auto r = run_words(device(), module_text(body + store_result, 128), 128, 128);
  for (std::uint32_t n = 0; n < 128; ++n) ASSERT_EQ(r[n], 127 - n);
}

TEST_P(Barrier, NamedArriveAndSync) {
  // Warp 1 produces and only arrives; warp 0 waits at barrier 3.
  const std::string body = R"(
    .shared .align 4 .u32 s; setp.ge.u32 %p1, %r0, 32; mov.b32 %r10, 0; @%p1 bra PRODUCE;
    bar.sync 3, 64; ld.shared.u32 %r10, [s]; bra END;
    PRODUCE: mov.b32 %r1, 9; st.shared.u32 [s], %r1; bar.arrive 3, 64; END: )";
  EXPECT_EQ(run_words(device(), module_text(body + store_result, 64), 64, 64)[0], 9u);
}

TEST_P(Barrier, Reductions) {
  const std::string body = R"(
    setp.lt.u32 %p1, %r0, 40; bar.red.popc.u32 %r1, 0, %p1; bar.red.and.pred %p2, 0, %p1; barrier.cta.red.or.aligned.pred %p3, 1, 64, !%p1;
    selp.b32 %r2, 100, 0, %p2; selp.b32 %r3, 1000, 0, %p3; add.u32 %r10, %r1, %r2; add.u32 %r10, %r10, %r3;)";
  EXPECT_EQ(run_words(device(), module_text(body + store_result, 64), 64, 64)[50], 1040u);
}

// Two warps hand a counter through shared memory, twenty times, over a pair of mbarriers.
const std::string ping = R"(
  .shared .align 8 .b8 bars[16]; .shared .align 4 .u32 value;
  setp.ne.u32 %p1, %r0, 0; mov.b32 %r1, 1; mov.b32 %r2, 32; mov.b32 %r10, 0;
  @%p1 bra READY; mbarrier.init.shared::cta.b64 [bars], %r2; mbarrier.init.shared::cta.b64 [bars+8], %r2;
  READY: bar.sync 0; setp.ge.u32 %p1, %r0, 32; mov.b32 %r3, 0; mov.b32 %r4, 0; @%p1 bra CONSUMER;
  PRODUCER: xor.b32 %r5, %r4, 1; { .reg .pred q; W: mbarrier.try_wait.parity.shared::cta.b64 q, [bars+8], %r5; @!q bra W; }
  add.u32 %r6, %r3, 1; st.shared.u32 [value], %r6; mbarrier.arrive.shared::cta.b64 _, [bars];
  xor.b32 %r4, %r4, 1; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 20; @%p2 bra PRODUCER; bra END;
  CONSUMER: { .reg .pred q; W: mbarrier.try_wait.parity.shared::cta.b64 q, [bars], %r4; @!q bra W; }
  ld.shared.u32 %r6, [value]; add.u32 %r10, %r10, %r6; mbarrier.arrive.shared::cta.b64 %rd5, [bars+8];
  xor.b32 %r4, %r4, 1; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 20; @%p2 bra CONSUMER; END: )";

TEST_P(Barrier, MbarrierPhasesAlternate) {
  const auto r = run_words(device(), module_text(ping + store_result, 64), 64, 64);
  EXPECT_EQ(r[32], 210u);
  EXPECT_EQ(r[0], 0u);
}

TEST_P(Barrier, StateFormAndCounts) {
  const auto r = run_lanes(device(), R"(
    .shared .align 8 .b64 bar; setp.ne.u32 %p1, %lane, 0; @%p1 bra END; mbarrier.init.shared.b64 [bar], 3;
    mbarrier.arrive.shared.b64 %rd5, [bar], 2; mbarrier.test_wait.shared.b64 %p2, [bar], %rd5; selp.b32 %r1, 1, 0, %p2;
    mbarrier.arrive.shared.b64 %rd6, [bar]; mbarrier.test_wait.shared.b64 %p3, [bar], %rd5; selp.b32 %r2, 10, 0, %p3;
    mbarrier.test_wait.parity.shared.b64 %p4, [bar], 0; selp.b32 %r3, 100, 0, %p4; mbarrier.test_wait.parity.shared.b64 %p5, [bar], 1; selp.b32 %r4, 1000, 0, %p5;
    add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %out, %r1, %r4; mbarrier.inval.shared.b64 [bar]; END:)");
  EXPECT_EQ(r[0], 110u);
}

TEST(Mbarrier, MistakesAreNamed) {
  const auto text = [](const std::string& body) { return error_of([&] { run_words(simulator(), module_text(".shared .align 8 .b64 bar;\n" + body), 32, 1); }); };
  EXPECT_THAT(text("mbarrier.arrive.shared.b64 _, [bar];"), HasSubstr("the mbarrier at shared address 0x400 is not initialised"));
  EXPECT_THAT(text("mbarrier.init.shared.b64 [bar], 0;"), HasSubstr("mbarrier.init with 0 arrivals"));
  EXPECT_THAT(text("setp.ne.u32 %p1, %r0, 0; @%p1 ret; mbarrier.init.shared.b64 [bar], 40; mbarrier.arrive.shared.b64 _, [bar], 41;"),
              HasSubstr("41 arrivals at the mbarrier at shared address 0x400, which expects 40 in a phase and waits for 40 more"));
}

TEST(Deadlock, NamesWaitersBarrierAndWhatIsPending) {
  runtime::sim::SimulatorOptions options;
  options.roles = {{"k", 1, 1, "consumer"}};
  const auto device = runtime::sim::make_simulated_device(options);
  const std::string body = R"(
    .shared .align 8 .b64 bar; setp.ne.u32 %p1, %r0, 0; @%p1 bra GO; mbarrier.init.shared.b64 [bar], 2; mbarrier.arrive.expect_tx.shared.b64 _, [bar], 4096;
    GO: bar.sync 0; setp.lt.u32 %p1, %r0, 32; @%p1 ret;
    .loc 1 17 5
    WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0; @!%p2 bra WAIT;)";
  EXPECT_THAT(error_of([&] { run_words(*device, module_text(body, 64, ".file 1 \"lesson.cpp\""), 64, 1); }),
              AllOf(HasSubstr("deadlock in kernel 'k': no warp of CTA (0, 0, 0) can go on"), HasSubstr("warp 1 (consumer) at PTX line"),
                    HasSubstr("mbarrier.try_wait.parity"), HasSubstr("(lesson.cpp:17)"),
                    HasSubstr("the phase of parity 0 of the mbarrier at shared address 0x400"), HasSubstr("1 of 2 arrivals pending, 4096 bytes pending")));
}

TEST(Deadlock, NamedBarrier) {
  const auto device = runtime::sim::make_simulated_device(runtime::sim::SimulatorOptions{});
  runtime::sim::add_names(*device, {{"k", 0, 1, "all"}}, {{"k", 8, "ring.full[1]"}});
  const std::string body = "mov.u32 %r1, dynamic; setp.ne.u32 %p1, %r0, 0; @%p1 ret; mbarrier.init.shared.b64 [%r1+8], 1; W: mbarrier.try_wait.parity.shared.b64 %p2, [%r1+8], 0; @!%p2 bra W;";
  EXPECT_THAT(error_of([&] { run_words(*device, module_text(body, 32, ".extern .shared .align 16 .b8 dynamic[];"), 32, 1, {}, 64); }),
              AllOf(HasSubstr("warp 0 (all) lanes 0x1 at"), HasSubstr("of the mbarrier ring.full[1] at shared address 0x408 (dynamic shared memory + 8)")));
}

TEST(Deadlock, BarrierWithTooFewThreads) {
  EXPECT_THAT(error_of([&] { run_words(simulator(), module_text("setp.lt.u32 %p1, %r0, 32; @%p1 bar.sync 2, 64;", 64), 64, 1); }),
              HasSubstr("waits at barrier 2: 32 of 64 threads have arrived"));
}

TEST(Deadlock, LanesThatNeverMeet) {
  EXPECT_THAT(error_of([&] {
                run_words(simulator(), module_text("setp.lt.u32 %p1, %r0, 16; @%p1 bra A; shfl.sync.idx.b32 %r1, %r0, 0, 31, -1; bra E; A: bar.sync 0; E: "), 32, 1);
              }),
              HasSubstr("which took another way, to reach the same instruction"));
}

TEST(Deadlock, PollingForAnotherCta) {
  runtime::sim::SimulatorOptions options;
  options.step_limit = 10000;
  const auto device = runtime::sim::make_simulated_device(options);
  EXPECT_THAT(error_of([&] { run_words(*device, module_text("P: ld.acquire.gpu.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra P;"), 32, 1); }),
              AllOf(HasSubstr("no forward progress: kernel 'k', CTA (0, 0, 0)"), HasSubstr("polls for what nobody writes")));
}

TEST(Deadlock, AWaitMayReturnWithoutItsPhase) {
  // A try_wait that looks ahead before the work that completes the phase: legal, not a deadlock.
  const auto r = run_lanes(simulator(), R"(
    .shared .align 8 .b64 bar; setp.ne.u32 %p1, %lane, 0; @%p1 bra END; mbarrier.init.shared.b64 [bar], 1;
    mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; selp.b32 %r1, 1, 0, %p2; mbarrier.arrive.shared.b64 _, [bar];
    mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0; selp.b32 %r2, 2, 0, %p3; add.u32 %out, %r1, %r2; END:)");
  EXPECT_EQ(r[0], 2u);
}

std::string budgets(int first, int second, int third) {
  const auto change = [](int n) { return std::string("setmaxnreg.") + (n > 168 ? "inc" : "dec") + ".sync.aligned.u32 " + std::to_string(n) + ";"; };
  return "shr.u32 %r1, %r0, 7; setp.eq.u32 %p1, %r1, 1; setp.eq.u32 %p2, %r1, 2; @%p1 bra B; @%p2 bra C; " + change(first) + " bra E; B: " + change(second) +
         " bra E; C: " + change(third) + " E: bar.sync 0; mov.b32 %r10, 1; " + store_result;
}

TEST_P(Barrier, RegisterPoolThatIsEnough) { EXPECT_EQ(run_words(device(), module_text(budgets(240, 240, 24), 384), 384, 384)[383], 1u); }

TEST(Deadlock, RegisterPoolOverdrawn) {
  EXPECT_THAT(error_of([&] { run_words(simulator(), module_text(budgets(216, 216, 80), 384), 384, 384); }),
              AllOf(HasSubstr("deadlock"), HasSubstr("`setmaxnreg.inc.sync.aligned.u32 216;`"), HasSubstr("asks for 216 per thread, the CTA's register pool of 168 x 12 warps")));
}

}  // namespace
}  // namespace tilewright::test
