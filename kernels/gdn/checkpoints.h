// States that the chain kernel leaves on its way.
#pragma once
#include <optional>

#include "kernels/gdn/operands.h"

namespace tilewright::gdn {

/// The state after every `checkpoint_chunks` whole chunks of a sequence. The j-th of sequence n has number `checkpoint_starts`[n] + j
/// and goes to the row of that number, or to row `checkpoint_slots`[number] (-1: nowhere). Rows are fp32, or as the operands of products.
///
/// With prefixes the chunks are counted from `prefix_lens`[n] tokens before the sequence's first. Of whole chunks such a prefix only moves
/// checkpoints to other chunks. Any other, of `offset` tokens more, puts all of them behind token r = 64 - offset of a chunk, whose state nobody else
/// needs. It is made from the one before the chunk, by parts of its columns:
///   S_r^T = 2^(b_r) S^T + (V'^T 2^(b_r - b), zero behind r) K
class Checkpoints {
 public:
  Checkpoints(Kernel& k, const ForwardConfig& c)
      : states_(k, "checkpoints", States::Use::out, c.states.checkpoint, c), starts_(k, "checkpoint_starts"), slots_(k, "checkpoint_slots"),
        every_(k.scalar_i32("checkpoint_chunks")), l2norm_(c.l2norm) {
    if (c.prefixes) prefixes_.emplace(k, "prefix_lens");
  }

  /// Where a role is: from the beginning of a chunk to the next checkpoint, in chunks or, with prefixes, in tokens; and its number.
  struct Position {
    Var<Index> due, number;
  };
  Position begin(Index n) const {
    Index due = prefixes_ ? every_ * kChunk - prefixes_->at(n) % (every_ * kChunk) : every_;
    return {Var<Index>(due), Var<Index>(starts_.at(n))};
  }

  /// With prefixes: whether a checkpoint lies inside of chunk i of a sequence of `count` tokens. The state then takes its decay in `inside`.
  Pred within(const Position& p, Index i, Index count) const {
    return (p.due.get() < kChunk) & (i * kChunk + p.due.get() <= count);
  }
  /// With prefixes, after the chunk's V'^T: the checkpoint inside of it, and then the decay. Tiles of the chunk's K, b and decay vectors; nothing is
  /// in flight.
  template <Half T>
  void inside(Kernel& k, const Position& p, Index i, Index count, const Frag<f32>& St, const Frag<T>& values, const Shared<T>& key,
              const Shared<f32>& b, const Shared<f32>& decay, Index head, Index column) const {
    if_(within(p, i, count), [&] {
      Index row = slots_.at(p.number.get()), tokens = p.due.get();
      if_(row >= 0, [&] {
        Real b_r = b.read(0, tokens - 1), from_before = exp2(b_r);
        const auto written = [&](Index j, Real v, Real b_j) { return select(j < tokens, v * exp2(b_r - b_j), 0.0); };
        auto values_r = l2norm_ ? map<T>([&](Index, Index j, Real v, Real b_j, Real norm) { return written(j, v, b_j) * norm; }, values, b, decay.row(3))
                                : map<T>([&](Index, Index j, Real v, Real b_j) { return written(j, v, b_j); }, values, b);
        constexpr int part = 64;
        for (int from = 0; from < St.shape.cols; from += part) {
          auto state = k.frag<f32>({St.shape.rows, part}, "S_r^T");
          map_to(state, [&](Real x) { return x * from_before; }, St.columns(from, part));
          gemm_add(state, values_r, key.view(0, from, {kChunk, part}));
          settle(k.batch());
          states_.store(state, state, row, head, column, from);
        }
      });
      scale(St, decay.read(l2norm_ ? 5 : 0, kChunk - 1));
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
  bool l2norm_;
};

}  // namespace tilewright::gdn
