// The command line as a user types it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/assemble/process.h"
#include "tests/unit/cli/ran.h"

namespace tilewright::cli {
namespace {

using testing::HasSubstr;

TEST(Command, CeilingsNeedNoCard) {
  const Ran r = ran("bench gdn-forward --heads 16x64 --lens 32768 4096x8 --ceilings --json");
  ASSERT_EQ(r.status, 0) << r.err;
  const auto rows = nlohmann::json::parse(r.out).at("rows");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("lens"), "32768");
  EXPECT_NEAR(rows[0].at("ceilings").at("tensor_ms").get<double>(), 0.370, 5e-4);
  EXPECT_NEAR(rows[1].at("ceilings").at("memory_ms").get<double>(), 0.318 + 7 * 64 * 131072 / 4.3e9, 5e-4);
  EXPECT_THAT(ran("bench gdn-forward --heads 16x64 --lens 32768 --ceilings").out, HasSubstr("tensor cores 0.3697 ms, memory 0.3180 ms"));
}

TEST(Command, List) {
  const Ran r = ran("list --json");
  EXPECT_EQ(r.status, 0);
  EXPECT_EQ(r.json()[0]["name"], "gdn-forward");
  for (const auto& kernel : r.json()) EXPECT_FALSE(kernel.at("compile_time").get<std::string>().empty()) << kernel;
  EXPECT_THAT(ran("list").out, HasSubstr("linear-attention"));
}

TEST(Command, WrongUsageIsStatus2) {
  for (const char* line : {"", "frobnicate", "run", "run nothing", "run gdn-forward --heads 3x4", "run gdn-forward --heads sixteen",
                           "run gdn-forward --lens 12-3", "run gdn-forward --kind odd", "run gdn-forward --shape 4", "run gemm --lens 4",
                           "run gemm --shape 4x4", "run gemm --shape 64x60x64",
                           "run gemm --dtype f16", "run gemm --dk 64", "run gdn-forward --dk 96", "run gdn-forward --dv 256", "inspect gdn-forward --dv 64 --form split", "run copy --margin 3", "run gdn-forward --seed -1", "run gdn-forward --batch 2 --lens 3+4",
                           "inspect gemm --json", "inspect gemm --stage wine", "inspect gemm --stage ptx --json", "inspect gemm --stage ptx --only other",
                           "compile gemm", "bench copy", "bench gdn-forward", "bench gdn-forward --lens 64 --device sim", "bench gemm --lens 64",
                           "bench gemm --shape 64x64x64 --ceilings", "bench gemm --shape 64x64x64 --in-place", "run gemm --in-place", "run gdn-forward --in-place --no-initial-state", "bench gdn-forward --ceilings --lens 0"}) {
    const Ran r = ran(line);
    EXPECT_EQ(r.status, 2) << line << ": " << r.err;
    EXPECT_FALSE(r.err.empty()) << line;
    EXPECT_EQ(r.out, "") << line;
  }
  EXPECT_THAT(ran("run nothing").err, HasSubstr("expected one of gdn-forward, gemm"));
  EXPECT_THAT(ran("frobnicate").err, HasSubstr("no subcommand 'frobnicate'; expected list, compile"));
  EXPECT_THAT(ran("run gemm --dtype f16").err, HasSubstr("--dtype is an option of gdn-forward, gemm has none"));
  EXPECT_THAT(ran("run gdn-forward --dk 96").err, HasSubstr("--dk: 96 not in {64,128}"));
  EXPECT_THAT(ran("run gdn-forward --dv 64 --form split").err, HasSubstr("--form split with --dv 64: a head of one warpgroup's columns is not split, expected full or auto"));
  EXPECT_EQ(ran("--help").status, 0);
  EXPECT_EQ(ran("run --help").status, 0);
}

TEST(Command, RunsEveryKernelThatIsNotAnOperator) {
  for (const char* line : {"copy --shape 70", "gemm-one-role --shape 70x136x72", "gemm-two-roles --shape 70x136x72", "gemm --shape 70x136x72",
                           "softmax --shape 3x72", "linear-attention --shape 1x70"}) {
    const Ran r = ran(std::string("run ") + line + " --device sim --check --json");
    EXPECT_EQ(r.status, 0) << line << ": " << r.out << r.err;
    if (r.status == 0) {
      EXPECT_TRUE(r.json()["pass"].get<bool>()) << line;
    }
  }
}

TEST(Command, RunGdnForward) {
  for (const char* line : {"--lens 65", "--lens 65 --form full --dtype f16", "--lens 3+0+64 --offsets int64 --margin 5 --kind same_keys",
                           "--lens 33 --batch 2 --state-v-first", "--lens 33 --no-initial-state --twice", "--lens 200 --cp 2 --in-place --twice", "--lens 70 --dk 64 --dv 128 --margin 3 --state-v-first"}) {
    const Ran r = ran(std::string("run gdn-forward --heads 1x2 --device sim --check --json ") + line);
    EXPECT_EQ(r.status, 0) << line << ": " << r.out << r.err;
    if (r.status != 0) continue;
    EXPECT_TRUE(r.json()["pass"].get<bool>()) << line;
    EXPECT_GT(r.json()["rms_o"].get<double>(), 0) << line;
  }
}

TEST(Command, InspectPrintsEachStage) {
  EXPECT_THAT(ran("inspect copy --stage tile").out, HasSubstr("tile.kernel"));
  EXPECT_THAT(ran("inspect copy --stage hopper").out, HasSubstr("hopper."));
  EXPECT_THAT(ran("inspect copy --stage llvm").out, HasSubstr("define"));
  EXPECT_THAT(ran("inspect copy --stage ptx").out, HasSubstr(".entry copy"));
  const Ran forward = ran("inspect gdn-forward --heads 1x2 --stage ptx");
  for (const char* name : {"---- gdn_prologue", "---- gdn_forward\n", "---- gdn_forward_split"}) EXPECT_THAT(forward.out, HasSubstr(name));
}

TEST(Command, ResourcesAndFiles) {
  const Ran r = ran("inspect copy --stage resources --json");
  ASSERT_EQ(r.status, 0) << r.err;
  const auto kernel = r.json()["kernels"][0];
  EXPECT_EQ(kernel["name"], "copy");
  EXPECT_EQ(kernel["spill_bytes"], 0);
  EXPECT_GE(kernel["shared_bytes"].get<int>(), 2 * 64 * 64 * 2);
  for (const char* key : {"registers", "stack_bytes", "barriers", "performance_loss", "ptxas"}) EXPECT_TRUE(kernel.contains(key)) << key;

  const assemble::TemporaryFolder folder;
  ASSERT_EQ(ran("compile copy --out " + (folder.path() / "new").string()).status, 0);
  for (const char* name : {"copy.tile.mlir", "copy.hopper.mlir", "copy.ll", "copy.ptx", "copy.cubin", "copy.json", "resources.json"})
    EXPECT_TRUE(std::filesystem::file_size(folder.path() / "new" / name) > 0) << name;
}

TEST(Command, OutputThatCannotBeWrittenIsAnError) {
  std::ofstream full("/dev/full");
  std::ostringstream err;
  const char* const argv[]{"tilewright", "list"};
  EXPECT_EQ(command(2, argv, full, err), 1);
  EXPECT_THAT(err.str(), HasSubstr("could not be written"));
}

TEST(Command, ErrorsAreOneLine) {
  std::ofstream("not_a_folder") << "a file";
  const Ran r = ran("inspect copy --all not_a_folder/below");
  EXPECT_EQ(r.status, 1);
  EXPECT_THAT(r.err, HasSubstr("tilewright: "));
  std::filesystem::remove("not_a_folder");
}

}  // namespace
}  // namespace tilewright::cli
