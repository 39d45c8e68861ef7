// Errors of addressing, planted in the PTX of shipped kernels: the simulated device or the kernel's own reference finds each.
#include <gtest/gtest.h>

#include <ostream>
#include <regex>

#include "runtime/cli/mutation_case.h"

namespace tilewright::cli {
namespace {

struct Planted {
  const char* kernel;
  const char* mistake;
  const char* from;  ///< a regular expression; its first match is replaced
  const char* to;
};
void PrintTo(const Planted& p, std::ostream* out) { *out << p.kernel << ": " << p.mistake; }

/// What is found in a kernel after the change: a report, or a wrong result. Empty: nothing.
std::string found_in(const Planted& p) {
  const std::vector<MutationCase> cases = mutation_cases(find(p.kernel));
  const ops::Source source = cases.front().kernels.back();
  ops::BuildOptions options;
  options.assemble = false;
  auto spoilt = std::make_shared<ops::Built>(*ops::build({source}, options).front());
  std::string& ptx = spoilt->stages.ptx;
  const std::string changed = std::regex_replace(ptx, std::regex(p.from), p.to, std::regex_constants::format_first_only);
  EXPECT_NE(changed, ptx) << "nothing matches " << p.from;
  ptx = changed;
  spoilt->program = program::Program::from(spoilt->stages.sidecar, ptx, {});
  options.instead[source.key] = spoilt;
  for (const MutationCase& one : cases) try {
      if (const std::string wrong = one.run(*runtime::make_simulated_device(), options); !wrong.empty()) return wrong;
    } catch (const Error& error) {
      return error.what();
    }
  return "";
}

class PlantedInPtx : public testing::TestWithParam<Planted> {};

TEST_P(PlantedInPtx, IsFound) { EXPECT_NE(found_in(GetParam()), ""); }

constexpr const char* kDescriptor = R"(\{(%r\d+), 0x40000040\})";
constexpr const char* kLoad = R"((complete_tx::bytes )\[(%r\d+)\])";
constexpr const char* kStore = R"((global\.shared::cta\.bulk_group \[%rd\d+, \{[^}]*\}\], )\[(%r\d+)\])";

INSTANTIATE_TEST_SUITE_P(
    Kernels, PlantedInPtx,
    testing::Values(Planted{"gemm-two-roles", "descriptor with a swizzle of 64 bytes", kDescriptor, "{$1, 0x80000040}"},
                    Planted{"gemm-two-roles", "descriptor without swizzle", kDescriptor, "{$1, 0x00000040}"},
                    Planted{"gemm-two-roles", "descriptor whose groups of rows are half as far apart", kDescriptor, "{$1, 0x40000020}"},
                    Planted{"gemm", "descriptor of a k-step too late", R"(, 66562;)", ", 66564;"},
                    Planted{"gemm", "descriptor of another panel", R"(, 66560;)", ", 66624;"},
                    Planted{"gemm-two-roles", "a tile is loaded one row too low", kLoad, "$1[$2+128]"},
                    Planted{"gemm-two-roles", "a box is loaded with its coordinates exchanged", R"(\[(%rd\d+), \{(%r\d+), (%r\d+)\}\], \[%r)", "[$1, {$3, $2}], [%r"},
                    Planted{"gemm-two-roles", "a tile is stored from one row too low", kStore, "$1[$2+128]"},
                    Planted{"gemm-two-roles", "half of the swizzle of the epilogue is missing", R"((and\.b32\s+%r\d+, %r\d+), 112;)", "$1, 96;"},
                    Planted{"gemm-two-roles", "a block of the epilogue one row off", R"((stmatrix[^\[]*\[%r\d+\+)8192\])", "$018320]"},
                    Planted{"gemm-two-roles", "a block of the epilogue in the place of its neighbour", R"((xor\.b32\s+%r\d+, %r\d+), 64;)", "$1, 96;"},
                    Planted{"gemm-two-roles", "a transposing store where none is meant", R"(stmatrix\.sync\.aligned\.m8n8\.x4\.)", "stmatrix.sync.aligned.m8n8.x4.trans."},
                    Planted{"copy", "rows of the store shifted by one", kStore, "$1[$2+128]"},
                    Planted{"copy", "a full barrier in the place of an empty one", R"((add\.s32\s+%r\d+, %r\d+), 16400;\n\s*// begin inline asm\n\s*mbarrier\.arrive)", "$1, 16384;\n\t// begin inline asm\n\tmbarrier.arrive"},
                    Planted{"softmax", "a block of a row written 16 bytes off", R"((stmatrix[^\[]*\[%r\d+)\])", "$1+16]"},
                    Planted{"linear-attention", "an operand without transposition", R"(, 1, 1, 1, 0, 1;)", ", 1, 1, 1, 0, 0;"}));

}  // namespace
}  // namespace tilewright::cli
