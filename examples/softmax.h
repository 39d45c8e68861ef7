// Softmax of rows. It teaches: a tile larger than the registers is worked on in views; vectors of a row ([64, 1]) come out of
// reductions and are broadcast by maps; the column index of a map masks what lies past the matrix; results go back in place.
#pragma once
#include <limits>

#include "tilewright/dsl.h"

namespace tilewright::examples {

struct SoftmaxConfig {
  int columns = 1024;  ///< most columns of the matrix, a multiple of 64. f32: at most 256 (one TMA box)
};

/// y[M, N] = softmax of the rows of x[M, N], N at most `columns`; rows are a multiple of 16 bytes. A warpgroup takes 64 rows.
///   y_ij = 2^(l x_ij - m_i) / sum_j 2^(l x_ij - m_i),   m_i = max_j l x_ij,   l = log2(e)
template <ElementTag T>
Program softmax(SoftmaxConfig c) {
  return kernel("softmax", [=](Kernel& k) {
    Dim M = k.dim("M"), N = k.dim("N");
    auto x = k.in<T>("x", {M, N});
    auto y = k.out<T>("y", {M, N});
    auto [block, unused1, unused2] = k.grid(ceil_div(M, 64));

    auto tile = k.staged<T>("tile", 1, {64, c.columns});
    Role rows = k.role("rows", warpgroups(1));
    Ring ring = k.ring("ring", 1, rows, {rows}, tile);  // the role fills the ring for itself: the barrier says when TMA is done

    rows([&] {
      Stage s = ring.acquire();
      ring.tma_load(s, tile, x.tile({block * 64, 0}, {64, c.columns}));
      s = ring.wait();

      auto raw = k.frag<T>({64, 64}, "x");
      auto top = k.frag<f32>({64, 1}, "m"), sum = k.frag<f32>({64, 1}, "sum");
      // Columns [64 j, 64 j + 64) in units of log2; those past N count as minus infinity.
      auto part = [&](Index j) {
        load(raw, tile[s].view(0, j * 64, {64, 64}));
        return map<f32>(
            [&](Index, Index col, Real v) { return select(col + j * 64 < N, v * 1.4426950408889634, -std::numeric_limits<double>::infinity()); }, raw);
      };
      Index parts = ceil_div(N.index(), 64);

      fill(top, -std::numeric_limits<double>::infinity());
      for_(parts, [&](Index j) { map_to(top, [](Real m, Real p) { return max(m, p); }, top, row_max(part(j))); });
      fill(sum, 0.0);
      for_(parts, [&](Index j) { sum += row_sum(map<f32>([](Real v, Real m) { return exp2(v - m); }, part(j), top)); });
      map_to(sum, [](Real v) { return reciprocal(v); }, sum);
      for_(parts, [&](Index j) {
        store(tile[s].view(0, j * 64, {64, 64}), map<T>([](Real v, Real m, Real r) { return exp2(v - m) * r; }, part(j), top, sum));
      });

      k.sync();  // every warp's rows are in the tile
      if_(k.thread() == 0, [&] {
        tma_store(y.tile({block * 64, 0}, {64, c.columns}), tile[s]);
        k.store_wait_complete();
      });
      ring.release(s);
    });
  });
}

}  // namespace tilewright::examples
