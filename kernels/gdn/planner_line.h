// The erasing heads of a candidate: their chains along the SMs that the others leave, one after the other, and cut where an SM's time is over. The same steps
// in the same integers as Line in planner_layout.cpp.
//
// Each thread walks a line for a time of its own. Where it has been, it marks at up to kMarks chains; so the line that is chosen can be written by as many
// threads, each from a mark on.
#pragma once
#include <utility>

#include "kernels/gdn/planner_candidate.h"

namespace tilewright::gdn {

/// A chain among the listed sequences' ones, and a segment of it, in one word.
struct PieceName {
  static Index of(Index sequence, Index head, Index segment) { return sequence | (head << 8) | (segment << 16); }
  static Index sequence(Index name) { return name & 255; }
  static Index head(Index name) { return (name >> 8) & 255; }
  static Index segment(Index name) { return name >> 16; }
};
static_assert(kMaxListedChains <= 256 && kMaxPlannedHeads <= 256);

/// A chain of the list as lines need it: time of a restart's warm-up, chunks, chunks that must fit on an SM for a beginning to be worth it; its name.
struct ChainWords {
  Index warm, chunks, bound, name;
};

class Line : public Candidate {
 public:
  using Candidate::Candidate;

  /// Writes the words of all chains to the shared space; they are there behind the next barrier.
  void prepare() const {
    for_range(k_.thread(), s_.listed * s_.heads, kPlannerThreads, [&](Index chain) {
      Index i = quotient(chain, s_.heads), h = chain - i * s_.heads, warm = space_.erase()[h] * a_.state, chunks = space_.chunks()[i];
      const Index words[] = {warm, chunks, min(chunks, (warm >> a_.shift) + 1), PieceName::of(i, h, k_.index(0))};
      for (int w = 0; w < 4; ++w) space_.chains().set(chain * 4 + w, words[w]);
    });
  }

  Var<Index> used[3] = {zero(), zero(), zero()};  ///< behind tell(): SMs of each region on which anything begins

  /// Thread `who` tells all others what its candidate is, which it has walked; `items` are all items then.
  void tell(Index who, Var<Index>& time) {
    std::vector<std::pair<Index, Var<Index>*>> words{{items.get() + pieces_.get(), &items}, {time.get(), &time}};
    for (Var<Index>* same : {&records, &erasing, &matrices, &whole, &prepasses, &pairs, &finals, &finals_at, &pairs_at, &reserve_, &rounds_, &share_}) words.emplace_back(same->get(), same);
    for (int r = 0; r < 3; ++r) {
      words.emplace_back(regions[r].slots.get(), &regions[r].slots), words.emplace_back(regions[r].before.get(), &regions[r].before);
      words.emplace_back(walked_[r].get(), &used[r]);
    }
    const Words told = space_.scratch(PlannerSpace::kCandidate);
    if_(k_.thread() == who, [&] {
      for (std::size_t i = 0; i < words.size(); ++i) told.set(static_cast<int>(i), words[i].first);
    });
    k_.sync();
    for (std::size_t i = 0; i < words.size(); ++i) words[i].second->set(told[static_cast<int>(i)]);
  }

  /// Walks the line of the candidate that cut() has prepared, each thread its own; gives the time that everything takes, kNoPlan if it does not fit.
  /// With `record` all threads have recalled the candidate whose line thread `who` has walked, and write it to the shared space.
  Index walk(Index time, Pred record, Index who) {
    Index chains = s_.listed * s_.heads, apart = (chains + (PlannerSpace::kMarks - 1)) >> kLogMarks, first = min(select(record, k_.thread() * apart, 0), chains);
    Var<Index> mark(k_.index(0));
    if_(record & (first < chains), [&] { mark.set(space_.marks()[k_.thread() * kPlannerThreads + who]); });
    Index slot = (mark.get() >> kMarkBits) & 255, one = regions[0].slots.get(), two = one + regions[1].slots.get();
    find_regions(time);
    start(time, select(record, select(slot < one, k_.index(0), select(slot < two, k_.index(1), 2)), 0));
    slot_.set(select(record, slot, slot_.get())), left_.set(select(record, (mark.get() & ((1 << kMarkBits) - 1)) - a_.start, left_.get()));
    along(time, first, min(select(record, first + apart, chains), chains), apart, record);
    return makespan(time, unplaced_.get() == 0, items.get() + pieces_.get());
  }

 private:
  /// Time enough for everything: below kNoPlan by more than all work (planner_costs).
  static constexpr int kEndless = 1 << 30;
  static constexpr int kMarkBits = 24, kLogMarks = 4;  // kLongestTime is less than half of what the bits hold
  static_assert(PlannerSpace::kMarks == 1 << kLogMarks);
  static_assert(kMaxPlannedSms <= 1 << (32 - kMarkBits) && 2 * kLongestTime <= 1 << kMarkBits);

  // Where the line is: in which region, on which SM, what is left of its time behind an item's start; the region's last SM + 1, when its SMs begin, what there
  // is of their time.
  Var<Index> from_[3] = {zero(), zero(), zero()};  ///< the first region with time for anything, from each on
  Var<Index> region_ = zero(), slot_ = zero(), left_ = zero(), end_ = zero(), before_ = zero(), limit_ = zero();
  Var<Index> shift_ = zero(), start_ = zero();  ///< of the arguments
  Var<Index> unplaced_ = zero(), pieces_ = zero();  ///< chunks of the chain that have no place yet; pieces of all chains
  Var<Index> walked_[3] = {zero(), zero(), zero()};  ///< SMs of each region on which anything begins

  void put(Index slot, Index name, Index first, Index chunks) const {
    space_.slot_chain().set(slot, name), space_.slot_first().set(slot, first), space_.slot_chunks().set(slot, chunks);
  }

  /// Which regions have an SM with time for anything.
  void find_regions(Index time) {
    Var<Index> first(k_.index(3));
    for (int r = 2; r >= 0; --r) {
      first.set(select((regions[r].slots.get() > 0) & (room_of(r, time) >= step_), k_.index(r), first.get()));
      from_[r].set(first.get());
    }
  }
  Index room_of(int r, Index time) const { return time - reserve_.get() - a_.start - regions[r].before.get(); }
  /// At the beginning of the first such region from `from` on. Behind the last one is no room.
  void start(Index time, Index from) {
    const auto of = [&](Index r, Index first, Index second, Index third) { return select(r == 0, first, select(r == 1, second, third)); };
    Index r = select(from < 3, of(from, from_[0].get(), from_[1].get(), from_[2].get()), 3);
    Index one = regions[0].slots.get(), two = one + regions[1].slots.get(), three = two + regions[2].slots.get();
    region_.set(r), slot_.set(of(r, k_.index(0), one, two)), end_.set(of(r, one, two, three));
    before_.set(of(r, regions[0].before.get(), regions[1].before.get(), regions[2].before.get()));
    limit_.set(select(r < 3, of(r, room_of(0, time), room_of(1, time), room_of(2, time)), 0)), left_.set(limit_.get());
  }

  /// Lays the erasing heads' chains from number `chain` to `last`, and marks where the line is at every `apart`-th.
  void along(Index time, Index chain, Index last, Index apart, Pred record) {
    for (auto& w : walked_) w.set(k_.index(0));
    pieces_.set(k_.index(0)), unplaced_.set(k_.index(0));
    shift_.set(k_.uniform(a_.shift)), start_.set(k_.uniform(a_.start));  // in registers: what comes from constant memory is late
    Index most_warm = erasing.get() * a_.state, shorter = select(s_.all != 0, k_.index(-1), (time - a_.start) >> a_.shift), final = s_.listed * s_.heads - 1;
    std::vector<Var<Index>> next;  // the next chain's words, ahead of their use
    for (const Index word : space_.chains().four(min(chain, final))) next.emplace_back(word);
    Var<Index> next_mark(select(record, last, 0)), mark(k_.thread());
    for_range(chain, last, 1, [&](Index c) {
      const ChainWords now{next[0].get(), next[1].get(), next[2].get(), next[3].get()};
      std::size_t w = 0;
      for (const Index word : space_.chains().four(min(c + 1, final))) next[w++].set(word);
      if_(c == next_mark.get(), [&] {
        space_.marks().set(mark.get(), (slot_.get() << kMarkBits) | (left_.get() + start_.get()));
        add(mark, kPlannerThreads), add(next_mark, apart);
      });
      if_((now.warm <= most_warm) & (now.chunks > shorter), [&] { place(time, c, now, record); });
    });
    note(slot_.get() + select(left_.get() < limit_.get(), k_.index(1), 0));
  }

  /// What place_in_steps() does, where that needs one region only.
  void place(Index time, Index chain, const ChainWords& of, Pred record) {
    Index x = left_.get() >> shift_.get();
    Pred skips = (left_.get() != limit_.get()) & (x < of.bound);
    Index slot = select(skips, slot_.get() + 1, slot_.get()), left = select(skips, limit_.get(), left_.get()), head = min(of.chunks, select(skips, limit_.get() >> shift_.get(), x));
    Index rest = of.chunks - head, limit = limit_.get() - of.warm, full = limit >> shift_.get(), needed = parts(rest, full);
    Pred all = rest == 0;
    Index last = select(all, slot, slot + 1 + needed), over = select(all, left - (head << shift_.get()), limit - ((rest - needed * full) << shift_.get()));
    if_((last < end_.get()) & (all | (full > 0)) & !record, [&] { add(pieces_, last - slot + 1), slot_.set(last), left_.set(over - start_.get()); },
        [&] { place_in_steps(time, chain, of, record); });
  }
  /// (chunks - 1) / full. In fp32 it is exact up to kLongestChain: (chunks - 1/2) / full is 1 / (2 full) off an integer, at least.
  static Index parts(Index chunks, Index full) { return to_index((to_real(chunks) - 0.5) * reciprocal(to_real(full))); }

  void place_in_steps(Index time, Index chain, const ChainWords& of, Pred record) {
    const auto& [warm, chunks, bound, name] = of;
    // A beginning that saves less than the restart behind it is not worth it.
    Index x = left_.get() >> a_.shift;
    Pred taken = left_.get() != limit_.get(), skips = taken & (x < bound);
    Var<Index> slot(select(skips, slot_.get() + 1, slot_.get())), left(select(skips, limit_.get(), left_.get())), room(select(skips, limit_.get() >> a_.shift, x));
    if_(slot.get() >= end_.get(), [&] {
      note(end_.get()), start(time, region_.get() + 1);
      slot.set(slot_.get()), left.set(left_.get()), room.set(left_.get() >> a_.shift);
    });
    Index head = min(chunks, room.get()), rest = chunks - head;
    if_(record, [&] {
      if_(taken & !skips, [&] { space_.begin_at().set(chain, before_.get() + limit_.get() - left.get()), space_.begin_chunks().set(chain, head); },
          [&] { put(slot.get(), name, k_.index(0), head); });
    });
    left_.set(left.get() - a_.start - (head << a_.shift)), slot_.set(slot.get()), unplaced_.set(rest), add(pieces_, 1);
    if_(rest > 0, [&] {
      Var<Index> next(slot.get() + 1), segment(k_.index(1));
      k_.while_([&] { return (unplaced_.get() > 0) & (region_.get() < 3); }, [&] {  // once, if the region does
        // `whole` full SMs, and what is over on one more.
        Index unplaced = unplaced_.get(), limit = limit_.get() - warm, full = limit >> a_.shift, some = max(full, 1), there = select(full > 0, end_.get() - next.get(), 0);
        Index needed = parts(unplaced, some), whole = min(needed, there), over = unplaced - needed * some;
        Pred ends = needed < there;
        Index all = select(ends, whole + 1, whole);
        if_(record, [&] {
          Index done = chunks - unplaced, piece = name + (segment.get() << 16);
          for_(all, [&](Index t) { put(next.get() + t, piece + (t << 16), done + t * some, select(t < whole, some, over)); });
        });
        add(pieces_, all);
        if_(ends, [&] { left_.set(limit - a_.start - (over << a_.shift)), slot_.set(next.get() + needed), unplaced_.set(k_.index(0)); }, [&] {
          unplaced_.set(unplaced - there * some), add(segment, there);
          note(next.get() + there), start(time, region_.get() + 1);
          next.set(slot_.get());
        });
      });
    });
    if_(unplaced_.get() > 0, [&] { end_.set(k_.index(kNoPlan)), limit_.set(k_.index(kEndless)), left_.set(limit_.get()); });  // so that the others need no steps
  }
  /// In this region something begins on the SMs before `end`.
  void note(Index end) {
    Index one = regions[0].slots.get(), two = one + regions[1].slots.get();
    const Index firsts[] = {k_.index(0), one, two};
    for (int r = 0; r < 3; ++r) walked_[r].set(select(region_.get() == r, end - firsts[r], walked_[r].get()));
  }
};

}  // namespace tilewright::gdn
