// An item of the prologue, and what its heads' T are made from and go to.
#pragma once
#include <optional>

#include "kernels/gdn/config.h"

namespace tilewright::gdn {

/// What a CTA works on: a chunk slot and up to `pack` heads of a key head.
struct Item {
  Index slot, head, left;  ///< the first of its heads, and how many its key head has from there on
  Index row, valid;        ///< its first row in the batch, and how many of the sequence's rows there are from it on; at most 0: nothing to do
};

/// The gates of an item's heads, [heads, 64] each: the inclusive cumulative sum in log2, and the write strength. 1 / |k_i| [1, 64] where keys
/// are to be normalized.
struct ItemGates {
  Shared<f32> b, beta;
  std::optional<Shared<f32>> norm;
  std::optional<Real> eps;
};

template <Half T>
struct ItemOutputs {
  Tensor<T> T_;
  std::optional<Tensor<f32>> gain;  ///< with a planner
};

/// By what factor, in log2, the product of (I - beta k k^T) over a chunk lengthens a vector at most: the sum of log2 |1 - beta |k|^2| where that is
/// above 1. Called by a warp with beta |k|^2 of two tokens a lane; the last lane gets it.
inline Real chunk_growth(Kernel& k, Real x0, Real x1) {
  Var<Real> growth(k.real(0.0));
  Index most = k.ptx<Index>("redux.sync.max.s32 #out0, #0, 0xffffffff;", k.ptx<Index>("mov.b32 #out0, #0;", max(x0, x1)));
  if_(most > 0x40000000, [&] {  // 2.0f
    Real sum = log2(max(x0 - 1.0, 1.0)) + log2(max(x1 - 1.0, 1.0));
    for (int delta = 1; delta < 32; delta *= 2) {
      Real below = k.shuffle_up(sum, delta);
      sum = select(k.lane() >= delta, sum + below, sum);
    }
    growth.set(sum);
  });
  return growth.get();
}

}  // namespace tilewright::gdn
