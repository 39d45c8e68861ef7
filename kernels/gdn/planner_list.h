// The list of the plan, written by all threads of the planner in the order of Emitter in planner_reference.cpp.
#pragma once
#include "kernels/gdn/planner_line.h"

namespace tilewright::gdn {

class PlanList {
 public:
  PlanList(Kernel& k, const Tensor<i32>& plan, const PlannerArguments& a, const PlannerSpace& space, Index heads, Index listed)
      : k_(k), plan_(plan), a_(a), space_(space), heads_(heads), listed_(listed) {}

  void header(Index items, Index longest_whole, Index records) const {
    if_(k_.thread() == 0, [&] {
      plan_.write({0, plan_header::kItems}, items);
      plan_.write({0, plan_header::kLongestWhole}, longest_whole);
      plan_.write({0, plan_header::kRecords}, records);
    });
  }

  /// The layout that `c` has recorded, for this time.
  void write(Line& c, Index time) {
    sort_heads(c.erasing.get());
    // What begins later than the prepasses: three regions, two groups of finals, and the chains that begin behind a piece of another one by one. Of those that
    // begin at one time the groups come first.
    Index behind = c.prepasses.get() + c.pairs.get() + c.whole.get();
    const Index at[] = {c.regions[0].before.get(), c.finals_at.get(), c.pairs_at.get(), c.regions[1].before.get(), c.regions[2].before.get()};
    const Index count[] = {c.used[0].get(), c.finals.get() - c.pairs.get() * 2, c.pairs.get(), c.used[1].get(), c.used[2].get()};
    const Words places = space_.scratch(PlannerSpace::kPlaces);
    const Words begin_at = space_.begin_at();
    Index chains = listed_ * heads_;
    for_range(k_.thread(), chains + kGroups, kPlannerThreads, [&](Index entry) {
      Index chain = entry - kGroups;
      Var<Index> begins(begin_at[max(chain, 0)]), rank(behind);
      for (int g = 0; g < kGroups; ++g) begins.set(select(entry == g, at[g], begins.get()));
      if_(begins.get() < kNoPlan, [&] {
        Index mine = begins.get();
        for (int g = 0; g < kGroups; ++g) add(rank, select((at[g] < mine) | ((at[g] == mine) & (entry > g)), count[g], 0));
        for_((chains + 3) >> 2, [&](Index four) {
          int i = 0;
          for (const Index other : begin_at.four(four)) add(rank, select((other < mine) | ((other == mine) & (four * 4 + i++ < chain)), k_.index(1), 0));
        });
        if_(chain < 0, [&] { places.set(entry, rank.get()); }, [&] {
          piece(rank.get(), space_.chains()[chain * 4 + 3], k_.index(0), space_.begin_chunks()[chain]);
        });
      });
    });
    k_.sync();
    Index one = c.regions[0].slots.get(), two = one + c.regions[1].slots.get();
    for_range(k_.thread(), two + c.regions[2].slots.get(), kPlannerThreads, [&](Index slot) {
      const auto of = [&](Index first, Index second, Index third) { return select(slot < one, first, select(slot < two, second, third)); };
      Index number = slot - of(k_.index(0), one, two);
      if_(number < of(count[0], count[3], count[4]), [&] {
        piece(of(places[0], places[3], places[4]) + number, space_.slot_chain()[slot], space_.slot_first()[slot], space_.slot_chunks()[slot]);
      });
    });
    Positions p(k_);
    p.early.set(c.prepasses.get()), p.whole.set(c.prepasses.get() + c.pairs.get()), p.finals.set(places[1]), p.pairs.set(places[2]);
    if_(c.matrices.get() > 0, [&] {
      Var<Index> n(k_.index(0)), share(k_.index(0));
      for_(listed_, [&](Index i) {
        c.cut_of(space_.chunks()[i], time, n, share);
        if_(n.get() > 0, [&] { matrix_items(i, n.get(), share.get(), c.matrices.get(), a_.hop, p, true); });
      });
    });
  }

  /// Equal segments, as `segments` of the space says, behind so many prepasses; `pieces` are the erasing heads' ones. `erasing_of(i)` decides for each
  /// sequence which heads erase.
  template <class Limit>
  void write_equal(Limit&& erasing_of, Index prepasses, Index pieces) {
    Positions p(k_);
    Var<Index> erasing(prepasses);
    p.finals.set(prepasses + pieces);
    for_(listed_, [&](Index i) {
      Index n = space_.segments()[i], share = quotient(space_.chunks()[i] << a_.shift, n), limit = erasing_of(i), level = k_.index(0);
      Index matrices = HeadsByLimit(k_, space_, heads_, limit).matrices.get(), all = (heads_ - matrices) * n;
      sort_heads(limit);
      k_.sync();
      matrix_items(i, n, share, matrices, level, p, false);
      for_range(k_.thread(), all, kPlannerThreads, [&](Index t) {
        Index rank = quotient(t, n), j = t - rank * n, from = first_chunk(i, n, share, level, j);
        piece(erasing.get() + t, PieceName::of(i, space_.head()[heads_ - 1 - rank], j), from, first_chunk(i, n, share, level, j + 1) - from);
      });
      add(erasing, all);
      k_.sync();
    });
  }

 private:
  static constexpr int kGroups = 5;
  /// Where the next sequence's items go: prepasses, the early finals of two segments, chains that are not cut, other finals, the late finals of two; its first record.
  struct Positions {
    explicit Positions(Kernel& k) : prepasses(k.index(0)), early(k.index(0)), whole(k.index(0)), finals(k.index(0)), pairs(k.index(0)), base(k.index(0)) {}
    Var<Index> prepasses, early, whole, finals, pairs, base;
  };

  void item(Index at, Index sequence, Index head, Index first, Index chunks, Index kind, Index base, Index segment) const {
    const std::pair<int, Index> words[] = {{plan_item::kSequence, sequence}, {plan_item::kHead, head}, {plan_item::kFirst, first}, {plan_item::kChunks, chunks},
                                           {plan_item::kKind, kind}, {plan_item::kBase, base}, {plan_item::kSegment, segment}};
    for (const auto& [word, x] : words) plan_.write({at + 1, word}, x);
  }
  Index kind(SegmentKind kind) const { return k_.index(static_cast<int>(kind)); }
  /// A piece of an erasing head's chain.
  void piece(Index at, Index name, Index first, Index chunks) const {
    item(at, space_.sequence()[PieceName::sequence(name)], PieceName::head(name), first, chunks, kind(SegmentKind::final), k_.index(-1), PieceName::segment(name));
  }
  Index first_chunk(Index i, Index n, Index share, Index slope, Index j) const { return cut_first(a_, n, share, slope, space_.chunks()[i], j); }

  /// Matrix heads from the front of the space's heads, erasing ones from behind; there behind the next barrier.
  void sort_heads(Index erasing) {
    Index h = k_.thread(), warp = k_.warp();
    Pred there = h < heads_, matrix = there & (space_.erase()[h] > erasing);
    Index matrices = ballot(k_, matrix), others = ballot(k_, there & !matrix);
    const FromWarps counts(k_, space_.scratch(PlannerSpace::kHeads), {count_bits(k_, matrices), count_bits(k_, others)});
    Var<Index> before(count_bits(k_, matrices & lanes_below(k_))), others_before(count_bits(k_, others & lanes_below(k_)));
    for (int w = 0; w < 3; ++w) add(before, select(warp > w, counts(0, w), 0)), add(others_before, select(warp > w, counts(1, w), 0));
    if_(there, [&] { space_.head().set(select(matrix, before.get(), heads_ - 1 - others_before.get()), h); });
  }

  /// The items of a sequence's heads with matrices, whose chains have n segments: `end` of segment 0, then `end` and `transition` of each but the last; the
  /// finals, the later ones first, since they have more to compose. The finals of chains of two lie apart where `pairs_apart`.
  void matrix_items(Index i, Index n, Index share, Index heads, Index slope, Positions& p, bool pairs_apart) const {
    Index prepasses = max(n * 2 - 3, 0), each = prepasses + n;
    for_range(k_.thread(), heads * each, kPlannerThreads, [&](Index t) {
      Index rank = quotient(t, each), r = t - rank * each, late = r - prepasses;
      Pred final = late >= 0, transition = (r > 0) & ((r & 1) == 0);
      Index j = select(final, n - 1 - late, (r + 1) >> 1), finals = p.finals.get() + rank * n + late;
      if (pairs_apart) finals = select(n > 2, finals, select(n == 1, p.whole.get(), select(late == 0, p.pairs.get(), p.early.get())) + rank);
      Index at = select(final, finals, p.prepasses.get() + rank * prepasses + r), from = first_chunk(i, n, share, slope, j);
      item(at, space_.sequence()[i], space_.head()[rank], from, first_chunk(i, n, share, slope, j + 1) - from,
           select(final, kind(SegmentKind::final), select(transition, kind(SegmentKind::transition), static_cast<int>(SegmentKind::end))),
           select(n == 1, k_.index(-1), p.base.get() + rank * (n - 1)), j);
    });
    const auto if_of = [&](Pred what, Index x) { return select(what, x, 0); };
    add(p.prepasses, heads * prepasses), add(p.base, heads * (n - 1));
    if (!pairs_apart) return add(p.finals, heads * n);
    add(p.finals, if_of(n > 2, heads * n)), add(p.pairs, if_of(n == 2, heads)), add(p.early, if_of(n == 2, heads)), add(p.whole, if_of(n == 1, heads));
  }

  Kernel& k_;
  Tensor<i32> plan_;
  PlannerArguments a_;
  PlannerSpace space_;
  Index heads_, listed_;
};

}  // namespace tilewright::gdn
