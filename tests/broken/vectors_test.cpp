// Warp products, tf32 products, views of fragments, sums and scans: one mistake each.
#include "tests/broken/mistake.h"

namespace tilewright::test {
namespace {

TEST(BrokenWarpProduct, RowsOfAWarpgroup) {
  Mistake([](Kernel& k, int& line) {
    auto b = k.shared<bf16>("b", {64, 64});
    k.role("math", warpgroups(1))([&] {
      auto acc = k.frag<f32>({64, 64});
      line = __LINE__, mma(acc, b, b);
    });
  }).says({"mma: acc has 64 rows and A 64", "16 rows of a warp"});
}
TEST(BrokenWarpProduct, DepthOfNoWholeSteps) {
  Mistake([](Kernel& k, int& line) {
    auto b = k.shared<f16>("b", {24, 64});
    k.role("math", warps(1))([&] {
      auto acc = k.frag<f32>({16, 64});
      auto a = k.frag<f16>({16, 24});
      line = __LINE__, mma(acc, a, b);
    });
  }).says({"K = 24, N = 64", "K a multiple of 16"});
}
TEST(BrokenWarpProduct, RowsThatLdmatrixCannotRead) {
  Mistake([](Kernel& k, int& line) {
    auto b = k.shared<bf16>("b", {16, 24}, 4);
    k.role("math", warps(1))([&] {
      auto acc = k.frag<f32>({16, 24});
      auto a = k.frag<bf16>({16, 16});
      fill(acc, 0.0), map_to(a, [&] { return k.real(1.0); });
      line = __LINE__, mma(acc, a, b);
    });
  }).says({"tile \"b\": its rows are 52 bytes", "expected a multiple of 16", "pad_bytes"});
}
TEST(BrokenWarpProduct, ViewInsideAChunk) {
  Mistake([](Kernel& k, int& line) {
    auto b = k.shared<bf16>("b", {16, 64});
    k.role("math", warps(1))([&] {
      auto acc = k.frag<f32>({16, 16});
      auto a = k.frag<bf16>({16, 16});
      fill(acc, 0.0), map_to(a, [&] { return k.real(1.0); });
      line = __LINE__, mma(acc, a, b.view(0, 4, {16, 16}));
    });
  }).says({"tile \"b\": the view begins at column 4", "begin at a multiple of 8"});
}

TEST(BrokenTf32, PlainB) {
  Mistake([](Kernel& k, int& line) {
    auto a = k.shared<f32>("a", {64, 64});
    k.role("math", warpgroups(1))([&] {
      auto acc = k.frag<f32>({64, 64});
      line = __LINE__, gemm_zero(acc, a, a);
    });
  }).says({"gemm: B is a plain tile of f32", "keep the tile as [N, K] and pass its .t()"});
}
TEST(BrokenTf32, TransposedA) {
  Mistake([](Kernel& k, int& line) {
    auto a = k.shared<f32>("a", {64, 64});
    k.role("math", warpgroups(1))([&] {
      auto acc = k.frag<f32>({64, 64});
      line = __LINE__, gemm_zero(acc, a.t(), a.t());
    });
  }).says({"gemm: A is a transposed tile of f32", "keep the tile as [M, K]"});
}
TEST(BrokenTf32, TileOfNoWholePanels) {
  Mistake([](Kernel& k, int& line) {
    line = __LINE__;  auto a = k.shared<f32>("a", {64, 40});
    k.role("math", warpgroups(1))([&] {
      auto acc = k.frag<f32>({64, 64});
      gemm_zero(acc, a, a.t());
      settle(k.batch());
    });
  }).says({"\"a\" [64, 40] of 'f32' is an operand of a product", "columns a multiple of 32"});
}
TEST(BrokenFewRows, GemmOfOneWarpsRows) {
  Mistake([](Kernel& k, int& line) {
    auto x = k.shared<bf16>("x", {16, 64}), w = k.shared<bf16>("w", {64, 64});
    k.role("math", warpgroups(1))([&] {
      auto acc = k.frag<f32>({16, 64});
      line = __LINE__, gemm_zero(acc, x, w);
    });
  }).says({"M = 16 is not a multiple of 64", "start the transposed product", "mma"});
}

TEST(BrokenView, BeyondTheFragment) {
  Mistake([](Kernel& k, int& line) {
    k.role("all", warpgroups(1))([&] {
      auto f = k.frag<f32>({64, 64});
      line = __LINE__, f.columns(48, 32);
    });
  }).says({"columns 48 to 80 reach outside of the fragment [64, 64]"});
}
TEST(BrokenView, NotABlockOfEight) {
  Mistake([](Kernel& k, int& line) {
    k.role("all", warpgroups(1))([&] {
      auto f = k.frag<f32>({64, 64});
      line = __LINE__, f.columns(4, 16);
    });
  }).says({"columns 4 to 20 of a fragment; expected multiples of 8"});
}
TEST(BrokenView, PartOfAnAccumulatorInFlight) {
  Mistake([](Kernel& k, int& line) {
    auto a = k.shared<bf16>("a", {64, 64});
    k.role("math", warpgroups(1))([&] {
      auto acc = k.frag<f32>({64, 128}, "acc");
      gemm_zero(acc.columns(0, 64), a, a);
      Batch batch = k.batch();
      fill(acc.columns(64, 64), 0.0);
      line = __LINE__, fill(acc, 0.0);
      settle(batch);
    });
  }).says({"fill: writes the accumulator fragment \"acc\" while a product is in flight"});
}

TEST(BrokenReduce, ScratchOfAnotherShape) {
  Mistake([](Kernel& k, int& line) {
    auto scratch = k.shared<f32>("scratch", {4, 64});
    k.role("all", warpgroups(2))([&] {
      auto f = k.frag<f32>({128, 64});
      line = __LINE__, column_sum(f, scratch);
    });
  }).says({"reduce_warps: scratch is [4, 64], expected [8, 64]", "a row for each warp"});
}
TEST(BrokenScan, DownAVectorOfOneRow) {
  Mistake([](Kernel& k, int& line) {
    k.role("all", warpgroups(1))([&] {
      auto v = k.frag<f32>({1, 64});
      line = __LINE__, warp_column_scan(v, "add");
    });
  }).says({"scan: scans [1, 64] along an axis of one element", "expected rows of more than one"});
}
TEST(BrokenScan, UnknownKind) {
  Mistake([](Kernel& k, int& line) {
    k.role("all", warpgroups(1))([&] {
      auto v = k.frag<f32>({1, 64});
      line = __LINE__, row_scan(v, "product");
    });
  }).says({"kind \"product\": expected add, max or min"});
}

template <class A, class B>
concept WarpMultiplied = requires(Frag<f32> acc, A a, B b) { mma(acc, a, b); };
static_assert(WarpMultiplied<Frag<bf16>, Transposed<bf16>> && WarpMultiplied<Shared<f32>, Shared<f32>>);
static_assert(!WarpMultiplied<Frag<f32>, Shared<bf16>> && !WarpMultiplied<Frag<bf16>, Frag<bf16>>, "one type, B in shared memory");

}  // namespace
}  // namespace tilewright::test
