// What the parser reads, and how a statement it cannot run is refused when the kernel is loaded.
#include "runtime/sim/ptx.h"
#include "tests/unit/sim/kernels.h"

namespace tilewright::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string load_error(const std::string& body) {
  return error_of([&] {
    runtime::KernelImage image;
    image.name = "k";
    image.ptx = module_text(body);
    simulator().load(image);
  });
}

TEST(Parser, EntryAttributesAndParameters) {
  const auto m = runtime::sim::ptx::parse(R"(.version 8.0
.target sm_90a, debug
.address_size 64
.file 1 "a.cpp", 12, 34
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.visible .entry kern( .param .u32 n, .param .align 64 .b8 map[128], .param .u64 .ptr .global .align 16 p )
.maxntid 128, 1, 1
.minnctapersm 2 .maxnreg 64
{ .reg .b32 %r<3>; .pragma "nounroll"; ld.param.u32 %r1, [n]; /* two
lines */ ret; }
.section .debug_str { .b8 1, 2 { } }
)");
  ASSERT_EQ(m.entries.size(), 1u);
  const auto& f = m.entries[0];
  EXPECT_EQ(f.name, "kern");
  EXPECT_EQ(f.param_offsets, (std::vector<std::uint64_t>{0, 64, 192}));
  EXPECT_EQ(f.maximum_threads[0], 128u);
  EXPECT_EQ(f.minimum_ctas, 2u);
  EXPECT_EQ(f.maximum_registers, 64u);
  EXPECT_EQ(f.statements.size(), 2u);
  EXPECT_EQ(f.statements[1].ptx_line, 10u);
}

TEST(Parser, InlinedLocationIsTheAuthorsLine) {
  const auto m = runtime::sim::ptx::parse(
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n.loc 2 7 1, function_name $L__info_string0, inlined_at 1 9 3\nret;\n}\n.file 2 \"b.h\"\n");
  EXPECT_EQ(m.entries[0].statements[0].location.file, 2u);
  EXPECT_EQ(m.entries[0].statements[0].location.line, 7u);
  EXPECT_EQ(m.files.at(2), "b.h");
}

TEST(Parser, UnsupportedInstructionIsNamedWithItsLine) {
  EXPECT_THAT(load_error("\ntcgen05.alloc.sync [%rd0], 4;"),
              AllOf(HasSubstr("kernel 'k', PTX line 18"), HasSubstr("`tcgen05.alloc.sync [%rd0], 4;`"), HasSubstr("unsupported instruction 'tcgen05.alloc.sync'")));
  EXPECT_THAT(load_error("call.uni foo, (%r0);"), HasSubstr("unsupported instruction 'call.uni'"));
}

TEST(Parser, UnsupportedModifierIsNamed) {
  EXPECT_THAT(load_error("add.foo.s32 %r1, %r1, %r1;"), HasSubstr("modifier '.foo'"));
  EXPECT_THAT(load_error("cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %f2;"), HasSubstr("unsupported instruction 'cvt.rn.satfinite.e4m3x2.f32'"));
  EXPECT_THAT(load_error("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r0,%r1,%r2,%r3}, %rd0, %rd0, %p0;"), HasSubstr("unsupported instruction 'wgmma"));
}

TEST(Parser, MistakesInTheText) {
  EXPECT_THAT(load_error("add.s32 %r1, %r1;"), HasSubstr("has 2 operands, expected 3"));
  EXPECT_THAT(load_error("add.s32 %r1, %rd1, %r2;"), HasSubstr("an operand of type .s32 is a register of 64 bits"));
  EXPECT_THAT(load_error("add.s32 %r1, %q, %r2;"), HasSubstr("'%q' is neither a declared register nor a known special register"));
  EXPECT_THAT(load_error("bra NOWHERE;"), HasSubstr("label 'NOWHERE' is not defined"));
  EXPECT_THAT(load_error("ld.global.u32 %r1, [nothing];"), HasSubstr("'nothing' is not declared"));
  EXPECT_THAT(load_error("setmaxnreg.inc.sync.aligned.u32 100;"), HasSubstr("register count 100; expected a multiple of 8 from 24 to 256"));
}

TEST(Parser, KernelAndShapeAreChecked) {
  runtime::KernelImage image;
  image.name = "other";
  image.ptx = module_text("");
  EXPECT_THAT(error_of([&] { simulator().load(image); }), HasSubstr("the PTX has no kernel 'other'; it has: k"));
  image.name = "k";
  image.threads = 64;
  EXPECT_THAT(error_of([&] { simulator().load(image); }), HasSubstr("is given 64 threads a CTA, its PTX requires 32"));
  image.threads = 32;
  image.dynamic_shared_bytes = 300000;
  EXPECT_THAT(error_of([&] { simulator().load(image); }), HasSubstr("asks for 300000 bytes of shared memory; a CTA has at most 232448"));
  image.dynamic_shared_bytes = 0;
  image.cluster = {4, 4, 1};
  EXPECT_THAT(error_of([&] { simulator().load(image); }), HasSubstr("kernel 'k' with clusters of 16 CTAs; expected 1 to 8"));
}

}  // namespace
}  // namespace tilewright::test
