// C = gelu(A B^T). It teaches: an elementwise step written in CUDA C++, called for every element of a product; two warpgroups
// that share a tile.
#pragma once
#include "tilewright/dsl.h"

namespace tilewright::examples {

struct GemmGeluConfig {
  int bm = 128, bn = 128, bk = 64, stages = 4;  ///< tile of C that a CTA computes, and how deep its ring is
};

/// C[M, N] = gelu(A[M, K] B[N, K]^T), the tanh form:   gelu(x) = x / (1 + e^-2u),   u = sqrt(2/pi) (x + 0.044715 x^3)
template <Half T>
Program gemm_gelu(GemmGeluConfig c) {
  return kernel("gemm_gelu", [=](Kernel& k) {
    Dim M = k.dim("M"), N = k.dim("N"), K = k.dim("K");
    auto A = k.in<T>("a", {M, K}), B = k.in<T>("b", {N, K});
    auto C = k.out<T>("c", {M, N});
    auto [n, m, unused] = k.grid(ceil_div(N, c.bn), ceil_div(M, c.bm));

    auto gelu = k.cuda_function<Real(Real)>(R"(
      float gelu(float x) {
        const float u = 0.7978845608f * (x + 0.044715f * x * x * x);
        return __fdividef(x, 1.0f + __expf(-2.0f * u));
      })", "gelu");

    auto a = k.staged<T>("a_tile", c.stages, {c.bm, c.bk}), b = k.staged<T>("b_tile", c.stages, {c.bn, c.bk});
    auto out = k.shared<T>("c_tile", {c.bm, c.bn});
    Role math = k.role("math", warpgroups(c.bm / 64), 232), load = k.role("load", one_thread(), 40);
    Ring ring = k.ring("ab", c.stages, load, {math}, a, b);
    Index steps = ceil_div(K.index(), c.bk);

    load([&] {
      for_(steps, [&](Index i) {
        Stage s = ring.acquire();
        ring.tma_load(s, a, A.tile({m * c.bm, i * c.bk}, {c.bm, c.bk}));
        ring.tma_load(s, b, B.tile({n * c.bn, i * c.bk}, {c.bn, c.bk}));
      });
    });
    math([&] {
      auto acc = k.frag<f32>({c.bm, c.bn}, "acc");
      fill(acc, 0.0);
      for_(steps, [&](Index) {
        Stage s = ring.wait();
        gemm_add(acc, a[s], b[s].t());
        settle(k.batch());
        ring.release(s);
      });
      store(out, map<T>([&](Real x) { return gelu(x); }, acc));
      k.sync();
      if_(k.thread() == 0, [&] {
        tma_store(C.tile({m * c.bm, n * c.bn}, {c.bm, c.bn}), out);
        k.store_wait_complete();
      });
    });
  });
}

}  // namespace tilewright::examples
