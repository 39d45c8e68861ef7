// Bad offsets. Nobody but the device sees cu_seqlens, so the kernels stay right whatever is in it.
//
// An offset is bad if it is negative, beyond T or less than the one before it. The sequences whose two offsets come before the first bad one
// are good and get their results; nothing is written of the others. The prologue finds out how many are good, before it looks for its
// first item, and tells the chain kernel (`status`) and the host (`offset_fault`).
#pragma once
#include "kernels/gdn/offset_fault.h"
#include "kernels/gdn/sequences.h"

namespace tilewright::gdn {

/// The prologue's part.
class OffsetCheck {
 public:
  OffsetCheck(Kernel& k, const Offsets& offsets, const Dim& tokens, const Dim& N)
      : offsets_(offsets), T_(tokens), N_(N), status_(k.out<i32>("status", {1})), fault_(k.out<i32>("offset_fault", {kFaultWords})),
        found_(k.shared<i32>("bad_offset", {1, kWarps})) {}

  /// Good sequences, found by the 128 threads of a role together; the threads of one CTA, where `reports`, tell the others. The offsets are
  /// in the L1 cache then, where the search for an item reads them again.
  Index run(Kernel& k, Pred reports) const {
    Var<Index> bad(N_ + 1);
    if_(offsets_.cu.present(), [&] {
      const auto look = [&](Index i) { bad.set(select(is_bad(i), min(bad.get(), i), bad.get())); };
      look(min(k.thread(), N_));
      for_range(k.thread() + kThreads, N_ + 1, kThreads * kAtOnce, [&](Index i) {
        for (int j = 0; j < kAtOnce; ++j) look(min(i + kThreads * j, N_));
      });
    });
    Index of_warp = k.ptx<Index>("redux.sync.min.s32 #out0, #0, 0xffffffff;", bad.get());
    if_(k.lane() == 0, [&] { found_.write(0, k.warp(), of_warp); });
    k.sync();
    Index first = found_.read(0, 0);
    for (int warp = 1; warp < kWarps; ++warp) first = min(first, found_.read(0, warp));
    Index good = k.uniform(max(first - 1, 0));
    if_(reports & (k.thread() == 0), [&] {
      status_.write({0}, good);
      if_(first <= N_, [&] { report(k, first); });
    });
    return good;
  }

 private:
  static constexpr int kWarps = 4, kThreads = 32 * kWarps;
  static constexpr int kAtOnce = 4;  // loads of a thread that are under way together, where there are many offsets

  Index low(Index i) const { return offsets_.cu.read({i * offsets_.cu_words}); }
  Index high(Index i) const { return offsets_.cu.read({i * offsets_.cu_words + (offsets_.cu_words - 1)}); }  // of int32: the word itself
  Pred is_bad(Index i) const {
    Index value = low(i), upper = high(i), before = low(max(i - 1, 0));
    return (value < 0) | (value > T_) | (value < before) | (upper != select(offsets_.cu_words == 1, value, 0));
  }
  void report(Kernel& k, Index i) const {
    Index value = low(i), upper = high(i);
    fault_.write({1}, value);
    fault_.write({2}, select(offsets_.cu_words == 1, select(value < 0, k.index(-1), 0), upper));
    fault_.write({3}, select(i > 0, low(max(i - 1, 0)), 0));
    fault_.write({4}, T_);
    k.fence(Scope::sys);
    fault_.write({0}, i + 1);
  }

  const Offsets& offsets_;
  Index T_, N_;
  Tensor<i32> status_, fault_;
  Shared<i32> found_;
};

/// The chain kernel's part. It asks for its first rows before it may read what the prologue has found: none, where the two offsets do not say rows
/// of the batch. Where the sequence turns out not to be good, its roles pass through the chunks that have been asked for, and write nothing.
class CheckedSequence {
 public:
  CheckedSequence(Kernel& k, const Offsets& offsets, const Dim& tokens, int stages)
      : offsets_(offsets), T_(tokens), stages_(stages), status_(k.in<i32>("status", {1})) {}

  /// Before the prologue's end: the rows that may be read. Called inside a role, like the others.
  Sequence within(Kernel& k, Index n) const {
    Sequence s = offsets_.sequence(k, n);
    Pred inside = (s.first >= 0) & (s.count >= 0) & (T_ - s.first >= s.count);
    Index first = select(inside, s.first, 0);
    return {first, select(inside, s.count, 0), first / kChunk + n};
  }
  struct Walk {
    Pred good;
    Index chunks;    ///< that the roles pass through
    Sequence rows;   ///< of which the results are written
  };
  /// After it, of the same rows.
  Walk walk(Sequence s, Index n) const {
    Pred good = status_.read({0}) > n;  // the usual case to the verifier, too (docs/verifier.md)
    return {good, select(good, s.chunks(), min(s.chunks(), stages_ - 1)), {s.first, select(good, s.count, 0), s.slot}};
  }
  /// Both, for a role that has nothing to do until then.
  Walk walk(Kernel& k, Index n) const {
    Sequence s = within(k, n);
    k.grid_wait();
    return walk(s, n);
  }

 private:
  const Offsets& offsets_;
  Index T_;
  int stages_;
  Tensor<i32> status_;
};

}  // namespace tilewright::gdn
