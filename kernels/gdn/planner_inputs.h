// What the planner reads of a call: how many chunks sequences have, and how fast heads erase.
#pragma once
#include "kernels/gdn/gate.h"
#include "kernels/gdn/planner_space.h"

namespace tilewright::gdn {

/// Called by all threads of the planner. Offsets may be bad: nothing is trusted.
class PlannerInputs {
 public:
  /// Asks for the first offsets.
  PlannerInputs(Kernel& k, const PlannerSpace& space, const Offsets& offsets, const Gates& gates, Index tokens, Index sequences, Index heads)
      : k_(k), space_(space), offsets_(offsets), gates_(gates), tokens_(tokens), N_(sequences), heads_(heads), begin_(offsets.start(k, min(k.thread(), sequences - 1))),
        end_(offsets.start(k, min(k.thread(), sequences - 1) + 1)) {}

  /// Adds up what a few tokens of the batch decay by, for each head; the sums are there behind the next barrier.
  void sample() {
    Index threads = quotient(k_.index(kPlannerThreads), heads_), part = quotient(k_.thread(), heads_), head = k_.thread() - part * heads_;  // threads of a head
    Index samples = samples_of();
    Var<Index> first(k_.index(0)), count(tokens_), sum(k_.index(0)), again(k_.index(1));
    k_.while_([&] { return again.get() != 0; }, [&] {  // offsets come with the gates: usually the sequences fill the batch
      // Their places are known in the loop only: ahead of it, it would begin when they are there.
      Index zero = k_.ptx<Index>("mov.b32 #out0, 0;"), real_first = offsets_.start(k_, zero), end = offsets_.start(k_, N_ + zero), apart = max(quotient(count.get(), samples), 1);
      sum.set(k_.index(0));
      for_range(part, samples, threads * kAtATime, [&](Index at) {
        std::vector<Var<Real>> gates;
        for (int i = 0; i < kAtATime; ++i) {
          Index sample = at + threads * i, token = min(sample * apart + (apart >> 1), count.get() - 1);
          gates.emplace_back(k_.real(0.0));
          gates_.read_gate(k_, (part < threads) & (sample < samples) & (count.get() > 0) & (first.get() >= 0), first.get() + token, head, gates.back());
        }
        gates_.to_log_decays(k_, gates, head);
        for (int i = 0; i < kAtATime; ++i) add(sum, select(at + threads * i < samples, to_index(gates[std::size_t(i)].get() * (-kLog2E * kBitParts)), 0));
      });
      Index real_count = max(min(end, tokens_) - real_first, 0);
      again.set(select((real_first == first.get()) & (real_count == count.get()), k_.index(0), 1));
      first.set(real_first), count.set(real_count);
    });
    if_(part < threads, [&] { red_add(space_.erase().tile, {k_.index(0), head}, sum.get()); });
  }

  /// Of the sequences with chunks: all chunks, how many there are, the longest and the shortest. Replaces the sums of sample() by the heads' chunks after
  /// which nothing is left; behind the last head stands 0.
  struct Totals {
    Index sum, count, longest, shortest;
  };
  Totals survey() {
    Var<Index> sum(k_.index(0)), count(k_.index(0)), longest(k_.index(0)), shortest(k_.index(-kNoPlan));
    each([&](Index, Index chunks) {
      add(sum, chunks), add(count, min(chunks, 1)), keep_max(longest, chunks);
      keep_max(shortest, select(chunks > 0, 0 - chunks, -kNoPlan));
    });
    const FromWarps all(k_, space_.scratch(PlannerSpace::kSurvey), {warp_sum(k_, sum.get()), warp_sum(k_, count.get()), warp_max(k_, longest.get()), warp_max(k_, shortest.get())});
    // Chunks for kErasedBits: samples x bits / (64 x sum).
    Index decay = space_.erase()[k_.thread()], chunks = quotient_up(samples_of() * (kErasedBits * kBitParts / kChunk), max(decay, 1));
    space_.erase().set(k_.thread(), select(k_.thread() < heads_, select(decay > 0, max(chunks, 1), kNeverErased), 0));
    return {all.sum(0), all.sum(1), all.largest(2), 0 - all.largest(3)};
  }

  /// Puts the sequences for which `takes(chunks)` into the space, in their order: their number, their chunks altogether, the longest of the others.
  struct Listed {
    Index count, sum, other_longest;
  };
  template <class Takes>
  Listed list(Takes&& takes) {
    Var<Index> count(k_.index(0)), sum(k_.index(0)), longest(k_.index(0));
    each([&](Index n, Index chunks) {
      Pred taken = takes(chunks);
      Index bits = ballot(k_, taken), before = count_bits(k_, bits & lanes_below(k_));
      const FromWarps all(k_, space_.scratch(PlannerSpace::kList),
                          {count_bits(k_, bits), warp_sum(k_, select(taken, chunks, 0)), warp_max(k_, select(taken, k_.index(0), chunks))});
      Var<Index> at(count.get() + before);
      for (int w = 0; w < 3; ++w) add(at, select(k_.warp() > w, all(0, w), 0));
      if_(taken & (at.get() < kMaxListedChains), [&] { space_.sequence().set(at.get(), n), space_.chunks().set(at.get(), chunks); });
      add(count, all.sum(0)), add(sum, all.sum(1)), keep_max(longest, all.largest(2));
      k_.sync();
    });
    return {count.get(), sum.get(), longest.get()};
  }

 private:
  Index samples_of() const { return max(min(quotient(k_.index(kSamples), heads_), 64), 16); }
  /// f(n, chunks) by all threads, for a sequence each at a time: chunks are 0 past the last sequence and where offsets decrease.
  template <class F>
  void each(F&& f) {
    const auto chunks_of = [&](Index n, Index begin, Index end) { return select(n < N_, max(end - begin, 0) + (kChunk - 1), 0) >> kLogChunk; };
    Var<Index> chunks(chunks_of(k_.thread(), begin_.get(), end_.get()));
    for_range(k_.index(0), N_, kPlannerThreads, [&](Index base) {
      f(base + k_.thread(), chunks.get());
      Index next = base + kPlannerThreads;
      if_(next < N_, [&] {
        Index n = next + k_.thread(), at = min(n, N_ - 1);
        chunks.set(chunks_of(n, offsets_.start(k_, at), offsets_.start(k_, at + 1)));
      });
    });
  }

  /// Loads of a thread that are under way together; samples altogether; parts of a bit in which decays are summed up.
  static constexpr int kAtATime = 8, kSamples = 1024, kBitParts = 256;
  static constexpr int kLogChunk = 6;
  static_assert(1 << kLogChunk == kChunk);

  Kernel& k_;
  const PlannerSpace& space_;
  const Offsets& offsets_;
  const Gates& gates_;
  Index tokens_, N_, heads_;
  Var<Index> begin_, end_;  ///< of the sequence with the thread's number
};

}  // namespace tilewright::gdn
