// Products of fp32 operands: tf32, and two bf16 parts each.
#include <cmath>

#include "tests/device/launch.h"

namespace tilewright::test {
namespace {

/// y = A B^T, twice, A [64 groups, K] and B [N, K] of f32, as tf32.
void check_tf32(int groups, int N, int K, bool a_in_registers) {
  SCOPED_TRACE(testing::Message() << 64 * groups << " x " << N << " x " << K << (a_in_registers ? " A in registers" : ""));
  const int M = 64 * groups;
  auto program = kernel("tf32", [=](Kernel& k) {
    auto a = k.in<f32>("a", {M, K}), b = k.in<f32>("b", {N, K});
    auto y = k.out<f32>("y", {M, N});
    auto at = k.staged<f32>("a_tile", 1, {M, K}), bt = k.staged<f32>("b_tile", 1, {N, K});
    Role load_ = k.role("load", one_thread()), math = k.role("math", warpgroups(groups));
    Ring ring = k.ring("ab", 1, load_, {math}, at, bt);
    load_([&] {
      Stage s = ring.acquire();
      ring.tma_load(s, at, a.tile({0, 0}, {M, K}));
      ring.tma_load(s, bt, b.tile({0, 0}, {N, K}));
    });
    math([&] {
      auto acc = k.frag<f32>({M, N}, "acc");
      Stage s = ring.wait();
      if (a_in_registers) {
        auto A = k.frag<f32>({M, K});
        load(A, at[s]);
        gemm_zero(acc, A, bt[s].t());
        gemm_add(acc, A, bt[s].t());
      } else {
        gemm_zero(acc, at[s], bt[s].t());
        gemm_add(acc, at[s], bt[s].t());
      }
      settle(k.batch());
      ring.release(s);
      store_global(y, {0, 0}, acc, 0, 1);
    });
  });
  auto a = noise("f32", {M, K}, 1), b = noise("f32", {N, K}, 2);
  Launch run(program);
  run.in("a", a).in("b", b).out("y", "f32", {M, N}).run();
  // One operand cut to tf32 is off by up to 2^-10 of itself.
  expect_matrix(run["y"], 0x1p-9 * std::sqrt(K) * 2, [&](auto r, auto c) {
    return 2 * dot(K, [&](auto i, auto j) { return a.at(i, j); }, [&](auto i, auto j) { return b.at(j, i); }, r, c);
  });
}

TEST(Tf32, ProductsOfWarpgroups) {
  for (bool registers : {false, true}) {
    check_tf32(1, 64, 32, registers);
    check_tf32(1, 40, 64, registers);
    check_tf32(2, 128, 64, registers);
  }
  check_tf32(1, 256, 32, false);
}

// An exact case: small integers are tf32 numbers, so every lane's exchange and every address shows.
TEST(Tf32, IntegersAreExact) {
  const int K = 64, N = 32;
  auto program = kernel("tf32_exact", [=](Kernel& k) {
    auto a = k.in<f32>("a", {64, K}), b = k.in<f32>("b", {N, K});
    auto y = k.out<f32>("y", {64, N});
    auto bt = k.shared<f32>("b_tile", {N, K});
    k.role("math", warpgroups(1))([&] {
      for_range(k.thread(), k.index(N * K), 128, [&](Index i) { bt.write(i / K, i % K, b.read({i / K, i % K})); });
      k.sync();
      auto A = k.frag<f32>({64, K}), acc = k.frag<f32>({64, N});
      load_global(A, a, {0, 0}, 0, 1);
      gemm_zero(acc, A, bt.t());
      settle(k.batch());
      store_global(y, {0, 0}, acc, 0, 1);
    });
  });
  auto a = array("f32", {64, K}, [](auto i) { return double((i * 7 + i / 64) % 31 - 15); }), b = array("f32", {N, K}, [](auto i) { return double((i * 5 + i / 64) % 29 - 14); });
  Launch run(program);
  run.in("a", a).in("b", b).out("y", "f32", {64, N}).run();
  expect_matrix(run["y"], 0, [&](auto r, auto c) {
    return dot(K, [&](auto i, auto j) { return a.at(i, j); }, [&](auto i, auto j) { return b.at(j, i); }, r, c);
  });
}

// Fragments to and from a swizzled tile of f32, also transposed, by way of a product's operand.
TEST(Tf32, MovesOfSwizzledTiles) {
  auto program = kernel("tf32_moves", [](Kernel& k) {
    auto a = k.in<f32>("a", {64, 64});
    auto y = k.out<f32>("y", {2, 64, 64}), product = k.out<f32>("product", {64, 64});
    auto t = k.shared<f32>("t", {64, 64});
    k.role("math", warpgroups(1))([&] {
      auto f = k.frag<f32>({64, 64}), acc = k.frag<f32>({64, 64});
      load_global(f, a, {0, 0}, 0, 1);
      map_to(f, [](Real x) { return round_tf32(x); }, f);
      store(t, f);
      k.sync();
      load(f, t);
      store_global(y, {0, 0, 0}, f, 1, 2);
      load(f, t.t());
      store_global(y, {1, 0, 0}, f, 1, 2);
      gemm_zero(acc, t, t.t());
      settle(k.batch());
      store_global(product, {0, 0}, acc, 0, 1);
    });
  });
  auto a = noise("f32", {64, 64}, 3);
  Launch run(program);
  run.in("a", a).out("y", "f32", {2, 64, 64}).out("product", "f32", {64, 64}).run();
  expect_matrix(run["y"], 0x1p-11, [&](auto r, auto c) { return r < 64 ? a.at(r, c) : a.at(c, r % 64); });
  expect_matrix(run["product"], 0x1p-10 * 8, [&](auto r, auto c) {
    return dot(64, [&](auto i, auto j) { return a.at(i, j); }, [&](auto i, auto j) { return a.at(j, i); }, r, c);
  });
}

// Two bf16 parts: fp32-like products. S <- S P with S in registers and P in shared memory, both in two parts.
TEST(SplitProduct, IsCloseToFp32) {
  auto program = kernel("split", [](Kernel& k) {
    auto s = k.in<f32>("s", {64, 64}), p = k.in<f32>("p", {64, 64});
    auto y = k.out<f32>("y", {2, 64, 64});
    Split<Shared<bf16>> tiles{k.shared<bf16>("p_high", {64, 64}), k.shared<bf16>("p_low", {64, 64})};
    k.role("math", warpgroups(1))([&] {
      auto S = k.frag<f32>({64, 64}), P = k.frag<f32>({64, 64}), acc = k.frag<f32>({64, 64});
      load_global(P, p, {0, 0}, 0, 1);
      store(tiles, split<bf16>(P));
      k.sync();
      load_global(S, s, {0, 0}, 0, 1);
      gemm_split_zero(acc, split<bf16>(S), tiles);
      settle(k.batch());
      store_global(y, {0, 0, 0}, acc, 1, 2);
      fill(acc, 1.0);
      gemm_split_add(acc, split<bf16>(S), tiles.t());
      settle(k.batch());
      store_global(y, {1, 0, 0}, acc, 1, 2);
    });
  });
  auto s = noise("f32", {64, 64}, 4), p = noise("f32", {64, 64}, 5);
  Launch run(program);
  run.in("s", s).in("p", p).out("y", "f32", {2, 64, 64}).run();
  expect_matrix(run["y"], 64 * 0x1p-17, [&](auto r, auto c) {  // one bf16 product alone is off by 64 * 2^-9 at most, 2e-2 in fact
    auto left = [&](auto i, auto j) { return s.at(i % 64, j); };
    if (r < 64) return dot(64, left, [&](auto i, auto j) { return p.at(i, j); }, r, c);
    return 1 + dot(64, left, [&](auto i, auto j) { return p.at(j, i); }, r, c);
  });
}

}  // namespace
}  // namespace tilewright::test
