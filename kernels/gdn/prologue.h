// GDN prologue: what does not depend on the state, for every chunk.
//
// Per chunk and value head, with M_ij = 2^(b_i - b_j) k_i.k_j below the diagonal:
//   b = inclusive in-chunk cumulative sum of g log2(e)            T = (I + L)^-1 diag(beta),   L = diag(beta) M
// K K^T is computed once for the heads of a key head. Heads are inverted by a warp each (heads_by_warp.h), a single one by all four warps
// (head_together.h). Rows past the sequence's end are identity rows: b flat, beta 0. The kernel is persistent: while a CTA
// inverts, K, g and beta of its next chunk are on their way.
#pragma once
#include <optional>
#include <vector>

#include "kernels/gdn/gate.h"
#include "kernels/gdn/head_together.h"
#include "kernels/gdn/heads_by_warp.h"
#include "kernels/gdn/kept_states.h"
#include "kernels/gdn/offset_check.h"
#include "kernels/gdn/planner.h"

namespace tilewright::gdn {

/// CTAs that share an SM.
constexpr int ctas_per_sm(const PrologueConfig& c) { return c.pack > 1 || c.planner || c.l2norm ? 4 : 5; }
/// Carried from one item to the next.
struct NextItem {
  Var<Index> slot, head, row, valid;
  explicit NextItem(Kernel& k) : slot(k.index(0)), head(k.index(0)), row(k.index(0)), valid(k.index(0)) {}
  void set(const Item& i) { slot.set(i.slot), head.set(i.head), row.set(i.row), valid.set(i.valid); }
  Item get(Index group) const { return {slot.get(), head.get(), group - head.get() % group, row.get(), valid.get()}; }
};

/// `Heads` makes T of an item's heads.
template <Half T, class Heads>
Program prologue_with(PrologueConfig c) {
  return kernel("gdn_prologue", [=](Kernel& k) {
    const int heads = c.pack, per_sm = ctas_per_sm(c);
    Dim tokens = k.dim("T"), N = k.dim("N"), slots = k.dim("slots"), all_heads = k.dim("heads"), key_heads = k.dim("hk"), packs = k.dim("packs"), sms = k.dim("sms");
    auto K = k.in<T>("k", {tokens, key_heads, c.dk});
    Gates gates(k, tokens, c.gate, c.strength);
    auto Tm = k.out<T>("tm", {slots, all_heads, kChunk, kChunk});
    auto B = k.out<f32>("b", {slots, all_heads, kChunk});
    Offsets offsets(k);
    std::optional<Tensor<f32>> Gain;
    std::optional<Planner> planner;
    std::optional<KeptStates> kept;
    if (c.planner) {
      Gain = k.out<f32>("gain", {slots, all_heads});
      planner.emplace(k, tokens, N, all_heads);
      kept.emplace(k, N);
    }
    Index group = k.scalar_i32("group"), levels = k.scalar_i32("levels"), top = k.scalar_i32("top");
    // Persistent: as many CTAs as the SMs hold, each with every ctas-th item. The planner is the first one, so that it begins with the others.
    const int planners = c.planner ? 1 : 0;
    auto [number_of_cta, unused1, unused2] = k.grid(min(slots * key_heads * packs, sms * per_sm + Extent(-planners)) + Extent(planners));
    Index items = Index(slots) * key_heads * packs, ctas = min(items, Index(sms) * per_sm - planners), cta = number_of_cta - planners;

    auto key = k.staged<T>("k_tile", 1, {kChunk, c.dk});
    Heads inverses(k, c);
    if (c.planner) k.overlay(planner->space().tile, inverses.space());
    auto b = k.shared<f32>("b", {heads, kChunk}), beta = k.shared<f32>("beta", {heads, kChunk});
    ItemGates summed{b, beta, {}, {}};
    if (c.l2norm) {
      summed.norm = k.shared<f32>("norm", {1, kChunk});
      summed.eps = k.scalar_f32("l2norm_eps");
    }
    const ItemOutputs<T> outputs{Tm, Gain};
    OffsetCheck check(k, offsets, tokens, N);
    k.ctas_per_sm(per_sm);

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
      inverses.begin();
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

      if (!c.planner) k.grid_launch();
      Index begin = c.planner ? select(cta < 0, items, cta) : cta;
      if_(begin < items, [&] {
        inverses.clear();
        locate(begin);
        ask_gates();
        ask_keys();
      });
      for_range(begin, items, ctas, [&](Index number) {
        Item item = next.get(group);
        if_(item.valid > 0, [&] { sum_gates(item); });
        Stage at = ring.wait();
        if_(item.valid > 0, [&] { inverses.couple(key[at], summed); });
        ring.release(at);
        next.valid.set(k.index(0));
        if_(number + ctas < items, [&] {
          locate(number + ctas);
          ask_keys();
        });
        if_(item.valid > 0, [&] { inverses.invert(item, summed, outputs, ask_gates); }, ask_gates);
      });
      if (c.planner) kept->copy(k, cta, ctas);  // last: in short calls the planner is still at work
      k.store_wait(0);
    });
  });
}

template <Half T>
Program prologue(PrologueConfig c) {
  return c.pack > 1 ? prologue_with<T, HeadsByWarp<T>>(c) : prologue_with<T, HeadTogether<T>>(c);
}

}  // namespace tilewright::gdn
