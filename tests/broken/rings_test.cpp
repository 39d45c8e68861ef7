#include "tests/broken/mistake.h"

namespace tilewright::test {
namespace {

/// A tensor, a staged tile, two roles and a ring that carries the tile from one to the other.
struct Pair {
  Tensor<bf16> x;
  Staged<bf16> tile;
  Role load, use;
  Ring ring;
  explicit Pair(Kernel& k, Where where = Where::current())
      : x(k.in<bf16>("x", {64, 64})), tile(k.staged<bf16>("tile", 2, {64, 64})), load(k.role("load", one_thread())), use(k.role("use", warpgroups(1))),
        ring(k.ring(dsl::Named("ring", where), 2, load, {use}, tile)) {}
  TensorBox<bf16> box() const { return x.tile({0, 0}, {64, 64}); }
  void produce() const {
    load([&] { ring.tma_load(ring.acquire(), tile, box()); });
  }
  void consume() const {
    use([&] { ring.release(ring.wait()); });
  }
};

TEST(BrokenRing, ConsumerWithoutABody) {
  Mistake([](Kernel& k, int& line) {
    line = __LINE__;  Pair p(k);
    p.produce();
  }).says({"ring: \"ring\": its consumer \"use\" has no body in this kernel"});
}
TEST(BrokenRing, ProducerWithoutABody) {
  Mistake([](Kernel& k, int& line) {
    line = __LINE__;  Pair p(k);
    p.consume();
  }).says({"its producer \"load\" has no body"});
}
TEST(BrokenRing, AcquiredByAConsumer) {
  Mistake([](Kernel& k, int& line) {
    Pair p(k);
    p.produce();
    p.use([&] {
      line = __LINE__, p.ring.acquire();
      p.ring.release(p.ring.wait());
    });
  }).says({"ring \"ring\" is filled by role \"load\", this is role \"use\""});
}
TEST(BrokenRing, WaitedForByTheProducer) {
  Mistake([](Kernel& k, int& line) {
    Pair p(k);
    p.load([&] {
      p.ring.tma_load(p.ring.acquire(), p.tile, p.box());
      line = __LINE__, p.ring.wait();
    });
    p.consume();
  }).says({"role \"load\" is not a consumer of ring \"ring\"", "name it among the consumers"});
}
TEST(BrokenRing, NeverAcquired) {
  Mistake([](Kernel& k, int& line) {
    line = __LINE__;  Pair p(k);
    p.load([&] {});
    p.consume();
  }).says({"its producer \"load\" never acquires a stage"});
}
TEST(BrokenRing, NeverFilled) {
  Mistake([](Kernel& k, int& line) {
    line = __LINE__;  Pair p(k);
    p.load([&] { p.ring.acquire(); });
    p.consume();
  }).says({"neither loads with TMA nor commits", "never becomes full"});
}
TEST(BrokenRing, NeverWaitedFor) {
  Mistake([](Kernel& k, int& line) {
    line = __LINE__;  Pair p(k);
    p.produce();
    p.use([&] {});
  }).says({"its consumer \"use\" never waits for a stage"});
}
TEST(BrokenRing, NeverReleased) {
  Mistake([](Kernel& k, int& line) {
    line = __LINE__;  Pair p(k);
    p.produce();
    p.use([&] { p.ring.wait(); });
  }).says({"its consumer \"use\" never releases a stage", "producer would starve"});
}
TEST(BrokenRing, OtherNumberOfStages) {
  Mistake([](Kernel& k, int& line) {
    auto tile = k.staged<bf16>("tile", 3, {64, 64});
    Role a = k.role("a", warps(1)), b = k.role("b", warps(1));
    line = __LINE__, k.ring("ring", 2, a, {b}, tile);
  }).says({"tile \"tile\" has 3 stages, the ring has 2"});
}
TEST(BrokenRing, NoConsumers) {
  Mistake([](Kernel& k, int& line) {
    auto tile = k.staged<bf16>("tile", 2, {64, 64});
    Role a = k.role("a", warps(1));
    line = __LINE__, k.ring("ring", 2, a, {}, tile);
  }).says({"needs at least one consuming role"});
}
TEST(BrokenRing, StagedTileWithoutARing) {
  Mistake([](Kernel& k, int& line) {
    line = __LINE__, k.staged<bf16>("lonely", 2, {64, 64});
    k.role("all", warps(1))([] {});
  }).says({"\"lonely\" has 2 stages but no ring guards it", "k.ring(...)"});
}
TEST(BrokenRing, TileOfTwoRings) {
  Mistake([](Kernel& k, int& line) {
    line = __LINE__;  auto tile = k.staged<bf16>("tile", 2, {64, 64});
    Role a = k.role("a", warps(1)), b = k.role("b", warps(1));
    Ring first = k.ring("first", 2, a, {b}, tile), second = k.ring("second", 2, a, {b}, tile);
    a([&] { first.commit(first.acquire()), second.commit(second.acquire()); });
    b([&] { first.release(first.wait()), second.release(second.wait()); });
  }).says({"\"tile\" belongs to two rings; a tile has one ring"});
}
TEST(BrokenRing, LoadOfATileOfAnotherRing) {
  Mistake([](Kernel& k, int& line) {
    Pair p(k);
    auto other = k.staged<bf16>("other", 1, {64, 64});
    p.load([&] { line = __LINE__, p.ring.tma_load(p.ring.acquire(), other, p.box()); });
    p.consume();
  }).says({"tile \"other\" is not one of ring \"ring\"", "pass it to k.ring(...)"});
}
TEST(BrokenRing, OperationOutsideOfARole) {
  Mistake([](Kernel& k, int& line) {
    Pair p(k);
    line = __LINE__, p.ring.acquire();
  }).says({"acquire belongs into a role"});
}

}  // namespace
}  // namespace tilewright::test
