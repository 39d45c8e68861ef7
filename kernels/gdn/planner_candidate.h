// One candidate of the planner: chains laid out so that all SMs end at about a given time, by each thread for a time of its own. The same steps in the
// same integers as in planner_layout.cpp; docs/kernels/gdn_plan.md explains them.
#pragma once
#include "kernels/gdn/planner_space.h"

namespace tilewright::gdn {

/// What is known of a batch before anything is cut. `all`: what is listed is all that is not empty.
struct Survey {
  Index heads, listed, all, other_chains, other_work, other_longest;
};

/// Chunk at which segment j of n begins.
inline Index cut_first(const PlannerArguments& a, Index n, Index share, Index slope, Index chunks, Index j) {
  Index steps = select(j < 2, j - j, ((j - 1) * (j - 2)) >> 1);
  return select(j == n, chunks, (share * j - slope * steps) >> a.shift);
}

/// Heads that erase in so many chunks start from zero, by the classes or else as `chosen`.
inline Index erasing_limit(Kernel& k, const PlannerArguments& a, Index chosen) {
  return select(a.classes == static_cast<int>(HeadClass::erasing), k.index(kNeverErased), select(a.classes == static_cast<int>(HeadClass::matrix), k.index(0), chosen));
}
inline Index careful_limit(Index length) { return min(length * 7 / 5, kNeverErased - 1); }

/// How many heads do not erase within a limit, and the sum of chunks of those that do.
struct HeadsByLimit {
  Var<Index> matrices, warm;
  HeadsByLimit(Kernel& k, const PlannerSpace& space, Index heads, Index limit) : matrices(k.index(0)), warm(k.index(0)) {
    for_((heads + 3) >> 2, [&](Index i) {  // behind the last head stands 0
      for (const Index w : space.erase().four(i)) {
        Pred matrix = w > limit;
        add(matrices, select(matrix, k.index(1), 0)), add(warm, select(matrix, k.index(0), w));
      }
    });
  }
};

class Candidate {
 protected:
  Kernel& k_;
  PlannerArguments a_;
  PlannerSpace space_;
  Survey s_;
  Index step_;

 public:
  Candidate(Kernel& k, const PlannerArguments& a, const PlannerSpace& space, const Survey& s) : k_(k), a_(a), space_(space), s_(s), step_(a.step(k)) {}

  Var<Index> items = zero(), records = zero(), erasing = zero(), matrices = zero();  ///< items without those of erasing heads; the limit; heads beyond it
  // Of matrix heads: chains that are not cut, prepasses, chains of two segments, finals of all that are cut; when the finals begin.
  Var<Index> whole = zero(), prepasses = zero(), pairs = zero(), finals = zero(), finals_at = zero(), pairs_at = zero();
  /// SMs on which erasing heads begin at the same time: how many, and when.
  struct Region {
    Var<Index> slots, before;
  };
  Region regions[3] = {{zero(), zero()}, {zero(), zero()}, {zero(), zero()}};

  /// What matrix heads take in a time, and the SMs that they leave to the others.
  void cut(Index time, Pred bold) {
    Index length = quotient(max(time - select(bold, a_.start + step_, a_.start * 2), 0), select(bold, a_.state, step_ + a_.state));
    erasing.set(erasing_limit(k_, a_, select(bold, min(length, kNeverErased - 1), careful_limit(length))));
    HeadsByLimit by_limit(k_, space_, s_.heads, erasing.get());
    matrices.set(by_limit.matrices.get()), warm_.set(by_limit.warm.get());
    rounds_.set(k_.index(0));
    Var<Index> again(k_.index(1));
    k_.while_([&] { return again.get() != 0; }, [&] {
      add(rounds_, 1);
      possible_.set(k_.index(1));
      cut_matrices(time);
      again.set(select((possible_.get() != 0) & (rounds_.get() == 1) & (busy_.get() + later_.get() > a_.slots), k_.index(1), 0));
    });
    share_slots();
    items.set(prepasses.get() + finals.get() + whole.get());
    reserve_.set(k_.index(0));
    if_(tail_chains_.get() > 0, [&] {  // whole chains that follow the list begin as SMs become free, in an order that is not ours
      Index left = a_.slots - busy_.get();
      if_(left > 0, [&] { reserve_.set(large_quotient(tail_work_.get() + left - 1, left) + tail_longest_.get()); }, [&] { possible_.set(k_.index(0)); });
    });
  }

  /// How a sequence's chains are cut by heads with matrices: n segments, the fewest that end within `time`; 1 where they stay whole, 0 where they follow the
  /// list, -1 if there is no way.
  void cut_of(Index chunks, Index time, Var<Index>& n, Var<Index>& share) {
    Pred alone = a_.whole(chunks) <= time;
    n.set(select(alone & (s_.all == 0), k_.index(0), 1)), share.set(k_.index(0));
    if_((matrices.get() > 0) & !alone, [&] {
      Index length = chunks << a_.shift, start = a_.start, hop = a_.hop, most = share_.get();
      Index l = quotient_up(start + length, step_ * 2 - a_.state);
      Pred two = (rounds_.get() == 1) & (l < chunks) & (a_.whole(l) <= time) & (start * 2 + l * a_.state + ((chunks - l) << a_.shift) <= time);
      // Else the least n with hop (n - 1) (n - 2) / 2 + length <= n most: that is where the smaller root lies, which fp32 gives to less than 1.
      Real b = to_real(most) + to_real(hop) * 1.5, c = to_real((length + hop) * 2);
      Index m = max(min(to_index(c * reciprocal(b + sqrt(max(b * b - c * to_real(hop), 0.0)))), kMaxSegments), 3);
      const auto all = [&](Index n) { return length + hop * (((n - 1) * (n - 2)) >> 1); };
      const auto enough = [&](Index n) { return all(n) <= most * n; };
      m = select(enough(m), m, select(enough(m + 1), m + 1, m + 2));
      Index even = quotient(all(m), m);
      Pred fits = (most >= step_) & enough(m) & (m <= min(chunks, kMaxSegments)) & (even - hop * (m - 2) >= step_);
      n.set(select(two, k_.index(2), select(fits, m, -1))), share.set(select(two, l << a_.shift, even));
    });
  }

  /// The time it takes if the erasing heads fit, as far as can be said without laying them out; kNoPlan if they do not.
  Index estimate(Index time) {
    Index heads = s_.heads - matrices.get(), begin = a_.start + quotient(warm_.get(), max(heads, 1)) * a_.state + (a_.state >> 1);
    Var<Index> room(k_.index(0));
    for (const Region& r : regions) add(room, max(r.slots.get(), 0) * (max(time - reserve_.get() - r.before.get() - begin, 0) >> 3));
    return makespan(time, (heads == 0) | (room.get() >= ((heads * chunks_.get()) << a_.shift) >> 3), items.get());
  }

 protected:
  Var<Index> zero() const { return Var<Index>(k_.index(0)); }
  Index makespan(Index time, Pred laid, Index all_items) const {
    Pred fits = laid & (possible_.get() != 0) & (all_items <= a_.item_capacity) & (records.get() <= a_.record_capacity);
    return select(fits, max(max(time, reserve_.get()), max(finals_at.get() + final_time_.get(), max(pair_time_.get(), whole_end_.get()))), kNoPlan);
  }
  // Whole chains that follow the list: how many, their work, the longest one's time; the time that is kept for them.
  Var<Index> tail_chains_ = zero(), tail_work_ = zero(), tail_longest_ = zero(), reserve_ = zero();
  Var<Index> rounds_ = zero(), share_ = zero();  ///< turns that the prepasses take; what a segment may be as long as, before hops

 private:
  Var<Index> possible_ = zero(), warm_ = zero();
  // Of matrix heads: the time of the longest chain that is not cut, when these are done; SMs that the others take altogether, SMs that they leave after the
  // prepasses; times of the longest prepass, of the longest final, of the longest chain of two segments.
  Var<Index> whole_time_ = zero(), whole_end_ = zero(), busy_ = zero(), later_ = zero(), prepass_time_ = zero(), final_time_ = zero(), pair_time_ = zero();
  Var<Index> chunks_ = zero();  ///< of the sequences in the list

  void cut_matrices(Index time) {
    for (Var<Index>* v : {&whole, &whole_time_, &prepasses, &pairs, &finals, &busy_, &later_, &prepass_time_, &final_time_, &pairs_at, &pair_time_, &records, &chunks_}) v->set(k_.index(0));
    tail_chains_.set(s_.other_chains), tail_work_.set(s_.other_work), tail_longest_.set(s_.other_longest);
    share_.set(large_quotient(max(time - (rounds_.get() + 1) * a_.start, 0) << a_.shift, rounds_.get() * a_.state + step_));
    Var<Index> known(k_.index(-1)), n(k_.index(0)), share(k_.index(0));
    for_(s_.listed, [&](Index i) {
      Index chunks = space_.chunks()[i], alone = a_.whole(chunks);
      if_(chunks != known.get(), [&] { known.set(chunks), cut_of(chunks, time, n, share); });  // sequences of one length are cut alike
      if_(n.get() > 1, [&] { take(n.get(), share.get(), chunks, matrices.get()); }, [&] {
        if_(n.get() < 0, [&] { possible_.set(k_.index(0)); });
        if_(n.get() == 0, [&] { add(tail_chains_, s_.heads), add(tail_work_, s_.heads * alone), keep_max(tail_longest_, alone); });
        if_((n.get() > 0) & (alone <= time) & (matrices.get() > 0), [&] { add(whole, matrices.get()), keep_max(whole_time_, alone); });
      });
      add(chunks_, select(n.get() > 0, chunks, 0));
    });
  }

  /// Counts a sequence's chains of n segments.
  void take(Index n, Index share, Index chunks, Index heads) {
    add(records, heads * (n - 1)), add(finals, heads * n);
    if_(n == 2, [&] {
      Index first = share >> a_.shift, pre = a_.start + first * a_.state;
      add(prepasses, heads), add(pairs, heads), add(busy_, heads * 2), keep_max(pairs_at, pre);
      keep_max(pair_time_, max(a_.whole(first), pre + a_.whole(chunks - first)));
    }, [&] {
      add(prepasses, heads * (n * 2 - 3)), add(busy_, heads * n), add(later_, heads * (n - 3));
      Index most = (share + step_ - 1) >> a_.shift;
      keep_max(prepass_time_, a_.start + most * a_.state), keep_max(final_time_, a_.whole(most));
    });
  }

  /// The SMs that matrix heads leave to the others, and from when on.
  void share_slots() {
    Pred twice = rounds_.get() == 2;
    later_.set(select(twice, a_.slots - busy_.get(), later_.get()));
    Index free = select(twice, k_.index(0), a_.slots - busy_.get() - later_.get());
    Index turns = quotient(whole.get(), max(free, 1)), left = whole.get() - turns * free;
    Pred bad = (later_.get() < 0) | (free < 0) | (prepasses.get() > rounds_.get() * a_.slots) | ((whole.get() > 0) & (free == 0)) | (turns >= kMostTurns);
    possible_.set(select(bad, k_.index(0), possible_.get()));
    whole_end_.set(select(left > 0, turns + 1, turns) * whole_time_.get());
    finals_at.set(rounds_.get() * prepass_time_.get());
    const Index slots[] = {free - left, left, later_.get()}, before[] = {turns * whole_time_.get(), (turns + 1) * whole_time_.get(), finals_at.get()};
    for (int r = 0; r < 3; ++r) regions[r].slots.set(slots[r]), regions[r].before.set(before[r]);
  }
};

}  // namespace tilewright::gdn
