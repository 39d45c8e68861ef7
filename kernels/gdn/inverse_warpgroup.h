// T of one chunk and head, T = (I + L)^-1 diag(beta) with L_ij = beta_i 2^(b_i - b_j) k_i.k_j below the diagonal, by the four warps of a
// warpgroup together: for where a head's T is waited for (inverse.h has a warp a head instead).
//
// Blocks of 16 rows. Warp i inverts its diagonal block, D_i^-1, by substitution in fp32, a lane a column, and makes block row i of
// W_ij = -D_i^-1 L_ij. After the only rendezvous warp j makes block column j of Y = (I + L)^-1 from the top down,
//   Y_jj = D_j^-1,   Y_ij = sum over j <= m < i of W_im Y_mj,
// transposed, since an accumulator of Y_mj^T is the left operand of the next tf32 product as it is: nothing goes through shared memory, and
// no warp waits for another.
//
// L_ij is never made: with r the last token before block row i, b_i - b_j = (b_i - b_r) + (b_r - b_j), two differences that are never positive,
// one scales the columns of D_i^-1, the other those of the product. All exponentials are taken before K K^T is there.
#pragma once
#include <optional>
#include <vector>

#include "kernels/gdn/inverse.h"

namespace tilewright::gdn {

/// The inverse for a role of one warpgroup, all of whose threads call its functions: prepare(), then the call, then at least one rendezvous
/// of the role before the next prepare().
template <Half T>
class WarpgroupInverse {
 public:
  /// Its working memory, 15,360 bytes.
  static Shared<f32> scratch(Kernel& k, std::string_view name) { return k.shared<f32>(name, {kRows, 2 * kBlock}, kPad); }

  /// With `strengths` the call leaves beta_i |k_i|^2, see strength().
  WarpgroupInverse(Kernel& k, Shared<f32> scratch, bool strengths = false) : k(k), strengths_(strengths), scratch_(scratch), decay_(k.frag<f32>({kChunk, kBlock})) {}

  /// From b, beta and 1 / |k_i| (where keys are to be normalized), [1, 64] each.
  void prepare(const Shared<f32>& b, const Shared<f32>& beta, const std::optional<Shared<f32>>& norm = {}) {
    Index first = anew(k, k.warp()) * kBlock, lane = anew(k, k.lane());
    auto b_i = k.frag<f32>({kChunk, 1});
    load(b_i, b.t());
    const auto own = [&](const Shared<f32>& v) { return v.view(0, first, {1, kBlock}); };
    // Of L^T, whose rows the substitution reads; K K^T is its own transpose.
    map_to(decay_, [&](Index r, Index c, Real bi, Real bj, Real be) { return select(strengths_ ? c + first >= r : c + first > r, be * exp2(bj - bi), 0.0); }, b_i, own(b), own(beta));
    if (norm) {
      auto norm_i = k.frag<f32>({kChunk, 1});
      load(norm_i, norm->t());
      map_to(decay_, [](Real x, Real ni, Real nj) { return x * ni * nj; }, decay_, norm_i, own(*norm));
    }
    Real last = b.read(0, max(first - 1, 0));
    for (int half : {0, 1}) {
      // Columns' factors of blocks (i, 0), (i, 1), (i, 2), then the rows', which scale D_i^-1.
      Pred row = lane >= (half ? kBlock : 2 * kBlock);
      Index token = select(row, first + lane - kBlock, lane + 2 * kBlock * half);
      Real difference = last - b.read(0, token), factor = exp2(select(row, -difference, difference)) * select(row, -beta.read(0, token), 1.0);
      if (norm) factor = factor * norm->read(0, token);
      scratch_.write(first / kBlock * kBlocks + (kFactors + 2 * half) + lane / kBlock, lane % kBlock, factor);
    }
  }

  /// `product`: K K^T [64, 64]. Writes T's blocks on and below the diagonal to `out` [64, 64]; see clear().
  void operator()(const Frag<f32>& product, const Shared<f32>& beta, const Shared<T>& out) {
    spread(product);
    solve(beta, out);
  }
  /// The call's two parts. Warp i puts down K K^T left of the diagonal block, and there L^T. The fragment's rows start at 16 i, so the views
  /// start as far before the block.
  void spread(const Frag<f32>& product) {
    blocks_ = blocks();
    k.each_warp([&](int i) {
      const auto block = [&](int j) { return blocks_->view(place(i, j).row - kBlock * i, place(i, j).column, {kChunk, kBlock}); };
      const auto part = [&](int j) { return product.columns(kBlock * j, kBlock); };
      store(block(i), map<f32>([](Real x, Real d) { return x * d; }, part(i), decay_));
      for (int j = 0; j < i; ++j) store(block(j), part(j));
    });
  }
  void solve(const Shared<f32>& beta, const Shared<T>& out) {
    blocks_ = blocks();
    k.warp_sync();
    invert_diagonal();
    k.warp_sync();
    multiply_row();
    k.sync();
    // Where a warp's columns lie is computed for all warps alike: an address for each warp would cost a register each.
    Index first = anew(k, k.warp()) * kBlock;
    auto beta_j = k.frag<f32>({kBlock, 1});
    load(beta_j, beta.view(0, first, {1, kBlock}).t());
    k.each_warp([&](int j) { make_column(j, beta_j, out.view(0, first, {kChunk, kBlock})); });
  }
  /// beta_i |k_i|^2 of a token, from the call to the role's next rendezvous.
  Real strength(Index token) const { return scratch_.read(token / kBlock, kBlock + token % kBlock); }

  /// Zeros, once for every tile `out`: what lies above the diagonal blocks stays zero.
  static void clear(Kernel& k, const Shared<T>& out) {
    for_range(k.thread(), k.index(kChunk * kChunk), 128, [&](Index i) { out.write(i / kChunk, i % kChunk, k.real(0.0)); });
  }

 private:
  /// Two blocks lie side by side, and a row has 160 bytes: the 8-byte accesses of fragments, four rows at a time, meet all banks. On the left the
  /// diagonal blocks, below them block (3, 0) and four rows of factors for each warp; on the right the
  /// strengths, then the other blocks by their distance from the diagonal.
  static constexpr int kPad = 32, kCorner = kChunk, kFactors = kCorner + kBlock, kRows = kFactors + kBlocks * kBlocks;
  struct Place { int row, column; };
  static Place place(int i, int j) {
    switch (i - j) {
      case 0: return {kBlock * i, 0};
      case 1: return {kBlock * i, kBlock};
      case 2: return {kBlock * (i + 2), kBlock};
      default: return {kCorner, 0};
    }
  }
  Shared<f32> block(int i, int j) const { return blocks_->view(place(i, j).row, place(i, j).column, {kBlock, kBlock}); }
  Shared<f32> factors(int i, int j) const { return blocks_->view(kFactors + kBlocks * i + j, 0, {1, kBlock}); }

  /// The working memory, with a column that the compiler does not know to be 0: else the address of each block is a register.
  Shared<f32> blocks() { return scratch_.view(0, anew(k, k.index(0)) * kBlock, {kRows, 2 * kBlock}); }

  /// D_i^-1 takes over the place of L_ii^T: a lane solves D_i y = e_column.
  void invert_diagonal() {
    Index lane = anew(k, k.lane());
    auto D = scratch_.view(anew(k, k.warp()) * kBlock, 0, {kBlock, kBlock});
    std::vector<Var<Real>> y;
    for (int i = 0; i < kBlock; ++i) y.emplace_back(k.real(0.0));
    if_(lane < kBlock, [&] {
      if (strengths_) scratch_.write(anew(k, k.warp()), kBlock + lane, D.read(lane, lane));
      std::vector<Real> sum;
      for (int i = 0; i < kBlock; ++i) sum.push_back(select(lane == i, 1.0, 0.0));
      for (int j = 0; j < kBlock; ++j)
        for (int i = j + 1; i < kBlock; ++i) sum[size_t(i)] = sum[size_t(i)] - D.read(j, i) * sum[size_t(j)];
      for (int i = 0; i < kBlock; ++i) y[size_t(i)].set(sum[size_t(i)]);
    });
    k.warp_sync();
    if_(lane < kBlock, [&] {
      for (int i = 0; i < kBlock; ++i) D.write(i, lane, y[size_t(i)].get());
    });
  }

  /// Warp i: W_ij takes over the place of block (i, j) of K K^T.
  void multiply_row() {
    k.each_warp([&](int i) {
      if (i == 0) return;
      auto D = k.frag<f32>({kBlock, kBlock});
      load(D, block(i, i));
      map_to(D, [](Real d, Real factor) { return d * factor; }, D, factors(i, kBlocks - 1));
      std::vector<Frag<f32>> W;
      for (int j = 0; j < i; ++j) {
        W.push_back(k.frag<f32>({kBlock, kBlock}));
        fill(W.back(), 0.0);
        mma(W.back(), D, block(i, j));
      }
      k.warp_sync();
      for (int j = 0; j < i; ++j) store(block(i, j), map<f32>([](Real w, Real factor) { return w * factor; }, W[size_t(j)], factors(i, j)));
    });
  }

  /// Warp j: block column j of T, whose tokens' beta is [16, 1].
  void make_column(int j, const Frag<f32>& beta, const Shared<T>& out) {
    std::vector<Frag<f32>> Y{k.frag<f32>({kBlock, kBlock})};  // Y_ij^T, i >= j; below the present row sums that are not complete
    load(Y[0], block(j, j).t());
    for (int i = j; i < kBlocks; ++i) {
      for (int below = i + 1; below < kBlocks; ++below) {
        if (i == j) {
          Y.push_back(k.frag<f32>({kBlock, kBlock}));
          fill(Y.back(), 0.0);
        }
        mma(Y[size_t(below - j)], Y[size_t(i - j)], block(below, i).t());
      }
      store(out.view(kBlock * i, 0, {kBlock, kBlock}).t(), map<T>([](Real y, Real be) { return y * be; }, Y[size_t(i - j)], beta));
    }
  }

  Kernel& k;
  const bool strengths_;
  Shared<f32> scratch_;
  std::optional<Shared<f32>> blocks_;
  Frag<f32> decay_;  // of the diagonal block
};

}  // namespace tilewright::gdn
