// The erasing heads of a candidate: their chains along the SMs that the others leave, one after the other, and cut where an SM's time is over. The same steps
// in the same integers as Line in planner_layout.cpp.
//
// Each thread walks a line for a time of its own. Where it has been, it marks at up to kMarks chains; so the line that is chosen can be written by as many
// threads, each from a mark on.
#pragma once
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

  /// Of a walk by all threads: SMs of each region on which anything begins.
  Var<Index> used[3] = {zero(), zero(), zero()};
  Var<Index> pieces = zero();

  /// Walks the line of the candidate that cut() has prepared, each thread its own; gives the time that everything takes, kNoPlan if it does not fit.
  /// With `record` all threads have prepared the candidate whose line thread `who` has walked, and write it to the shared space.
  Index walk(Index time, Pred record, Index who) {
    Index chains = s_.listed * s_.heads, apart = (chains + (PlannerSpace::kMarks - 1)) >> kLogMarks, first = min(select(record, k_.thread() * apart, 0), chains);
    Var<Index> mark(k_.index(0));
    if_(record & (first < chains), [&] { mark.set(space_.marks()[k_.thread() * kPlannerThreads + who]); });
    Index slot = (mark.get() >> kMarkBits) & 255, one = regions[0].slots.get(), two = one + regions[1].slots.get();
    start(time, select(record, select(slot < one, k_.index(0), select(slot < two, k_.index(1), 2)), 0));
    slot_.set(select(record, slot, slot_.get())), left_.set(select(record, mark.get() & ((1 << kMarkBits) - 1), left_.get()));
    along(time, first, min(select(record, first + apart, chains), chains), apart, record);
    return makespan(time, todo_.get() == 0, items.get() + pieces.get());
  }

 private:
  static constexpr int kMarkBits = 24, kLogMarks = 4;  // kLongestTime is less than half of what the bits hold
  static_assert(PlannerSpace::kMarks == 1 << kLogMarks);
  static_assert(kMaxPlannedSms <= 1 << (32 - kMarkBits) && 2 * kLongestTime <= 1 << kMarkBits);

  // Where the line is: in which region, on which SM, what is left of its time; the region's last SM + 1, when its SMs begin, how long they work.
  Var<Index> region_ = zero(), slot_ = zero(), left_ = zero(), end_ = zero(), before_ = zero(), limit_ = zero();
  Var<Index> todo_ = zero();  ///< chunks of the chain that have no place yet

  void put(Index slot, Index name, Index first, Index chunks) const {
    space_.slot_chain().set(slot, name), space_.slot_first().set(slot, first), space_.slot_chunks().set(slot, chunks);
  }

  /// At the beginning of the first region from `from` on that has an SM with time for anything.
  void start(Index time, Index from) {
    Var<Index> at(from);
    for (int r = 0; r < 3; ++r) {
      Pred useless = (regions[r].slots.get() <= 0) | (time - reserve_.get() - regions[r].before.get() - a_.start < step_);
      at.set(select((at.get() == r) & useless, k_.index(r + 1), at.get()));
    }
    Index one = regions[0].slots.get(), two = one + regions[1].slots.get(), three = two + regions[2].slots.get();
    const auto of = [&](Index first, Index second, Index third) { return select(at.get() == 0, first, select(at.get() == 1, second, third)); };
    region_.set(at.get()), slot_.set(of(k_.index(0), one, two)), end_.set(of(one, two, three));
    before_.set(of(regions[0].before.get(), regions[1].before.get(), regions[2].before.get()));
    limit_.set(time - reserve_.get() - before_.get()), left_.set(limit_.get());
  }

  /// Lays the erasing heads' chains from number `chain` to `last`, and marks where the line is at every `apart`-th.
  void along(Index time, Index chain, Index last, Index apart, Pred record) {
    for (auto& u : used) u.set(k_.index(0));
    pieces.set(k_.index(0)), todo_.set(k_.index(0));
    Index at = min(chain, s_.listed * s_.heads - 1), sequence = quotient(at, s_.heads);
    Var<Index> i(sequence), h(at - sequence * s_.heads), next_erase(space_.erase()[h.get()]), next_chunks(space_.chunks()[sequence]), next_mark(select(record, last, 0)), mark(k_.thread());
    for_range(chain, last, 1, [&](Index c) {
      Index erase = next_erase.get(), chunks = next_chunks.get(), name = PieceName::of(i.get(), h.get(), k_.index(0));
      Pred wraps = h.get() + 1 == s_.heads;
      h.set(select(wraps, k_.index(0), h.get() + 1)), i.set(min(select(wraps, i.get() + 1, i.get()), s_.listed - 1));
      next_erase.set(space_.erase()[h.get()]), next_chunks.set(space_.chunks()[i.get()]);  // ahead of their use
      if_(c == next_mark.get(), [&] {
        space_.marks().set(mark.get(), (slot_.get() << kMarkBits) | left_.get());
        add(mark, kPlannerThreads), add(next_mark, apart);
      });
      if_((erase <= erasing.get()) & takes(chunks, time) & (todo_.get() == 0), [&] { place(time, c, name, chunks, erase * a_.state, record); });
    });
    note(slot_.get() + select(left_.get() < limit_.get(), k_.index(1), 0));
  }

  void place(Index time, Index chain, Index name, Index chunks, Index warm, Pred record) {
    Var<Index> segment(k_.index(0));
    todo_.set(chunks);
    k_.while_([&] { return (todo_.get() > 0) & (region_.get() < 3); }, [&] {  // once, if the region does
      Index todo = todo_.get(), limit = limit_.get() - a_.start;
      Pred first = segment.get() == 0, taken = left_.get() != limit_.get();
      // A beginning that saves less than the restart behind it is not worth it.
      Index x = (left_.get() - a_.start - select(first, k_.index(0), warm)) >> a_.shift;
      Pred skips = first & taken & (x < todo) & ((x << a_.shift) <= warm);
      Index slot = select(skips, slot_.get() + 1, slot_.get()), room = select(skips, limit >> a_.shift, x);
      Index head = select((slot < end_.get()) & (room > 0), min(todo, room), 0), rest = todo - head, heads = select(head > 0, k_.index(1), 0);
      // Then `whole` full SMs, and what is over on one more. The division is exact up to kLongestChain: (rest - 1/2) / full is 1 / (2 full) off an integer, at least.
      Index full = (limit - warm) >> a_.shift, some = max(full, 1), there = select(full > 0, max(end_.get() - 1 - slot, 0), 0);
      Index needed = to_index((to_real(rest) - 0.5) * reciprocal(to_real(some)));
      Pred ends = (rest == 0) | (needed < there);
      Index whole = min(needed, there), over = rest - needed * some, others = select(rest == 0, k_.index(0), select(ends, whole + 1, whole));
      if_(record, [&] {
        Index done = chunks - todo, piece = name + (segment.get() << 16), second = piece + (heads << 16);
        if_(head > 0, [&] {
          if_(taken & !skips, [&] { space_.begin_at().set(chain, before_.get() + limit_.get() - left_.get()), space_.begin_chunks().set(chain, head); }, [&] { put(slot, piece, done, head); });
        });
        for_(others, [&](Index t) { put(slot + 1 + t, second + (t << 16), done + head + t * full, select(t < whole, full, over)); });
      });
      add(segment, others + heads), add(pieces, others + heads);
      if_(ends, [&] {
        Index left = select(skips, limit_.get(), left_.get()) - a_.start - select(first, k_.index(0), warm) - (head << a_.shift);
        left_.set(select(rest == 0, left, limit - warm - (over << a_.shift)));
        slot_.set(slot + others), todo_.set(k_.index(0));
      }, [&] {
        todo_.set(rest - there * full);
        note(slot + others + heads);
        start(time, region_.get() + 1);
      });
    });
  }
  /// Of this region the SMs before `end` have been used.
  void note(Index end) {
    Index one = regions[0].slots.get(), two = one + regions[1].slots.get();
    const Index firsts[] = {k_.index(0), one, two};
    for (int r = 0; r < 3; ++r) used[r].set(select(region_.get() == r, end - firsts[r], used[r].get()));
  }
};

}  // namespace tilewright::gdn
