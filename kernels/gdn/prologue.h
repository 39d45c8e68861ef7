// GDN prologue: what does not depend on the state, for every chunk.
//
// Per chunk and value head, with M_ij = 2^(b_i - b_j) k_i.k_j below the diagonal:
//   b = inclusive in-chunk cumulative sum of g log2(e)            T = (I + L)^-1 diag(beta),   L = diag(beta) M
// K K^T is computed once for the heads of a key head. The inverse goes by 16x16 blocks: the diagonal blocks D_i^-1 by
// substitution in fp32 (a lane a column), then for block row i from right to left
//   Y_ii = D_i^-1,   Y_ij = -(sum_{k=j+1..i} Y_ik L_kj) D_j^-1
// with tf32 products; L and Y stay fp32. Rows past the sequence's end are identity rows: b flat, beta 0.
#pragma once
#include <optional>

#include "kernels/gdn/gate.h"
#include "kernels/gdn/norms.h"
#include "kernels/gdn/sequences.h"

namespace tilewright::gdn {

/// Rows of a block of the inverse, and blocks of a chunk.
inline constexpr int kBlock = 16, kBlocks = kChunk / kBlock;

namespace detail {

/// Place of block (i, j), i >= j, among the stored blocks of a head: only those on and below the diagonal are kept.
inline int block_index(int i, int j) { return i * (i + 1) / 2 + j; }
inline constexpr int kStored = kBlocks * (kBlocks + 1) / 2;

/// Inverts I + L of one head in one warp. L holds the blocks below each other. Returns the blocks Y_ij (i >= j) in their order; L's
/// diagonal blocks hold D_i^-1 afterwards. `alone`: no other warp inverts the same L; else all of them do, in step.
inline std::vector<Frag<f32>> invert_unit_lower(Kernel& k, const Shared<f32>& L, bool alone) {
  constexpr int n = kBlock;
  Index column = k.lane() & (n - 1), half = k.lane() >> 4;
  // A lane solves D x = e_column for diagonal blocks `half` and `half + 2`.
  std::vector<Real> x[2];
  auto diagonal = [&](int pass) {
    Index i = half + 2 * pass;
    return L.view(i * (i + 3) / 2 * n, 0, {n, n});
  };
  for (int pass = 0; pass < 2; ++pass) {
    auto D = diagonal(pass);
    for (int i = 0; i < n; ++i) {
      Real sum = select(column == i, 1.0, 0.0);
      for (int j = 0; j < i; ++j) sum = sum - D.read(i, j) * x[pass][j];
      x[pass].push_back(sum);
    }
  }
  auto rendezvous = [&] { alone ? k.warp_sync() : k.sync(); };
  rendezvous();
  for (int pass = 0; pass < 2; ++pass) {
    auto D = diagonal(pass);
    for (int i = 0; i < n; ++i) D.write(i, column, x[pass][i]);
  }
  rendezvous();
  auto block = [&](int i, int j) { return L.view(n * block_index(i, j), 0, {n, n}); };
  std::vector<Frag<f32>> Y;
  for (int i = 0; i < kBlocks; ++i) {
    std::vector<Frag<f32>> row(i + 1, k.frag<f32>({n, n}));
    load(row[i], block(i, i));
    for (int j = i - 1; j >= 0; --j) {
      auto Z = k.frag<f32>({n, n});
      row[j] = k.frag<f32>({n, n});
      fill(Z, 0.0);
      fill(row[j], 0.0);
      for (int m = i; m > j; --m) mma(Z, row[m], block(m, j));
      map_to(Z, [](Real z) { return -z; }, Z);
      mma(row[j], Z, block(j, j));
    }
    Y.insert(Y.end(), row.begin(), row.end());
  }
  return Y;
}

}  // namespace detail

template <Half T>
Program prologue(PrologueConfig c) {
  return kernel("gdn_prologue", [=](Kernel& k) {
    using namespace detail;
    const int heads = c.pack;  // of this CTA: a warp each
    Dim tokens = k.dim("T"), N = k.dim("N"), slots = k.dim("slots"), all_heads = k.dim("heads"), key_heads = k.dim("hk"), packs = k.dim("packs");
    auto K = k.in<T>("k", {tokens, key_heads, c.dk});
    Gates gates(k, tokens);
    auto Tm = k.out<T>("tm", {slots, all_heads, kChunk, kChunk});
    auto B = k.out<f32>("b", {slots, all_heads, kChunk});
    Offsets offsets(k);
    Index group = k.scalar_i32("group"), levels = k.scalar_i32("levels"), top = k.scalar_i32("top");
    auto [x, y, unused] = k.grid(slots * key_heads, packs);
    Index slot = x / key_heads, key_head = x - slot * key_heads, first = y * heads;
    Index head = key_head * group + first;  // the first head of this CTA
    auto exists = [&](Index w) { return first + w < group; };

    auto key = k.staged<T>("k_tile", 1, {kChunk, c.dk});
    auto L = k.shared<f32>("L", {heads * kStored * kBlock, kBlock}, 16);  // takes over K's place, and T takes over L's
    auto t = k.shared<T>("t_tile", {heads * kChunk, kChunk});
    k.overlay(L, key);
    k.overlay(t, key);
    auto b = k.shared<f32>("b", {heads, kChunk}), beta = k.shared<f32>("beta", {heads, kChunk});
    std::optional<Shared<f32>> norm;  // 1 / |k_i|
    std::optional<Real> eps;
    if (c.l2norm) {
      norm = k.shared<f32>("norm", {1, kChunk});
      eps = k.scalar_f32("l2norm_eps");
    }
    k.ctas_per_sm(4);

    Role all = k.role("all", warpgroups(1));
    Ring ring = k.ring("k", 1, all, {all}, key);
    all([&] {
      Index n = sequence_of(k, offsets, slot, N, levels, top);
      Sequence s = offsets.sequence(k, n);
      Index row = (slot - s.slot) * kChunk, valid = s.count - row;
      k.grid_launch();
      if_(valid > 0, [&] {
        Stage at = ring.acquire();
        ring.tma_load(at, key, K.ragged_tile(s.first, s.count, {row, key_head, 0}, {kChunk, 1, c.dk}));

        // g and beta of this chunk, [head][token]; zero past the end.
        Index token = k.thread() % kChunk;
        for (int i = 0; i < (heads + 1) / 2; ++i) {
          Index w = k.thread() / kChunk + 2 * i;
          Var<Real> gate(k.real(0.0)), strength(k.real(0.0));
          if_((token < valid) & (w < heads) & exists(w), [&] {
            gate.set(gates.log_decay(k, s.first + row + token, head + w));
            strength.set(gates.strength(k, s.first + row + token, head + w));
          });
          if_(w < heads, [&] {
            b.write(w, token, gate.get() * kLog2E);
            beta.write(w, token, strength.get());
          });
        }
        k.sync();
        // Cumulative sum: a warp a head, two tokens a lane.
        if_(k.warp() < heads, [&] {
          Index w = k.warp(), pair = k.lane() * 2;
          Real x0 = b.read(w, pair), x1 = b.read(w, pair + 1), sum = x0 + x1;
          for (int delta = 1; delta < 32; delta *= 2) {
            Real below = k.shuffle_up(sum, delta);
            sum = select(k.lane() >= delta, sum + below, sum);
          }
          b.write(w, pair, sum - x1);
          b.write(w, pair + 1, sum);
          if_(exists(w), [&] {
            B.write({slot, head + w, pair}, sum - x1);
            B.write({slot, head + w, pair + 1}, sum);
          });
        });

        // K K^T in four column blocks: a warp needs those on and below its diagonal.
        std::vector<Frag<f32>> KK;
        at = ring.wait();
        for (int j = 0; j < kBlocks; ++j) {
          KK.push_back(k.frag<f32>({kChunk, kBlock}, "K K^T"));
          gemm_zero(KK[j], key[at], key[at].view(j * kBlock, 0, {kBlock, c.dk}).t());
        }
        Batch products = k.batch();
        if (c.l2norm) inverse_norms(k, key[at], c.dk, *eps, *norm);
        settle(products);
        ring.release(at);
        k.sync();

        auto b_i = k.frag<f32>({kChunk, 1}), beta_i = k.frag<f32>({kChunk, 1}), norm_i = k.frag<f32>({kChunk, 1});
        if (c.l2norm) load(norm_i, norm->t());
        for (int i = 0; i < kBlocks; ++i) {  // block row i of every head is warp i's work
          if_(k.warp() == i, [&] {
            for (int w = 0; w < heads; ++w) {
              load(b_i, b.row(w).t());
              load(beta_i, beta.row(w).t());
              for (int j = 0; j <= i; ++j) {
                const auto coupling = [&](Index r, Index col, Real x, Real bi, Real bj, Real be) {
                  Real l = be * x * exp2(bi - bj);
                  return j < i ? l : select(r > col + j * kBlock, l, 0.0);
                };
                auto b_j = b.view(w, j * kBlock, {1, kBlock});
                auto block = c.l2norm ? map<f32>([&](Index r, Index col, Real x, Real bi, Real bj, Real be, Real ni, Real nj) {
                                          return coupling(r, col, x * ni * nj, bi, bj, be);
                                        }, KK[j], b_i, b_j, beta_i, norm_i, norm->view(0, j * kBlock, {1, kBlock}))
                                      : map<f32>(coupling, KK[j], b_i, b_j, beta_i);
                // The fragment's rows start at 16 i for this warp: the view starts as far before the block.
                store(L.view(kBlock * (w * kStored + block_index(i, j) - i), 0, {kChunk, kBlock}), block);
              }
            }
          });
        }
        k.sync();
        Index w = k.warp() % heads;  // with fewer heads than warps some invert the same one
        auto Y = invert_unit_lower(k, L.view(w * (kStored * kBlock), 0, {kStored * kBlock, kBlock}), heads == 4);
        k.sync();
        if_(k.warp() < heads, [&] {
          auto out = t.view(w * kChunk, 0, {kChunk, kChunk});
          auto zero = k.frag<T>({kBlock, kBlock});
          map_to(zero, [&] { return k.real(0.0); });
          for (int j = 0; j < kBlocks; ++j) {
            for (int i = 0; i < kBlocks; ++i) {
              auto place = out.view(kBlock * i, kBlock * j, {kBlock, kBlock});
              if (i < j) store(place, zero);
              else store(place, map<T>([](Real y, Real be) { return y * be; }, Y[block_index(i, j)], beta.view(w, kBlock * j, {1, kBlock})));
            }
          }
          k.warp_sync();
          if_((k.lane() == 0) & exists(w), [&] {
            tma_store(Tm.tile({slot, head + w, 0, 0}, {1, 1, kChunk, kChunk}), out);
            k.store_wait(0);
          });
        });
      });
    });
  });
}

}  // namespace tilewright::gdn
