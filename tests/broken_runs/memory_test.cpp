// Kernels that touch memory they do not have.
#include "tests/broken_runs/broken_run.h"

namespace tilewright::test {
namespace {

TEST(BrokenMemory, AWriteBehindATensor) {
  BrokenRun run([](Kernel& k, int& line) {
    Index shift = k.scalar_i32("shift");
    auto y = k.out<i32>("y", {64});
    k.role("all", warps(1))([&] {
      line = __LINE__ + 1;
      y.write({k.lane() + shift}, k.lane());
    });
  });
  run.tensor("y", "i32", {64}).scalar("shift", 32).passes();
  run.scalar("shift", 33).reports({"(all), lane 31", "4 bytes", "is out of bounds"});
}

TEST(BrokenMemory, ARowOfANegativeSlot) {
  BrokenRun run([](Kernel& k, int& line) {
    Index slot = k.scalar_i32("slot");
    auto x = k.in<f32>("x", {4, 32}), y = k.out<f32>("y", {32});
    k.role("all", warps(1))([&] {
      line = __LINE__ + 1;
      Real v = x.read({slot, k.lane()});
      y.write({k.lane()}, v);
    });
  });
  run.tensor("x", "f32", {4, 32}).tensor("y", "f32", {32}).scalar("slot", -1).reports({"(all), lane 0", "is out of bounds"});
}

TEST(BrokenMemory, ABulkStoreBehindATensor) {
  BrokenRun run([](Kernel& k, int& line) {
    Index shift = k.scalar_i32("shift");
    auto y = k.out<f32>("y", {256});
    auto tile = k.shared<f32>("tile", {1, 128});
    k.role("all", warps(1))([&] {
      for_(k.index(4), [&](Index i) { tile.write(0, i * 32 + k.lane(), k.real(1.0)); });
      k.sync();
      if_(k.lane() == 0, [&] {
        line = __LINE__ + 1;
        bulk_store(y, {shift}, tile);
        k.store_wait_complete();
      });
    });
  });
  run.tensor("y", "f32", {256}).scalar("shift", 128).passes();
  run.scalar("shift", 132).reports({"(all)", "512 bytes", "is out of bounds"});
}

TEST(BrokenMemory, AMisalignedBulkStore) {
  BrokenRun run([](Kernel& k, int& line) {
    Index shift = k.scalar_i32("shift");
    auto y = k.out<f32>("y", {256});
    auto tile = k.shared<f32>("tile", {1, 128});
    k.role("all", warps(1))([&] {
      for_(k.index(4), [&](Index i) { tile.write(0, i * 32 + k.lane(), k.real(1.0)); });
      k.sync();
      if_(k.lane() == 0, [&] {
        line = __LINE__ + 1;
        bulk_store(y, {shift}, tile);
        k.store_wait_complete();
      });
    });
  });
  run.tensor("y", "f32", {256}).scalar("shift", 1).reports({"(all)", "expected a multiple of 16"});
}

TEST(BrokenMemory, AnElementBehindSharedMemory) {
  BrokenRun run([](Kernel& k, int& line) {
    Index shift = k.scalar_i32("shift");
    auto tile = k.shared<i32>("tile", {1, 64});
    k.role("all", warps(1))([&] {
      line = __LINE__ + 1;
      tile.write(0, k.lane() + shift, k.lane());
    });
  });
  run.scalar("shift", 32).passes();
  run.scalar("shift", 300).reports({"(all)", "4 bytes at shared address", "is out of bounds"});
}

TEST(BrokenMemory, ACtaThatTheClusterDoesNotHave) {
  BrokenRun run([](Kernel& k, int& line) {
    k.grid(2);
    k.cluster(2);
    Index rank = k.scalar_i32("rank");
    auto tile = k.shared<i32>("tile", {1, 32});
    auto y = k.out<i32>("y", {32});
    k.role("all", warps(1))([&] {
      line = __LINE__ + 1;
      Index v = remote_read(tile, rank, 0, k.lane());
      y.write({k.lane()}, v);
    });
  });
  run.tensor("y", "i32", {32}).scalar("rank", 2).reports({"(all)", "mapa to CTA 2 of a cluster of 2"});
}

}  // namespace
}  // namespace tilewright::test
