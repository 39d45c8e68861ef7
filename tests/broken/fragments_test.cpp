// Fragments that are read before anything is written to them, and tiles that are added more often than the author means.
#include "tests/broken/mistake.h"

namespace tilewright::test {
namespace {

TEST(BrokenFragment, NeverWritten) {
  Mistake([](Kernel& k, int& line) {
    auto tile = k.shared<f32>("tile", {64, 64});
    k.role("all", warpgroups(1))([&] {
      auto f = k.frag<f32>({64, 64}, "mine");
      line = __LINE__; store(tile, f);
    });
  }).says({"store: reads fragment \"mine\", to which nothing has been written; load, fill or compute it first"});
}
TEST(BrokenFragment, SumThatDoesNotStart) {
  Mistake([](Kernel& k, int& line) {
    Dim n = k.dim("n");
    auto a = k.shared<bf16>("a", {64, 64}), b = k.shared<bf16>("b", {64, 64});
    k.role("all", warpgroups(1))([&] {
      auto acc = k.frag<f32>({64, 64}, "acc");
      for_range(k.index(0), n, 1, [&](Index) {
        line = __LINE__; gemm_add(acc, a, b);
        settle(k.batch());
      });
    });
  }).says({"gemm: adds to fragment \"acc\", to which nothing has been written; fill(fragment, 0.0) first, or start with gemm_zero"});
}
TEST(BrokenFragment, ReadBeforeTheLoopWritesIt) {
  Mistake([](Kernel& k, int& line) {
    Dim n = k.dim("n");
    auto tile = k.shared<f32>("tile", {64, 64});
    k.role("all", warpgroups(1))([&] {
      auto f = k.frag<f32>({64, 64}), g = k.frag<f32>({64, 64}, "g");
      fill(f, 1.0);
      for_range(k.index(0), n, 1, [&](Index) {
        line = __LINE__; f += g;
        load(g, tile);
      });
      store(tile, f);
    });
  }).says({"reads fragment \"g\", to which nothing has been written"});
}
TEST(BrokenFragment, WrittenInTheOtherBranch) {
  Mistake([](Kernel& k, int& line) {
    Index flag = k.scalar_i32("flag");
    auto tile = k.shared<f32>("tile", {64, 64});
    k.role("all", warpgroups(1))([&] {
      auto f = k.frag<f32>({64, 64}, "f");
      if_(flag > 0, [&] { fill(f, 1.0); }, [&] { line = __LINE__; store(tile, f); });
    });
  }).says({"reads fragment \"f\", to which nothing has been written"});
}
/// A branch may wait for a later trip's write; gemm_add_if may start a sum; a part may be written for the whole.
TEST(Fragments, WrittenOnSomeWay) {
  EXPECT_NO_THROW(compiler::compile(kernel("written", [](Kernel& k) {
    Dim n = k.dim("n");
    auto a = k.shared<bf16>("a", {64, 64}), b = k.shared<bf16>("b", {64, 64});
    auto tile = k.shared<f32>("tile", {64, 64});
    k.role("all", warpgroups(1))([&] {
      auto acc = k.frag<f32>({64, 64}), last = k.frag<f32>({64, 64}), parts = k.frag<f32>({64, 64});
      for_range(k.index(0), n, 1, [&](Index i) {
        gemm_add_if(i > 0, acc, a, b);
        settle(k.batch());
        k.sync();
        if_(i > 0, [&] { store(tile, last); });
        map_to(last, [](Real x) { return x; }, acc);
      });
      fill(parts.columns(0, 32), 0.0);
      fill(parts.columns(32, 32), 1.0);
      k.sync();
      store(tile, parts);
    });
  })));
}

void add_by(Kernel& k, const std::function<void(const std::function<void()>&)>& who, int& line) {
  auto y = k.inout<f32>("y", {64, 64});
  auto tile = k.shared<f32>("tile", {64, 64});
  k.role("all", warpgroups(1))([&] {
    auto f = k.frag<f32>({64, 64});
    fill(f, 1.0);
    store(tile, f);
    k.sync();
    who([&] { line = __LINE__; tma_reduce_add(y.tile({0, 0}, {64, 64}), tile); });
    k.store_wait_complete();
  });
}
TEST(BrokenAddition, ByAllThreads) {
  Mistake([](Kernel& k, int& line) {
    add_by(k, [](const std::function<void()>& add) { add(); }, line);
  }).says({"32 threads of each warp of role \"all\" come here, and each adds tile \"tile\" once more", "let one thread start it"});
}
TEST(BrokenAddition, ByOneThreadOfEachWarp) {
  Mistake([](Kernel& k, int& line) {
    add_by(k, [&](const std::function<void()>& add) { if_(k.lane() == 0, add); }, line);
  }).says({"several warps of role \"all\" come here, and each adds tile \"tile\" to the same place once more"});
}
TEST(Addition, ByOneThread) {
  EXPECT_NO_THROW(compiler::compile(kernel("add", [](Kernel& k) {
    int line = 0;
    add_by(k, [&](const std::function<void()>& add) { if_(k.thread() == 0, add); }, line);
  })));
}
TEST(Addition, ByEachWarpToItsOwnPlace) {
  EXPECT_NO_THROW(compiler::compile(kernel("add", [](Kernel& k) {
    auto y = k.inout<f32>("y", {256, 32});
    auto tile = k.shared<f32>("tile", {64, 32});
    k.role("all", warpgroups(1))([&] {
      auto f = k.frag<f32>({64, 32});
      fill(f, 1.0);
      store(tile, f);
      k.sync();
      if_(k.lane() == 0, [&] { tma_reduce_add(y.tile({k.warp() * 64, 0}, {64, 32}), tile); });
      k.store_wait_complete();
    });
  })));
}

}  // namespace
}  // namespace tilewright::test
