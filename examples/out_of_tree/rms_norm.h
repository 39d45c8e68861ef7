// y[M, 128] = x[M, 128] / sqrt(mean_j x_ij^2 + eps), row by row; bf16 in and out, fp32 inside. A warpgroup takes 64 rows.
#pragma once
#include <tilewright/dsl.h>

inline tilewright::Program rms_norm() {
  using namespace tilewright;
  return kernel("rms_norm", [](Kernel& k) {
    constexpr int kRows = 64, kColumns = 128;
    Dim M = k.dim("M");
    auto x = k.in<bf16>("x", {M, kColumns});
    auto y = k.out<bf16>("y", {M, kColumns});
    Real eps = k.scalar_f32("eps");
    auto [block, unused1, unused2] = k.grid(ceil_div(M, kRows));

    auto tile = k.staged<bf16>("tile", 1, {kRows, kColumns});
    Role rows = k.role("rows", warpgroups(1));
    Ring ring = k.ring("ring", 1, rows, {rows}, tile);

    rows([&] {
      Stage s = ring.acquire();
      ring.tma_load(s, tile, x.tile({block * kRows, 0}, {kRows, kColumns}));
      s = ring.wait();
      auto raw = k.frag<bf16>({kRows, kColumns}, "x");
      load(raw, tile[s]);
      auto squares = row_sum(map<f32>([](Real v) { return v * v; }, raw));
      auto factor = map<f32>([&](Real sum) { return exp2(log2(sum * (1.0 / kColumns) + eps) * -0.5); }, squares);
      store(tile[s], map<bf16>([](Real v, Real f) { return v * f; }, raw, factor));
      k.sync();
      if_(k.thread() == 0, [&] {
        tma_store(y.tile({block * kRows, 0}, {kRows, kColumns}), tile[s]);
        k.store_wait_complete();
      });
      ring.release(s);
    });
  });
}
