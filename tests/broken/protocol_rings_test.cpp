// Mistakes in how roles take turns at rings, one a kernel: the protocol verifier finds them whatever the trip counts.
#include "tests/broken/mistake.h"

namespace tilewright::test {
namespace {

/// One thread loads tiles of x into a ring of two stages, a warp adds them up.
struct Sum {
  Dim n;
  Tensor<f32> x, y;
  Staged<f32> tile;
  Role load, sum;
  Ring ring;
  explicit Sum(Kernel& k, Warps loader = one_thread())
      : n(k.dim("n")), x(k.in<f32>("x", {n, 8, 32})), y(k.out<f32>("y", {n, 32})), tile(k.staged<f32>("tile", 2, {8, 32})), load(k.role("load", loader)),
        sum(k.role("sum", warps(1))), ring(k.ring("ring", 2, load, {sum}, tile)) {}
  void fill(Index i) const { fill(ring.acquire(), i); }
  void fill(Stage s, Index i) const { ring.tma_load(s, tile, x.tile({i, 0, 0}, {1, 8, 32})); }
  void use(Kernel& k, Stage s, Index i) const { y.write({i, k.lane()}, tile[s].read(0, k.lane())); }
};

TEST(BrokenRingProtocol, StageReleasedOnOnePathOnly) {
  Mistake([](Kernel& k, int& line) {
    Sum s(k);
    s.load([&] { for_(s.n, [&](Index i) { line = __LINE__; s.ring.tma_load(s.ring.acquire(), s.tile, s.x.tile({i, 0, 0}, {1, 8, 32})); }); });
    s.sum([&] {
      for_(s.n, [&](Index i) {
        Stage at = s.ring.wait();
        if_(i > 0, [&] { s.ring.release(at); });
      });
    });
  }).says({"role \"load\" waits for ever for stage 0 of ring \"ring\" to be released: 0 of 1 arrivals have come", "let every consumer wait for and release each stage",
           "role \"sum\" waits here: wait \"ring\"", "with 6 trips"});
}
TEST(BrokenRingProtocol, LookAheadWithoutAnotherStage) {
  Mistake([](Kernel& k, int& line) {
    Sum s(k);
    s.load([&] { for_(s.n, [&](Index i) { s.fill(i); }); });
    s.sum([&] {
      Var<Stage> at(s.ring.wait());
      for_(s.n, [&](Index i) {
        s.use(k, at.get(), i);
        line = __LINE__; Stage next = s.ring.wait();
        s.ring.release(at.get());
        at.set(next);
      });
    });
  }).says({"role \"sum\" waits for ever for stage 0 of ring \"ring\" to be filled", "let the producer fill a stage for every wait", "role \"load\" has ended"});
}
TEST(BrokenRingProtocol, StageThatNobodyWaitsFor) {
  Mistake([](Kernel& k, int& line) {
    Sum s(k);
    s.load([&] { for_(s.n.index() + 1, [&](Index i) { Stage at = s.ring.acquire(); line = __LINE__; s.ring.tma_load(at, s.tile, s.x.tile({i, 0, 0}, {1, 8, 32})); }); });
    s.sum([&] {
      for_(s.n, [&](Index i) {
        Stage at = s.ring.wait();
        s.use(k, at, i);
        s.ring.release(at);
      });
    });
  }).says({"of ring \"ring\" is filled once more than anybody waits for it"});
}
TEST(BrokenRingProtocol, ReleasedTwice) {
  Mistake([](Kernel& k, int& line) {
    Sum s(k);
    s.load([&] { for_(s.n, [&](Index i) { s.fill(i); }); });
    s.sum([&] {
      for_(s.n, [&](Index i) {
        Stage at = s.ring.wait();
        s.use(k, at, i);
        s.ring.release(at);
        line = __LINE__; s.ring.release(at);
      });
    });
  }).says({"role \"sum\" releases stage 0 of ring \"ring\", which it has not waited for since it last released it"});
}
TEST(BrokenRingProtocol, ReleasedBeforeItIsRead) {
  Mistake([](Kernel& k, int& line) {
    Sum s(k);
    s.load([&] { for_(s.n, [&](Index i) { Stage at = s.ring.acquire(); line = __LINE__; s.ring.tma_load(at, s.tile, s.x.tile({i, 0, 0}, {1, 8, 32})); }); });
    s.sum([&] {
      for_(s.n, [&](Index i) {
        Stage at = s.ring.wait();
        s.ring.release(at);
        s.use(k, at, i);
      });
    });
  }).says({"role \"load\" writes tile \"tile\", which role \"sum\" reads; nothing orders the two", "release the stage after its last use", "role \"sum\": read of tile \"tile\""});
}
TEST(BrokenRingProtocol, TripCountsThatNothingMakesEqual) {
  Mistake([](Kernel& k, int& line) {
    Sum s(k);
    Index m = k.scalar_i32("m");
    s.load([&] { for_(s.n, [&](Index i) { s.fill(i); }); });
    s.sum([&] {
      for_(m, [&](Index i) {
        line = __LINE__; Stage at = s.ring.wait();
        s.use(k, at, i);
        s.ring.release(at);
      });
    });
  }).says({"role \"sum\" waits for ever for stage", "with 0 trips of the loop at"});
}
TEST(BrokenRingProtocol, OneCopyForgottenOnAPath) {
  Mistake([](Kernel& k, int& line) {
    Dim n = k.dim("n");
    auto x = k.in<f32>("x", {n, 8, 32});
    auto a = k.staged<f32>("a", 2, {8, 32}), b = k.staged<f32>("b", 2, {8, 32});
    Role load_ = k.role("load", one_thread()), use = k.role("use", warps(1));
    Ring ring = k.ring("ring", 2, load_, {use}, a, b);
    load_([&] {
      for_(n, [&](Index i) {
        Stage s = ring.acquire();
        ring.tma_load(s, a, x.tile({i, 0, 0}, {1, 8, 32}));
        if_(i > 0, [&] { ring.tma_load(s, b, x.tile({i, 0, 0}, {1, 8, 32})); });
      });
    });
    use([&] { for_(n, [&](Index) { line = __LINE__; ring.release(ring.wait()); }); });
  }).says({"role \"use\" waits for ever for stage 0 of ring \"ring\" to be filled: 1024 of 2048 bytes have landed", "fill every tile of the ring in each stage"});
}
TEST(BrokenRingProtocol, TileThatNobodyFills) {
  Mistake([](Kernel& k, int& line) {
    Dim n = k.dim("n");
    auto x = k.in<f32>("x", {n, 8, 32}), y = k.out<f32>("y", {n, 32});
    auto a = k.staged<f32>("a", 2, {8, 32}), b = k.staged<f32>("b", 2, {8, 32});
    Role load_ = k.role("load", one_thread()), use = k.role("use", warps(1));
    Ring ring = k.ring("ring", 2, load_, {use}, a, b);
    load_([&] { for_(n, [&](Index i) { ring.tma_load(ring.acquire(), a, x.tile({i, 0, 0}, {1, 8, 32})); }); });
    use([&] {
      for_(n, [&](Index i) {
        Stage s = ring.wait();
        line = __LINE__; y.write({i, k.lane()}, b[s].read(0, k.lane()));
        ring.release(s);
      });
    });
  }).says({"role \"use\" reads tile \"b\" of ring \"ring\", which nobody has filled"});
}
TEST(BrokenRingProtocol, TileFilledTwice) {
  Mistake([](Kernel& k, int& line) {
    Sum s(k);
    s.load([&] {
      for_(s.n, [&](Index i) {
        Stage at = s.ring.acquire();
        s.fill(at, i);
        line = __LINE__; s.ring.tma_load(at, s.tile, s.x.tile({i, 0, 0}, {1, 8, 32}));
      });
    });
    s.sum([&] { for_(s.n, [&](Index) { s.ring.release(s.ring.wait()); }); });
  }).says({"more bytes land in stage 0 of ring \"ring\" than the 1024 that its acquire announced", "fill each of its tiles once"});
}
TEST(BrokenRingProtocol, StageFilledAgainWithoutAcquire) {
  Mistake([](Kernel& k, int& line) {
    Sum s(k);
    s.load([&] {
      Stage at = s.ring.acquire();
      for_(s.n, [&](Index i) { line = __LINE__; s.ring.tma_load(at, s.tile, s.x.tile({i, 0, 0}, {1, 8, 32})); });
    });
    s.sum([&] { for_(s.n, [&](Index) { s.ring.release(s.ring.wait()); }); });
  }).says({"more bytes land in stage 0 of ring \"ring\""});
}
TEST(BrokenRingProtocol, StageOfOnesOwnMaking) {
  Mistake([](Kernel& k, int& line) {
    Sum s(k);
    s.load([&] { for_(s.n, [&](Index i) { s.fill(i); }); });
    s.sum([&] {
      for_(s.n, [&](Index i) {
        Stage at = s.ring.wait();
        s.use(k, at, i);
        line = __LINE__; s.ring.release(Stage{k.index(0)});
      });
    });
  }).says({"role \"sum\" releases stage 0 of ring \"ring\", which it has not waited for"});
}
TEST(BrokenRingProtocol, WarpsOfAProducerThatMayFallBehind) {
  Mistake([](Kernel& k, int& line) {
    Sum s(k, warpgroups(1));
    s.load([&] { for_(s.n, [&](Index i) { line = __LINE__; s.ring.tma_load(s.ring.acquire(), s.tile, s.x.tile({i, 0, 0}, {1, 8, 32})); }); });
    s.sum([&] { for_(s.n, [&](Index) { s.ring.release(s.ring.wait()); }); });
  }).says({"role \"load\" may miss phase 0 of stage 0 of ring \"ring\"", "must see every phase before the next but one completes"});
}
TEST(BrokenRingProtocol, RefilledWhileAProductReads) {
  Mistake([](Kernel& k, int& line) {
    Dim n = k.dim("n");
    auto x = k.in<bf16>("x", {n, 64, 64});
    auto tile = k.staged<bf16>("tile", 2, {64, 64});
    Role load_ = k.role("load", one_thread()), math = k.role("math", warpgroups(1));
    Ring ring = k.ring("ring", 2, load_, {math}, tile);
    load_([&] {
      for_(n, [&](Index i) {
        Stage s = ring.acquire();
        line = __LINE__; ring.tma_load(s, tile, x.tile({i, 0, 0}, {1, 64, 64}));
      });
    });
    math([&] {
      auto acc = k.frag<f32>({64, 64});
      fill(acc, 0.0);
      Var<Stage> previous(Stage{k.index(0)});
      for_(n, [&](Index i) {
        Stage s = ring.wait();
        gemm_add(acc, tile[s], tile[s].t());
        k.batch();
        k.settle_pending(2);  // one too many: the stage before is still read
        if_(i > 0, [&] { ring.release(previous.get()); });
        previous.set(s);
      });
      k.settle_pending(0);
    });
  }).says({"role \"load\" writes tile \"tile\" while a product that reads it may be in flight in role \"math\"", "settle the product's batch", "role \"math\": gemm of tile \"tile\""});
}
TEST(BrokenRingProtocol, ReleasedWhileACopyReads) {
  Mistake([](Kernel& k, int& line) {
    Dim n = k.dim("n");
    auto x = k.in<f32>("x", {n, 8, 32}), y = k.out<f32>("y", {n, 8, 32});
    auto tile = k.staged<f32>("tile", 2, {8, 32});
    Role load_ = k.role("load", one_thread()), save = k.role("save", one_thread());
    Ring ring = k.ring("ring", 2, load_, {save}, tile);
    load_([&] {
      for_(n, [&](Index i) {
        Stage s = ring.acquire();
        line = __LINE__; ring.tma_load(s, tile, x.tile({i, 0, 0}, {1, 8, 32}));
      });
    });
    save([&] {
      for_(n, [&](Index i) {
        Stage s = ring.wait();
        tma_store(y.tile({i, 0, 0}, {1, 8, 32}), tile[s]);
        ring.release(s);
      });
      k.store_wait_complete();
    });
  }).says({"role \"load\" writes tile \"tile\" while a copy out of it may be in flight", "k.store_wait(0)"});
}
TEST(BrokenRingProtocol, ConsumersThatTakeTurns) {
  // Each helper waits for every second chunk only: the empty barrier needs both.
  Mistake([](Kernel& k, int& line) {
    Dim n = k.dim("n");
    auto x = k.in<f32>("x", {n, 8, 32});
    auto tile = k.staged<f32>("tile", 3, {8, 32});
    Role load_ = k.role("load", one_thread()), even = k.role("even", warps(1)), odd = k.role("odd", warps(1));
    Ring ring = k.ring("ring", 3, load_, {even, odd}, tile);
    load_([&] { for_(n, [&](Index i) { line = __LINE__; ring.tma_load(ring.acquire(), tile, x.tile({i, 0, 0}, {1, 8, 32})); }); });
    auto helper = [&](int which) {
      for_(n, [&](Index i) {
        if_(i % 2 == which, [&] { ring.release(ring.wait()); });
      });
    };
    even([&] { helper(0); });
    odd([&] { helper(1); });
  }).says({"waits for ever for stage", "of ring \"ring\" to be released"});
}

}  // namespace
}  // namespace tilewright::test
