// States that the chain kernel leaves on its way.
#pragma once
#include <optional>

#include "kernels/gdn/operands.h"

namespace tilewright::gdn {

/// The state after every `checkpoint_chunks` whole chunks of a sequence. The j-th of sequence n has number `checkpoint_starts`[n] + j
/// and goes to the row of that number, or to row `checkpoint_slots`[number] (-1: nowhere). Rows are fp32, or as the operands of products.
///
/// With prefixes the chunks are counted from `prefix_lens`[n] tokens before the sequence's first. Of whole chunks such a prefix only moves
/// checkpoints to other chunks. Any other puts all of them behind a token r of a chunk. Then the state takes two steps through that chunk,
///   S_r^T = 2^(b_r) S^T + (V'^T 2^(b_r - b), zero behind r) K      S^T <- 2^(b_C - b_r) S_r^T + (V'^T 2^(b_C - b), zero up to r) K
/// for which the aux role prepares two rows more of the decay vectors: 2^(b_r - b) up to r, and [2^(b_r), 2^(b_C - b_r)], or [2^(b_C)] in other chunks.
class Checkpoints {
 public:
  Checkpoints(Kernel& k, const ForwardConfig& c)
      : states_(k, "checkpoints", States::Use::out, c.states.checkpoint, c), starts_(k, "checkpoint_starts"), slots_(k, "checkpoint_slots"),
        every_(k.scalar_i32("checkpoint_chunks")), rows_(decay_rows(c)) {
    if (c.prefixes) prefixes_.emplace(k, "prefix_lens");
  }

  /// Where a role is: from the beginning of a chunk to the next checkpoint, in chunks or, with prefixes, in tokens; and its number.
  struct Position {
    Var<Index> due, number;
  };
  /// In sequence n, before its chunk `chunk`; with prefixes, its first.
  Position begin(Index n, Index chunk) const {
    if (prefixes_) return {Var<Index>(every_ * kChunk - prefixes_->at(n) % (every_ * kChunk)), Var<Index>(starts_.at(n))};
    return {Var<Index>(every_ - chunk % every_), Var<Index>(starts_.at(n) + chunk / every_)};
  }

  // The rest up to `pass` is for prefixes only.

  /// The aux role's part for token t of chunk i of a sequence of `count` tokens, after rows 0 to 2 of the decay vectors. b: of the chunk; norm: 1 / |k_t|.
  void prepare(Kernel& k, const Position& p, Index i, Index count, Index t, const Shared<f32>& b, const Shared<f32>& decay, const std::optional<Real>& norm) const {
    Real b_C = b.read(0, kChunk - 1);
    if_(within(p, i, count), [&] {
      Real b_r = b.read(0, p.due.get() - 1);
      if_(t < p.due.get(), [&] {
        Real rest = exp2(b_r - b.read(0, t));
        decay.write(rows_, t, norm ? rest * *norm : rest);
        decay.write(2, t, k.real(0.0));
      }, [&] { decay.write(rows_, t, k.real(0.0)); });
      if_(t == 0, [&] {
        decay.write(rows_ + 1, 0, exp2(b_r));
        decay.write(rows_ + 1, 1, exp2(b_C - b_r));
      });
    }, [&] { if_(t == 0, [&] { decay.write(rows_ + 1, 0, exp2(b_C)); }); });
  }
  /// To the next chunk.
  void advance(Position& p) const { p.due.set(select(p.due.get() <= kChunk, p.due.get() + every_ * kChunk, p.due.get()) - kChunk); }

  /// What the state is multiplied by before `inside`.
  Real first_decay(const Shared<f32>& decay) const { return decay.read(rows_ + 1, 0); }
  /// After the chunk's V'^T and the first decay: the first step where there are two, and the second decay. Nothing is in flight.
  template <Half T>
  void inside(Kernel& k, const Position& p, Index i, Index count, const Frag<f32>& St, const Frag<T>& values, const Shared<T>& key, const Shared<f32>& decay,
              Index head, Index column) const {
    if_(within(p, i, count), [&] {
      gemm_add(St, map<T>([](Real v, Real rest) { return v * rest; }, values, decay.row(rows_)), key);
      settle(k.batch());
      Index row = slots_.at(p.number.get());
      if_(row >= 0, [&] { states_.store(St, St, row, head, column); });
      scale(St, decay.read(rows_ + 1, 1));
    });
  }

  /// After a chunk, with its state and the same rounded; a chunk that the sequence does not fill is its last and ends at no checkpoint.
  template <Half T>
  void pass(Position& p, Pred whole, const Frag<f32>& St, const Frag<T>& rounded, Index head, Index column) const {
    p.due.set(p.due.get() - (prefixes_ ? kChunk : 1));
    if_((prefixes_ ? p.due.get() <= 0 : p.due.get() == 0) & whole, [&] {
      Index row = slots_.at(p.number.get());
      if_(prefixes_ ? (row >= 0) & (p.due.get() == 0) : row >= 0, [&] { states_.store(St, rounded, row, head, column); });
      p.number.set(p.number.get() + 1);
      p.due.set(prefixes_ ? p.due.get() + every_ * kChunk : every_);
    });
  }

 private:
  States states_;
  Numbering starts_, slots_;
  std::optional<Numbering> prefixes_;
  Index every_;
  int rows_;  ///< the first of the two rows

  /// Whether a checkpoint lies inside of chunk i.
  Pred within(const Position& p, Index i, Index count) const { return (p.due.get() < kChunk) & (i * kChunk + p.due.get() <= count); }
};

}  // namespace tilewright::gdn
