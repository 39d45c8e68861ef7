// Lesson 1: a vector copy. One thread loads a tile with TMA, another stores it: the smallest kernel with two roles.
#pragma once
#include "tilewright/dsl.h"

namespace tilewright::examples {

struct CopyConfig {
  int rows = 64, cols = 64, stages = 2, tiles_per_cta = 4;
};

/// y[M, cols] = x[M, cols], bf16. Each CTA copies `tiles_per_cta` tiles of `rows` rows; what lies past M is neither read nor written.
inline Program copy(CopyConfig c) {
  return kernel("copy", [=](Kernel& k) {
    Dim M = k.dim("M");
    auto x = k.in<bf16>("x", {M, c.cols});
    auto y = k.out<bf16>("y", {M, c.cols});
    auto [cta, unused1, unused2] = k.grid(ceil_div(M, c.rows * c.tiles_per_cta));
    Index first = cta * (c.rows * c.tiles_per_cta);

    auto tile = k.staged<bf16>("tile", c.stages, {c.rows, c.cols});
    Role load = k.role("load", one_thread());
    Role store = k.role("store", one_thread());
    Ring ring = k.ring("ring", c.stages, load, {store}, tile);

    load([&] {
      for_(k.index(c.tiles_per_cta), [&](Index i) {
        Stage s = ring.acquire();
        ring.tma_load(s, tile, x.tile({first + i * c.rows, 0}, {c.rows, c.cols}));
      });
    });
    store([&] {
      for_(k.index(c.tiles_per_cta), [&](Index i) {
        Stage s = ring.wait();
        tma_store(y.tile({first + i * c.rows, 0}, {c.rows, c.cols}), tile[s]);
        k.store_wait(0);
        ring.release(s);
      });
      k.store_wait_complete();
    });
  });
}

}  // namespace tilewright::examples
