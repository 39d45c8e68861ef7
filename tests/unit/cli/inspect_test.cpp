// What inspect, compile and trace show of a kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/cli/plan.h"
#include "tests/unit/cli/ran.h"

namespace tilewright::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class InFolder : public testing::Test {
 protected:
  InFolder() : folder(std::filesystem::temp_directory_path() / ("tilewright_inspect_" + std::to_string(getpid()))) { std::filesystem::create_directories(folder); }
  ~InFolder() override { std::filesystem::remove_all(folder); }
  std::string text(const std::string& name) const {
    std::ifstream file(folder / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::filesystem::path folder;
};

TEST(Plan, SaysWhatIsWhere) {
  const Ran r = ran("inspect gemm");
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("grid (ceil(M / 128) * ceil(N / 256)) x 1 x 1, 384 threads"), HasSubstr("math             warps 0..7     2 warpgroups   232 registers"),
                           HasSubstr("load             warp 8         1 thread       40 registers"), HasSubstr("register pool: 168 at entry x 3 warpgroups = 504, the roles ask for 504")));
  EXPECT_THAT(r.out, AllOf(HasSubstr("ab               load -> math, 3 stages, tiles a_tile, b_tile"), HasSubstr("full: 1 arrival and 49152 bytes; empty: 8 arrivals"),
                           HasSubstr("1                role math, 256 threads"), HasSubstr("a_tile           [128, 64] bf16, swizzle128, 3 stages 49152 apart"),
                           HasSubstr("212992     48    ab               mbarriers: full, then empty"), HasSubstr("acc              [128, 256] f32     role math         128 registers"), HasSubstr("gemm.h:")));
}

TEST(Plan, NamesWhatTakesOverMemory) {
  const auto sidecar = nlohmann::json::parse(R"({"name": "k", "threads": 32, "grid": [1, 1, 1], "roles": [], "dynamic_shared_bytes": 4096,
    "shared": [{"name": "late", "offset": 0, "bytes": 2048, "stages": 1, "shape": [16, 32], "element": "f32", "layout": "row_major", "overlay": "early", "pad_bytes": 16}],
    "mbarriers": [{"name": "turn", "offset": 4088, "arrivers": ["a"], "waiters": ["b"], "arrivals": 4}], "meetings": [{"id": 3, "roles": ["a", "b"], "threads": 64}]})");
  EXPECT_THAT(plan_text(sidecar), AllOf(HasSubstr("rows padded by 16, takes over early"), HasSubstr("turn             a -> b, 4 arrivals"), HasSubstr("3                roles a, b, 64 threads")));
}

TEST_F(InFolder, LayoutsAreDrawn) {
  const std::string svg = (folder / "a.svg").string();
  const Ran tile = ran("inspect gemm --stage layout --tensor a_tile --svg " + svg);
  EXPECT_EQ(tile.status, 0) << tile.err;
  EXPECT_THAT(tile.out, AllOf(HasSubstr("tile a_tile [128, 64] bf16 of gemm, swizzle128"), HasSubstr("144:4"), HasSubstr("ldmatrix, a 16 x 16 block: no conflict")));
  EXPECT_THAT(text("a.svg"), AllOf(HasSubstr("<svg"), HasSubstr("row 1, columns 0..7: byte 144, banks 4..7")));
  const Ran fragment = ran("inspect gemm --stage layout --tensor acc --svg " + svg);
  EXPECT_THAT(fragment.out, HasSubstr("128 x 256 fragment, 8 warps, 128 elements a thread"));
  EXPECT_THAT(text("a.svg"), HasSubstr("row 9, column 8: warp 0, lane 4, register 6"));
  const Ran wrong = ran("inspect gemm --stage layout --tensor d_tile");
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("no tile and no matrix fragment 'd_tile': gemm has a_tile, b_tile, c_tile, acc"));
  EXPECT_EQ(ran("inspect gemm --stage layout").status, 2);
  EXPECT_EQ(ran("inspect gemm --tensor a_tile").status, 2);
  EXPECT_EQ(ran("inspect gemm --stage ptx --svg x.svg").status, 2);
}

TEST_F(InFolder, EveryPassHasAFileAndATime) {
  const Ran r = ran("compile copy --all --timing -o " + folder.string());
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("    tile-infer-layouts "), HasSubstr("    nvptx "), HasSubstr("  step: ptxas ")));
  EXPECT_THAT(text("copy.passes/00-recorded.mlir"), AllOf(HasSubstr("tile.kernel"), Not(HasSubstr("swizzle128"))));
  EXPECT_THAT(text("copy.passes/03-tile-infer-layouts.mlir"), HasSubstr("swizzle128"));
  EXPECT_THAT(text("copy.passes/07-lower-tile.mlir"), AllOf(HasSubstr("hopper.tma_load"), Not(HasSubstr("tile.tma_load"))));
  unsigned files = 0;
  std::string last;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "copy.passes")) ++files, last = std::max(last, entry.path().filename().string());
  EXPECT_EQ(last, (files <= 10 ? "0" : "") + std::to_string(files - 1) + "-nvptx.ptx");
  EXPECT_EQ(text("copy.passes/" + last), text("copy.ptx"));

  const Ran json = ran("inspect copy --stage passes --json");
  EXPECT_EQ(json.status, 0) << json.err;
  const auto kernel = nlohmann::json::parse(json.out).at("kernels").at(0);
  EXPECT_EQ(kernel.at("passes").at(0).at("name"), "tile-verify-structure");
  for (const auto& pass : kernel.at("passes")) EXPECT_GE(pass.at("ms").get<double>(), 0) << pass.dump();
}

TEST_F(InFolder, ATraceShowsRolesAndWaits) {
  const std::string json = (folder / "t.json").string(), svg = (folder / "t.svg").string();
  const Ran r = ran("trace gemm-two-roles --shape 128x128x256 --device sim --check -o " + json + " --svg " + svg);
  EXPECT_EQ(r.status, 0) << r.err << r.out;
  EXPECT_THAT(r.out, AllOf(HasSubstr("gemm_two_roles, CTA 0: "), HasSubstr("wait ab"), HasSubstr("acquire ab")));
  std::map<std::string, unsigned> seen;
  const auto trace = nlohmann::json::parse(text("t.json"));
  for (const auto& event : trace.at("traceEvents"))
    if (event.at("ph") == "X") ++seen[event.at("cat").get<std::string>() + ": " + event.at("name").get<std::string>()];
  EXPECT_EQ(seen["math: wait ab"], 4u * 4u);   // steps times warps
  EXPECT_GT(seen["load: load"], 0u);
  EXPECT_THAT(text("t.svg"), HasSubstr("math (warp 3)"));
  const Ran other = ran("trace gemm-two-roles --shape 128x128x256 --device sim --cta 77 -o " + json);
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.err, HasSubstr("no warp of CTA 77"));
}

TEST_F(InFolder, AnOperatorHasALineForEachKernel) {
  const std::string json = (folder / "t.json").string();
  const Ran r = ran("trace gdn-forward --heads 1x2 --lens 130 --device sim --check -o " + json);
  EXPECT_EQ(r.status, 0) << r.err << r.out;
  unsigned processes = 0;
  const auto trace = nlohmann::json::parse(text("t.json"));
  for (const auto& event : trace.at("traceEvents")) processes += event.at("name") == "process_name";
  EXPECT_GE(processes, 2u);
}

TEST(Trace, ExplainsItsOptions) {
  EXPECT_EQ(ran("trace gemm --json").status, 2);
  EXPECT_EQ(ran("trace").status, 2);
  EXPECT_EQ(ran("trace --help").status, 0);
}

}  // namespace
}  // namespace tilewright::cli
