// C[M, N] = A[M, K] B[N, K]^T in three rungs: one role; a producer and a consumer; the fast one.
#pragma once
#include "tilewright/dsl.h"

namespace tilewright::gemm {

/// Tile of C that a CTA computes, and how deep its ring is.
struct GemmConfig {
  int bm = 128, bn = 256, bk = 64, stages = 3;
  int group = 8;  ///< tiles of M that are walked together, so that neighbouring CTAs share B in L2
};

namespace detail {

template <Half T>
struct Operands {
  Dim M, N, K;
  Tensor<T> A, B, C;
  explicit Operands(Kernel& k)
      : M(k.dim("M")), N(k.dim("N")), K(k.dim("K")), A(k.in<T>("a", {M, K})), B(k.in<T>("b", {N, K})), C(k.out<T>("c", {M, N})) {}
};

/// Rounds the accumulators, puts them together in shared memory and copies the tile to C at (row, column).
template <Half T>
void write_out(Kernel& k, const Tensor<T>& C, Index row, Index column, const Shared<T>& tile, const Frag<f32>& acc) {
  store(tile, cast<T>(acc));
  k.sync();
  if_(k.thread() == 0, [&] {
    tma_store(C.tile({row, column}, {tile.shape.rows, tile.shape.cols}), tile);
    k.store_wait_complete();
  });
}

}  // namespace detail

/// Rung 1: one warpgroup loads, multiplies and stores in turn. Nothing overlaps.
template <Half T>
Program gemm_one_role(GemmConfig c) {
  return kernel("gemm_one_role", [=](Kernel& k) {
    detail::Operands<T> g(k);
    auto [n, m, unused] = k.grid(ceil_div(g.N, 128), ceil_div(g.M, 64));
    auto a = k.staged<T>("a_tile", 1, {64, c.bk});
    auto b = k.staged<T>("b_tile", 1, {128, c.bk});
    auto out = k.shared<T>("c_tile", {64, 128});
    Role all = k.role("all", warpgroups(1));
    Ring ring = k.ring("ab", 1, all, {all}, a, b);
    all([&] {
      auto acc = k.frag<f32>({64, 128}, "acc");
      fill(acc, 0.0);
      for_(ceil_div(g.K.index(), c.bk), [&](Index i) {
        Stage s = ring.acquire();
        ring.tma_load(s, a, g.A.tile({m * 64, i * c.bk}, {64, c.bk}));
        ring.tma_load(s, b, g.B.tile({n * 128, i * c.bk}, {128, c.bk}));
        s = ring.wait();
        gemm_add(acc, a[s], b[s].t());
        settle(k.batch());
        ring.release(s);
      });
      detail::write_out(k, g.C, m * 64, n * 128, out, acc);
    });
  });
}

/// Rung 2: a producing thread keeps a ring of tiles full while one warpgroup multiplies.
template <Half T>
Program gemm_two_roles(GemmConfig c) {
  return kernel("gemm_two_roles", [=](Kernel& k) {
    detail::Operands<T> g(k);
    auto [n, m, unused] = k.grid(ceil_div(g.N, 128), ceil_div(g.M, 64));
    auto a = k.staged<T>("a_tile", c.stages, {64, c.bk});
    auto b = k.staged<T>("b_tile", c.stages, {128, c.bk});
    auto out = k.shared<T>("c_tile", {64, 128});
    Role load = k.role("load", one_thread()), math = k.role("math", warpgroups(1));
    Ring ring = k.ring("ab", c.stages, load, {math}, a, b);
    Index steps = ceil_div(g.K.index(), c.bk);
    load([&] {
      for_(steps, [&](Index i) {
        Stage s = ring.acquire();
        ring.tma_load(s, a, g.A.tile({m * 64, i * c.bk}, {64, c.bk}));
        ring.tma_load(s, b, g.B.tile({n * 128, i * c.bk}, {128, c.bk}));
      });
    });
    math([&] {
      auto acc = k.frag<f32>({64, 128}, "acc");
      fill(acc, 0.0);
      for_(steps, [&](Index) {
        Stage s = ring.wait();
        gemm_add(acc, a[s], b[s].t());
        settle(k.batch());
        ring.release(s);
      });
      detail::write_out(k, g.C, m * 64, n * 128, out, acc);
    });
  });
}

/// Rung 3: two multiplying warpgroups with a large tile and most of the registers, one batch always in flight.
template <Half T>
Program gemm(GemmConfig c) {
  return kernel("gemm", [=](Kernel& k) {
    detail::Operands<T> g(k);
    auto [cta, unused1, unused2] = k.grid(ceil_div(g.M, c.bm) * ceil_div(g.N, c.bn));
    // CTAs walk down `group` tiles of M before they move on in N.
    Index tiles_m = ceil_div(g.M.index(), c.bm), tiles_n = ceil_div(g.N.index(), c.bn);
    Index per_group = tiles_n * c.group;
    Index first_m = (cta / per_group) * c.group, in_group = cta % per_group;
    Index height = min(tiles_m - first_m, c.group);
    Index m = (first_m + in_group % height) * c.bm, n = (in_group / height) * c.bn;

    auto a = k.staged<T>("a_tile", c.stages, {c.bm, c.bk});
    auto b = k.staged<T>("b_tile", c.stages, {c.bn, c.bk});
    auto out = k.shared<T>("c_tile", {c.bm, c.bn});
    Role math = k.role("math", warpgroups(2), 232), load = k.role("load", one_thread(), 40);
    Ring ring = k.ring("ab", c.stages, load, {math}, a, b);
    Index steps = ceil_div(g.K.index(), c.bk);

    load([&] {
      for_(steps, [&](Index i) {
        Stage s = ring.acquire();
        ring.tma_load(s, a, g.A.tile({m, i * c.bk}, {c.bm, c.bk}));
        ring.tma_load(s, b, g.B.tile({n, i * c.bk}, {c.bn, c.bk}));
      });
    });
    math([&] {
      auto acc = k.frag<f32>({c.bm, c.bn}, "acc");
      fill(acc, 0.0);
      Var<Stage> previous(Stage{k.index(0)});
      for_(steps, [&](Index i) {
        Stage s = ring.wait();
        gemm_add(acc, a[s], b[s].t());
        k.batch();
        k.settle_pending(1);  // the batch before this one has settled: its stage is free
        if_(i > 0, [&] { ring.release(previous.get()); });
        previous.set(s);
      });
      k.settle_pending(0);
      detail::write_out(k, g.C, m, n, out, acc);
    });
  });
}

}  // namespace tilewright::gemm
