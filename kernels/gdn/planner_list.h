// The list of the plan, written by all threads of the planner in the order of Emitter in planner_reference.cpp.
#pragma once
#include "kernels/gdn/planner_candidate.h"

namespace tilewright::gdn {

class PlanList {
 public:
  PlanList(Kernel& k, const Tensor<i32>& plan, const PlannerArguments& a, const PlannerSpace& space, Index heads, Index listed)
      : k_(k), plan_(plan), a_(a), space_(space), heads_(heads), listed_(listed), position_(k.index(0)), base_(k.index(0)), matrices_(k.index(0)) {}

  void header(Index items, Index longest_whole, Index records) const {
    if_(k_.thread() == 0, [&] {
      plan_.write({0, plan_header::kItems}, items);
      plan_.write({0, plan_header::kLongestWhole}, longest_whole);
      plan_.write({0, plan_header::kRecords}, records);
    });
  }

  /// The layout that `c` has recorded.
  void write(Candidate& c) {
    Reductions reduce(k_, space_.scratch());
    sort_heads(c.erasing.get());
    for_cuts([&](Index i, Index n) { prepasses(i, n, a_.hop); });
    Var<Index> pairs(k_.index(0)), finals(k_.index(0));
    for_cuts([&](Index i, Index n) {
      if_(n == 2, [&] { finals_of(i, n, a_.hop, 0, 1), add(pairs, matrices_.get()); });
      if_(n > 2, [&] { add(finals, matrices_.get() * n); });
    });
    for_cuts([&](Index i, Index n) {
      if_(n == 1, [&] {
        for_range(k_.thread(), matrices_.get(), kPlannerThreads, [&](Index h) {
          item(position_.get() + h, space_.sequence()[i], space_.head()[h], k_.index(0), space_.chunks()[i], SegmentKind::final, k_.index(-1), k_.index(0));
        });
        add(position_, matrices_.get());
      });
    });
    // What begins later, as five groups and the chains that begin behind a piece of another one by one; of those that begin at one time the groups come first.
    const Index at[] = {c.regions[0].before.get(), c.finals_at.get(), c.pairs_at.get(), c.regions[1].before.get(), c.regions[2].before.get()};
    const Index count[] = {c.regions[0].used.get(), finals.get(), pairs.get(), c.regions[1].used.get(), c.regions[2].used.get()};
    std::vector<Var<Index>> earlier;
    for (int g = 0; g < 5; ++g) earlier.emplace_back(k_.index(0));
    const Words begin_at = space_.begin_at();
    for_range(k_.thread(), k_.index(kMaxListedChains), kPlannerThreads, [&](Index chain) {
      Index begins = begin_at[chain];
      for (int g = 0; g < 5; ++g) add(earlier[std::size_t(g)], select(begins < at[g], k_.index(1), 0));
    });
    std::vector<Index> sums;
    for (const auto& e : earlier) sums.push_back(e.get());
    std::vector<Index> place = reduce(sums, {});
    for (int g = 0; g < 5; ++g) {
      place[std::size_t(g)] = place[std::size_t(g)] + position_.get();
      for (int other = 0; other < 5; ++other)
        if (other != g) place[std::size_t(g)] = place[std::size_t(g)] + select(other < g ? at[other] <= at[g] : at[other] < at[g], count[other], 0);
    }
    begins(at, count);
    Var<Index> base(k_.index(0));
    for (int r = 0; r < 3; ++r) {
      region(c.regions[r].used.get(), base.get(), place[std::size_t(r == 0 ? 0 : r + 2)]);
      add(base, c.regions[r].slots.get());
    }
    for (const int pair : {0, 1}) {
      position_.set(place[std::size_t(pair == 0 ? 1 : 2)]);
      for_cuts([&](Index i, Index n) {
        if_(pair == 0 ? n > 2 : n == 2, [&] { finals_of(i, n, a_.hop, pair, 0); });
      });
    }
  }

  /// Equal segments, as `segments` and `share` of the space say, for lengths that decide for each sequence which heads erase.
  template <class Limit>
  void write_equal(Limit&& erasing_of) {
    const Index level = k_.index(0);
    for (const int pass : {0, 1, 2}) {
      base_.set(k_.index(0));
      for_(listed_, [&](Index i) {
        Index n = space_.segments()[i];
        sort_heads(erasing_of(i));
        if (pass == 0) prepasses(i, n, level);
        if (pass == 1) erasing_segments(i, n);
        if (pass == 2) finals_of(i, n, level, 0, 0);
        add(base_, matrices_.get() * (n - 1));
      });
    }
  }

 private:
  void item(Index at, Index sequence, Index head, Index first, Index chunks, SegmentKind kind, Index base, Index segment) const {
    item(at, sequence, head, first, chunks, k_.index(static_cast<int>(kind)), base, segment);
  }
  void item(Index at, Index sequence, Index head, Index first, Index chunks, Index kind, Index base, Index segment) const {
    const std::pair<int, Index> words[] = {{plan_item::kSequence, sequence}, {plan_item::kHead, head}, {plan_item::kFirst, first}, {plan_item::kChunks, chunks},
                                           {plan_item::kKind, kind}, {plan_item::kBase, base}, {plan_item::kSegment, segment}};
    for (const auto& [word, x] : words) plan_.write({at + 1, word}, x);
  }

  /// Matrix heads from the front of the space's heads, erasing ones from behind.
  void sort_heads(Index erasing) {
    k_.sync();
    Index h = k_.thread(), warp = k_.warp();
    Pred there = h < heads_, matrix = there & (space_.erase()[h] > erasing);
    Index matrices = ballot(k_, matrix), others = ballot(k_, there & !matrix);
    const Shared<i32> counts = space_.scratch().tile;
    if_(k_.lane() == 0, [&] { counts.write(14, warp, count_bits(k_, matrices)), counts.write(15, warp, count_bits(k_, others)); });
    k_.sync();
    Var<Index> before(count_bits(k_, matrices & lanes_below(k_))), others_before(count_bits(k_, others & lanes_below(k_))), all(k_.index(0));
    for (int w = 0; w < 4; ++w) {
      Index m = counts.read(14, w), o = counts.read(15, w);
      add(before, select(warp > w, m, 0)), add(others_before, select(warp > w, o, 0)), add(all, m);
    }
    if_(there, [&] { space_.head().set(select(matrix, before.get(), heads_ - 1 - others_before.get()), h); });
    matrices_.set(all.get());
    k_.sync();
  }

  /// f for the listed sequences that are in the list, with their segments; `base_` is their first record.
  template <class F>
  void for_cuts(F&& f) {
    base_.set(k_.index(0));
    if_(matrices_.get() > 0, [&] {
      for_(listed_, [&](Index i) {
        Index n = space_.segments()[i];
        f(i, n);
        add(base_, matrices_.get() * max(n - 1, 0));
      });
    });
  }

  void segment(Index at, Index i, Index n, Index slope, Index rank, Index j, Index kind) const {
    Index chunks = space_.chunks()[i], share = space_.share()[i];
    Index from = cut_first(a_, n, share, slope, chunks, j), to = cut_first(a_, n, share, slope, chunks, j + 1);
    item(at, space_.sequence()[i], space_.head()[rank], from, to - from, kind, base_.get() + rank * (n - 1), j);
  }
  /// `end` of segment 0, then `end` and `transition` of each but the last.
  void prepasses(Index i, Index n, Index slope) {
    if_(n > 1, [&] {
      Index each = n * 2 - 3, all = matrices_.get() * each;
      for_range(k_.thread(), all, kPlannerThreads, [&](Index t) {
        Index rank = quotient(t, each), r = t - rank * each;
        Pred transition = (r > 0) & ((r & 1) == 0);
        segment(position_.get() + t, i, n, slope, rank, (r + 1) >> 1, kind_of(transition));
      });
      add(position_, all);
    });
  }
  Index kind_of(Pred transition) const {
    return select(transition, k_.index(static_cast<int>(SegmentKind::transition)), static_cast<int>(SegmentKind::end));
  }
  /// Finals of segments n - 1 down to `least`, or of segment 0 alone: the later ones have more to compose.
  void finals_of(Index i, Index n, Index slope, int least, int only_first) {
    if_(n > 1, [&] {
      Index each = only_first ? k_.index(1) : n - least, all = matrices_.get() * each;
      for_range(k_.thread(), all, kPlannerThreads, [&](Index t) {
        Index rank = quotient(t, each), j = only_first ? k_.index(0) : n - 1 - (t - rank * each);
        segment(position_.get() + t, i, n, slope, rank, j, k_.index(static_cast<int>(SegmentKind::final)));
      });
      add(position_, all);
    });
  }
  /// The segments of a sequence's erasing heads, all equal.
  void erasing_segments(Index i, Index n) {
    Index all = (heads_ - matrices_.get()) * n, chunks = space_.chunks()[i], share = space_.share()[i], level = k_.index(0);
    for_range(k_.thread(), all, kPlannerThreads, [&](Index t) {
      Index rank = quotient(t, n), j = t - rank * n;
      Index from = cut_first(a_, n, share, level, chunks, j), to = cut_first(a_, n, share, level, chunks, j + 1);
      item(position_.get() + t, space_.sequence()[i], space_.head()[heads_ - 1 - rank], from, to - from, SegmentKind::final, k_.index(-1), j);
    });
    add(position_, all);
  }

  /// A chain's first piece, or one of its others.
  void piece(Index at, Index chain, Index first, Index chunks, Index segment) const {
    Index i = quotient(chain, heads_);
    item(at, space_.sequence()[i], chain - i * heads_, first, chunks, SegmentKind::final, k_.index(-1), segment);
  }
  void begins(const Index (&at)[5], const Index (&count)[5]) const {
    const Words begin_at = space_.begin_at();
    for_range(k_.thread(), listed_ * heads_, kPlannerThreads, [&](Index chain) {
      Index mine = begin_at[chain];
      if_(mine < kNoPlan, [&] {
        Var<Index> rank(position_.get());
        for (int g = 0; g < 5; ++g) add(rank, select(at[g] <= mine, count[g], 0));
        for_((listed_ * heads_ + 3) >> 2, [&](Index row) {
          for (int w = 0; w < 4; ++w) {
            Index other = begin_at.tile.read(row, w);
            add(rank, select((other < mine) | ((other == mine) & (row * 4 + w < chain)), k_.index(1), 0));
          }
        });
        piece(rank.get(), chain, k_.index(0), space_.begin_chunks()[chain], k_.index(0));
      });
    });
  }
  /// What is first on the SMs of a region.
  void region(Index used, Index base, Index place) const {
    for_range(k_.thread(), used, kPlannerThreads, [&](Index t) {
      Index packed = space_.slot_chain()[base + t];
      piece(place + t, packed & 255, space_.slot_first()[base + t], space_.slot_chunks()[base + t], packed >> 8);
    });
  }

  Kernel& k_;
  Tensor<i32> plan_;
  PlannerArguments a_;
  PlannerSpace space_;
  Index heads_, listed_;
  Var<Index> position_, base_, matrices_;  ///< the next item's; the sequence's first record; matrix heads
};

}  // namespace tilewright::gdn
