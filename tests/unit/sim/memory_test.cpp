// State spaces, vector access, atomics, and what an access outside its bounds says.
#include "runtime/sim/memory.h"

#include "tests/unit/sim/kernels.h"

namespace tilewright::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TILEWRIGHT_ON_EACH_DEVICE(Memory);

TEST_P(Memory, SharedStaticAndDynamic) {
  const std::string body = R"(
    .shared .align 8 .b8 fixed[128];
    mov.u32 %r1, fixed; shl.b32 %r2, %r0, 2; add.u32 %r1, %r1, %r2; mov.u32 %r3, dynamic; add.u32 %r3, %r3, %r2;
    st.shared.u32 [%r1], %r0; add.u32 %r4, %r0, 1000; st.shared.u32 [%r3+4], %r4; bar.sync 0;
    ld.shared.u32 %r5, [fixed+8]; ld.shared.u32 %r6, [dynamic+12]; add.u32 %r5, %r5, %r6;
    mul.wide.u32 %rd2, %r0, 4; add.s64 %rd2, %rd1, %rd2; st.global.u32 [%rd2], %r5;)";
  EXPECT_EQ(run_words(device(), module_text(body, 32, ".extern .shared .align 16 .b8 dynamic[];"), 32, 32, {}, 512)[5], 2u + 1002u);
}

TEST_P(Memory, VectorsAndNarrowLoads) {
  const auto r = run_words(device(), module_text(R"(
    ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd0]; ld.global.nc.s8 %r5, [%rd0+17]; ld.global.u8 %r6, [%rd0+17]; ld.global.s16 %rd5, [%rd0+16];
    st.global.v2.u32 [%rd1], {%r4, %r3}; st.global.u32 [%rd1+8], %r5; st.global.u32 [%rd1+12], %r6; st.global.u64 [%rd1+16], %rd5; st.global.u8 [%rd1+24], %r6;)"),
                           32, 8, {1, 2, 3, 4, 0x8081});
  EXPECT_EQ(r, (std::vector<std::uint32_t>{4, 3, 0xffffff80, 0x80, 0xffff8081, 0xffffffff, 0x80, 0}));
}

TEST_P(Memory, LocalIsPrivateToALane) {
  const auto r = run_lanes(device(), R"(
    .local .align 8 .b8 depot[32]; mov.u64 %rd5, depot; cvta.local.u64 %rd6, %rd5;
    st.local.u32 [%rd5+4], %lane; st.u32 [%rd6+8], %lane; ld.local.u32 %r1, [%rd5+4]; ld.u32 %r2, [%rd6+8]; add.u32 %out, %r1, %r2;)");
  EXPECT_EQ(r[0], 0u);
  EXPECT_EQ(r[31], 62u);
}

TEST_P(Memory, ConstantsAndGlobalsWithValues) {
  const std::string before = ".const .align 4 .u32 table[3] = {10, 20, 30};\n.global .align 4 .f32 half = 0f3F000000;\n.global .align 4 .b8 zero[8];";
  const auto r = run_words(device(), module_text("ld.const.u32 %r1, [table+8]; mov.u64 %rd5, half; ld.global.u32 %r2, [%rd5]; ld.global.u32 %r3, [zero+4];"
                                                 "st.global.u32 [%rd1], %r1; st.global.u32 [%rd1+4], %r2; st.global.u32 [%rd1+8], %r3;", 32, before), 32, 3);
  EXPECT_EQ(r, (std::vector<std::uint32_t>{30, 0x3f000000, 0}));
}

TEST_P(Memory, GenericAddressesFindTheirSpace) {
  const auto r = run_words(device(), module_text(R"(
    .shared .align 8 .b8 s[64]; mov.u64 %rd5, s; cvta.shared.u64 %rd6, %rd5; mov.b32 %r1, 77; st.u32 [%rd6+4], %r1; ld.shared.u32 %r2, [s+4];
    cvta.to.global.u64 %rd7, %rd1; cvta.global.u64 %rd7, %rd7; isspacep.shared %p1, %rd6; isspacep.global %p2, %rd7; selp.b32 %r3, 1, 0, %p1; selp.b32 %r4, 1, 0, %p2;
    cvta.to.shared.u64 %rd8, %rd6; ld.shared.u32 %r5, [%rd8+4];
    st.u32 [%rd7], %r2; st.u32 [%rd7+4], %r3; st.u32 [%rd7+8], %r4; st.u32 [%rd7+12], %r5;)"), 32, 4);
  EXPECT_EQ(r, (std::vector<std::uint32_t>{77, 1, 1, 77}));
}

TEST_P(Memory, Atomics) {
  const auto r = run_words(device(), module_text(R"(
    atom.global.add.u32 %r1, [%rd1], %r0; red.global.max.u32 [%rd1+4], %r0; atom.global.cas.b32 %r2, [%rd1+8], 0, %r0;
    mov.f32 %f1, 0f3F800000; red.global.add.f32 [%rd1+12], %f1; red.global.or.b32 [%rd1+16], %r0; atom.global.inc.u32 %r3, [%rd1+20], 9;
    mov.u64 %rd5, 1; atom.relaxed.gpu.global.add.u64 %rd6, [%rd1+24], %rd5;
    .shared .align 4 .u32 count; st.shared.u32 [count], 0; bar.warp.sync -1; atom.shared.add.u32 %r4, [count], 2; bar.warp.sync -1;
    ld.shared.u32 %r5, [count]; atom.global.exch.b32 %r6, [%rd1+32], %r5;)"), 32, 9);
  EXPECT_EQ(r[0], 496u);
  EXPECT_EQ(r[1], 31u);
  EXPECT_EQ(r[3], bits(32.0f));
  EXPECT_EQ(r[4], 31u);
  EXPECT_EQ(r[5], 2u);
  EXPECT_EQ(r[6], 32u);
  EXPECT_EQ(r[8], 64u);
}

TEST_P(Memory, VectorReductions) {
  const auto r = run_words(device(), module_text(R"(
    mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000; red.relaxed.gpu.global.add.v2.f32 [%rd1], {%f1, %f2}; red.global.add.v4.f32 [%rd1+16], {%f1, %f2, %f2, %f1};
    mov.b32 %r1, 0x40003f80; red.global.add.noftz.bf16x2 [%rd1+8], %r1;)"), 32, 8);
  EXPECT_EQ(r, (std::vector<std::uint32_t>{bits(32), bits(64), 0x42804200, 0, bits(32), bits(64), bits(64), bits(32)}));
}

TEST_P(Memory, ParametersAsBytes) {
  const auto r = run_words(device(), module_text("ld.param.v2.u32 {%r1, %r2}, [out]; mov.b64 %rd5, {%r1, %r2}; sub.s64 %rd5, %rd5, %rd1; cvt.u32.u64 %r3, %rd5; st.global.u32 [%rd1], %r3;"), 32, 1, {});
  EXPECT_EQ(r[0], 0u);
}

std::string fault(const std::string& body, const std::vector<std::uint32_t>& input = {}, std::size_t words = 4) {
  return error_of([&] { run_words(simulator(), module_text(body, 32, ".file 1 \"author.cpp\""), 32, words, input); });
}

TEST(MemoryFault, GlobalPastTheEndNamesPlaceAndDistance) {
  const std::string text = fault(".loc 1 42 3\nmul.wide.u32 %rd2, %r0, 4; add.s64 %rd2, %rd1, %rd2; st.global.u32 [%rd2], %r0;");
  EXPECT_THAT(text, AllOf(HasSubstr("kernel 'k', CTA (0, 0, 0), warp 0, lane 4"), HasSubstr("`st.global.u32 [%rd2], %r0;`"), HasSubstr("(author.cpp:42)"),
                          HasSubstr("out of bounds: 0 bytes behind the end of an allocation of 16 bytes")));
}

TEST(MemoryFault, MemoryOfTheCallerIsTheNearestBelow) {
  runtime::sim::GlobalMemory memory;
  memory.lend({0x1000, 0x1010});
  memory.lend({0x2000, 0x2010});
  memory.lend({0x1800, 0x1810});
  EXPECT_EQ(memory.describe(0x2014, 4), "4 bytes behind the end of memory of the caller of 16 bytes");
  EXPECT_EQ(memory.describe(0x180c, 8), "12 bytes into memory of the caller of 16 bytes, 4 bytes past its end");
}

TEST(MemoryFault, FreedMemoryIsNamed) {
  Device& d = simulator();
  const DeviceAddress a = d.allocate(64);
  d.release(a);
  std::uint32_t v;
  EXPECT_THAT(error_of([&] { d.copy_to_host(&v, a + 8, 4); }), HasSubstr("8 bytes into freed memory of 64 bytes"));
  EXPECT_THAT(error_of([&] { d.release(a); }), HasSubstr("expected the beginning of an allocation"));
}

TEST(MemoryFault, Misaligned) {
  EXPECT_THAT(fault("st.global.u32 [%rd1+2], %r0;"), HasSubstr("is misaligned: expected a multiple of 4"));
  EXPECT_THAT(fault(".shared .align 16 .b8 s[64]; st.shared.v2.u32 [s+4], {%r0, %r0};"), HasSubstr("shared address 0x404 is misaligned: expected a multiple of 8"));
}

TEST(MemoryFault, SharedOutOfBounds) {
  EXPECT_THAT(fault(".shared .align 16 .b8 s[64]; ld.shared.u32 %r1, [s+64];"), HasSubstr("load of 4 bytes at shared address 0x440 is out of bounds: the kernel has [0x400, 0x440)"));
  EXPECT_THAT(fault("mov.b32 %r1, 0; ld.shared.u32 %r1, [%r1];"), HasSubstr("out of bounds"));
}

TEST(MemoryFault, WarpAndRoleOfTheFault) {
  runtime::sim::SimulatorOptions options;
  options.roles = {{"k", 0, 2, "consumer"}, {"", 2, 1, "producer"}};
  const auto d = runtime::sim::make_simulated_device(options);
  EXPECT_THAT(error_of([&] { run_words(*d, module_text("setp.ge.u32 %p1, %r0, 64; mov.u64 %rd5, 0; @%p1 st.global.u32 [%rd5], %r0;", 96), 96, 1); }),
              AllOf(HasSubstr("warp 2 (producer), lane 0"), HasSubstr("store of 4 bytes at global address 0x0 is out of bounds: in no allocation")));
}

TEST(MemoryFault, ParametersAreChecked) {
  Device& d = simulator();
  runtime::KernelImage image;
  image.name = "k";
  image.ptx = module_text("");
  const auto kernel = d.load(image);
  EXPECT_THAT(error_of([&] { d.launch(*kernel, {}, {}); }), HasSubstr("is given 0 parameters, expected 2"));
  const std::byte b[4]{};
  const runtime::KernelParameter p[] = {b, b};
  EXPECT_THAT(error_of([&] { d.launch(*kernel, {}, p); }), HasSubstr("parameter 0 has 4 bytes, expected 8"));
}

TEST(Variables, AreReadByTheHost) {
  for (const auto& device : devices()) {
    runtime::KernelImage image;
    image.name = "k";
    image.ptx = module_text("mov.b32 %r1, 41; mov.u64 %rd5, words; st.global.u32 [%rd5+4], %r1;", 32, ".visible .global .align 4 .b32 words[3];\n.visible .global .b32 unused;\n");
    image.threads = 32;
    const auto kernel = device->load(image);
    const runtime::DeviceVariable words = device->variable(*kernel, "words");
    ASSERT_EQ(words.bytes, 12u);
    const std::uint64_t none = 0;
    const runtime::KernelParameter parameters[] = {std::as_bytes(std::span(&none, 1)), std::as_bytes(std::span(&none, 1))};
    device->launch(*kernel, {}, parameters);
    device->synchronize();
    std::uint32_t values[3];
    device->copy_to_host(values, words.address, sizeof values);
    EXPECT_EQ(values[0], 0u);
    EXPECT_EQ(values[1], 41u);
    EXPECT_THAT(error_of([&] { device->variable(*kernel, "other"); }), testing::HasSubstr("'other'"));
  }
}

TEST(Launch, ThreadsDoNotChangeResults) {
  for (const unsigned threads : {1u, 3u}) {
    runtime::sim::SimulatorOptions options;
    options.threads = threads;
    const auto d = runtime::sim::make_simulated_device(options);
    const auto r = run_words(*d, module_text("mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, 32, %r0; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd2, %rd1, %rd2; st.global.u32 [%rd2], %r2;"),
                             32, 32 * 64, {}, 0, 64);
    for (std::uint32_t n = 0; n < r.size(); ++n) ASSERT_EQ(r[n], n);
  }
}

TEST(Statistics, CountsInstructionsByClass) {
  const auto d = runtime::sim::make_simulated_device(runtime::sim::SimulatorOptions{});
  run_words(*d, module_text("add.u32 %r1, %r0, 1; setp.lt.u32 %p1, %r0, 8; @%p1 st.global.u32 [%rd1], %r1;"), 32, 1);
  const auto s = runtime::sim::statistics(*d);
  EXPECT_EQ(s.warp_instructions[static_cast<std::size_t>(runtime::sim::InstructionClass::integer)], 1u);
  EXPECT_EQ(s.warp_instructions[static_cast<std::size_t>(runtime::sim::InstructionClass::global_store)], 1u);
  EXPECT_EQ(s.thread_instructions, 6u * 32 + 8);
  runtime::sim::reset_statistics(*d);
  EXPECT_EQ(runtime::sim::statistics(*d).thread_instructions, 0u);
}

}  // namespace
}  // namespace tilewright::test
