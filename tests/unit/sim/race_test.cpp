// Races between warps and between CTAs, memory nobody wrote, and what the reports say.
#include "tests/unit/sim/checked.h"

namespace tilewright::test {
namespace {

using testing::HasSubstr;

// %r3: the thread's word of shared memory; %r4: that of the thread in the other warp
const std::string words = ".shared .align 16 .b8 s[512]; mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r3, %r1, %r2; xor.b32 %r4, %r2, 128; add.u32 %r4, %r1, %r4;\n";

TEST(Race, WriteThenRead) {
  const std::string mended = words + "st.shared.u32 [%r3], %r0; bar.sync 0;\n.loc 1 41 3\nld.shared.u32 %r10, [%r4];";
  expect_found({"write, read", with(mended, "bar.sync 0;", ""), mended,
                {"warp 0 (producer), lane 0, PTX line", "`ld.shared.u32 %r10, [%r4];` (lesson.cpp:41): reads shared memory at 0x480, which nobody has written"}});
}

TEST(Race, ReadThenWrite) {
  const std::string mended = words + "st.shared.u32 [%r3], %r0; bar.sync 0; ld.shared.u32 %r10, [%r4]; bar.sync 0;\n.loc 1 42 3\nst.shared.u32 [%r3], %r10;";
  const std::string broken = with(mended, "ld.shared.u32 %r10, [%r4]; bar.sync 0;", "ld.shared.u32 %r10, [%r4];");
  expect_found({"read, write", broken, mended,
                {"(lesson.cpp:42)", "race: ", "shared memory at 0x4", "in conflict with the ", "no barrier or other synchronisation orders the two"}});
}

TEST(Race, BarrierOfTooFewThreads) {
  // Two warps of three meet; the third reads too early.
  const std::string mended = words + R"(setp.lt.u32 %p1, %r0, 32; @%p1 st.shared.u32 [%r3], %r0; setp.lt.u32 %p2, %r0, 64;
    bar.sync 1, 96; sub.u32 %r5, %r0, 64; shl.b32 %r5, %r5, 2; add.u32 %r5, %r1, %r5; setp.ge.u32 %p3, %r0, 64; @%p3 ld.shared.u32 %r10, [%r5];)";
  expect_found({"barrier of two warps", with(mended, "bar.sync 1, 96;", "@%p2 bar.sync 1, 64;"), mended, {"PTX line"}, 96});
}

TEST(Race, HalvesOfAWordAreDifferentPlaces) {
  EXPECT_EQ(report_of(words + R"(shr.u32 %r5, %r0, 5; shl.b32 %r5, %r5, 1; and.b32 %r6, %r0, 31; shl.b32 %r6, %r6, 2; add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r1;
    mov.b16 %h1, 7; st.shared.u16 [%r5], %h1; bar.sync 0; ld.shared.u32 %r10, [%r6+1024];)"), "");
}

TEST(Race, SharedFlagOfAtomics) {
  // Warp 0 writes and releases a flag; warp 1 polls it.
  const std::string mended = words + R"(.shared .align 4 .u32 flag; mov.b32 %r7, 0; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [flag], %r7; bar.sync 0;
    setp.ge.u32 %p1, %r0, 32; @%p1 bra POLL; st.shared.u32 [%r3], %r0; bar.warp.sync -1; setp.eq.u32 %p2, %r0, 0; mov.b32 %r8, 1;
    @%p2 atom.release.cta.shared.exch.b32 %r9, [flag], %r8; bra END;
    POLL: ld.acquire.cta.shared.u32 %r9, [flag]; setp.eq.u32 %p2, %r9, 0; @%p2 bra POLL; ld.shared.u32 %r10, [%r4]; END:)";
  expect_found({"relaxed poll", with(mended, "ld.acquire.cta.shared", "ld.relaxed.cta.shared"), mended, {"race: reads shared memory", "in conflict with the write by warp 0 (producer)"}});
}

TEST(Race, UnwrittenGlobalMemory) {
  const auto device = runtime::sim::make_simulated_device(checked());
  const DeviceAddress fresh = device->allocate(64), out = device->allocate(256);
  runtime::KernelImage image;
  image.name = "k";
  image.ptx = module_text("and.b32 %r1, %r0, 15; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd0, %rd2; ld.global.u32 %r2, [%rd2];");
  const auto kernel = device->load(image);
  const runtime::KernelParameter parameters[] = {std::as_bytes(std::span(&fresh, 1)), std::as_bytes(std::span(&out, 1))};
  EXPECT_THAT(error_of([&] { device->launch(*kernel, {}, parameters); }), HasSubstr("(byte 0 of an allocation of 64), which nobody has written"));
  device->fill(fresh, 1, 64);
  device->launch(*kernel, {}, parameters);
  runtime::sim::set_checks(*device, false);
  device->launch(*kernel, {}, parameters);
}

TEST(Race, VectorsAreLoadedForSomeOfTheirElements) {
  const std::string three = words + "and.b32 %r5, %r0, 3; setp.ne.u32 %p1, %r5, 3; @%p1 st.shared.u32 [%r3], %r0; bar.sync 0; and.b32 %r6, %r2, 240; add.u32 %r6, %r6, %r1; ";
  EXPECT_EQ(report_of(three + "ld.shared.v4.u32 {%r7, %r8, %r9, %r10}, [%r6];"), "");
  EXPECT_THAT(report_of(three + "ld.shared.v4.u32 {%r7, %r8, %r9, %r10}, [%r6+256];"), HasSubstr("which nobody has written"));
}

TEST(Race, SameValuesBySameInstruction) {
  // All warps fill the same table.
  const std::string mended = words + "and.b32 %r5, %r0, 31; shl.b32 %r6, %r5, 2; add.u32 %r6, %r6, %r1; st.shared.u32 [%r6], %r5; bar.sync 0; ld.shared.u32 %r10, [%r6];";
  expect_found({"other values", with(mended, "st.shared.u32 [%r6], %r5;", "st.shared.u32 [%r6], %r0;"), mended, {"race: writes shared memory at 0x4", "in conflict with the write by warp"}});
}

TEST(Race, CtasThatWriteOneWord) {
  const std::string mended = "mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2; setp.eq.u32 %p1, %r0, 0; @%p1 st.global.u32 [%rd2], %r1;";
  const Mistake m{"one word", with(mended, "%r1, 4;", "%r1, 0;"), mended, {"race: writes global memory at", "in conflict with the write by CTA (", "nothing orders the two CTAs"}, 32, 2};
  EXPECT_THAT(report_of(m.broken, 32, 2), testing::AllOf(HasSubstr(m.report[0]), HasSubstr(m.report[1]), HasSubstr(m.report[2])));
  EXPECT_EQ(report_of(m.mended, 32, 2), "");
}

// CTA 0 writes a value and sets a flag, CTA 1 polls the flag and reads the value.
const std::string handed = R"(
  mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r0, 0; @%p1 ret; setp.ne.u32 %p2, %r1, 0; mov.b32 %r2, 1; @%p2 bra READ;
  st.global.u32 [%rd1+64], %r2; st.release.gpu.global.u32 [%rd1], %r2; ret;
  READ: ld.acquire.gpu.global.u32 %r3, [%rd1]; setp.eq.u32 %p3, %r3, 0; @%p3 bra READ; ld.global.u32 %r4, [%rd1+64];)";

TEST(Race, FlagsBetweenCtas) {
  expect_found({"relaxed store", with(handed, "st.release.gpu", "st.relaxed.gpu"), handed, {"race: reads global memory", "the write by CTA (0, 0, 0), warp 0 (producer)"}, 32, 2});
  expect_found({"relaxed load", with(handed, "ld.acquire.gpu", "ld.relaxed.gpu"), handed, {"race: reads global memory"}, 32, 2});
  expect_found({"narrow scope", with(handed, "st.release.gpu", "st.release.cta"), handed, {"race: "}, 32, 2});
}

TEST(Race, FencesAroundRelaxedFlags) {
  const std::string mended = with(with(handed, "st.release.gpu.global", "fence.acq_rel.gpu; st.relaxed.gpu.global"), "ld.global.u32 %r4", "fence.acq_rel.gpu; ld.global.u32 %r4");
  const std::string polls = with(mended, "ld.acquire.gpu", "ld.relaxed.gpu");
  expect_found({"fence of the writer", with(polls, "fence.acq_rel.gpu; st.relaxed", "st.relaxed"), polls, {"race: reads global memory"}, 32, 2});
  expect_found({"fence of the reader", with(polls, "fence.acq_rel.gpu; ld.global", "ld.global"), polls, {"race: reads global memory"}, 32, 2});
  expect_found({"fence of the CTA", with(polls, "fence.acq_rel.gpu; st.relaxed", "fence.acq_rel.cta; st.relaxed"), polls, {"race: reads global memory"}, 32, 2});
}

TEST(Race, TheLastOfSeveralCtas) {
  // Each CTA writes its part and counts; the last reads all parts.
  const std::string mended = R"(
    mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r0, 0; @%p1 ret; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2; st.global.u32 [%rd2+64], %r1;
    membar.gl; mov.b32 %r2, 1; atom.global.add.u32 %r3, [%rd1], %r2; setp.ne.u32 %p2, %r3, 3; @%p2 ret; membar.gl;
    ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd1+64];)";
  expect_found({"no fence", with(mended, "membar.gl; mov", "mov"), mended, {"race: reads global memory"}, 32, 4});
}

TEST(Race, ProgrammaticLaunchWaitsForTheOneBefore) {
  const auto device = runtime::sim::make_simulated_device(checked());
  const DeviceAddress a = device->allocate(256), b = device->allocate(256);
  device->fill(a, 1, 256);
  const auto load = [&](const std::string& body) {
    runtime::KernelImage image;
    image.name = "k";
    image.ptx = module_text(body + "mul.wide.u32 %rd2, %r0, 4; add.s64 %rd3, %rd0, %rd2; ld.global.u32 %r1, [%rd3]; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1;");
    return device->load(image);
  };
  const auto run = [&](runtime::LoadedKernel& k, DeviceAddress in, DeviceAddress out, bool programmatic) {
    const runtime::KernelParameter parameters[] = {std::as_bytes(std::span(&in, 1)), std::as_bytes(std::span(&out, 1))};
    runtime::LaunchGeometry g;
    g.programmatic = programmatic;
    const std::string report = error_of([&] { device->launch(k, g, parameters); });
    return report == "no error" ? "" : report;
  };
  const auto plain = load(""), waits = load("griddepcontrol.wait; ");
  EXPECT_EQ(run(*plain, a, b, false), "");
  EXPECT_THAT(run(*plain, b, a, true), HasSubstr("that the kernel launched before has written: in a programmatic launch griddepcontrol.wait must come first"));
  EXPECT_EQ(run(*plain, a, b, false), "");
  EXPECT_EQ(run(*waits, b, a, true), "");
}

TEST(Divergence, AlignedInstructionUnderAPredicate) {
  EXPECT_THAT(report_of("setp.lt.u32 %p1, %r0, 40; @%p1 bar.sync 0;"), testing::AllOf(HasSubstr("warp 1 (consumer)"), HasSubstr("lanes 0xffffff00 of the warp do not take part")));
}

}  // namespace
}  // namespace tilewright::test
