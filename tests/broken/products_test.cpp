#include "tests/broken/mistake.h"

namespace tilewright::test {
namespace {

TEST(BrokenProduct, InnerExtentsDiffer) {
  Mistake([](Kernel& k, int& line) {
    auto a = k.shared<bf16>("a", {64, 64}), b = k.shared<bf16>("b", {128, 64});
    k.role("math", warpgroups(1))([&] {
      auto acc = k.frag<f32>({64, 64});
      line = __LINE__, gemm_zero(acc, a, b);
    });
  }).says({"gemm: A is [64, 64] and B is [128, 64]", "inner extents differ", "use .t()"});
}
TEST(BrokenProduct, AccumulatorOfAnotherShape) {
  Mistake([](Kernel& k, int& line) {
    auto a = k.shared<bf16>("a", {64, 64}), b = k.shared<bf16>("b", {64, 128});
    k.role("math", warpgroups(1))([&] {
      auto acc = k.frag<f32>({64, 64});
      line = __LINE__, gemm_zero(acc, a, b);
    });
  }).says({"accumulator is [64, 64]", "the product is [64, 128]"});
}
TEST(BrokenProduct, TooWide) {
  Mistake([](Kernel& k, int& line) {
    auto a = k.shared<bf16>("a", {64, 64}), b = k.shared<bf16>("b", {320, 64});
    k.role("math", warpgroups(1))([&] {
      auto acc = k.frag<f32>({64, 320});
      line = __LINE__, gemm_zero(acc, a, b.t());
    });
  }).says({"N = 320", "multiple of 8 up to 256"});
}
TEST(BrokenProduct, DepthOfNoWholeSteps) {
  Mistake([](Kernel& k, int& line) {
    auto a = k.shared<f16>("a", {72, 64}), b = k.shared<f16>("b", {72, 64});
    k.role("math", warpgroups(1))([&] {
      auto acc = k.frag<f32>({64, 64});
      line = __LINE__, gemm_add(acc, a.t(), b);
    });
  }).says({"K = 72 is not a multiple of 16"});
}
TEST(BrokenProduct, InARoleOfOneWarp) {
  Mistake([](Kernel& k, int& line) {
    auto a = k.shared<bf16>("a", {64, 64});
    k.role("math", warps(1))([&] {
      auto acc = k.frag<f32>({16, 64});
      (void)acc;
      line = __LINE__;  auto wide = k.frag<f32>({64, 64});
      gemm_zero(wide, a, a);
    });
  }).says({"a fragment of 64 rows in role \"math\" of 1 warps", "expected 16"});
}
TEST(BrokenProduct, TileThatCannotBeSwizzled) {
  Mistake([](Kernel& k, int& line) {
    line = __LINE__;  auto a = k.shared<bf16>("a", {64, 48});
    auto b = k.shared<bf16>("b", {64, 64});
    k.role("math", warpgroups(1))([&] {
      auto acc = k.frag<f32>({64, 64});
      gemm_zero(acc, a, b.view(0, 0, {48, 64}));
      settle(k.batch());
    });
  }).says({"\"a\" [64, 48]", "operand of a product", "columns a multiple of 64"});
}
TEST(BrokenProduct, PaddedTile) {
  Mistake([](Kernel& k, int& line) {
    line = __LINE__;  auto a = k.shared<bf16>("a", {64, 64}, 16);
    k.role("math", warpgroups(1))([&] {
      auto acc = k.frag<f32>({64, 64});
      gemm_zero(acc, a, a);
      settle(k.batch());
    });
  }).says({"\"a\"", "no padding"});
}
TEST(BrokenProduct, ViewInsideAPanel) {
  Mistake([](Kernel& k, int& line) {
    auto a = k.shared<bf16>("a", {64, 128});
    k.role("math", warpgroups(1))([&] {
      auto acc = k.frag<f32>({64, 64});
      line = __LINE__, gemm_zero(acc, a.view(0, 0, {64, 64}), a.view(0, 32, {64, 64}));  // N is contiguous
      settle(k.batch());
    });
  }).says({"operand \"a\"", "row 0, column 32", "column multiple of 64"});
}
TEST(BrokenProduct, ViewInsideAKStep) {
  Mistake([](Kernel& k, int& line) {
    auto a = k.shared<bf16>("a", {64, 128});
    k.role("math", warpgroups(1))([&] {
      auto acc = k.frag<f32>({64, 64});
      line = __LINE__, gemm_zero(acc, a.view(0, 8, {64, 64}), a.view(0, 64, {64, 64}));
      settle(k.batch());
    });
  }).says({"operand \"a\"", "row 0, column 8", "column multiple of 16"});
}
TEST(BrokenProduct, ViewAtARunTimeColumn) {
  Mistake([](Kernel& k, int& line) {
    auto a = k.shared<bf16>("a", {64, 128});
    Index column = k.scalar_i32("column");
    k.role("math", warpgroups(1))([&] {
      auto acc = k.frag<f32>({64, 64});
      line = __LINE__, gemm_zero(acc, a.view(0, column, {64, 64}), a.view(0, 64, {64, 64}));
      settle(k.batch());
    });
  }).says({"operand \"a\"", "known only at run time"});
}
TEST(BrokenProduct, WarpProductOfOtherShapes) {
  Mistake([](Kernel& k, int& line) {
    auto b = k.shared<f32>("b", {32, 16});
    k.role("math", warps(1))([&] {
      auto acc = k.frag<f32>({16, 16}), a = k.frag<f32>({16, 16});
      line = __LINE__, mma(acc, a, b);
    });
  }).says({"acc [16, 16], A [16, 16], B [32, 16] do not multiply"});
}

TEST(BrokenFlight, ReadBeforeItSettles) {
  Mistake([](Kernel& k, int& line) {
    auto a = k.shared<bf16>("a", {64, 64});
    k.role("math", warpgroups(1))([&] {
      auto acc = k.frag<f32>({64, 64}, "scores");
      gemm_zero(acc, a, a);
      k.batch();
      line = __LINE__;  auto p = cast<bf16>(acc);
      (void)p;
    });
  }).says({"map: reads the accumulator fragment \"scores\" while a product is in flight", "settle the product's batch first", "note: the product"});
}
TEST(BrokenFlight, WrittenBeforeItSettles) {
  Mistake([](Kernel& k, int& line) {
    auto a = k.shared<bf16>("a", {64, 64});
    k.role("math", warpgroups(1))([&] {
      auto acc = k.frag<f32>({64, 64}, "acc");
      gemm_zero(acc, a, a);
      line = __LINE__, fill(acc, 0.0);
      settle(k.batch());
    });
  }).says({"fill: writes the accumulator fragment \"acc\" while a product is in flight"});
}
TEST(BrokenFlight, OperandOverwritten) {
  Mistake([](Kernel& k, int& line) {
    auto a = k.shared<bf16>("a", {64, 64});
    k.role("math", warpgroups(1))([&] {
      auto acc = k.frag<f32>({64, 64});
      auto A = k.frag<bf16>({64, 64}, "A");
      load(A, a);
      gemm_zero(acc, A, a);
      Batch batch = k.batch();
      line = __LINE__, load(A, a.t());
      settle(batch);
    });
  }).says({"load: overwrites the operand fragment \"A\" while a product is in flight"});
}
TEST(BrokenFlight, OverTheBackEdge) {
  Mistake([](Kernel& k, int& line) {
    auto a = k.shared<bf16>("a", {64, 64});
    k.role("math", warpgroups(1))([&] {
      auto acc = k.frag<f32>({64, 64}, "acc");
      fill(acc, 0.0);
      for_(k.index(4), [&](Index) {
        line = __LINE__, scale(acc, k.real(0.5));  // the last round's product
        gemm_add(acc, a, a);
        k.batch();
      });
      k.settle_pending(0);
    });
  }).says({"reads the accumulator fragment \"acc\""});
}
TEST(BrokenFlight, StageReleasedTooEarly) {
  Mistake([](Kernel& k, int& line) {
    auto x = k.in<bf16>("x", {64, 64});
    auto a = k.staged<bf16>("a", 2, {64, 64});
    Role load = k.role("load", one_thread()), math = k.role("math", warpgroups(1));
    Ring ring = k.ring("ring", 2, load, {math}, a);
    load([&] { ring.tma_load(ring.acquire(), a, x.tile({0, 0}, {64, 64})); });
    math([&] {
      auto acc = k.frag<f32>({64, 64});
      Stage s = ring.wait();
      gemm_zero(acc, a[s], a[s]);
      Batch batch = k.batch();
      line = __LINE__, ring.release(s);
      settle(batch);
    });
  }).says({"release: releases a stage of ring \"ring\" while a product is in flight"});
}
TEST(BrokenFlight, SettledTwice) {
  Mistake([](Kernel& k, int& line) {
    auto a = k.shared<bf16>("a", {64, 64});
    k.role("math", warpgroups(1))([&] {
      auto acc = k.frag<f32>({64, 64});
      gemm_zero(acc, a, a);
      Batch batch = k.batch();
      settle(batch);
      line = __LINE__, settle(batch);
    });
  }).says({"the batch is not in flight here: it was settled before"});
}

}  // namespace
}  // namespace tilewright::test
