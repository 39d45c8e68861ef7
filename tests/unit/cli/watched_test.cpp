// run --count, inspect --stage conflicts and run --shadow fp64, of the shipped kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/cli/watched.h"
#include "tests/unit/cli/ran.h"

namespace tilewright::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Count, InstructionsByClassAndRoleAndBytesByKind) {
  const Ran r = ran("run gemm-two-roles --shape 128x256x64 --device sim --count --json --check");
  ASSERT_EQ(r.status, 0) << r.err;
  const nlohmann::json json = r.json(), counts = json.at("counts").at(0);
  EXPECT_TRUE(json.at("pass"));
  EXPECT_EQ(counts.at("launches"), 1);
  std::uint64_t products = 0;
  for (const auto& site : counts.at("sites"))
    if (site.at("opcode").get<std::string>().starts_with("wgmma.mma_async")) products += site.at("threads").get<std::uint64_t>();
  EXPECT_GT(products, 0u);
  EXPECT_EQ(products % 128, 0u) << "a warpgroup issues a product together";
  EXPECT_EQ(counts.at("bytes").at("TMA in").get<std::uint64_t>() % (64 * 2), 0u) << "whole rows of tiles";
  EXPECT_GE(counts.at("bytes").at("TMA in"), (128 * 64 + 256 * 64) * 2);
  EXPECT_EQ(ran("run gemm-two-roles --shape 128x256x64 --device sim --count --json --check").json().at("counts"), json.at("counts")) << "every run counts the same";
  EXPECT_THAT(ran("run copy --device sim --count").out, AllOf(HasSubstr("warp instructions"), HasSubstr("mbarrier"), HasSubstr("TMA out"), HasSubstr("thread instructions")));
}

TEST(Conflicts, AreListedWithTheAuthorsLine) {
  const Ran r = ran("inspect softmax --stage conflicts");
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("softmax: "), HasSubstr("passes over the banks of shared memory"), HasSubstr("softmax.h:"), HasSubstr("at least")));
  const Ran one = ran("inspect gdn-forward --stage conflicts --only gdn_prologue --json");
  ASSERT_EQ(one.status, 0) << one.err;
  const auto kernels = one.json();
  ASSERT_EQ(kernels.size(), 1u);
  for (const auto& site : kernels.at(0).at("sites")) EXPECT_GE(site.at("passes"), site.at("least")) << site;
  EXPECT_EQ(ran("inspect gdn-forward --stage conflicts --only nobody").status, 2);
}

// The shadow is the same fp64 computation as the reference, done by the kernel's own formulas.
TEST(Shadow, MeasuresTheErrorThatTheReferenceMeasures) {
  const Ran gdn = ran("run gdn-forward --heads 1x2 --lens 130+7 --device sim --shadow fp64 --check --json");
  ASSERT_EQ(gdn.status, 0) << gdn.err;
  const nlohmann::json json = gdn.json(), outputs = json.at("shadow").at("outputs");
  EXPECT_EQ(outputs.at(0).at("name"), "o");
  EXPECT_EQ(outputs.at(0).at("without_shadow"), 0);
  EXPECT_NEAR(outputs.at(0).at("rms_error"), json.at("rms_o"), 0.02 * json.at("rms_o").get<double>());
  EXPECT_NEAR(outputs.at(1).at("rms_error"), json.at("rms_state"), 0.02 * json.at("rms_state").get<double>());
  for (const char* kernel : {"gemm --shape 128x256x64", "softmax", "linear-attention --shape 1x130", "gemm-gelu --shape 128x256x64"}) {
    const Ran r = ran(std::string("run ") + kernel + " --device sim --shadow fp64 --check --json");
    ASSERT_EQ(r.status, 0) << kernel << r.err;
    const auto j = r.json();
    EXPECT_EQ(j.at("shadow").at("outputs").at(0).at("without_shadow"), 0) << kernel;
    EXPECT_NEAR(j.at("shadow").at("outputs").at(0).at("rms_error"), j.at("outputs").at(0).at("rms"), 0.02 * j.at("outputs").at(0).at("rms").get<double>()) << kernel;
  }
}

TEST(Shadow, NamesTheRoundingToSixteenBitsFirst) {
  const Ran r = ran("run gemm --shape 128x256x64 --device sim --shadow fp64");
  ASSERT_EQ(r.status, 0) << r.err;
  const std::size_t conversion = r.out.find("cvt.rn.bf16x2.f32"), product = r.out.find("wgmma");
  ASSERT_NE(conversion, std::string::npos) << r.out;
  EXPECT_LT(conversion, product);
  EXPECT_THAT(r.out, AllOf(HasSubstr("gemm.h:"), HasSubstr("  c: rms ")));
}

TEST(Watched, WrongUseIsRefused) {
  EXPECT_THAT(ran("run copy --count --shadow fp64").err, HasSubstr("expected one of them"));
  EXPECT_THAT(ran("run copy --device cuda --count").err, HasSubstr("--count needs the simulated device"));
  EXPECT_EQ(ran("run copy --shadow fp128").status, 2);
}

}  // namespace
}  // namespace tilewright::cli
