// T of one chunk and head: the inverse of a unit lower triangular 64x64 matrix by blocks of 16, in one warp.
//
// With L_ij = diag(beta_i) M_ij and Y = (I + L)^-1: the diagonal blocks Y_ii = D_i^-1 by substitution in fp32 (a lane a column), then by
// doubling, for a pair of diagonal blocks A (above) and B (below) of 16 and then of 32 rows
//   Y_BA = -Y_BB L_BA Y_AA
// with tf32 products. L_BA is never made: with r the last token of A, b_i - b_j = (b_i - b_r) + (b_r - b_j), two differences that are never
// positive, so
//   Y_BB L_BA = (Y_BB diag(beta_i 2^(b_i - b_r))) (K K^T)_BA diag(2^(b_r - b_j))
// and the heads of a key head share K K^T.
#pragma once
#include <functional>
#include <map>
#include <vector>

#include "kernels/gdn/config.h"

namespace tilewright::gdn {

/// Rows of a block of the inverse, and blocks of a chunk.
inline constexpr int kBlock = 16, kBlocks = kChunk / kBlock;

/// Place of block (i, j), i > j, among the blocks of K K^T that are kept: those below the diagonal.
template <class I>
I pair_index(I i, int j) { return i * (i - 1) / 2 + j; }
inline constexpr int kPairs = kBlocks * (kBlocks - 1) / 2;

/// First row of diagonal block i among the rows that a head has of its own in shared memory, and their number. Half a warp works on
/// blocks 0 and 1, the other on 2 and 3: the two of a half lie 16 banks apart (a row is 80 bytes).
template <class I>
I own_row(I i) { return i * kBlock + (i + 1) / 2 * 4; }
inline constexpr int kOwnRows = kBlocks * kBlock + 8;

/// A number of the lane, warp or thread, made anew where it is used: what follows from it would else stay in registers from item to item,
/// which do not suffice.
inline Index anew(Kernel& k, Index x) { return k.ptx<Index>("mov.b32 #out0, #0;", x); }

/// T = (I + L)^-1 diag(beta) of one head, the work of one warp. `own`: the diagonal blocks of L; their places are used up. `KK`: blocks of
/// K K^T, which the heads share. `meet` lets the warps that share `own` see each other's writes.
template <Half T>
class UnitLowerInverse {
 public:
  UnitLowerInverse(Kernel& k, Shared<f32> own, Shared<f32> KK, Shared<f32> b, Shared<f32> beta, Shared<f32> decay, std::function<void()> meet)
      : k(k), own(own), KK(KK), b(b), beta(beta), decay(decay), meet(std::move(meet)) {}

  /// T_ij, i >= j, in their order.
  std::vector<Frag<T>> operator()() {
    decay_vectors();
    meet();
    invert_diagonal();
    std::map<std::pair<int, int>, Frag<T>> result;
    const auto keep = [&](int i, int j, const Frag<f32>& Y) { result.emplace(std::pair(i, j), map<T>([](Real y, Real be) { return y * be; }, Y, tokens(beta, j))); };
    // From blocks of 16 to blocks of 32: Y_10 and Y_32.
    const auto merge = [&](int i, const Frag<f32>& below) {
      auto Z = scaled(product({{scaled(below, rows_16(i)), pair(i, i - 1)}}), columns_16(i - 1));
      return product({{Z, block(i - 1)}});
    };
    auto Y33 = load_block(3), Y10 = merge(1, load_block(1));
    meet();
    store(block(3), Y10);  // D_3^-1 is in registers
    meet();
    auto Y32 = merge(3, Y33), Y22 = load_block(2);
    auto A22 = scaled(Y22, rows_32(2)), A32 = scaled(Y32, rows_32(2)), A33 = scaled(Y33, rows_32(3));
    keep(2, 2, Y22);
    keep(3, 3, Y33);
    keep(3, 2, Y32);
    // From blocks of 32 to 64.
    for (int i : {3, 2}) {
      std::vector<Frag<f32>> Z;
      for (int j : {0, 1})
        Z.push_back(scaled(i == 2 ? product({{A22, pair(2, j)}}) : product({{A32, pair(2, j)}, {A33, pair(3, j)}}), columns_32(j)));
      keep(i, 0, product({{Z[0], block(0)}, {Z[1], block(3)}}));
      keep(i, 1, product({{Z[1], block(1)}}));
    }
    for (int i : {0, 1}) keep(i, i, load_block(i));
    keep(1, 0, load_block(3));
    std::vector<Frag<T>> ordered;
    for (const auto& [place, block] : result) ordered.push_back(block);
    return ordered;
  }

 private:
  using Term = std::pair<Frag<f32>, Shared<f32>>;
  Shared<f32> block(int i) const { return own.view(own_row(i), 0, {kBlock, kBlock}); }
  Shared<f32> pair(int i, int j) const { return KK.view(kBlock * pair_index(i, j), 0, {kBlock, kBlock}); }
  static Shared<f32> tokens(const Shared<f32>& v, int i) { return v.view(0, kBlock * i, {1, kBlock}); }
  /// beta_k 2^(b_k - b_r) for the tokens of a block, and -2^(b_r - b_j): r the last token before the rows of the level's lower half.
  Shared<f32> rows_16(int i) const { return decay.view(0, kBlock * (i / 2), {1, kBlock}); }
  Shared<f32> columns_16(int j) const { return decay.view(1, kBlock * (j / 2), {1, kBlock}); }
  Shared<f32> rows_32(int i) const { return decay.view(2, kBlock * (i - 2), {1, kBlock}); }
  Shared<f32> columns_32(int j) const { return decay.view(3, kBlock * j, {1, kBlock}); }

  Frag<f32> load_block(int i) {
    auto D = k.frag<f32>({kBlock, kBlock});
    load(D, block(i));
    return D;
  }
  Frag<f32> scaled(const Frag<f32>& x, const Shared<f32>& columns) { return map<f32>([](Real x, Real s) { return x * s; }, x, columns); }
  Frag<f32> product(const std::vector<Term>& terms) {
    auto sum = k.frag<f32>({kBlock, kBlock});
    fill(sum, 0.0);
    for (const auto& [a, b] : terms) mma(sum, a, b);
    return sum;
  }
  void decay_vectors() {
    Index lane = k.lane(), half = lane >> 4, in = lane & (kBlock - 1);
    Index column = half * (2 * kBlock) + in, row = column + kBlock;
    Real last = b.read(0, half * (2 * kBlock) + (kBlock - 1));
    decay.write(0, lane, beta.read(0, row) * exp2(b.read(0, row) - last));
    decay.write(1, lane, -exp2(last - b.read(0, column)));
    Real middle = b.read(0, 2 * kBlock - 1);
    decay.write(2, lane, beta.read(0, lane + 2 * kBlock) * exp2(b.read(0, lane + 2 * kBlock) - middle));
    decay.write(3, lane, -exp2(middle - b.read(0, lane)));
  }
  /// D_i^-1 takes over D_i's place: a lane solves D x = e_column for two columns of a block.
  void invert_diagonal() {
    Index lane = anew(k, k.lane()), column = (lane & (kBlock / 2 - 1)) * 2;
    auto D = own.view(own_row(lane / (kBlock / 2)), 0, {kBlock, kBlock});
    std::vector<Real> x[2];
    for (int i = 0; i < kBlock; ++i) {
      Real sum[2] = {select(column == i, 1.0, 0.0), select(column == i - 1, 1.0, 0.0)};
      for (int j = 0; j < i; ++j) {
        Real d = D.read(i, j);
        for (int c : {0, 1}) sum[c] = sum[c] - d * x[c][j];
      }
      for (int c : {0, 1}) x[c].push_back(sum[c]);
    }
    meet();
    for (int i = 0; i < kBlock; ++i)
      for (int c : {0, 1}) D.write(i, column + c, x[c][i]);
    meet();
  }

  Kernel& k;
  Shared<f32> own, KK, b, beta, decay;
  std::function<void()> meet;
};

}  // namespace tilewright::gdn
