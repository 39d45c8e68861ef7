// GDN prologue: what does not depend on the state, for every chunk.
//
// Per chunk and value head, with M_ij = 2^(b_i - b_j) k_i.k_j below the diagonal:
//   b = inclusive in-chunk cumulative sum of g log2(e)            T = (I + L)^-1 diag(beta),   L = diag(beta) M
// K K^T is computed once for the value heads of a key head. The inverse goes by 16x16 blocks: the diagonal blocks D_i^-1 by
// substitution in fp32 (a lane a column), then for block row i from right to left
//   Y_ii = D_i^-1,   Y_ij = -(sum_{k=j+1..i} Y_ik L_kj) D_j^-1
// with tf32 products; L and Y stay fp32. Rows past the sequence's end are identity rows: b flat, beta 0.
#pragma once
#include "kernels/gdn/sequences.h"

namespace tilewright::gdn {

/// Rows of a block of the inverse, and blocks of a chunk.
inline constexpr int kBlock = 16, kBlocks = kChunk / kBlock;

namespace detail {

/// Inverts I + L of one head in one warp. Returns the blocks Y_ij (i >= j) row by row; L's diagonal blocks hold D_i^-1.
inline std::vector<Frag<f32>> invert_unit_lower(Kernel& k, const Shared<f32>& L) {
  constexpr int blocks = kBlocks, n = kBlock;
  Index column = k.lane() & (n - 1), half = k.lane() >> 4;
  // A lane solves D x = e_column for diagonal blocks `half` and `half + 2`.
  std::vector<Real> x[2];
  for (int pass = 0; pass < 2; ++pass) {
    auto D = L.view((half + 2 * pass) * n, 0, {n, kChunk});
    Index origin = (half + 2 * pass) * n;
    for (int i = 0; i < n; ++i) {
      Real sum = select(column == i, 1.0, 0.0);
      for (int j = 0; j < i; ++j) sum = sum - D.read(i, origin + j) * x[pass][j];
      x[pass].push_back(sum);
    }
  }
  k.warp_sync();
  for (int pass = 0; pass < 2; ++pass) {
    Index origin = (half + 2 * pass) * n;
    for (int i = 0; i < n; ++i) L.write(origin + i, origin + column, x[pass][i]);
  }
  k.warp_sync();
  auto block = [&](int i, int j) { return L.view(n * i, n * j, {n, n}); };
  std::vector<Frag<f32>> Y;
  for (int i = 0; i < blocks; ++i) {
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

/// beta is floored here, in forward and backward alike, so that T diag(beta)^-1 exists; a negative beta counts as the floor.
inline constexpr double kBetaFloor = 0x1p-40;
/// A gate below this decays to nothing beside any fp32 number; the floor keeps differences of the cumulative sum exact to 1e-3.
inline constexpr double kGateFloor = -80.0;

/// max(x, floor) that keeps NaN.
inline Real at_least(Real x, double floor) { return select(x < floor, floor, x); }

template <Half T>
Program prologue(Heads h) {
  return kernel("gdn_prologue", [=](Kernel& k) {
    const int group = h.group(), warps_ = 4;
    Dim tokens = k.dim("T"), N = k.dim("N"), slots = k.dim("slots");
    auto K = k.in<T>("k", {tokens, h.key_heads, h.dk});
    auto G = k.in<f32>("g", {tokens, h.value_heads}), Beta = k.in<f32>("beta", {tokens, h.value_heads});
    auto Tm = k.out<T>("tm", {slots, h.value_heads, kChunk, kChunk});
    auto B = k.out<f32>("b", {slots, h.value_heads, kChunk});
    Offsets offsets(k);
    Index levels = k.scalar_i32("levels"), top = k.scalar_i32("top");
    auto [x, unused1, unused2] = k.grid(slots * h.key_heads);
    Index key_head = x % h.key_heads, slot = x / h.key_heads;

    auto key = k.staged<T>("k_tile", 1, {kChunk, h.dk});
    // L of the heads in work, one for each warp; it takes over K's place, and T takes over L's.
    const int t_rows = 136;  // 64 rows of L, 272 bytes each, are 136 rows of 128 bytes
    auto L = k.shared<f32>("L", {warps_ * kChunk, kChunk}, 16);
    auto t = k.shared<T>("t_tile", {warps_ * t_rows, kChunk});
    k.overlay(L, key);
    k.overlay(t, key);
    auto b = k.shared<f32>("b", {group, kChunk}), beta = k.shared<f32>("beta", {group, kChunk});
    k.ctas_per_sm(3);

    Role all = k.role("all", warpgroups(1));
    Ring ring = k.ring("k", 1, all, {all}, key);
    all([&] {
      Index n = sequence_of(k, offsets, slot, N, levels, top);
      Sequence s = offsets.sequence(k, n);
      Index row = (slot - s.slot) * kChunk, valid = s.count - row;
      k.grid_launch();
      if_(valid > 0, [&] {
        Stage at = ring.acquire();
        ring.tma_load(at, key, K.ragged_tile(s.first, s.count, {row, key_head, 0}, {kChunk, 1, h.dk}));

        // g and beta of this chunk, [head][token]; zero past the end.
        Index token = k.thread() % kChunk;
        for_range(k.thread() / kChunk, k.index(group), 2, [&](Index r) {
          Var<Real> gate(k.real(0.0)), strength(k.real(0.0));
          if_(token < valid, [&] {
            gate.set(at_least(G.read({s.first + row + token, key_head * group + r}), kGateFloor));
            strength.set(at_least(Beta.read({s.first + row + token, key_head * group + r}), kBetaFloor));
          });
          b.write(r, token, gate.get() * 1.4426950408889634);
          beta.write(r, token, strength.get());
        });
        k.sync();
        // Cumulative sum: a warp a head, two tokens a lane.
        for_range(k.warp(), k.index(group), warps_, [&](Index r) {
          Index pair = k.lane() * 2;
          Real x0 = b.read(r, pair), x1 = b.read(r, pair + 1), sum = x0 + x1;
          for (int delta = 1; delta < 32; delta *= 2) {
            Real below = k.shuffle_up(sum, delta);
            sum = select(k.lane() >= delta, sum + below, sum);
          }
          Real first = sum - x1;
          b.write(r, pair, first);
          b.write(r, pair + 1, sum);
          B.write({slot, key_head * group + r, pair}, first);
          B.write({slot, key_head * group + r, pair + 1}, sum);
        });

        // K K^T in four column blocks: a warp needs those on and below its diagonal.
        std::vector<Frag<f32>> KK;
        at = ring.wait();
        for (int j = 0; j < kBlocks; ++j) {
          KK.push_back(k.frag<f32>({kChunk, kBlock}, "K K^T"));
          gemm_zero(KK[j], key[at], key[at].view(j * kBlock, 0, {kBlock, h.dk}).t());
        }
        settle(k.batch());
        ring.release(at);
        k.sync();

        auto b_i = k.frag<f32>({kChunk, 1}), beta_i = k.frag<f32>({kChunk, 1});
        for_range(k.index(0), k.index(group), warps_, [&](Index first) {  // four heads at a time, a warp each
          for (int w = 0; w < warps_; ++w) {
            if_(first + w < group, [&] {
              load(b_i, b.view(first + w, 0, {1, kChunk}).t());
              load(beta_i, beta.view(first + w, 0, {1, kChunk}).t());
              for (int j = 0; j < kBlocks; ++j) {
                if_(k.warp() >= j, [&] {
                  auto Lj = map<f32>(
                      [&](Index row, Index col, Real x, Real bi, Real bj, Real be) {
                        return select(row > col + j * kBlock, be * x * exp2(bi - bj), 0.0);
                      },
                      KK[j], b_i, b.view(first + w, j * kBlock, {1, kBlock}), beta_i);
                  store(L.view(w * kChunk, j * kBlock, {kChunk, kBlock}), Lj);
                });
              }
            });
          }
          k.sync();
          if_(first + k.warp() < group, [&] {
            auto Y = detail::invert_unit_lower(k, L.view(k.warp() * kChunk, 0, {kChunk, kChunk}));
            k.warp_sync();
            auto out = t.view(k.warp() * t_rows, 0, {kChunk, kChunk});
            auto zero = k.frag<T>({kBlock, kBlock});
            map_to(zero, [&] { return k.real(0.0); });
            auto my_beta = beta.view(first + k.warp(), 0, {1, kChunk});
            for (int j = 0; j < kBlocks; ++j) {
              for (int i = 0; i < kBlocks; ++i) {
                auto place = out.view(kBlock * i, kBlock * j, {kBlock, kBlock});
                if (i < j) store(place, zero);
                else store(place, map<T>([](Real y, Real be) { return y * be; }, Y[i * (i + 1) / 2 + j], my_beta.view(0, kBlock * j, {1, kBlock})));
              }
            }
            k.warp_sync();
            if_(k.lane() == 0, [&] {
              tma_store(Tm.tile({slot, key_head * group + first + k.warp(), 0, 0}, {1, 1, kChunk, kChunk}), out);
              k.store_wait(0);
            });
          });
          k.sync();
        });
      });
    });
  });
}

}  // namespace tilewright::gdn
