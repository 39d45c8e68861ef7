#include "runtime/assemble/assemble.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../error_of.h"
#include "runtime/assemble/author_location.h"
#include "runtime/assemble/tools.h"
#include "sample_ptx.h"

namespace tilewright::assemble {
namespace {

using test::error_of;
using testing::AllOf;
using testing::HasSubstr;

/// Contracts and reports hold with every ptxas at hand.
std::vector<std::filesystem::path> assemblers() {
  std::vector<std::filesystem::path> paths{require_tool(Tool::ptxas).path};
  for (const FoundTool& tool : contract_assemblers())
    if (tool.path != paths.front()) paths.push_back(tool.path);
  return paths;
}

class PtxasTest : public testing::TestWithParam<std::filesystem::path> {
 protected:
  AssembleOptions options;
  PtxasTest() { options.ptxas = GetParam(); }
};

TEST_P(PtxasTest, CleanKernelHasACubinAndAReport) {
  const Assembled result = assemble(samples::kClean, options);
  ASSERT_GT(result.cubin.size(), 64u);
  EXPECT_EQ(std::string(result.cubin.begin() + 1, result.cubin.begin() + 4), "ELF");
  ASSERT_EQ(result.kernels.size(), 1u);
  const ResourceReport& report = result.kernels[0];
  EXPECT_EQ(report.name, "clean");
  EXPECT_GT(report.registers, 4u);
  EXPECT_LT(report.registers, 33u);
  EXPECT_EQ(report.barriers, 1u);
  EXPECT_EQ(report.shared_bytes, 1024u);
  EXPECT_EQ(report.stack_bytes + report.spill_store_bytes + report.spill_load_bytes, 0u);
  EXPECT_TRUE(report.performance_loss.empty());
  EXPECT_EQ(report.assembler, "ptxas " + version_of(GetParam()));
  EXPECT_EQ(result.assembler, report.assembler);
}

TEST_P(PtxasTest, RefusalNamesTheAuthorsLine) {
  EXPECT_EQ(error_of([&] { assemble(samples::kRefused, options); }),
            "ptxas " + version_of(GetParam()) +
                " refused the PTX:\n  kernels/demo/author.cpp:34: Not a name of any known instruction: 'frobnicate' "
                "(PTX line 11: frobnicate.u32 %r2, %r1;)");
}

TEST_P(PtxasTest, SpillsAreAnErrorByDefault) {
  EXPECT_THAT(error_of([&] { assemble(samples::spilling(), options); }),
              AllOf(HasSubstr("kernel 'spilly' (ptxas "), HasSubstr("spills registers, "),
                    HasSubstr(" at 32 registers a thread, expected none"), HasSubstr("permit it with allow(\"spills\")")));
  options.contract.allow_spills = true;
  const Assembled result = assemble(samples::spilling(), options);
  EXPECT_GT(result.kernels.at(0).spill_store_bytes, 0u);
  EXPECT_GT(result.kernels.at(0).stack_bytes, 0u);
}

TEST_P(PtxasTest, StackFrameIsAnErrorByDefault) {
  EXPECT_THAT(error_of([&] { assemble(samples::kStack, options); }),
              AllOf(HasSubstr("kernels/demo/author.cpp:61: kernel 'stacky'"), HasSubstr("has a stack frame of 256 bytes a thread, expected none"),
                    HasSubstr("permit it with allow(\"stack\")")));
  options.contract.allow_stack = true;
  EXPECT_EQ(assemble(samples::kStack, options).kernels.at(0).stack_bytes, 256u);
}

TEST_P(PtxasTest, PerformanceLossNamesTheAuthorsLine) {
  EXPECT_THAT(error_of([&] { assemble(samples::kSerial, options); }),
              AllOf(HasSubstr("kernels/demo/author.cpp:5"), HasSubstr("kernel 'serial' (ptxas "), HasSubstr("(C75"),
                    HasSubstr("permit it with allow(\"performance_loss\")")));
  options.contract.allow_performance_loss = true;
  EXPECT_FALSE(assemble(samples::kSerial, options).kernels.at(0).performance_loss.empty());
}

TEST_P(PtxasTest, TooNewPtxNamesTheRemedy) {
  std::string future = samples::kClean;
  future.replace(future.find("8.7"), 3, "9.9");
  EXPECT_THAT(error_of([&] { assemble(future, options); }),
              AllOf(HasSubstr("Unsupported .version 9.9"), HasSubstr("PTX 8.7 needs ptxas 12.8 or newer")));
}

INSTANTIATE_TEST_SUITE_P(Each, PtxasTest, testing::ValuesIn(assemblers()), [](const auto& info) {
  std::string name = "V";
  name += version_of(info.param);
  for (char& c : name)
    if (c == '.') c = '_';
  return name;
});

TEST(Disassemble, PrintsSassWithTheAuthorsLines) {
  const Assembled result = assemble(samples::kClean);
  const std::string plain = disassemble(result.cubin);
  EXPECT_THAT(plain, AllOf(HasSubstr(".text.clean"), HasSubstr("BAR.SYNC"), HasSubstr("EXIT")));
  EXPECT_EQ(plain.find("author.cpp"), std::string::npos);
  EXPECT_THAT(disassemble(result.cubin, true), HasSubstr("\"kernels/demo/author.cpp\", line 9"));
  EXPECT_THAT(error_of([] { disassemble({1, 2, 3}); }), HasSubstr("refused a cubin of 3 bytes"));
}

TEST(AuthorLocation, IsTheLastLocOfTheSameFunction) {
  const std::string ptx = ".entry a()\n{\n.loc 2 5 1\nadd;\n\t.loc\t1 6 2, function_name $L, inlined_at 2 5 1\nmul;\n}\n"
                          ".entry b()\n{\nret;\n}\n.file 1 \"one.h\"\n.file\t2 \"two words.cpp\"\n";
  EXPECT_FALSE(author_location(ptx, 2));
  ASSERT_TRUE(author_location(ptx, 4));
  EXPECT_EQ(author_location(ptx, 4)->text(), "two words.cpp:5");
  EXPECT_EQ(author_location(ptx, 7)->text(), "one.h:6");
  EXPECT_EQ(author_location(ptx, 7)->column, 2u);
  EXPECT_FALSE(author_location(ptx, 10));
  EXPECT_FALSE(author_location(".loc 9 1 1\n", 1));
  EXPECT_EQ(line_of(ptx, 5), ".loc\t1 6 2, function_name $L, inlined_at 2 5 1");
  EXPECT_EQ(line_of(ptx, 99), "");
}

TEST(ResourceReport, ReadsSeveralKernelsAndTheirDeviceFunctions) {
  const std::string log = R"(ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to the presence of Extern calls in the function 'two'
ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored to maintain minimum register requirements.
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'one' for 'sm_90a'
ptxas info    : Function properties for one
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 168 registers, used 3 barriers, 400 bytes cmem[0], 4096 bytes smem
ptxas info    : Compiling entry function 'two' for 'sm_90a'
ptxas info    : Function properties for helper
    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Function properties for two
    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 24 bytes cumulative stack size
)";
  const auto reports = parse_ptxas_report(log, "ptxas 12.8.93");
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].name, "one");
  EXPECT_EQ(reports[0].registers, 168u);
  EXPECT_EQ(reports[0].barriers, 3u);
  EXPECT_EQ(reports[0].shared_bytes, 4096u);
  ASSERT_EQ(reports[0].performance_loss.size(), 1u);
  EXPECT_THAT(reports[0].performance_loss[0], testing::StartsWith("(C7508) Potential Performance Loss: 'setmaxnreg'"));
  EXPECT_EQ(reports[1].stack_bytes, 24u);
  EXPECT_EQ(reports[1].spill_store_bytes, 4u);
  EXPECT_EQ(reports[1].spill_load_bytes, 12u);
  EXPECT_EQ(reports[1].performance_loss.size(), 2u);
  EXPECT_EQ(reports[1].assembler, "ptxas 12.8.93");
}

}  // namespace
}  // namespace tilewright::assemble
