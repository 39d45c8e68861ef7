#include "tests/broken/mistake.h"

namespace tilewright::test {
namespace {

TEST(BrokenCopyAsync, WithoutACommit) {
  Mistake([](Kernel& k, int& line) {
    auto x = k.in<f32>("x", {64, 32});
    auto tile = k.staged<f32>("tile", 2, {8, 32});
    Role copy = k.role("copy", warps(1)), use = k.role("use", warps(1));
    line = __LINE__;  Ring ring = k.ring("ring", 2, copy, {use}, tile);
    copy([&] { ring.copy_async(ring.acquire(), tile, x.tile({0, 0}, {8, 32})); });
    use([&] { ring.release(ring.wait()); });
  }).says({"its producer \"copy\" copies by its threads but never commits, so the stage never becomes full"});
}
TEST(BrokenCopyAsync, ByOneThread) {
  Mistake([](Kernel& k, int& line) {
    auto x = k.in<f32>("x", {64, 32});
    auto tile = k.staged<f32>("tile", 2, {8, 32});
    Role copy = k.role("copy", one_thread()), use = k.role("use", warps(1));
    Ring ring = k.ring("ring", 2, copy, {use}, tile);
    copy([&] {
      Stage s = ring.acquire();
      line = __LINE__, ring.copy_async(s, tile, x.tile({0, 0}, {8, 32}));
      ring.commit(s);
    });
    use([&] { ring.release(ring.wait()); });
  }).says({"role \"copy\" is one thread; this copy is shared by the threads of whole warps"});
}
TEST(BrokenCopyIn, RowsOfTwelveBytes) {
  Mistake([](Kernel& k, int& line) {
    auto x = k.in<f32>("x", {64, 32});
    auto tile = k.shared<f32>("tile", {8, 3});
    k.role("all", warps(1))([&] { line = __LINE__, copy_in(tile, x.tile({0, 0}, {8, 3})); });
  }).says({"the box's rows are 12 bytes and the tile's 12; expected rows along the tensor's last axis of a multiple of 16 bytes"});
}
TEST(BrokenCopyIn, TensorRowsKnownOnlyAtLaunch) {
  Mistake([](Kernel& k, int& line) {
    Dim n = k.dim("n");
    auto x = k.in<f32>("x", {64, n});
    auto tile = k.shared<f32>("tile", {8, 32});
    k.role("all", warps(1))([&] { line = __LINE__, copy_in(tile, x.tile({0, 0}, {8, 32})); });
  }).says({"the tensor's last axis is known only at launch; expected a multiple of 16 bytes known at build time"});
}
TEST(BrokenBulk, OperandOfAProduct) {
  Mistake([](Kernel& k, int& line) {
    auto x = k.in<bf16>("x", {64, 64});
    line = __LINE__;  auto tile = k.staged<bf16>("tile", 1, {64, 64});
    Role all = k.role("all", warpgroups(1));
    Ring ring = k.ring("ring", 1, all, {all}, tile);
    all([&] {
      Stage s = ring.acquire();
      ring.bulk_load(s, tile, x, {0, 0});
      s = ring.wait();
      auto acc = k.frag<f32>({64, 64});
      gemm_zero(acc, tile[s], tile[s].t());
      settle(k.batch());
      ring.release(s);
    });
  }).says({"\"tile\" is an operand of a product and is moved by a bulk copy, which takes rows one after the other; use TMA"});
}
TEST(BrokenBulk, OddBytes) {
  Mistake([](Kernel& k, int& line) {
    auto y = k.out<f32>("y", {64});
    auto tile = k.shared<f32>("tile", {1, 5});
    k.role("all", warps(1))([&] { line = __LINE__, bulk_store(y, {0}, tile); });
  }).says({"the tile has 20 bytes; a bulk copy moves a multiple of 16"});
}
TEST(BrokenFences, MissingByHand) {
  Mistake([](Kernel& k, int& line) {
    auto y = k.out<f32>("y", {8, 32});
    auto tile = k.shared<f32>("tile", {8, 32});
    k.manual_fences();
    k.role("all", warps(1))([&] {
      tile.write(0, k.lane(), k.real(1.0));
      line = __LINE__, k.sync();
      if_(k.lane() == 0, [&] { tma_store(y.tile({0, 0}, {8, 32}), tile), k.store_wait(0); });
    });
  }).says({"ordinary writes of tile \"tile\", which TMA or a product reads, reach this without a fence; call k.fence_async() before it"});
}
TEST(BrokenFences, MissingForGlobalMemory) {
  Mistake([](Kernel& k, int& line) {
    auto work = k.inout<f32>("work", {8, 32});
    auto tile = k.staged<f32>("tile", 1, {8, 32});
    k.manual_fences();
    Role all = k.role("all", warps(1));
    Ring ring = k.ring("ring", 1, all, {all}, tile);
    all([&] {
      work.write({0, k.lane()}, k.real(1.0));
      k.fence_async();
      line = __LINE__, k.sync();
      ring.tma_load(ring.acquire(), tile, work.tile({0, 0}, {8, 32}));
      ring.release(ring.wait());
    });
  }).says({"ordinary writes of a tensor, which TMA or a product reads, reach this without a fence; call k.fence_async_global() before it"});
}
TEST(BrokenFences, DeferredForAStage) {
  Mistake([](Kernel& k, int& line) {
    auto tile = k.shared<bf16>("tile", {64, 64});
    k.role("all", warps(1))([&] {
      auto part = tile.view(0, 0, {8, 64});
      line = __LINE__, part.builder->at(Where::current()), k.defer_fences(part);
    });
  }).says({"defer_fences takes whole tiles, not stages or views"});
}

}  // namespace
}  // namespace tilewright::test
