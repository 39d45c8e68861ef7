// States that the chain kernel leaves on its way.
#pragma once
#include "kernels/gdn/operands.h"

namespace tilewright::gdn {

/// The state after every `checkpoint_chunks` whole chunks of a sequence. The j-th of sequence n has number `checkpoint_starts`[n] + j
/// and goes to the row of that number, or to row `checkpoint_slots`[number] (-1: nowhere). Rows are fp32, or as the operands of products.
class Checkpoints {
 public:
  Checkpoints(Kernel& k, const ForwardConfig& c)
      : states_(k, "checkpoints", States::Use::out, c.states.checkpoint, c), starts_(k, "checkpoint_starts"), slots_(k, "checkpoint_slots"),
        every_(k.scalar_i32("checkpoint_chunks")) {}

  /// Where a role is: chunks until the next checkpoint, and its number.
  struct Position {
    Var<Index> due, number;
  };
  Position begin(Index n) const { return {Var<Index>(every_), Var<Index>(starts_.at(n))}; }
  /// After a chunk, with its state and the same rounded; a chunk that the sequence does not fill is its last and has no checkpoint.
  template <Half T>
  void pass(Position& p, Pred whole, const Frag<f32>& St, const Frag<T>& rounded, Index head, Index column) const {
    p.due.set(p.due.get() - 1);
    if_((p.due.get() == 0) & whole, [&] {
      Index row = slots_.at(p.number.get());
      if_(row >= 0, [&] { states_.store(St, rounded, row, head, column); });
      p.number.set(p.number.get() + 1);
      p.due.set(every_);
    });
  }

 private:
  States states_;
  Numbering starts_, slots_;
  Index every_;
};

}  // namespace tilewright::gdn
