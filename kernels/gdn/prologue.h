// GDN prologue: what does not depend on the state, for every chunk.
//
// Per chunk and value head, with M_ij = 2^(b_i - b_j) k_i.k_j below the diagonal:
//   b = inclusive in-chunk cumulative sum of g log2(e)            T = (I + L)^-1 diag(beta),   L = diag(beta) M
// K K^T is computed once for the heads of a key head; the inverse is in inverse.h. Rows past the sequence's end are identity rows: b
// flat, beta 0. The kernel is persistent: while a CTA inverts, K, g and beta of its next chunk are on their way.
#pragma once
#include <optional>
#include <vector>

#include "kernels/gdn/gate.h"
#include "kernels/gdn/inverse.h"
#include "kernels/gdn/norms.h"
#include "kernels/gdn/offset_check.h"
#include "kernels/gdn/planner.h"

namespace tilewright::gdn {

/// CTAs that share an SM.
inline constexpr int kCtasPerSm = 4;
/// What a CTA works on: a chunk slot and up to `pack` heads of a key head.
struct Item {
  Index slot, head, left;  ///< the first of its heads, and how many its key head has from there on
  Index row, valid;        ///< its first row in the batch, and how many of the sequence's rows there are from it on; at most 0: nothing to do
};
/// Carried from one item to the next.
struct NextItem {
  Var<Index> slot, head, row, valid;
  explicit NextItem(Kernel& k) : slot(k.index(0)), head(k.index(0)), row(k.index(0)), valid(k.index(0)) {}
  void set(const Item& i) { slot.set(i.slot), head.set(i.head), row.set(i.row), valid.set(i.valid); }
  Item get(Index group) const { return {slot.get(), head.get(), group - head.get() % group, row.get(), valid.get()}; }
};

template <Half T>
Program prologue(PrologueConfig c) {
  return kernel("gdn_prologue", [=](Kernel& k) {
    const int heads = c.pack;  // of an item: a warp each
    Dim tokens = k.dim("T"), N = k.dim("N"), slots = k.dim("slots"), all_heads = k.dim("heads"), key_heads = k.dim("hk"), packs = k.dim("packs"), sms = k.dim("sms");
    auto K = k.in<T>("k", {tokens, key_heads, c.dk});
    Gates gates(k, tokens, c.gate, c.strength);
    auto Tm = k.out<T>("tm", {slots, all_heads, kChunk, kChunk});
    auto B = k.out<f32>("b", {slots, all_heads, kChunk});
    Offsets offsets(k);
    std::optional<Tensor<f32>> Gain;
    std::optional<Planner> planner;
    if (c.planner) {
      Gain = k.out<f32>("gain", {slots, all_heads});
      planner.emplace(k, tokens, N, all_heads);
    }
    Index group = k.scalar_i32("group"), levels = k.scalar_i32("levels"), top = k.scalar_i32("top");
    // Persistent: as many CTAs as the SMs hold, each with every ctas-th item. The planner is the first one, so that it begins with the others.
    const int planners = c.planner ? 1 : 0;
    auto [number_of_cta, unused1, unused2] = k.grid(min(slots * key_heads * packs, sms * kCtasPerSm + Extent(-planners)) + Extent(planners));
    Index items = Index(slots) * key_heads * packs, ctas = min(items, Index(sms) * kCtasPerSm - planners), cta = number_of_cta - planners;

    auto key = k.staged<T>("k_tile", 1, {kChunk, c.dk});
    // The heads' own blocks, then K K^T below the diagonal, block below block; T takes over their place.
    auto work = k.shared<f32>("blocks", {heads * kOwnRows + kPairs * kBlock, kBlock}, 16);
    auto t = k.shared<T>("t_tile", {heads * kChunk, kChunk});
    k.overlay(t, work);
    if (c.planner) k.overlay(planner->space().tile, work);
    auto KK = work.view(heads * kOwnRows, 0, {kPairs * kBlock, kBlock});
    auto b = k.shared<f32>("b", {heads, kChunk}), beta = k.shared<f32>("beta", {heads, kChunk});
    auto decay = k.shared<f32>("decay", {heads * 4, kChunk / 2});
    std::optional<Shared<f32>> norm;  // 1 / |k_i|
    std::optional<Real> eps;
    if (c.l2norm) {
      norm = k.shared<f32>("norm", {1, kChunk});
      eps = k.scalar_f32("l2norm_eps");
    }
    OffsetCheck check(k, offsets, tokens, N);
    k.ctas_per_sm(kCtasPerSm);

    Role all = k.role("all", warpgroups(1));
    Ring ring = k.ring("k", 1, all, {all}, key);
    all([&] {
      Var<Index> good(k.index(0));
      const auto check_offsets = [&] { good.set(check.run(k, cta == 0)); };
      if (c.planner) {
        k.grid_launch();
        if_(cta < 0, [&] { (*planner)(offsets, gates); }, check_offsets);
      } else {
        check_offsets();
      }
      NextItem next(k);
      const int turns = (heads + 1) / 2;  // two threads a token, a head each at a time
      std::vector<Var<Real>> gate, strength;
      for (int i = 0; i < turns; ++i) gate.emplace_back(k.real(0.0)), strength.emplace_back(k.real(0.0));
      const auto head_of = [&](Index thread, int i) { return thread / kChunk + 2 * i; };

      // The place of an item. Its K, g and beta are asked for long before they are used.
      const auto locate = [&](Index number) {
        Index rest = number / packs, place = rest / key_heads, key_head = rest - place * key_heads, from = (number - rest * packs) * heads;
        auto [slot, n, exists] = slot_at(k, offsets, place, tokens, good.get(), levels, top);
        Sequence s = offsets.sequence(k, n);
        Index before = (slot - s.slot) * kChunk;
        next.set({slot, key_head * group + from, group - from, s.first + before, select(exists, s.count - before, 0)});
      };
      const auto ask_keys = [&] {
        Item item = next.get(group);
        Stage at = ring.acquire();
        ring.tma_load(at, key, K.ragged_tile(select(item.valid > 0, item.row, 0), max(item.valid, 0), {0, item.head / group, 0}, {kChunk, 1, c.dk}));
      };
      const auto ask_gates = [&] {
        Item item = next.get(group);
        Index thread = anew(k, k.thread()), token = thread % kChunk;
        for (int i = 0; i < turns; ++i)
          gates.read(k, (token < item.valid) & (head_of(thread, i) < item.left), item.row + token, item.head + head_of(thread, i), gate[i], strength[i]);
      };

      // b and beta of an item, [head][token]; zero past the end.
      const auto sum_gates = [&](const Item& item) {
        Index warp = anew(k, k.warp()), thread = anew(k, k.thread()), token = thread % kChunk;
        for (int i = 0; i < turns; ++i) {
          Index w = head_of(thread, i);
          Var<Real> log(k.real(0.0)), be(k.real(0.0));
          if_((token < item.valid) & (w < item.left), [&] {
            log.set(gates.log_decay(k, gate[i].get(), item.head + w) * kLog2E);
            be.set(gates.strength(strength[i].get()));
          });
          if_(w < heads, [&] {
            b.write(w, token, log.get());
            beta.write(w, token, be.get());
          });
        }
        k.store_wait(0);  // the last T has left
        k.sync();
        if_(warp < heads, [&] {  // cumulative: a warp a head, two tokens a lane
          Index pair = k.lane() * 2;
          Real x0 = b.read(warp, pair), x1 = b.read(warp, pair + 1), sum = x0 + x1;
          for (int delta = 1; delta < 32; delta *= 2) {
            Real below = k.shuffle_up(sum, delta);
            sum = select(k.lane() >= delta, sum + below, sum);
          }
          b.write(warp, pair, sum - x1);
          b.write(warp, pair + 1, sum);
          if_(warp < item.left, [&] {
            B.write({item.slot, item.head + warp, pair}, sum - x1);
            B.write({item.slot, item.head + warp, pair + 1}, sum);
          });
        });
      };

      // K K^T, of which warp i has block row i: what lies left of the diagonal, and from the diagonal block that of every head's L. The
      // fragment's rows start at 16 i for it, so the views start as far before the block.
      const auto couple = [&](Stage at) {
        Index warp = anew(k, k.warp());
        auto product = k.frag<f32>({kChunk, kChunk}, "K K^T");
        gemm_zero(product, key[at], key[at].t());
        Batch products = k.batch();
        if (c.l2norm) inverse_norms(k, key[at], c.dk, *eps, *norm);
        settle(products);
        k.sync();
        if (c.l2norm) {
          auto norm_i = k.frag<f32>({kChunk, 1});
          load(norm_i, norm->t());
          map_to(product, [](Real x, Real ni, Real nj) { return x * ni * nj; }, product, norm_i, *norm);
        }
        const auto block = [&](int j) { return product.columns(kBlock * j, kBlock); };
        for (int j = 0; j + 1 < kBlocks; ++j)
          if_(warp > j, [&] { store(work.view((pair_index(warp, j) - warp) * kBlock + heads * kOwnRows, 0, {kChunk, kBlock}), block(j)); });
        auto diagonal = map<f32>([&](Real x0, Real x1, Real x2, Real x3) { return select(warp < 2, select(warp < 1, x0, x1), select(warp < 3, x2, x3)); },
                                 block(0), block(1), block(2), block(3));
        auto b_i = k.frag<f32>({kChunk, 1}), beta_i = k.frag<f32>({kChunk, 1});
        for (int w = 0; w < heads; ++w) {
          load(b_i, b.row(w).t());
          load(beta_i, beta.row(w).t());
          auto L = map<f32>([&](Index r, Index col, Real x, Real bi, Real bj, Real be) { return select(c.planner ? r >= col + warp * kBlock : r > col + warp * kBlock, be * x * exp2(bi - bj), 0.0); },
                            diagonal, b_i, b.view(w, warp * kBlock, {1, kBlock}), beta_i);
          store(work.view(own_row(warp) - warp * kBlock + w * kOwnRows, 0, {kChunk, kBlock}), L);
        }
      };

      // log2 of what the chunk's transition, the product of 2^g (I - beta k k^T), lengthens a vector by at most: its decay, and log2 |1 - beta |k|^2| where
      // that is above 1. The diagonal of L holds beta |k|^2.
      const auto bound_gain = [&](const Item& item, Index w) {
        Index first = k.lane() * 2, row = w * kOwnRows + own_row(first / kBlock) + first % kBlock, column = first % kBlock;
        Real x[2] = {work.read(row, column), work.read(row + 1, column + 1)};
        Var<Real> growth(k.real(0.0));
        Index most = k.ptx<Index>("redux.sync.max.s32 #out0, #0, 0xffffffff;", k.ptx<Index>("mov.b32 #out0, #0;", max(x[0], x[1])));
        if_(most > 0x40000000, [&] {  // 2.0f
          Real sum = log2(max(x[0] - 1.0, 1.0)) + log2(max(x[1] - 1.0, 1.0));
          for (int delta = 1; delta < 32; delta *= 2) {
            Real below = k.shuffle_up(sum, delta);
            sum = select(k.lane() >= delta, sum + below, sum);
          }
          growth.set(sum);
        });
        if_((k.lane() == 31) & (w < item.left), [&] { Gain->write({item.slot, item.head + w}, b.read(w, kChunk - 1) + growth.get()); });
      };

      // T of every head, a warp each; with fewer heads than warps some invert the same one, in step.
      const auto invert = [&](const Item& item) {
        Index warp = anew(k, k.warp());
        k.sync();
        Index w = warp % heads;
        if (c.planner) bound_gain(item, w);
        UnitLowerInverse<T> inverse(k, work.view(w * kOwnRows, 0, {kOwnRows, kBlock}), KK, b.view(w, 0, {1, kChunk}), beta.view(w, 0, {1, kChunk}),
                                    decay.view(w * 4, 0, {4, kChunk / 2}), [&] { heads == 4 ? k.warp_sync() : k.sync(); });
        auto T_ij = inverse();
        ask_gates();
        k.sync();
        if_(warp < heads, [&] {
          auto out = t.view(warp * kChunk, 0, {kChunk, kChunk});
          auto zero = k.frag<T>({kBlock, kBlock});
          map_to(zero, [&] { return k.real(0.0); });
          auto block = T_ij.begin();
          for (int i = 0; i < kBlocks; ++i)
            for (int j = 0; j < kBlocks; ++j) store(out.view(kBlock * i, kBlock * j, {kBlock, kBlock}), i < j ? zero : *block++);
          k.warp_sync();
          if_((k.lane() == 0) & (warp < item.left), [&] { tma_store(Tm.tile({item.slot, item.head + warp, 0, 0}, {1, 1, kChunk, kChunk}), out); });
        });
      };

      if (!c.planner) k.grid_launch();
      Index begin = c.planner ? select(cta < 0, items, cta) : cta;
      if_(begin < items, [&] {
        locate(begin);
        ask_gates();
        ask_keys();
      });
      for_range(begin, items, ctas, [&](Index number) {
        Item item = next.get(group);
        if_(item.valid > 0, [&] { sum_gates(item); });
        Stage at = ring.wait();
        if_(item.valid > 0, [&] { couple(at); });
        ring.release(at);
        next.valid.set(k.index(0));
        if_(number + ctas < items, [&] {
          locate(number + ctas);
          ask_keys();
        });
        if_(item.valid > 0, [&] { invert(item); }, ask_gates);
      });
      k.store_wait(0);
    });
  });
}

}  // namespace tilewright::gdn
