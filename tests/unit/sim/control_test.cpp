// Divergence and reconvergence, scopes, collectives of a warp.
#include "tests/unit/sim/kernels.h"

namespace tilewright::test {
namespace {

TILEWRIGHT_ON_EACH_DEVICE(Control);

std::vector<std::uint64_t> each_lane(std::uint64_t (*f)(unsigned)) {
  std::vector<std::uint64_t> v;
  for (unsigned l = 0; l < 32; ++l) v.push_back(f(l));
  return v;
}

TEST_P(Control, DivergentIfElseMeetsAgain) {
  const auto r = run_lanes(device(), R"(
    and.b32 %r1, %lane, 1; setp.eq.u32 %p1, %r1, 0;
    @%p1 bra EVEN;
    mov.b32 %r2, 100; bra JOIN;
    EVEN: mov.b32 %r2, 200;
    JOIN: activemask.b32 %r3; shfl.sync.bfly.b32 %r4, %r2, 1, 31, -1; add.u32 %out, %r4, %lane;)");
  EXPECT_EQ(r, each_lane([](unsigned l) -> std::uint64_t { return (l % 2 ? 200 : 100) + l; }));
}

TEST_P(Control, LoopsOfDifferentLength) {
  const auto r = run_lanes(device(), R"(
    mov.b32 %r1, 0; mov.b32 %r2, 0;
    LOOP: setp.ge.u32 %p1, %r1, %lane; @%p1 bra DONE;
    add.u32 %r2, %r2, %r1; add.u32 %r1, %r1, 1; bra.uni LOOP;
    DONE: mov.b32 %out, %r2;)");
  EXPECT_EQ(r, each_lane([](unsigned l) -> std::uint64_t { return l * (l - 1) / 2; }));
}

TEST_P(Control, JoinAheadOfTheBodyInTheText) {
  // The block both ways meet in stands before one of the ways: lanes must still be together at the shuffle.
  const auto r = run_lanes(device(), R"(
    setp.lt.u32 %p1, %lane, 16; mov.b32 %r2, 1;
    @%p1 bra BODY;
    JOIN: shfl.sync.idx.b32 %out, %r2, 0, 31, -1; bra END;
    BODY: mov.b32 %r2, 42; bra JOIN;
    END:)");
  EXPECT_EQ(r, each_lane([](unsigned) -> std::uint64_t { return 42; }));
}

TEST_P(Control, SomeLanesEndEarly) {
  const std::string body = R"(
    mul.wide.u32 %rd2, %r0, 4; add.s64 %rd2, %rd1, %rd2; setp.ge.u32 %p1, %r0, 40; @%p1 ret;
    bar.sync 0; st.global.u32 [%rd2], %r0;)";
  const auto r = run_words(device(), module_text(body, 64), 64, 64);
  EXPECT_EQ(r[39], 39u);
  EXPECT_EQ(r[40], 0u);
}

TEST_P(Control, ScopesHideRegistersAndLabels) {
  const auto r = run_lanes(device(), R"(
    mov.b32 %r1, 1;
    { .reg .b32 t; .reg .pred q; mov.b32 t, 5; L: add.u32 t, t, 1; setp.lt.u32 q, t, 10; @q bra L; add.u32 %r1, %r1, t; }
    { .reg .b32 t; mov.b32 t, 7; bra L; add.u32 t, t, 100; L: add.u32 %r1, %r1, t; }
    mov.b32 %out, %r1;)");
  EXPECT_EQ(r[0], 18u);
}

TEST_P(Control, GuardsSkipLanes) {
  const auto r = run_lanes(device(), "setp.lt.u32 %p1, %lane, 3; mov.b32 %out, 1; @%p1 mov.b32 %out, 2; @!%p1 add.u32 %out, %out, 4;");
  EXPECT_EQ(r, each_lane([](unsigned l) -> std::uint64_t { return l < 3 ? 2 : 5; }));
}

TEST_P(Control, ShuffleUpAndDownKeepTheirOwnAtTheEdge) {
  const auto r = run_lanes(device(), "shfl.sync.up.b32 %r1|%p1, %lane, 1, 0, -1; shfl.sync.down.b32 %r2|%p2, %lane, 2, 31, -1; "
                                     "selp.b32 %r3, 1, 0, %p1; selp.b32 %r4, 1, 0, %p2; mad.lo.u32 %r1, %r1, 100, %r2; shl.b32 %r3, %r3, 16; shl.b32 %r4, %r4, 17; "
                                     "add.u32 %r1, %r1, %r3; add.u32 %out, %r1, %r4;");
  EXPECT_EQ(r, each_lane([](unsigned l) -> std::uint64_t { return (l ? l - 1 : 0) * 100 + (l < 30 ? l + 2 : l) + (l ? 1u << 16 : 0) + (l < 30 ? 1u << 17 : 0); }));
}

TEST_P(Control, ShuffleWithinSegments) {
  const auto r = run_lanes(device(), "shfl.sync.idx.b32 %out, %lane, 1, 6175, -1;");   // segments of 8: mask 0x18 in bits 8 up
  EXPECT_EQ(r, each_lane([](unsigned l) -> std::uint64_t { return l / 8 * 8 + 1; }));
}

TEST_P(Control, Votes) {
  const auto r = run_lanes(device(), R"(
    setp.lt.u32 %p1, %lane, 4; vote.sync.ballot.b32 %r1, %p1, -1; vote.sync.any.pred %p2, %p1, -1; vote.sync.all.pred %p3, %p1, -1;
    vote.sync.all.pred %p4, !%p3, -1; selp.b32 %r2, 16, 0, %p2; selp.b32 %r3, 32, 0, %p3; selp.b32 %r4, 64, 0, %p4;
    add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %out, %r1, %r4;)");
  EXPECT_EQ(r[0], 15u + 16 + 64);
}

TEST_P(Control, MatchReduceElect) {
  const auto r = run_lanes(device(), R"(
    shr.u32 %r1, %lane, 3; match.any.sync.b32 %r2, %r1, -1; redux.sync.add.s32 %r3, %lane, -1; redux.sync.max.u32 %r4, %lane, -1;
    elect.sync %r5|%p1, -1; selp.b32 %r6, 1, 0, %p1;
    cvt.u64.u32 %wide, %r2; add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r6; mov.b64 %wide, {%r2, %r3};)");
  EXPECT_EQ(r[0], 0xffull | (496ull + 31 + 1) << 32);
  EXPECT_EQ(r[9], 0xff00ull | (496ull + 31) << 32);
}

TEST_P(Control, SpecialRegisters) {
  const std::string body = R"(
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %laneid; mov.u32 %r5, %cluster_ctarank;
    mad.lo.u32 %r6, %r1, %r3, %r0; mul.wide.u32 %rd2, %r6, 4; add.s64 %rd2, %rd1, %rd2;
    mad.lo.u32 %r7, %r2, 1000, %r4; add.u32 %r7, %r7, %r5; st.global.u32 [%rd2], %r7;)";
  const auto r = run_words(device(), module_text(body, 64), 64, 128, {}, 0, 2);
  EXPECT_EQ(r[127], 2031u);
  EXPECT_EQ(r[64], 2000u);
}

TEST_P(Control, ClockDoesNotGoBack) {
  const auto r = run_lanes(device(), "mov.u64 %rd5, %clock64; mov.u32 %r1, %clock; mov.u64 %rd4, %globaltimer; mov.u64 %rd6, %clock64; setp.ge.u64 %p1, %rd6, %rd5; selp.b32 %out, 1, 0, %p1;");
  EXPECT_EQ(r[0], 1u);
}

}  // namespace
}  // namespace tilewright::test
