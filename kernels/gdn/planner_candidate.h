// One candidate of the planner: chains laid out so that all SMs end at about a given time, by each thread for a time of its own. The same steps in the
// same integers as lay_out in planner_layout.cpp; docs/kernels/gdn_plan.md explains them.
#pragma once
#include "kernels/gdn/planner_space.h"

namespace tilewright::gdn {

inline constexpr int kNoPlan = std::numeric_limits<std::int32_t>::max();

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
  return select(a.classes == static_cast<int>(HeadClass::erasing), k.index(kNeverErased), select(a.classes == static_cast<int>(HeadClass::matrix), k.index(-1), chosen));
}
inline Index careful_limit(Index length) { return length * 7 / 5; }
/// Heads that do not erase within `limit` chunks.
inline Index matrix_heads(Kernel& k, const PlannerSpace& space, Index heads, Index limit) {
  Var<Index> count(k.index(0));
  const Shared<i32> erase = space.erase().tile;
  for_((heads + 3) >> 2, [&](Index row) {  // behind the last head stands -2
    for (int i = 0; i < 4; ++i) add(count, select(erase.read(row, i) > limit, k.index(1), 0));
  });
  return count.get();
}

class Candidate {
  Kernel& k_;
  PlannerArguments a_;
  PlannerSpace space_;
  Survey s_;
  Index step_;

 public:
  Candidate(Kernel& k, const PlannerArguments& a, const PlannerSpace& space, const Survey& s) : k_(k), a_(a), space_(space), s_(s), step_(a.step(k)) {}

  // What came of it: in all threads alike after a run that records.
  Var<Index> makespan = zero(), items = zero(), records = zero(), erasing = zero(), finals_at = zero(), pairs_at = zero();
  /// SMs on which erasing heads begin at the same time: how many, when, and on how many of them any does.
  struct Region {
    Var<Index> slots, before, used;
  };
  Region regions[3] = {{zero(), zero(), zero()}, {zero(), zero(), zero()}, {zero(), zero(), zero()}};

  /// For a time, and a bold or careful limit of erasing heads: an estimate, by each thread of its own, or with `record` the layout, by all threads the
  /// same one, written to the shared space.
  void operator()(Index time, Pred bold, Pred record) {
    Index careful = careful_limit(max(time - a_.start * 2, 0) / (step_ + a_.state));
    erasing.set(erasing_limit(k_, a_, select(bold, (time - a_.start - step_) / a_.state, careful)));
    matrices_.set(matrix_heads(k_, space_, s_.heads, erasing.get()));
    possible_.set(k_.index(1)), rounds_.set(k_.index(0));
    Var<Index> again(k_.index(1));
    k_.while_([&] { return again.get() != 0; }, [&] {
      add(rounds_, 1);
      cut_matrices(time, record);
      again.set(select((possible_.get() != 0) & (rounds_.get() == 1) & (busy_.get() + later_.get() > a_.slots), k_.index(1), 0));
    });
    share_slots();
    items.set(prepasses_.get() + finals_.get() + whole_.get());
    reserve_.set(k_.index(0));
    if_(tail_chains_.get() > 0, [&] {  // whole chains that follow the list begin as SMs become free, in an order that is not ours
      Index left = a_.slots - busy_.get();
      if_(left > 0, [&] { reserve_.set((tail_work_.get() + left - 1) / left + tail_longest_.get()); }, [&] { possible_.set(k_.index(0)); });
    });
    if_(possible_.get() != 0, [&] {
      if_(record, [&] { lay_erasing(time); }, [&] { estimate_erasing(time); });
    });
    Pred fits = (possible_.get() != 0) & (items.get() <= a_.item_capacity) & (records.get() <= a_.record_capacity);
    Index matrices = max(finals_at.get() + final_time_.get(), max(pair_time_.get(), whole_end_.get()));
    makespan.set(select(fits, max(max(time, reserve_.get()), matrices), kNoPlan));
  }

 private:
  Var<Index> zero() const { return Var<Index>(k_.index(0)); }

  Var<Index> matrices_ = zero(), possible_ = zero(), rounds_ = zero();
  // Chains of matrix heads that are not cut, the longest one's time, when they are done.
  Var<Index> whole_ = zero(), whole_time_ = zero(), whole_end_ = zero();
  // Of those that are: items; SMs that they take altogether, SMs that they leave after the prepasses; times of the longest prepass, of the longest final,
  // of prepasses of two segments, of the longest chain of two.
  Var<Index> prepasses_ = zero(), finals_ = zero(), busy_ = zero(), later_ = zero(), prepass_time_ = zero(), final_time_ = zero(), pair_time_ = zero();
  // Whole chains that follow the list, and the time kept for them.
  Var<Index> tail_chains_ = zero(), tail_work_ = zero(), tail_longest_ = zero(), reserve_ = zero();
  // Of the sequences in the list: chunks, and how many there are.
  Var<Index> chunks_ = zero(), sequences_ = zero();
  // Where the line is: on which SM of which region, what is left of its time, whether it has been given anything.
  Var<Index> region_ = zero(), slot_ = zero(), left_ = zero(), taken_ = zero();
  // Of this region: its SMs, the first one's number, when they begin, how long they work.
  Var<Index> region_slots_ = zero(), region_base_ = zero(), region_before_ = zero(), limit_ = zero();

  /// Matrix heads' chains that end within `time`: how they are cut, and what they take.
  void cut_matrices(Index time, Pred record) {
    for (Var<Index>* v : {&whole_, &whole_time_, &prepasses_, &finals_, &busy_, &later_, &prepass_time_, &final_time_, &pairs_at, &pair_time_, &records, &chunks_, &sequences_}) v->set(k_.index(0));
    tail_chains_.set(s_.other_chains), tail_work_.set(s_.other_work), tail_longest_.set(s_.other_longest);
    Index rounds = rounds_.get(), matrices = matrices_.get();
    Index share = ((time - (rounds + 1) * a_.start) << a_.shift) / (rounds * a_.state + step_);
    for_(s_.listed, [&](Index i) {
      Index chunks = space_.chunks()[i], whole = a_.whole(chunks);
      Var<Index> n(k_.index(1)), cut_share(k_.index(0));
      if_(whole <= time, [&] {
        if_(s_.all == 0, [&] {
          n.set(k_.index(0));
          add(tail_chains_, s_.heads), add(tail_work_, s_.heads * whole), keep_max(tail_longest_, whole);
        }, [&] {
          if_(matrices > 0, [&] { add(whole_, matrices), keep_max(whole_time_, whole); });
        });
      }, [&] {
        if_(matrices > 0, [&] {
          cut(chunks, time, share, n, cut_share);
          if_(n.get() == 0, [&] { possible_.set(k_.index(0)); }, [&] { take(n.get(), cut_share.get(), chunks, matrices); });
        });
      });
      Pred in_list = n.get() > 0;
      add(chunks_, select(in_list, chunks, 0)), add(sequences_, select(in_list, k_.index(1), 0));
      if_(record & (k_.thread() == 0), [&] { space_.segments().set(i, n.get()), space_.share().set(i, cut_share.get()); });
    });
  }

  /// The fewest segments of a chain; 0 if there is no way.
  void cut(Index chunks, Index time, Index share, Var<Index>& n, Var<Index>& cut_share) {
    Index length = chunks << a_.shift, start = a_.start;
    n.set(k_.index(0));
    Index l = quotient_up(start + length, step_ * 2 - a_.state);
    Pred two = (rounds_.get() == 1) & (l < chunks) & (a_.whole(l) <= time) & (start * 2 + l * a_.state + ((chunks - l) << a_.shift) <= time);
    if_(two, [&] { n.set(k_.index(2)), cut_share.set(l << a_.shift); }, [&] {
      const int none = kMaxSegments + 1;
      Var<Index> least(k_.index(none));
      if_(share >= step_, [&] { least.set(max(quotient_up(length, share), 3)); });
      k_.while_([&] { return (least.get() <= min(chunks, kMaxSegments)) & (n.get() == 0); }, [&] {
        Index m = least.get(), all = length + a_.hop * (((m - 1) * (m - 2)) >> 1), needed = quotient_up(all, share);
        if_(needed > m, [&] { least.set(needed); }, [&] {
          Index even = quotient(all, m);
          if_(even - a_.hop * (m - 2) < step_, [&] { least.set(k_.index(none)); }, [&] { n.set(m), cut_share.set(even); });
        });
      });
    });
  }

  /// Counts a sequence's chains of n segments.
  void take(Index n, Index share, Index chunks, Index heads) {
    add(records, heads * (n - 1)), add(finals_, heads * n);
    if_(n == 2, [&] {
      Index first = share >> a_.shift, pre = a_.start + first * a_.state;
      add(prepasses_, heads), add(busy_, heads * 2), keep_max(pairs_at, pre);
      keep_max(pair_time_, max(a_.whole(first), pre + a_.whole(chunks - first)));
    }, [&] {
      add(prepasses_, heads * (n * 2 - 3)), add(busy_, heads * n), add(later_, heads * (n - 3));
      Index most = (share + step_ - 1) >> a_.shift;
      keep_max(prepass_time_, a_.start + most * a_.state), keep_max(final_time_, a_.whole(most));
    });
  }

  /// The SMs that matrix heads leave to the others, and from when on.
  void share_slots() {
    Pred twice = rounds_.get() == 2;
    later_.set(select(twice, a_.slots - busy_.get(), later_.get()));
    Index free = select(twice, k_.index(0), a_.slots - busy_.get() - later_.get());
    Pred bad = (later_.get() < 0) | (free < 0) | (prepasses_.get() > rounds_.get() * a_.slots) | ((whole_.get() > 0) & (free == 0));
    possible_.set(select(bad, k_.index(0), possible_.get()));
    Index turns = quotient(whole_.get(), max(free, 1)), left = whole_.get() - turns * free;
    whole_end_.set(select(left > 0, turns + 1, turns) * whole_time_.get());
    finals_at.set(rounds_.get() * prepass_time_.get());
    const Index slots[] = {free - left, left, later_.get()}, before[] = {turns * whole_time_.get(), (turns + 1) * whole_time_.get(), finals_at.get()};
    for (int r = 0; r < 3; ++r) regions[r].slots.set(slots[r]), regions[r].before.set(before[r]), regions[r].used.set(k_.index(0));
  }

  /// Whether the SMs of the regions do for the erasing heads: in SMs of the first region, of which one does `net` steps of a head between restart and end.
  void estimate_erasing(Index time) {
    const Index slots[] = {regions[0].slots.get(), regions[1].slots.get(), regions[2].slots.get()};
    Index room = time - reserve_.get() - a_.start, limit = erasing.get();
    const auto first_of = [&](auto&& what) { return select(slots[0] > 0, what(0), select(slots[1] > 0, what(1), what(2))); };
    Index first = first_of([&](int r) { return regions[r].before.get(); });
    Pred fine = chunks_.get() < (1 << 17);
    Index length = select(fine, chunks_.get() << kSlotParts, chunks_.get());
    Var<Index> needed(k_.index(0)), warm(k_.index(0)), heads(k_.index(0)), least(k_.index(1));
    const Shared<i32> erase = space_.erase().tile;
    for_((s_.heads + 3) >> 2, [&](Index row) {
      for (int i = 0; i < 4; ++i) {
        Index w = erase.read(row, i), warmth = w * a_.state, net = (room - first - warmth) >> a_.shift;
        Pred erases = (w >= 0) & (w <= limit);
        add(needed, select(erases, quotient(length, max(net, 1)), 0)), add(warm, select(erases, warmth, 0)), add(heads, select(erases, k_.index(1), 0));
        least.set(select(erases, min(least.get(), net), least.get()));
      }
    });
    if_(heads.get() > 0, [&] {
      Index mean = warm.get() / heads.get();
      const auto coarse = [&](Index before) {
        Index net = max((room - before - mean) >> a_.shift, 0);
        return select(fine, net, net >> kSlotParts);
      };
      Index one = max(coarse(first), 1), there = k_.index(0);
      for (int r = 0; r < 3; ++r) there = there + select(slots[r] > 0, quotient(max(slots[r], 0) * coarse(regions[r].before.get()), one), 0);
      Index whole = select(fine, needed.get() >> kSlotParts, needed.get());
      Pred some = (slots[0] > 0) | (slots[1] > 0) | (slots[2] > 0);
      if_((least.get() < 1) | (whole > there) | !some, [&] { possible_.set(k_.index(0)); });
      add(items, whole + heads.get() * sequences_.get());
    });
  }

  /// Erasing heads' chains along the SMs of the regions, one SM after the other.
  void lay_erasing(Index time) {
    const Words erase = space_.erase();
    region_.set(k_.index(0));
    enter(time);
    for_(s_.listed, [&](Index i) {
      Index chunks = space_.chunks()[i];
      if_((s_.all != 0) | (a_.whole(chunks) > time), [&] {
        for_(s_.heads, [&](Index h) {
          Index warm = erase[h];
          if_((warm <= erasing.get()) & (region_.get() < 3), [&] { place(i * s_.heads + h, chunks, warm * a_.state, time); });
        });
      });
    });
    if_(region_.get() < 3, [&] { note_used(); }, [&] { possible_.set(k_.index(0)); });
  }

  void place(Index chain, Index chunks, Index warm, Index time) {
    Index restart = a_.start + warm;
    Index x = (left_.get() - a_.start) >> a_.shift;
    // A beginning that saves less than the restart behind it is not worth it.
    if_((taken_.get() > 0) & (x < chunks) & ((x << a_.shift) <= warm), [&] { next(time); });
    if_(region_.get() < 3, [&] {
      Index head = min(chunks, (left_.get() - a_.start) >> a_.shift);
      if_(k_.thread() == 0, [&] {
        if_(taken_.get() == 0, [&] { put(slot_.get(), chain, k_.index(0), head); }, [&] {
          space_.begin_at().set(chain, region_before_.get() + limit_.get() - left_.get()), space_.begin_chunks().set(chain, head);
        });
      });
      left_.set(left_.get() - a_.whole(head)), taken_.set(k_.index(1)), add(items, 1);
      Var<Index> done(head), segment(k_.index(1));
      k_.while_([&] { return (done.get() < chunks) & (region_.get() < 3); }, [&] {
        next(time);
        const auto fits = [&] { return (limit_.get() - restart) >> a_.shift; };
        k_.while_([&] { return (fits() < 1) & (region_.get() < 3); }, [&] { leave(time); });
        if_(region_.get() < 3, [&] {  // full SMs, and the rest on one more
          Index full = fits(), rest = chunks - done.get(), there = region_slots_.get() - slot_.get(), m = min(quotient(rest - 1, full), there);
          Pred ends = m < there;
          Index over = rest - m * full, pieces = select(ends, m + 1, m);
          for_range(k_.thread(), pieces, kPlannerThreads, [&](Index t) {
            put(slot_.get() + t, chain | ((segment.get() + t) << 8), done.get() + t * full, select(t < m, full, over));
          });
          add(slot_, pieces - 1), add(items, pieces), add(segment, pieces), taken_.set(k_.index(1));
          left_.set(limit_.get() - restart - (select(ends, over, full) << a_.shift));
          done.set(select(ends, chunks, done.get() + m * full));
        });
      });
    });
  }
  void put(Index slot, Index chain, Index first, Index chunks) const {
    Index at = region_base_.get() + slot;
    space_.slot_chain().set(at, chain), space_.slot_first().set(at, first), space_.slot_chunks().set(at, chunks);
  }
  /// To the next SM.
  void next(Index time) {
    add(slot_, 1), taken_.set(k_.index(0)), left_.set(limit_.get());
    if_(slot_.get() >= region_slots_.get(), [&] { leave(time); });
  }
  void leave(Index time) { note_used(), add(region_, 1), enter(time); }
  void note_used() {
    for (int r = 0; r < 3; ++r) regions[r].used.set(select(region_.get() == r, slot_.get() + taken_.get(), regions[r].used.get()));
  }
  /// At the beginning of the next region that has an SM with time for anything.
  void enter(Index time) {
    slot_.set(k_.index(0)), taken_.set(k_.index(0));
    for (int r = 0; r < 3; ++r) {
      Pred useless = (regions[r].slots.get() <= 0) | (time - reserve_.get() - regions[r].before.get() - a_.start < step_);
      region_.set(select((region_.get() == r) & useless, k_.index(r + 1), region_.get()));
    }
    Index at = region_.get();
    const auto of = [&](auto&& what) { return select(at == 0, what(0), select(at == 1, what(1), what(2))); };
    region_slots_.set(of([&](int r) { return regions[r].slots.get(); }));
    region_before_.set(of([&](int r) { return regions[r].before.get(); }));
    region_base_.set(select(at == 0, k_.index(0), select(at == 1, regions[0].slots.get(), regions[0].slots.get() + regions[1].slots.get())));
    limit_.set(time - reserve_.get() - region_before_.get()), left_.set(limit_.get());
  }
};

}  // namespace tilewright::gdn
