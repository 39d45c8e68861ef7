// T of an item's one head, by all warps together.
#pragma once
#include "kernels/gdn/inverse_warpgroup.h"
#include "kernels/gdn/item.h"
#include "kernels/gdn/norms.h"

namespace tilewright::gdn {

template <Half T>
class HeadTogether {
 public:
  HeadTogether(Kernel& k, const PrologueConfig& c) : k(k), c(c), scratch_(WarpgroupInverse<T>::scratch(k, "blocks")), t_(k.shared<T>("t_tile", {kChunk, kChunk})) {}
  const Shared<f32>& space() const { return scratch_; }
  /// In the role, before anything else of these; then clear(), once.
  void begin() {
    inverse_.emplace(k, scratch_, c.planner);
    product_.emplace(k.frag<f32>({kChunk, kChunk}, "K K^T"));
  }
  void clear() { WarpgroupInverse<T>::clear(k, t_); }

  /// K K^T, and what the inverse needs of it.
  void couple(const Shared<T>& key, const ItemGates& gates) {
    gemm_zero(*product_, key, key.t());
    Batch products = k.batch();
    if (c.l2norm) inverse_norms(k, key, c.dk, *gates.eps, *gates.norm);
    k.sync();
    inverse_->prepare(gates.b, gates.beta, gates.norm);
    settle(products);
    inverse_->spread(*product_);
  }

  /// T. `ask` is called before it.
  template <class Ask>
  void invert(const Item& item, const ItemGates& gates, const ItemOutputs<T>& to, const Ask& ask) {
    ask();
    inverse_->solve(gates.beta, t_);
    if (c.planner) bound_gain(item, gates, *to.gain);
    k.sync();
    if_(k.thread() == 0, [&] { tma_store(to.T_.tile({item.slot, item.head, 0, 0}, {1, 1, kChunk, kChunk}), t_); });
  }

 private:
  /// By the warp that has least to do.
  void bound_gain(const Item& item, const ItemGates& gates, const Tensor<f32>& gain) {
    if_(k.warp() == kBlocks - 1, [&] {
      Index token = k.lane() * 2;
      Real growth = chunk_growth(k, inverse_->strength(token), inverse_->strength(token + 1));
      if_(k.lane() == 31, [&] { gain.write({item.slot, item.head}, gates.b.read(0, kChunk - 1) + growth); });
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
