// Tensor-core products: orientations, operands in registers, shapes, batches in flight.
#include <cmath>

#include "tests/device/launch.h"

namespace tilewright::test {
namespace {

struct Form {
  int groups = 1, N = 64, K = 64;
  bool a_transposed = false, b_transposed = false, a_in_registers = false;
};

template <class T>
std::string name_of() { return T::element == Element::bf16 ? "bf16" : "f16"; }

/// y = A B (twice, to see the accumulation), with the operands in shared memory as `form` says.
template <Half T>
void check(Form f) {
  SCOPED_TRACE(testing::Message() << name_of<T>() << " " << 64 * f.groups << " x " << f.N << " x " << f.K << (f.a_transposed ? " A^T" : "")
                                  << (f.b_transposed ? " B^T" : "") << (f.a_in_registers ? " A in registers" : ""));
  const int M = 64 * f.groups, ar = f.a_transposed ? f.K : M, ac = f.a_transposed ? M : f.K, br = f.b_transposed ? f.N : f.K, bc = f.b_transposed ? f.K : f.N;
  auto program = kernel("product", [=](Kernel& k) {
    auto a = k.in<T>("a", {ar, ac}), b = k.in<T>("b", {br, bc});
    auto y = k.out<f32>("y", {M, f.N});
    auto at = k.staged<T>("a_tile", 1, {ar, ac}), bt = k.staged<T>("b_tile", 1, {br, bc});
    Role load_ = k.role("load", one_thread()), math = k.role("math", warpgroups(f.groups));
    Ring ring = k.ring("ab", 1, load_, {math}, at, bt);
    load_([&] {
      Stage s = ring.acquire();
      ring.tma_load(s, at, a.tile({0, 0}, {ar, ac}));
      ring.tma_load(s, bt, b.tile({0, 0}, {br, bc}));
    });
    math([&] {
      auto acc = k.frag<f32>({M, f.N}, "acc");
      Stage s = ring.wait();
      auto multiply = [&](auto&& A, auto&& B) {
        gemm_zero(acc, A, B);
        gemm_add(acc, A, B);
      };
      auto with_b = [&](auto&& A) {
        if (f.b_transposed) multiply(A, bt[s].t());
        else multiply(A, bt[s]);
      };
      if (f.a_in_registers) {
        auto A = k.frag<T>({M, f.K});
        if (f.a_transposed) load(A, at[s].t());
        else load(A, at[s]);
        with_b(A);
      } else if (f.a_transposed) {
        with_b(at[s].t());
      } else {
        with_b(at[s]);
      }
      settle(k.batch());
      ring.release(s);
      store_global(y, {0, 0}, acc, 0, 1);
    });
  });
  auto a = noise(name_of<T>(), {ar, ac}, 1), b = noise(name_of<T>(), {br, bc}, 2);
  Launch run(program);
  run.in("a", a).in("b", b).out("y", "f32", {M, f.N}).run();
  expect_matrix(run["y"], 1e-4 * std::sqrt(f.K), [&](auto r, auto c) {
    return 2 * dot(f.K, [&](auto i, auto j) { return f.a_transposed ? a.at(j, i) : a.at(i, j); },
                   [&](auto i, auto j) { return f.b_transposed ? b.at(j, i) : b.at(i, j); }, r, c);
  });
}

TEST(Product, EveryOrientation) {
  for (bool at : {false, true})
    for (bool bt : {false, true})
      for (bool in_registers : {false, true}) {
        check<bf16>({1, 64, 64, at, bt, in_registers});
        check<f16>({1, 128, 128, at, bt, in_registers});
      }
}
TEST(Product, TwoWarpgroups) {
  for (bool at : {false, true})
    for (bool bt : {false, true})
      for (bool in_registers : {false, true}) check<bf16>({2, 128, 64, at, bt, in_registers});
}
TEST(Product, WidthsWithBTransposed) {  // rows of B's tile: any multiple of 8
  for (int N : {8, 16, 24, 40, 72, 104, 128, 168, 192, 200, 256}) check<bf16>({1, N, 64, false, true, false});
}
TEST(Product, WidthsWithBPlain) {
  for (int N : {64, 128, 192, 256}) check<f16>({1, N, 128, false, false, true});
}
TEST(Product, Depths) {
  for (int K : {64, 128, 256}) check<bf16>({1, 64, K, false, true, false});
  for (int K : {16, 48, 80}) check<bf16>({1, 64, K, true, false, false});  // tiles stored along K may have any multiple of 16 rows
}

TEST(Product, BatchesInFlightSettleInOrder) {
  auto program = kernel("batches", [](Kernel& k) {
    auto x = k.in<bf16>("x", {64, 64});
    auto y = k.out<f32>("y", {3, 64, 64});
    auto tile = k.staged<bf16>("tile", 1, {64, 64});
    Role all = k.role("all", warpgroups(1));
    Ring ring = k.ring("ring", 1, all, {all}, tile);
    all([&] {
      Stage s = ring.acquire();
      ring.tma_load(s, tile, x.tile({0, 0}, {64, 64}));
      s = ring.wait();
      auto p = k.frag<f32>({64, 64}, "p"), q = k.frag<f32>({64, 64}, "q"), r = k.frag<f32>({64, 64}, "r");
      gemm_zero(p, tile[s], tile[s].t());
      Batch first = k.batch();
      gemm_zero(q, tile[s], tile[s]);
      Batch second = k.batch();
      settle(first);
      auto P = cast<bf16>(p);               // the accumulator becomes the next product's operand while `second` flies
      gemm_zero(r, P, tile[s].t());
      Batch third = k.batch();
      scale(p, k.real(2.0));
      settle(second);
      scale(q, k.real(0.5));
      settle(third);
      ring.release(s);
      store_global(y, {0, 0, 0}, p, 1, 2);
      store_global(y, {1, 0, 0}, q, 1, 2);
      store_global(y, {2, 0, 0}, r, 1, 2);
    });
  });
  auto x = noise("bf16", {64, 64}, 3);
  Launch run(program);
  run.in("x", x).out("y", "f32", {3, 64, 64}).run();
  auto plain = [&](auto i, auto j) { return x.at(i, j); };
  auto turned = [&](auto i, auto j) { return x.at(j, i); };
  std::vector<double> P(64 * 64);
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 64; ++j) P[i * 64 + j] = rounded("bf16", dot(64, plain, turned, i, j));
  expect_matrix(run["y"], 0.05, [&](auto row, auto c) {  // a bf16 operand may round the other way
    auto i = row % 64;
    if (row < 64) return 2 * dot(64, plain, turned, i, c);
    if (row < 128) return 0.5 * dot(64, plain, plain, i, c);
    return dot(64, [&](auto a, auto b) { return P[a * 64 + b]; }, turned, i, c);
  });
}

TEST(Product, AccumulatesWhenTold) {
  auto program = kernel("accumulate", [](Kernel& k) {
    Dim steps = k.dim("steps");
    auto x = k.in<bf16>("x", {steps, 64, 64});
    auto y = k.out<f32>("y", {64, 64});
    auto tile = k.staged<bf16>("tile", 2, {64, 64});
    Role load_ = k.role("load", one_thread()), math = k.role("math", warpgroups(1));
    Ring ring = k.ring("ring", 2, load_, {math}, tile);
    load_([&] {
      for_(steps, [&](Index i) {
        Stage s = ring.acquire();
        ring.tma_load(s, tile, x.tile({i, 0, 0}, {1, 64, 64}));
      });
    });
    math([&] {
      auto acc = k.frag<f32>({64, 64});
      for_(steps, [&](Index i) {
        Stage s = ring.wait();
        gemm_add_if(i > 0, acc, tile[s], tile[s].t());  // never cleared by hand
        settle(k.batch());
        ring.release(s);
      });
      store_global(y, {0, 0}, acc, 0, 1);
    });
  });
  for (int steps : {1, 2, 5}) {
    auto x = noise("bf16", {steps, 64, 64}, 4);
    Launch run(program);
    run.in("x", x).out("y", "f32", {64, 64}).run();
    expect_matrix(run["y"], 1e-3, [&](auto r, auto c) {
      double sum = 0;
      for (int t = 0; t < steps; ++t)
        for (int j = 0; j < 64; ++j) sum += x.values[(t * 64 + r) * 64 + j] * x.values[(t * 64 + c) * 64 + j];
      return sum;
    });
  }
}

TEST(Product, ViewsThatBeginInsideAPanel) {  // along K, at any k-step; the second one crosses into the next panel
  for (const auto& [from, depth] : {std::pair{32, 32}, {48, 64}, {112, 16}}) {
    SCOPED_TRACE(testing::Message() << "columns " << from << " to " << from + depth);
    auto program = kernel("part_of_k", [=, from = from, depth = depth](Kernel& k) {
      auto a = k.in<bf16>("a", {128, 128}), b = k.in<bf16>("b", {64, 128});
      auto y = k.out<f32>("y", {128, 64});
      auto at = k.staged<bf16>("a_tile", 1, {128, 128}), bt = k.staged<bf16>("b_tile", 1, {64, 128});
      Role all = k.role("all", warpgroups(2));
      Ring ring = k.ring("ring", 1, all, {all}, at, bt);
      all([&] {
        Stage s = ring.acquire();
        ring.tma_load(s, at, a.tile({0, 0}, {128, 128}));
        ring.tma_load(s, bt, b.tile({0, 0}, {64, 128}));
        s = ring.wait();
        auto acc = k.frag<f32>({128, 64});
        auto A = k.frag<bf16>({128, 128});
        load(A, at[s]);
        gemm_zero(acc, at[s].view(0, from, {128, depth}), bt[s].view(0, from, {64, depth}).t());
        gemm_add(acc, A.columns(from, depth), bt[s].view(0, from, {64, depth}).t());
        settle(k.batch());
        ring.release(s);
        store_global(y, {0, 0}, acc, 0, 1);
      });
    });
    auto a = noise("bf16", {128, 128}, 7), b = noise("bf16", {64, 128}, 8);
    Launch run(program);
    run.in("a", a).in("b", b).out("y", "f32", {128, 64}).run();
    expect_matrix(run["y"], 1e-3, [&](auto r, auto c) {
      return 2 * dot(depth, [&](auto i, auto j) { return a.at(i, from + j); }, [&](auto i, auto j) { return b.at(j, from + i); }, r, c);
    });
  }
}

TEST(Product, ViewsAsOperands) {
  auto program = kernel("operand_views", [](Kernel& k) {
    auto a = k.in<bf16>("a", {64, 128}), b = k.in<bf16>("b", {128, 128});
    auto y = k.out<f32>("y", {64, 64});
    auto at = k.staged<bf16>("a_tile", 1, {64, 128}), bt = k.staged<bf16>("b_tile", 1, {128, 128});
    Role all = k.role("all", warpgroups(1));
    Ring ring = k.ring("ring", 1, all, {all}, at, bt);
    Index row = k.scalar_i32("row");
    all([&] {
      Stage s = ring.acquire();
      ring.tma_load(s, at, a.tile({0, 0}, {64, 128}));
      ring.tma_load(s, bt, b.tile({0, 0}, {128, 128}));
      s = ring.wait();
      auto acc = k.frag<f32>({64, 64});
      gemm_zero(acc, at[s].view(0, 64, {64, 64}), bt[s].view(row, 64, {64, 64}));
      settle(k.batch());
      ring.release(s);
      store_global(y, {0, 0}, acc, 0, 1);
    });
  });
  auto a = noise("bf16", {64, 128}, 5), b = noise("bf16", {128, 128}, 6);
  for (int row : {0, 32, 64}) {
    Launch run(program);
    run.in("a", a).in("b", b).out("y", "f32", {64, 64}).scalar("row", std::int64_t{row}).run();
    expect_matrix(run["y"], 1e-3, [&](auto r, auto c) {
      return dot(64, [&](auto i, auto j) { return a.at(i, 64 + j); }, [&](auto i, auto j) { return b.at(row + i, 64 + j); }, r, c);
    });
  }
}

TEST(Product, WarpProductsInTf32) {
  auto program = kernel("tf32", [](Kernel& k) {
    auto a = k.in<f32>("a", {64, 24}), b = k.in<f32>("b", {24, 32});
    auto y = k.out<f32>("y", {64, 32});
    auto tile = k.shared<f32>("tile", {24, 32}, 16);
    Role all = k.role("all", warpgroups(1));
    all([&] {
      for_range(k.thread(), k.index(24 * 32), 128, [&](Index i) { tile.write(i / 32, i % 32, b.read({i / 32, i % 32})); });
      k.sync();
      auto f = k.frag<f32>({16, 24}), acc = k.frag<f32>({16, 16});
      load_global(f, a, {k.warp() * 16, 0}, 0, 1);
      for (int half = 0; half < 2; ++half) {
        fill(acc, 1.0);
        mma(acc, f, tile.view(0, 16 * half, {24, 16}));
        store_global(y, {k.warp() * 16, 16 * half}, acc, 0, 1);
      }
    });
  });
  auto a = noise("f32", {64, 24}, 7), b = noise("f32", {24, 32}, 8);
  Launch run(program);
  run.in("a", a).in("b", b).out("y", "f32", {64, 32}).run();
  expect_matrix(run["y"], 24 * 0x1p-10, [&](auto r, auto c) {
    return 1 + dot(24, [&](auto i, auto j) { return a.at(i, j); }, [&](auto i, auto j) { return b.at(i, j); }, r, c);
  });
}

}  // namespace
}  // namespace tilewright::test
