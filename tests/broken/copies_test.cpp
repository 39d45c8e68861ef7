#include "tests/broken/mistake.h"

namespace tilewright::test {
namespace {

/// One role with a ring of one stage over a tile of `shape`; `body` loads into it.
template <ElementTag T, class F>
Mistake loading(Shape2 shape, F body, int pad = 0, Where here = Where::current()) {
  return Mistake([&](Kernel& k, int& line) {
    auto tile = k.staged<T>("tile", 1, shape, pad);
    Role all = k.role("all", warps(1));
    Ring ring = k.ring("ring", 1, all, {all}, tile);
    body(k, ring, tile, all, line);
  }, here);
}

TEST(BrokenCopy, BoxOfAnotherShape) {
  loading<bf16>({64, 64}, [](Kernel& k, Ring& ring, auto& tile, Role& all, int& line) {
    auto x = k.in<bf16>("x", {128, 64});
    all([&] { line = __LINE__, ring.tma_load(ring.acquire(), tile, x.tile({0, 0}, {32, 64})); });
  }).says({"tma_load: box [32, 64] does not match the tile [64, 64]"});
}
TEST(BrokenCopy, CoordinatesOfAnotherRank) {
  loading<bf16>({64, 64}, [](Kernel& k, Ring& ring, auto& tile, Role& all, int& line) {
    auto x = k.in<bf16>("x", {8, 128, 64});
    all([&] { line = __LINE__, ring.tma_load(ring.acquire(), tile, x.tile({0, 0}, {64, 64})); });
  }).says({"tensor has rank 3, given 2 coordinates and a box of rank 2"});
}
TEST(BrokenCopy, BoxLongerThan256) {
  loading<bf16>({512, 64}, [](Kernel& k, Ring& ring, auto& tile, Role& all, int& line) {
    auto x = k.in<bf16>("x", {512, 64});
    all([&] { line = __LINE__, ring.tma_load(ring.acquire(), tile, x.tile({0, 0}, {512, 64})), ring.release(ring.wait()); });
  }).says({"box extent 512 of axis 0", "at most 256"});
}
TEST(BrokenCopy, RowMajorBoxWiderThan256) {
  loading<f32>({8, 512}, [](Kernel& k, Ring& ring, auto& tile, Role& all, int& line) {
    auto x = k.in<f32>("x", {8, 512});
    all([&] { line = __LINE__, ring.tma_load(ring.acquire(), tile, x.tile({0, 0}, {8, 512})), ring.release(ring.wait()); });
  }).says({"tile \"tile\"", "box extent 512 along its columns", "at most 256"});
}
TEST(BrokenCopy, RowsOfNoWholeSixteenBytes) {
  loading<bf16>({64, 12}, [](Kernel& k, Ring& ring, auto& tile, Role& all, int& line) {
    auto x = k.in<bf16>("x", {64, 12});
    all([&] { line = __LINE__, ring.tma_load(ring.acquire(), tile, x.tile({0, 0}, {64, 12})), ring.release(ring.wait()); });
  }).says({"the box's rows are 24 bytes", "multiple of 16"});
}
TEST(BrokenCopy, RaggedTensorOfRankFour) {
  loading<bf16>({64, 64}, [](Kernel& k, Ring& ring, auto& tile, Role& all, int& line) {
    Dim T = k.dim("T");
    auto x = k.in<bf16>("x", {T, 2, 2, 64});
    all([&] { line = __LINE__, ring.tma_load(ring.acquire(), tile, x.ragged_tile(k.index(0), T, {0, 0, 0, 0}, {64, 1, 1, 64})); });
  }).says({"at most 5 dimensions", "ragged tensor of rank 4 needs 6"});
}
TEST(BrokenCopy, PaddedTile) {
  loading<f32>({64, 32}, [](Kernel& k, Ring& ring, auto& tile, Role& all, int& line) {
    auto x = k.in<f32>("x", {64, 32});
    all([&] { line = __LINE__, ring.tma_load(ring.acquire(), tile, x.tile({0, 0}, {64, 32})), ring.release(ring.wait()); });
  }, 16).says({"tile \"tile\" has 16 bytes of padding", "without pad_bytes"});
}
TEST(BrokenCopy, StoredViewThatIsNotDense) {
  Mistake([](Kernel& k, int& line) {
    auto y = k.out<f32>("y", {16, 16});
    auto tile = k.shared<f32>("tile", {16, 32});
    k.role("all", one_thread())([&] {
      line = __LINE__, tma_store(y.tile({0, 0}, {16, 16}), tile.view(0, 0, {16, 16}));
    });
  }).says({"a view of 16 of its 32 columns is not dense"});
}
TEST(BrokenCopy, StoredBeforeTheFirstRow) {
  Mistake([](Kernel& k, int& line) {
    auto y = k.out<f32>("y", {16, 32});
    auto tile = k.shared<f32>("tile", {16, 32});
    k.role("all", one_thread())([&] { line = __LINE__, tma_store(y.tile({-4, 0}, {16, 32}), tile); });
  }).says({"tma_store: coordinate -4 of axis 0", "expected 0 or more"});
}
TEST(BrokenCopy, FragmentOfAnotherShape) {
  Mistake([](Kernel& k, int& line) {
    auto tile = k.shared<bf16>("tile", {64, 128});
    k.role("all", warpgroups(1))([&] {
      auto f = k.frag<bf16>({64, 64});
      line = __LINE__, load(f, tile);
    });
  }).says({"load: fragment [64, 64] does not match the tile [64, 128]"});
}
TEST(BrokenCopy, FragmentStoredWithoutTurning) {
  Mistake([](Kernel& k, int& line) {
    auto tile = k.shared<f32>("tile", {32, 64});
    k.role("all", warpgroups(1))([&] {
      auto f = k.frag<f32>({64, 32});
      line = __LINE__, store(tile, f);
    });
  }).says({"store: fragment [64, 32] does not match the tile [32, 64]"});
}
TEST(BrokenCopy, ViewOutsideOfItsTile) {
  Mistake([](Kernel& k, int& line) {
    auto tile = k.shared<bf16>("tile", {64, 64});
    k.role("all", warpgroups(1))([&] { line = __LINE__, tile.view(32, 0, {64, 64}); });
  }).says({"view [64, 64] from row 32 on reaches outside of the tile [64, 64]"});
}
TEST(BrokenCopy, GlobalAxisThatIsNone) {
  Mistake([](Kernel& k, int& line) {
    auto x = k.in<f32>("x", {64, 64});
    k.role("all", warpgroups(1))([&] {
      auto f = k.frag<f32>({64, 64});
      line = __LINE__, load_global(f, x, {0, 0}, 1, 2);
    });
  }).says({"row axis 1 and column axis 2", "a tensor of rank 2"});
}
TEST(BrokenCopy, GlobalStrideKnownOnlyAtLaunch) {
  Mistake([](Kernel& k, int& line) {
    auto x = k.in<f32>("x", {k.dim("M"), k.dim("N")});
    k.role("all", warpgroups(1))([&] {
      auto f = k.frag<f32>({64, 64});
      line = __LINE__, load_global(f, x, {0, 0}, 0, 1);
    });
  }).says({"axis 1 of the tensor is known only at launch"});
}
TEST(BrokenCopy, ElementWithTooFewCoordinates) {
  Mistake([](Kernel& k, int& line) {
    auto x = k.in<f32>("x", {64, 64});
    k.role("all", warps(1))([&] { line = __LINE__, x.read({k.lane()}); });
  }).says({"read: tensor has rank 2, given 1 coordinates"});
}

TEST(BrokenShared, MoreThanACtaHas) {
  Mistake([](Kernel& k, int&) {
    auto x = k.in<bf16>("x", {128, 256});
    auto a = k.staged<bf16>("first", 4, {128, 256});
    k.shared<f32>("second", {64, 64});
    Role all = k.role("all", warps(1));
    Ring ring = k.ring("ring", 4, all, {all}, a);
    all([&] { ring.tma_load(ring.acquire(), a, x.tile({0, 0}, {128, 256})), ring.release(ring.wait()); });
  }).says({"bytes of shared memory, a CTA has 232448", "use fewer stages or smaller tiles", "\"first\": 4 x 65536 bytes", "\"second\": 1 x 16384 bytes"});
}
TEST(BrokenShared, EmptyTile) {
  Mistake([](Kernel& k, int& line) { line = __LINE__, k.shared<f32>("t", {0, 32}); }).says({"shared tile \"t\" is [0, 32]; extents are positive"});
}
TEST(BrokenShared, OverlayOfAStage) {
  Mistake([](Kernel& k, int& line) {
    auto a = k.shared<f32>("a", {16, 32}), b = k.shared<f32>("b", {16, 32});
    k.role("all", warps(1))([&] { line = __LINE__, k.overlay(a, b.view(0, 0, {8, 32})); });
  }).says({"overlay takes two whole tiles, not stages or views"});
}

TEST(BrokenElement, ConstantRowOutsideOfTheTile) {
  Mistake([](Kernel& k, int& line) {
    auto t = k.shared<f32>("t", {4, 32});
    k.role("all", warps(1))([&] { line = __LINE__, t.write(4, k.lane(), k.real(0.0)); });
  }).says({"write: row 4 lies outside of the tile [4, 32]"});
}
TEST(BrokenElement, WriteToAnInput) {
  Mistake([](Kernel& k, int& line) {
    auto x = k.in<f32>("x", {32});
    k.role("all", warps(1))([&] { line = __LINE__, x.write({k.lane()}, k.real(0.0)); });
  }).says({"write: writes to tensor \"x\", which is an input", "k.out or k.inout"});
}
TEST(BrokenMove, VectorOfATensorOfRankOne) {
  Mistake([](Kernel& k, int& line) {
    auto x = k.in<f32>("x", {64});
    k.role("all", warpgroups(1))([&] {
      auto v = k.frag<f32>({1, 64});
      line = __LINE__, load_global(v, x, {0}, 0, 0);
    });
  }).says({"load_global: a tensor of rank 1 has no axis for the row", "declare the tensor as [1, n]"});
}

}  // namespace
}  // namespace tilewright::test
