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

class Line : public Candidate {
 public:
  using Candidate::Candidate;

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
    start(time, select(record, select(slot < one, k_.index(0), select(slot < two, k_.index(1), 2)), 0));
    slot_.set(select(record, slot, slot_.get())), left_.set(select(record, (mark.get() & ((1 << kMarkBits) - 1)) - a_.start, left_.get()));
    along(time, first, min(select(record, first + apart, chains), chains), apart, record);
    return makespan(time, todo_.get() == 0, items.get() + pieces_.get());
  }

 private:
  static constexpr int kMarkBits = 24, kLogMarks = 4;  // kLongestTime is less than half of what the bits hold
  static_assert(PlannerSpace::kMarks == 1 << kLogMarks);
  static_assert(kMaxPlannedSms <= 1 << (32 - kMarkBits) && 2 * kLongestTime <= 1 << kMarkBits);

  // Where the line is: in which region, on which SM, what is left of its time behind an item's start; the region's last SM + 1, when its SMs begin, what there
  // is of their time.
  Var<Index> region_ = zero(), slot_ = zero(), left_ = zero(), end_ = zero(), before_ = zero(), limit_ = zero();
  Var<Index> todo_ = zero(), pieces_ = zero();  ///< chunks of the chain that have no place yet; pieces of all chains
  Var<Index> walked_[3] = {zero(), zero(), zero()};  ///< SMs of each region on which anything begins

  void put(Index slot, Index name, Index first, Index chunks) const {
    space_.slot_chain().set(slot, name), space_.slot_first().set(slot, first), space_.slot_chunks().set(slot, chunks);
  }

  /// At the beginning of the first region from `from` on that has an SM with time for anything. Behind the last one is no room.
  void start(Index time, Index from) {
    Var<Index> at(from);
    const auto limit = [&](int r) { return time - reserve_.get() - a_.start - regions[r].before.get(); };
    for (int r = 0; r < 3; ++r) at.set(select((at.get() == r) & ((regions[r].slots.get() <= 0) | (limit(r) < step_)), k_.index(r + 1), at.get()));
    Index one = regions[0].slots.get(), two = one + regions[1].slots.get(), three = two + regions[2].slots.get();
    const auto of = [&](Index first, Index second, Index third) { return select(at.get() == 0, first, select(at.get() == 1, second, third)); };
    region_.set(at.get()), slot_.set(of(k_.index(0), one, two)), end_.set(of(one, two, three));
    before_.set(of(regions[0].before.get(), regions[1].before.get(), regions[2].before.get()));
    limit_.set(select(at.get() < 3, of(limit(0), limit(1), limit(2)), 0)), left_.set(limit_.get());
  }

  /// Lays the erasing heads' chains from number `chain` to `last`, and marks where the line is at every `apart`-th.
  void along(Index time, Index chain, Index last, Index apart, Pred record) {
    for (auto& w : walked_) w.set(k_.index(0));
    pieces_.set(k_.index(0)), todo_.set(k_.index(0));
    Index at = min(chain, s_.listed * s_.heads - 1), sequence = quotient(at, s_.heads), shorter = select(s_.all != 0, k_.index(-1), (time - a_.start) >> a_.shift);
    Var<Index> i(sequence), h(at - sequence * s_.heads), next_erase(space_.erase()[h.get()]), next_chunks(space_.chunks()[sequence]), next_mark(select(record, last, 0)), mark(k_.thread());
    for_range(chain, last, 1, [&](Index c) {
      Index erase = next_erase.get(), chunks = next_chunks.get(), name = PieceName::of(i.get(), h.get(), k_.index(0));
      Pred wraps = h.get() + 1 == s_.heads;
      h.set(select(wraps, k_.index(0), h.get() + 1)), i.set(min(select(wraps, i.get() + 1, i.get()), s_.listed - 1));
      next_erase.set(space_.erase()[h.get()]), next_chunks.set(space_.chunks()[i.get()]);  // ahead of their use
      if_(c == next_mark.get(), [&] {
        space_.marks().set(mark.get(), (slot_.get() << kMarkBits) | (left_.get() + a_.start));
        add(mark, kPlannerThreads), add(next_mark, apart);
      });
      if_((erase <= erasing.get()) & (chunks > shorter) & (todo_.get() == 0), [&] { place(time, c, name, chunks, erase * a_.state, record); });
    });
    note(slot_.get() + select(left_.get() < limit_.get(), k_.index(1), 0));
  }

  void place(Index time, Index chain, Index name, Index chunks, Index warm, Pred record) {
    // A beginning that saves less than the restart behind it is not worth it.
    Index x = left_.get() >> a_.shift;
    Pred taken = left_.get() != limit_.get(), skips = taken & (x < min(chunks, (warm >> a_.shift) + 1));
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
    left_.set(left.get() - a_.start - (head << a_.shift)), slot_.set(slot.get()), todo_.set(rest), add(pieces_, 1);
    if_(rest > 0, [&] {
      Var<Index> next(slot.get() + 1), segment(k_.index(1));
      k_.while_([&] { return (todo_.get() > 0) & (region_.get() < 3); }, [&] {  // once, if the region does
        // `whole` full SMs, and what is over on one more. The division is exact up to kLongestChain: (todo - 1/2) / full is 1 / (2 full) off an integer, at least.
        Index todo = todo_.get(), limit = limit_.get() - warm, full = limit >> a_.shift, some = max(full, 1), there = select(full > 0, end_.get() - next.get(), 0);
        Index needed = to_index((to_real(todo) - 0.5) * reciprocal(to_real(some))), whole = min(needed, there), over = todo - needed * some;
        Pred ends = needed < there;
        Index all = select(ends, whole + 1, whole);
        if_(record, [&] {
          Index done = chunks - todo, piece = name + (segment.get() << 16);
          for_(all, [&](Index t) { put(next.get() + t, piece + (t << 16), done + t * some, select(t < whole, some, over)); });
        });
        add(pieces_, all);
        if_(ends, [&] { left_.set(limit - a_.start - (over << a_.shift)), slot_.set(next.get() + needed), todo_.set(k_.index(0)); }, [&] {
          todo_.set(todo - there * some), add(segment, there);
          note(next.get() + there), start(time, region_.get() + 1);
          next.set(slot_.get());
        });
      });
    });
  }
  /// In this region something begins on the SMs before `end`.
  void note(Index end) {
    Index one = regions[0].slots.get(), two = one + regions[1].slots.get();
    const Index firsts[] = {k_.index(0), one, two};
    for (int r = 0; r < 3; ++r) walked_[r].set(select(region_.get() == r, end - firsts[r], walked_[r].get()));
  }
};

}  // namespace tilewright::gdn
