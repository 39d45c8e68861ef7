// T of an item's heads, a warp a head.
#pragma once
#include "kernels/gdn/inverse.h"
#include "kernels/gdn/item.h"
#include "kernels/gdn/norms.h"

namespace tilewright::gdn {

template <Half T>
class HeadsByWarp {
 public:
  HeadsByWarp(Kernel& k, const PrologueConfig& c)
      : k(k), c(c), work_(k.shared<f32>("blocks", {c.pack * kOwnRows + kPairs * kBlock, kBlock}, 16)), t_(k.shared<T>("t_tile", {c.pack * kChunk, kChunk})),
        decay_(k.shared<f32>("decay", {c.pack * 4, kChunk / 2})) {
    k.overlay(t_, work_);
  }
  /// The heads' own blocks, then K K^T below the diagonal, block below block; T takes over their place.
  const Shared<f32>& space() const { return work_; }
  void begin() {}
  void clear() {}

  /// K K^T, of which warp i has block row i: what lies left of the diagonal, and from the diagonal block that of every head's L. The
  /// fragment's rows start at 16 i for it, so the views start as far before the block.
  void couple(const Shared<T>& key, const ItemGates& gates) {
    Index warp = anew(k, k.warp());
    auto product = k.frag<f32>({kChunk, kChunk}, "K K^T");
    gemm_zero(product, key, key.t());
    Batch products = k.batch();
    if (c.l2norm) inverse_norms(k, key, c.dk, *gates.eps, *gates.norm);
    settle(products);
    k.sync();
    if (c.l2norm) {
      auto norm_i = k.frag<f32>({kChunk, 1});
      load(norm_i, gates.norm->t());
      map_to(product, [](Real x, Real ni, Real nj) { return x * ni * nj; }, product, norm_i, *gates.norm);
    }
    const auto block = [&](int j) { return product.columns(kBlock * j, kBlock); };
    for (int j = 0; j + 1 < kBlocks; ++j)
      if_(warp > j, [&] { store(work_.view((pair_index(warp, j) - warp) * kBlock + c.pack * kOwnRows, 0, {kChunk, kBlock}), block(j)); });
    auto diagonal = map<f32>([&](Real x0, Real x1, Real x2, Real x3) { return select(warp < 2, select(warp < 1, x0, x1), select(warp < 3, x2, x3)); },
                             block(0), block(1), block(2), block(3));
    auto b_i = k.frag<f32>({kChunk, 1}), beta_i = k.frag<f32>({kChunk, 1});
    for (int w = 0; w < c.pack; ++w) {
      load(b_i, gates.b.row(w).t());
      load(beta_i, gates.beta.row(w).t());
      auto L = map<f32>([&](Index r, Index col, Real x, Real bi, Real bj, Real be) { return select(c.planner ? r >= col + warp * kBlock : r > col + warp * kBlock, be * x * exp2(bi - bj), 0.0); },
                        diagonal, b_i, gates.b.view(w, warp * kBlock, {1, kBlock}), beta_i);
      store(work_.view(own_row(warp) - warp * kBlock + w * kOwnRows, 0, {kChunk, kBlock}), L);
    }
  }

  /// T of every head; with fewer heads than warps some invert the same one, in step. `ask` is called where registers are free.
  template <class Ask>
  void invert(const Item& item, const ItemGates& gates, const ItemOutputs<T>& to, const Ask& ask) {
    Index warp = anew(k, k.warp());
    k.sync();
    Index w = warp % c.pack;
    if (c.planner) bound_gain(item, w, gates, *to.gain);
    const int heads = c.pack;
    UnitLowerInverse<T> inverse(k, work_.view(w * kOwnRows, 0, {kOwnRows, kBlock}), work_.view(heads * kOwnRows, 0, {kPairs * kBlock, kBlock}), gates.b.view(w, 0, {1, kChunk}),
                                gates.beta.view(w, 0, {1, kChunk}), decay_.view(w * 4, 0, {4, kChunk / 2}), [&] { heads == 4 ? k.warp_sync() : k.sync(); });
    auto T_ij = inverse();
    ask();
    k.sync();
    if_(warp < heads, [&] {
      auto out = t_.view(warp * kChunk, 0, {kChunk, kChunk});
      auto zero = k.frag<T>({kBlock, kBlock});
      map_to(zero, [&] { return k.real(0.0); });
      auto block = T_ij.begin();
      for (int i = 0; i < kBlocks; ++i)
        for (int j = 0; j < kBlocks; ++j) store(out.view(kBlock * i, kBlock * j, {kBlock, kBlock}), i < j ? zero : *block++);
      k.warp_sync();
      if_((k.lane() == 0) & (warp < item.left), [&] { tma_store(to.T_.tile({item.slot, item.head + warp, 0, 0}, {1, 1, kChunk, kChunk}), out); });
    });
  }

 private:
  /// The diagonal of L holds beta |k|^2.
  void bound_gain(const Item& item, Index w, const ItemGates& gates, const Tensor<f32>& gain) {
    Index first = k.lane() * 2, row = w * kOwnRows + own_row(first / kBlock) + first % kBlock, column = first % kBlock;
    Real growth = chunk_growth(k, work_.read(row, column), work_.read(row + 1, column + 1));
    if_((k.lane() == 31) & (w < item.left), [&] { gain.write({item.slot, item.head + w}, gates.b.read(w, kChunk - 1) + growth); });
  }

  Kernel& k;
  const PrologueConfig& c;
  Shared<f32> work_;
  Shared<T> t_;
  Shared<f32> decay_;
};

}  // namespace tilewright::gdn
