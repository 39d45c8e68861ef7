// T of an item's heads, one after the other by all warps.
#pragma once
#include "kernels/gdn/inverse_warpgroup.h"
#include "kernels/gdn/item.h"
#include "kernels/gdn/norms.h"

namespace tilewright::gdn {

template <Half T>
class HeadsInTurn {
 public:
  HeadsInTurn(Kernel& k, const PrologueConfig& c) : k(k), c(c), scratch_(WarpgroupInverse<T>::scratch(k, "blocks")), t_(k.shared<T>("t_tile", {kChunk, kChunk})) {}
  const Shared<f32>& space() const { return scratch_; }
  /// In the role, before anything else of these; then clear(), once.
  void begin() {
    inverse_.emplace(k, scratch_, c.planner);
    product_.emplace(k.frag<f32>({kChunk, kChunk}, "K K^T"));
  }
  void clear() { WarpgroupInverse<T>::clear(k, t_); }

  /// K K^T, for all heads; of one head the next steps, too.
  void couple(const Shared<T>& key, const ItemGates& gates) {
    gemm_zero(*product_, key, key.t());
    Batch products = k.batch();
    if (c.l2norm) inverse_norms(k, key, c.dk, *gates.eps, *gates.norm);
    k.sync();
    if (c.pack == 1) prepare(k.index(0), gates);
    settle(products);
    if (c.pack == 1) inverse_->spread(*product_);
  }

  /// T of every head. `ask` is called before them.
  template <class Ask>
  void invert(const Item& item, const ItemGates& gates, const ItemOutputs<T>& to, const Ask& ask) {
    ask();
    const auto head = [&](Index w) {
      inverse_->solve(row(gates.beta, w), t_);
      if (c.planner) bound_gain(item, w, gates, *to.gain);
      k.sync();
      if_((k.thread() == 0) & (w < item.left), [&] { tma_store(to.T_.tile({item.slot, item.head + w, 0, 0}, {1, 1, kChunk, kChunk}), t_); });
    };
    if (c.pack == 1) return head(k.index(0));
    for_(k.index(c.pack), [&](Index w) {
      prepare(w, gates);
      inverse_->spread(*product_);
      k.store_wait(0);  // the last T has left
      head(w);
    });
  }

 private:
  static Shared<f32> row(const Shared<f32>& of, Index w) { return of.view(w, 0, {1, kChunk}); }
  void prepare(Index w, const ItemGates& gates) { inverse_->prepare(row(gates.b, w), row(gates.beta, w), gates.norm); }
  /// By the warp that has least to do.
  void bound_gain(const Item& item, Index w, const ItemGates& gates, const Tensor<f32>& gain) {
    if_(k.warp() == kBlocks - 1, [&] {
      Index token = k.lane() * 2;
      Real growth = chunk_growth(k, inverse_->strength(token), inverse_->strength(token + 1));
      if_((k.lane() == 31) & (w < item.left), [&] { gain.write({item.slot, item.head + w}, gates.b.read(w, kChunk - 1) + growth); });
    });
  }

  Kernel& k;
  const PrologueConfig& c;
  Shared<f32> scratch_;
  Shared<T> t_;
  std::optional<WarpgroupInverse<T>> inverse_;
  std::optional<Frag<f32>> product_;
};

}  // namespace tilewright::gdn
