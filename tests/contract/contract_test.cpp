// What the shipped kernels may cost: nothing in local memory, no performance-loss line, registers, shared memory and barriers
// as written down here, instructions as in instructions.json (scripts/update_contract writes it), with every assembler of the tools
// folder (12.8 and 13.0).
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include <nlohmann/json.hpp>

#include "examples/copy.h"
#include "examples/gemm_gelu.h"
#include "examples/linear_attention.h"
#include "examples/softmax.h"
#include "kernels/gdn/forward.h"
#include "kernels/gdn/planner.h"
#include "kernels/gdn/prologue.h"
#include "kernels/gemm/gemm.h"
#include "runtime/assemble/assemble.h"
#include "runtime/assemble/tools.h"
#include "compiler/compile.h"
#include "tests/contract/instructions.h"

namespace tilewright::test {
namespace {

struct Contract {
  const char* name;
  std::function<Program()> program;
  unsigned registers, shared_bytes, barriers;  // registers and barriers at most, dynamic shared memory exactly
};

gdn::ForwardConfig chain(int columns, bool v_first = false) {
  gdn::ForwardConfig c;
  c.value_columns = columns;
  c.state_v_first = v_first;
  return c;
}

/// Everything that a caller may ask of the chain beside the plain call.
gdn::ForwardConfig laden(int columns, Element state, bool v_first) {  // narrow states: those of the kernel's own dtype
  gdn::ForwardConfig c = chain(columns, v_first);
  c.states = {state, state, state};
  c.checkpoints = c.l2norm = true;
  return c;
}

/// Heads of other widths than 128.
gdn::ForwardConfig of_widths(int dk, int dv, gdn::ForwardConfig c) {
  c.dk = dk, c.dv = dv;
  return c;
}
gdn::ForwardConfig with_prefixes(gdn::ForwardConfig c) {
  c.prefixes = true;
  return c;
}
gdn::ForwardConfig with_segments(gdn::ForwardConfig c) {
  c.segments = true;
  return c;
}

const std::vector<Contract> contracts = {
    {"copy", [] { return examples::copy({}); }, 24, 16416, 1},
    {"gemm_one_role", [] { return gemm::gemm_one_role<bf16>({}); }, 96, 40976, 2},
    {"gemm_two_roles", [] { return gemm::gemm_two_roles<bf16>({}); }, 96, 90160, 2},
    {"gemm_bf16", [] { return gemm::gemm<bf16>({}); }, 168, 213040, 2},
    {"gemm_f16", [] { return gemm::gemm<f16>({}); }, 168, 213040, 2},
    {"gemm_gelu", [] { return examples::gemm_gelu<bf16>({}); }, 168, 163904, 2},
    {"forward", [] { return gdn::forward<bf16>(chain(128)); }, 128, 226416, 1},
    {"forward_f16", [] { return gdn::forward<f16>(chain(128)); }, 128, 226416, 1},
    {"forward_v_first", [] { return gdn::forward<bf16>(chain(128, true)); }, 128, 226416, 1},
    {"forward_checkpoints", [] { return gdn::forward<bf16>(laden(128, Element::f32, true)); }, 128, 228464, 2},
    {"forward_checkpoints_bf16", [] { return gdn::forward<bf16>(laden(128, Element::bf16, false)); }, 128, 228464, 2},
    {"forward_checkpoints_f16", [] { return gdn::forward<f16>(laden(128, Element::f16, true)); }, 128, 228464, 2},
    {"forward_split", [] { return gdn::forward<bf16>(chain(64)); }, 168, 185456, 1},
    {"forward_split_f16", [] { return gdn::forward<f16>(chain(64)); }, 168, 185456, 1},
    {"forward_checkpoints_k_first_f16", [] { return gdn::forward<f16>(laden(128, Element::f16, false)); }, 128, 228464, 2},
    {"forward_split_checkpoints", [] { return gdn::forward<bf16>(laden(64, Element::f32, false)); }, 168, 187504, 2},
    {"forward_split_checkpoints_bf16", [] { return gdn::forward<bf16>(laden(64, Element::bf16, true)); }, 168, 187504, 2},
    {"forward_prefixes", [] { return gdn::forward<bf16>(with_prefixes(laden(128, Element::f32, true))); }, 128, 228464, 2},
    {"forward_prefixes_f16", [] { return gdn::forward<f16>(with_prefixes(laden(128, Element::f16, false))); }, 128, 228464, 2},
    {"forward_split_prefixes_bf16", [] { return gdn::forward<bf16>(with_prefixes(laden(64, Element::bf16, true))); }, 168, 187504, 2},
    {"forward_segments", [] { return gdn::forward<bf16>(with_segments(chain(128))); }, 128, 226704, 3},
    {"forward_segments_f16", [] { return gdn::forward<f16>(with_segments(chain(128, true))); }, 128, 226704, 3},
    {"forward_segments_checkpoints", [] { auto c = with_segments(chain(128)); c.checkpoints = true; return gdn::forward<bf16>(c); }, 128, 226704, 3},
    {"forward_split_segments", [] { return gdn::forward<bf16>(with_segments(chain(64))); }, 168, 185744, 3},
    {"forward_split_segments_checkpoints_f16", [] { return gdn::forward<f16>(with_segments(laden(64, Element::f16, true))); }, 168, 187792, 3},
    {"prologue_4_planner", [] { return gdn::prologue<bf16>({.pack = 4, .planner = true}); }, 128, 53280, 2},
    {"prologue_4_planner_l2norm", [] { return gdn::prologue<bf16>({.pack = 4, .l2norm = true, .planner = true}); }, 128, 53536, 2},
    {"prologue_1_planner", [] { return gdn::prologue<bf16>({.pack = 1, .planner = true}); }, 128, 47648, 2},
    {"prologue_1_planner_l2norm_f16", [] { return gdn::prologue<f16>({.pack = 1, .l2norm = true, .planner = true}); }, 128, 47904, 2},
    {"prologue_4", [] { return gdn::prologue<bf16>({.pack = 4}); }, 128, 53280, 2},
    {"prologue_4_l2norm", [] { return gdn::prologue<bf16>({.pack = 4, .l2norm = true}); }, 128, 53536, 2},
    {"prologue_1_l2norm", [] { return gdn::prologue<bf16>({.pack = 1, .l2norm = true}); }, 128, 40736, 2},
    {"forward_l2norm", [] { gdn::ForwardConfig c = chain(128); c.l2norm = true; return gdn::forward<bf16>(c); }, 128, 228464, 2},
    {"forward_split_l2norm", [] { gdn::ForwardConfig c = chain(64); c.l2norm = true; return gdn::forward<bf16>(c); }, 168, 187504, 2},
    {"prologue_4_f16", [] { return gdn::prologue<f16>({.pack = 4}); }, 128, 53280, 2},
    {"prologue_3", [] { return gdn::prologue<bf16>({.pack = 3}); }, 128, 44448, 2},
    {"prologue_2", [] { return gdn::prologue<bf16>({.pack = 2}); }, 128, 37664, 2},
    {"prologue_1", [] { return gdn::prologue<bf16>({.pack = 1}); }, 96, 40480, 2},
    {"gdn_planner", [] { return gdn::planner(Element::f32); }, 128, 21872, 2},
    {"forward_64x64", [] { return gdn::forward<bf16>(of_widths(64, 64, chain(64))); }, 168, 136304, 1},
    {"forward_64x64_everything_f16", [] { return gdn::forward<f16>(of_widths(64, 64, laden(64, Element::f16, true))); }, 168, 138352, 2},
    {"forward_64x128", [] { return gdn::forward<f16>(of_widths(64, 128, chain(128))); }, 128, 177264, 1},
    {"forward_64x128_everything", [] { return gdn::forward<bf16>(of_widths(64, 128, laden(128, Element::f32, true))); }, 128, 179312, 2},
    {"forward_64x128_split", [] { return gdn::forward<bf16>(of_widths(64, 128, chain(64, true))); }, 168, 136304, 1},
    {"forward_64x128_split_everything_f16", [] { return gdn::forward<f16>(of_widths(64, 128, laden(64, Element::f32, false))); }, 168, 138352, 2},
    {"forward_128x64_f16", [] { return gdn::forward<f16>(of_widths(128, 64, chain(64))); }, 168, 185456, 1},
    {"forward_128x64_everything", [] { return gdn::forward<bf16>(of_widths(128, 64, laden(64, Element::bf16, false))); }, 168, 187504, 2},
    {"prologue_64_4", [] { return gdn::prologue<bf16>({.dk = 64, .pack = 4}); }, 128, 45088, 2},
    {"prologue_64_4_l2norm_f16", [] { return gdn::prologue<f16>({.dk = 64, .pack = 4, .l2norm = true}); }, 128, 45344, 2},
    {"prologue_64_1", [] { return gdn::prologue<f16>({.dk = 64, .pack = 1}); }, 96, 32288, 2},
    {"softmax", [] { return examples::softmax<bf16>({}); }, 64, 131088, 2},
    {"linear_attention", [] { return examples::linear_attention<bf16>({}); }, 168, 114752, 2},
};

class Resources : public testing::TestWithParam<Contract> {
 protected:
  static void TearDownTestSuite() {
    if (updates()) instructions().save();
  }
  static bool updates() { return std::getenv("TILEWRIGHT_UPDATE_CONTRACT") != nullptr; }
  static InstructionContract& instructions() {
    static InstructionContract all(TILEWRIGHT_SOURCE_DIR "/tests/contract/instructions.json");
    return all;
  }
  static void check_instructions(const std::string& kernel, const std::filesystem::path& ptxas, const assemble::Assembled& assembled) {
    const std::string full = assemble::version_of(ptxas), version = full.substr(0, full.rfind('.'));
    const Histogram counts = sass_histogram(assemble::disassemble(assembled.cubin));
    EXPECT_GT(counts.contains("integer") ? counts.at("integer") : 0, 0u) << kernel;
    if (updates()) return instructions().set(kernel, version, counts);
    const Histogram* expected = instructions().expected(kernel, version);
    ASSERT_NE(expected, nullptr) << "instructions.json knows nothing of " << kernel << " with ptxas " << version << "; scripts/update_contract writes it";
    for (const std::string& line : differences(*expected, counts)) ADD_FAILURE() << kernel << ", ptxas " << full << ": " << line << "; scripts/update_contract accepts it";
  }
};

TEST_P(Resources, HoldWithEveryAssembler) {
  const Contract& contract = GetParam();
  const compiler::Compiled kernel = compiler::compile(contract.program());
  EXPECT_EQ(nlohmann::json::parse(kernel.sidecar).at("dynamic_shared_bytes").get<unsigned>(), contract.shared_bytes);
  const auto assemblers = assemble::contract_assemblers();
  ASSERT_GE(assemblers.size(), 2u) << "scripts/setup.sh installs the assemblers of CUDA 12.8 and 13.0";
  for (const auto& tool : assemblers) {
    assemble::AssembleOptions options;
    options.ptxas = tool.path;
    const auto assembled = assemble::assemble(kernel.ptx, options);  // throws on spills, a stack frame or a C75xx line
    ASSERT_EQ(assembled.kernels.size(), 1u);
    const auto& report = assembled.kernels[0];
    EXPECT_EQ(report.spill_store_bytes + report.spill_load_bytes + report.stack_bytes, 0u) << report.assembler;
    EXPECT_TRUE(report.performance_loss.empty()) << report.assembler;
    EXPECT_LE(report.registers, contract.registers) << report.assembler;
    EXPECT_LE(report.barriers, contract.barriers) << report.assembler;
    check_instructions(contract.name, tool.path, assembled);
  }
}

TEST(Instructions, AreCountedByClass) {
  const Histogram counts = sass_histogram("kernel:\n.text.kernel:\n\t//## File \"a.h\", line 3\n        /*0000*/                   LDC R1, c[0x0][0x28] ;\n"
                                          "        /*0010*/               @!P2 BRA `(.L_x_1) ;\n        /*0020*/   HGMMA.64x64x16.F32.BF16 R24, gdesc[UR4], R24 ;\n"
                                          "        /*0030*/                   UTMALDG.2D [UR8], [UR6], desc[UR10] ;\n        /*0040*/ NOP ;\n        /*0050*/ IMAD.MOV R2, RZ, RZ, R3 ;\n");
  EXPECT_EQ(counts, (Histogram{{"constant", 1}, {"control", 1}, {"tensor", 1}, {"copy", 1}, {"integer", 1}}));
}

TEST(Instructions, ATensorInstructionMoreIsFoundAndAnAdditionMoreIsNot) {
  const Histogram expected{{"tensor", 8}, {"integer", 100}};
  EXPECT_TRUE(differences(expected, {{"tensor", 8}, {"integer", 110}}).empty());
  EXPECT_EQ(differences(expected, {{"tensor", 9}, {"integer", 111}}).size(), 2u);
  EXPECT_EQ(differences(expected, {{"tensor", 8}, {"integer", 100}, {"local", 1}}), std::vector<std::string>{"local: 1 instructions, 0 are written down"});
}

INSTANTIATE_TEST_SUITE_P(Kernels, Resources, testing::ValuesIn(contracts), [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tilewright::test
