// Products of one warp (mma) in every orientation, and products of few rows built on them or on transposed wgmma.
#include <cmath>

#include "tests/device/launch.h"

namespace tilewright::test {
namespace {

template <class T>
std::string name_of() { return T::element == Element::bf16 ? "bf16" : T::element == Element::f16 ? "f16" : "f32"; }

struct Form {
  int N = 16, K = 16;
  bool a_in_registers = true, a_transposed = false, b_transposed = false;
  int pad = 0;
};

/// y = 1 + A B for each of four warps, which have 16 rows of A each.
template <class T>
void check(Form f) {
  SCOPED_TRACE(testing::Message() << name_of<T>() << " 16 x " << f.N << " x " << f.K << (f.a_transposed ? " A^T" : "") << (f.b_transposed ? " B^T" : "")
                                  << (f.a_in_registers ? " A in registers" : "") << " pad " << f.pad);
  const int br = f.b_transposed ? f.N : f.K, bc = f.b_transposed ? f.K : f.N, ar = f.a_transposed ? f.K : 64, ac = f.a_transposed ? 64 : f.K;
  auto program = kernel("warp_product", [=](Kernel& k) {
    auto a = k.in<T>("a", {ar, ac}), b = k.in<T>("b", {br, bc});
    auto y = k.out<f32>("y", {64, f.N});
    auto at = k.shared<T>("a_tile", {ar, ac}, f.pad), bt = k.shared<T>("b_tile", {br, bc}, f.pad);
    k.role("all", warpgroups(1))([&] {
      for_range(k.thread(), k.index(ar * ac), 128, [&](Index i) { at.write(i / ac, i % ac, a.read({i / ac, i % ac})); });
      for_range(k.thread(), k.index(br * bc), 128, [&](Index i) { bt.write(i / bc, i % bc, b.read({i / bc, i % bc})); });
      k.sync();
      auto acc = k.frag<f32>({16, f.N});
      fill(acc, 1.0);
      auto multiply = [&](const auto& A) {
        if (f.b_transposed) mma(acc, A, bt.t());
        else mma(acc, A, bt);
      };
      Index row = k.warp() * 16;
      auto mine = f.a_transposed ? at.view(0, row, {f.K, 16}) : at.view(row, 0, {16, f.K});
      if (f.a_in_registers) {
        auto A = k.frag<T>({16, f.K});
        if (f.a_transposed) load(A, mine.t());
        else load(A, mine);
        multiply(A);
      } else if (f.a_transposed) {
        multiply(mine.t());
      } else {
        multiply(mine);
      }
      store_global(y, {row, 0}, acc, 0, 1);
    });
  });
  auto a = noise(name_of<T>(), {ar, ac}, 1), b = noise(name_of<T>(), {br, bc}, 2);
  Launch run(program);
  run.in("a", a).in("b", b).out("y", "f32", {64, f.N}).run();
  expect_matrix(run["y"], T::element == Element::f32 ? f.K * 0x1p-10 : 1e-4, [&](auto r, auto c) {
    return 1 + dot(f.K, [&](auto i, auto j) { return f.a_transposed ? a.at(j, i) : a.at(i, j); },
                   [&](auto i, auto j) { return f.b_transposed ? b.at(j, i) : b.at(i, j); }, r, c);
  });
}

TEST(WarpProduct, EveryOrientation) {
  for (bool registers : {true, false})
    for (bool at : {false, true})
      for (bool bt : {false, true}) {
        check<bf16>({16, 16, registers, at, bt, 16});    // row major, padded
        check<f16>({64, 64, registers, at, bt, 0});      // both tiles swizzled
        check<bf16>({128, 128, registers, at, bt, 0});   // two panels
        check<f32>({16, 24, registers, at, bt, 16});
      }
}
TEST(WarpProduct, WidthsAndDepths) {
  for (int N : {8, 24, 40, 72}) {
    check<bf16>({N, 32, true, false, false, 16});
    check<bf16>({N, 64, true, false, true, 0});
    check<f32>({N, 8, true, false, true, 0});
  }
  for (int K : {16, 48, 80}) check<f16>({32, K, false, false, true, 16});
}

// A 16 x 16 accumulator, cast, is the next product's A: (A B) B.
TEST(WarpProduct, AccumulatorAsOperand) {
  auto program = kernel("chain", [](Kernel& k) {
    auto a = k.in<bf16>("a", {16, 16}), b = k.in<bf16>("b", {16, 16});
    auto y = k.out<f32>("y", {16, 16});
    auto bt = k.shared<bf16>("b_tile", {16, 16}, 16);
    k.role("all", warps(1))([&] {
      for_range(k.lane(), k.index(256), 32, [&](Index i) { bt.write(i / 16, i % 16, b.read({i / 16, i % 16})); });
      k.sync();
      auto A = k.frag<bf16>({16, 16});
      auto first = k.frag<f32>({16, 16}), second = k.frag<f32>({16, 16});
      load_global(A, a, {0, 0}, 0, 1);
      fill(first, 0.0);
      fill(second, 0.0);
      mma(first, A, bt);
      mma(second, cast<bf16>(first), bt);
      store_global(y, {0, 0}, second, 0, 1);
    });
  });
  auto a = noise("bf16", {16, 16}, 3), b = noise("bf16", {16, 16}, 4);
  Launch run(program);
  run.in("a", a).in("b", b).out("y", "f32", {16, 16}).run();
  auto at = [&](auto i, auto j) { return a.at(i, j); };
  auto bt = [&](auto i, auto j) { return b.at(i, j); };
  expect_matrix(run["y"], 0.05, [&](auto r, auto c) {
    return dot(16, [&](auto i, auto j) { return rounded("bf16", dot(16, at, bt, i, j)); }, bt, r, c);
  });
}

// Views at run-time rows, and at columns inside a panel.
TEST(WarpProduct, Views) {
  auto program = kernel("views", [](Kernel& k) {
    auto b = k.in<bf16>("b", {64, 64}), a = k.in<bf16>("a", {16, 32});
    auto y = k.out<f32>("y", {2, 16, 16});
    auto bt = k.shared<bf16>("b_tile", {64, 64});
    Index row = k.scalar_i32("row");
    k.role("all", warps(1))([&] {
      for_range(k.lane(), k.index(64 * 64), 32, [&](Index i) { bt.write(i / 64, i % 64, b.read({i / 64, i % 64})); });
      k.sync();
      auto A = k.frag<bf16>({16, 32});
      load_global(A, a, {0, 0}, 0, 1);
      for (int form = 0; form < 2; ++form) {
        auto acc = k.frag<f32>({16, 16});
        fill(acc, 0.0);
        if (form == 0) mma(acc, A, bt.view(row, 24, {32, 16}));
        else mma(acc, A, bt.view(row, row, {16, 32}).t());
        store_global(y, {form, 0, 0}, acc, 1, 2);
      }
    });
  });
  auto a = noise("bf16", {16, 32}, 5), b = noise("bf16", {64, 64}, 6);
  for (int row : {0, 8, 24, 32}) {
    Launch run(program);
    run.in("a", a).in("b", b).out("y", "f32", {2, 16, 16}).scalar("row", std::int64_t{row}).run();
    expect_matrix(run["y"], 1e-4, [&](auto r, auto c) {
      return dot(32, [&](auto i, auto j) { return a.at(i % 16, j); },
                 [&](auto i, auto j) { return r < 16 ? b.at(row + i, 24 + j) : b.at(row + j, row + i); }, r, c);
    });
  }
}

/// x [M, K] times w [K, N] for few rows M, the warps of a warpgroup splitting N.
TEST(FewRows, WarpsSplitTheColumns) {
  for (int M : {16, 32, 64}) {
    SCOPED_TRACE(M);
    const int N = 128, K = 64;
    auto program = kernel("few_rows", [=](Kernel& k) {
      auto x = k.in<bf16>("x", {M, K}), w = k.in<bf16>("w", {K, N});
      auto y = k.out<f32>("y", {M, N});
      auto xt = k.staged<bf16>("x_tile", 1, {M, K}), wt = k.staged<bf16>("w_tile", 1, {K, N});
      Role load_ = k.role("load", one_thread()), math = k.role("math", warpgroups(1));
      Ring ring = k.ring("xw", 1, load_, {math}, xt, wt);
      load_([&] {
        Stage s = ring.acquire();
        ring.tma_load(s, xt, x.tile({0, 0}, {M, K}));
        ring.tma_load(s, wt, w.tile({0, 0}, {K, N}));
      });
      math([&] {
        Stage s = ring.wait();
        Index column = k.warp() * (N / 4);
        for (int m = 0; m < M; m += 16) {
          auto acc = k.frag<f32>({16, N / 4});
          fill(acc, 0.0);
          mma(acc, xt[s].view(m, 0, {16, K}), wt[s].view(0, column, {K, N / 4}));
          store_global(y, {m, column}, acc, 0, 1);
        }
        ring.release(s);
      });
    });
    auto x = noise("bf16", {M, K}, 7), w = noise("bf16", {K, N}, 8);
    Launch run(program);
    run.in("x", x).in("w", w).out("y", "f32", {M, N}).run();
    expect_matrix(run["y"], 1e-4, [&](auto r, auto c) {
      return dot(K, [&](auto i, auto j) { return x.at(i, j); }, [&](auto i, auto j) { return w.at(i, j); }, r, c);
    });
  }
}

/// The same as y^T = w^T x^T by wgmma: 64 columns of w are the rows of an instruction, the rows of x its columns.
TEST(FewRows, TransposedByWgmma) {
  for (int M : {8, 16, 32, 64}) {
    SCOPED_TRACE(M);
    const int N = 128, K = 64;
    auto program = kernel("few_rows_transposed", [=](Kernel& k) {
      auto x = k.in<bf16>("x", {M, K}), w = k.in<bf16>("w", {K, N});
      auto y = k.out<f32>("y", {M, N});
      auto xt = k.staged<bf16>("x_tile", 1, {M, K}), wt = k.staged<bf16>("w_tile", 1, {K, N});
      Role load_ = k.role("load", one_thread()), math = k.role("math", warpgroups(N / 64));
      Ring ring = k.ring("xw", 1, load_, {math}, xt, wt);
      load_([&] {
        Stage s = ring.acquire();
        ring.tma_load(s, xt, x.tile({0, 0}, {M, K}));
        ring.tma_load(s, wt, w.tile({0, 0}, {K, N}));
      });
      math([&] {
        Stage s = ring.wait();
        auto yt = k.frag<f32>({N, M});
        gemm_zero(yt, wt[s].t(), xt[s].t());
        settle(k.batch());
        ring.release(s);
        store_global(y, {0, 0}, yt, 1, 0);
      });
    });
    auto x = noise("bf16", {M, K}, 9), w = noise("bf16", {K, N}, 10);
    Launch run(program);
    run.in("x", x).in("w", w).out("y", "f32", {M, N}).run();
    expect_matrix(run["y"], 1e-4, [&](auto r, auto c) {
      return dot(K, [&](auto i, auto j) { return x.at(i, j); }, [&](auto i, auto j) { return w.at(i, j); }, r, c);
    });
  }
}

}  // namespace
}  // namespace tilewright::test
