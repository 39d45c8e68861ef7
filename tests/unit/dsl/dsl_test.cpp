// What the language's handles build, and what compiling leaves beside the PTX.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "examples/copy.h"
#include "compiler/compile.h"

namespace tilewright {
namespace {

using testing::HasSubstr;
using testing::Not;

/// One role of 32 threads.
Program one_warp(const std::function<void(Kernel&)>& body) {
  return kernel("one_warp", [&](Kernel& k) { k.role("all", warps(1))([&] { body(k); }); });
}

TEST(Extents, AreExpressionsOfNames) {
  Extent n = Extent::named("N");
  EXPECT_EQ(n.text(), "\"N\"");
  EXPECT_EQ(Extent(7).text(), "7");
  EXPECT_EQ(ceil_div(n, 64).text(), "[\"ceildiv\",\"N\",64]");
  EXPECT_EQ((n * 2 + 1).text(), "[\"add\",[\"mul\",\"N\",2],1]");
}

TEST(Compile, LeavesTheProgramAsItWas) {
  auto program = examples::copy({});
  auto first = compiler::compile(program), second = compiler::compile(program);
  EXPECT_EQ(first.ptx, second.ptx);
  EXPECT_EQ(first.tile_ir, second.tile_ir);
  EXPECT_EQ(first.sidecar, second.sidecar);
}

TEST(Compile, KeepsEveryStageOrNone) {
  auto all = compiler::compile(examples::copy({}));
  EXPECT_THAT(all.tile_ir, HasSubstr("tile.kernel \"copy\""));
  EXPECT_THAT(all.hopper_ir, HasSubstr("hopper.tma_load"));
  EXPECT_THAT(all.hopper_ir, Not(HasSubstr("tile.")));
  EXPECT_THAT(all.llvm_ir, HasSubstr("define ptx_kernel void @copy("));
  EXPECT_THAT(all.ptx, HasSubstr(".target sm_90a"));
  auto none = compiler::compile(examples::copy({}), {.keep_stages = false});
  EXPECT_EQ(none.tile_ir + none.hopper_ir + none.llvm_ir, "");
  EXPECT_EQ(none.ptx, all.ptx);
}

TEST(Compile, LinesOfTheAuthorReachThePtx) {
  auto program = one_warp([](Kernel& k) { k.sync(); });
  EXPECT_THAT(compiler::compile(program).ptx, HasSubstr("dsl_test.cpp"));
  EXPECT_THAT(compiler::compile(program, {.source_lines = false}).ptx, Not(HasSubstr(".loc")));
}

TEST(Compile, TwoKernelsAtOnceDoNotMeet) {
  auto inner = one_warp([](Kernel& k) { k.sync(); });
  auto outer = one_warp([&](Kernel& k) {
    EXPECT_THAT(compiler::compile(inner).ptx, HasSubstr("one_warp"));
    k.sync();
  });
  EXPECT_EQ(compiler::compile(inner).ptx.size() > 0, compiler::compile(outer).ptx.size() > 0);
}

TEST(Sidecar, DescribesALaunch) {
  auto sidecar = nlohmann::json::parse(compiler::compile(examples::copy({.rows = 32, .cols = 128, .stages = 3, .tiles_per_cta = 2})).sidecar);
  EXPECT_EQ(sidecar["name"], "copy");
  EXPECT_EQ(sidecar["threads"], 64) << "two roles of one warp";
  EXPECT_EQ(sidecar["dims"], nlohmann::json({"M"}));
  EXPECT_EQ(sidecar["grid"], nlohmann::json::parse(R"([["ceildiv","M",64],1,1])"));
  EXPECT_EQ(sidecar["tensors"][0]["shape"], nlohmann::json::parse(R"(["M",128])"));
  EXPECT_EQ(sidecar["tensors"][1]["role"], "out");
  ASSERT_EQ(sidecar["shared"].size(), 1u);
  EXPECT_EQ(sidecar["shared"][0]["layout"], "swizzle128");
  EXPECT_EQ(sidecar["shared"][0]["stages"], 3);
  EXPECT_EQ(sidecar["dynamic_shared_bytes"], 3 * (32 * 128 * 2 + 16));
  ASSERT_EQ(sidecar["barriers"].size(), 1u);
  EXPECT_EQ(sidecar["barriers"][0]["bytes"], 32 * 128 * 2);
  EXPECT_EQ(sidecar["barriers"][0]["full_arrivals"], 1);
  EXPECT_EQ(sidecar["barriers"][0]["empty_arrivals"], 1);
}

TEST(Sidecar, RolesLieByWarpgroups) {
  auto program = kernel("roles", [](Kernel& k) {
    Role single = k.role("single", one_thread()), wide = k.role("wide", warpgroups(2)), other = k.role("other", warps(1));
    single([] {});
    wide([] {});
    other([] {});
  });
  auto sidecar = nlohmann::json::parse(compiler::compile(program).sidecar);
  std::map<std::string, int> first;
  for (auto& role : sidecar["roles"]) first[role["name"]] = role["first_warp"];
  EXPECT_EQ(first, (std::map<std::string, int>{{"wide", 0}, {"single", 8}, {"other", 9}}));
  EXPECT_EQ(sidecar["threads"], 384) << "whole warpgroups";
}

TEST(Sidecar, OptionalTensorsAndScalars) {
  auto program = kernel("optional", [](Kernel& k) {
    auto x = k.optional_in<f32>("x", {32});
    auto y = k.out<f32>("y", {32});
    Real scale = k.scalar_f32("scale");
    Index unused = k.scalar_i32("count");
    (void)unused;
    k.role("all", warps(1))([&] {
      if_(x.present(), [&] { y.write({k.lane()}, x.read({k.lane()}) * scale); });
    });
  });
  auto sidecar = nlohmann::json::parse(compiler::compile(program).sidecar);
  EXPECT_EQ(sidecar["tensors"][0]["optional"], true);
  EXPECT_EQ(sidecar["tensors"][1]["optional"], false);
  EXPECT_EQ(sidecar["scalars"], nlohmann::json({"scale", "count"}));
}

TEST(Contracts, AreOptedOutByName) {
  auto program = kernel("allowed", [](Kernel& k) {
    k.allow("spills");
    k.role("all", warps(1))([] {});
  });
  EXPECT_EQ(nlohmann::json::parse(compiler::compile(program).sidecar)["allow"], nlohmann::json({"spills"}));
}

}  // namespace
}  // namespace tilewright
