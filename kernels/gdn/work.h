// What a CTA of the chain kernel does: a whole chain, or an item of the planner's list (segment_plan.h).
#pragma once
#include "kernels/gdn/offset_check.h"
#include "kernels/gdn/segment_plan.h"

namespace tilewright::gdn {

/// What the state is before the first chunk, and where it goes after the last.
enum class Start { initial, zero, identity, composed };
enum class Finish { nothing, final_state, end, transition };

/// Chunks begin .. begin + silent + loud - 1 of sequence n and head `head`, for value columns `column`..; the first `silent` only move the
/// state, the others write o as well.
struct Work {
  Index n, head, column, begin, silent, loud, start, finish;
  Index base, segment;  ///< first record of the chain, and which segment this is
  Index number;         ///< below 0: no work is left, and nothing else is told
  Sequence s;
  Pred some;  ///< whether there is anything to do

  Pred starts(Start from) const { return start == static_cast<int>(from); }
  Pred finishes(Finish with) const { return finish == static_cast<int>(with); }
  Index chunks() const { return silent + loud; }
  /// Records to be composed behind the chain's first.
  Index hops() const { return select(starts(Start::composed), segment - 1, 0); }
  /// The i-th chunk's slot (sequences.h), and its first row in the sequence.
  Index slot(Index i) const { return s.slot + begin + i; }
  Index row(Index i) const { return (begin + i) * kChunk; }
};

/// The work of a CTA that has one whole chain.
class WholeChain {
 public:
  WholeChain(Kernel& k, const ForwardConfig& c, const CheckedSequence& sequence, Index cta, Index heads)
      : k_(k), sequence_(sequence), splits_(c.dv / c.value_columns), columns_(c.value_columns), cta_(cta), heads_(heads) {}

  /// What may be asked for while the prologue still runs. Called inside a role, like the others.
  Work within() const {
    Sequence s = sequence_.within(k_, n());
    return of(s, s.chunks(), k_.index(static_cast<int>(Finish::final_state)));
  }
  /// The work, after grid_wait(): of a sequence whose offsets are bad, a walk without results through what has been asked for.
  Work checked(const Work& w) const {
    const auto [good, chunks, rows] = sequence_.walk(w.s, w.n);
    return of(rows, chunks, select(good, k_.index(static_cast<int>(Finish::final_state)), static_cast<int>(Finish::nothing)));
  }
  Work operator()() const {
    Work w = within();
    k_.grid_wait();
    return checked(w);
  }

 private:
  Index n() const { return cta_ / splits_ / heads_; }
  Work of(const Sequence& s, Index chunks, Index finish) const {
    Index none = k_.index(0);
    return {n(), cta_ / splits_ - n() * heads_, (cta_ % splits_) * columns_, none, none, chunks, k_.index(static_cast<int>(Start::initial)), finish, none, none,
            none, s, none == 0};
  }

  Kernel& k_;
  const CheckedSequence& sequence_;
  int splits_, columns_;
  Index cta_, heads_;
};

/// Finds a CTA's works in the planner's list, and behind it, one after another.
class WorkFinder {
 public:
  WorkFinder(Kernel& k, const ForwardConfig& c, const Offsets& offsets, Index N, const Dim& slots, const Dim& heads)
      : offsets_(offsets), plan_(k.in<i32>("plan", {k.dim("plan_rows"), kPlanWords})), ticket_(k.inout<i32>("ticket", {1})),
        gain_(k.in<f32>("gain", {slots, heads})), status_(k.in<i32>("status", {1})), N_(N), heads_(heads), columns_(c.value_columns), splits_(c.dv / c.value_columns) {}

  /// Words that tell a work.
  static constexpr int kWords = 16;

  /// Writes the next work to `words`. Called by all lanes of one warp, after grid_wait().
  void find(Kernel& k, const Shared<i32>& words) const {
    Index items = plan_.read({0, plan_header::kItems}), longest_whole = plan_.read({0, plan_header::kLongestWhole});
    // Items wait for items before them: taken in their order, those run already.
    if_(k.lane() == 0, [&] { words.write(0, 0, fetch_add(ticket_, {0}, 1)); });
    k.warp_sync();
    Index ticket = words.read(0, 0), number = select(ticket < (items + N_ * heads_) * splits_, ticket, -1);
    k.warp_sync();
    if_(number >= 0, [&] {
      Index place = number / splits_, column = number % splits_ * columns_;
      if_(place < items, [&] { item(k, words, place, column, number); },
          [&] { chain(k, words, place - items, column, longest_whole, number); });
    }, [&] {
      Index none = k.index(0);
      tell(k, words, {none, none, none, none, none, none, none, none, none, none, number, {none, none, none}, none == 0});
    });
  }
  static Work read(Kernel& k, const Shared<i32>& words) {
    const auto word = [&](int i) { return k.uniform(words.read(0, i)); };
    Work w{word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7), word(8), word(9), word(10), {word(11), word(12), word(13)}, word(0) == 0};
    w.some = (w.chunks() > 0) | w.finishes(Finish::final_state);
    return w;
  }

 private:
  static void tell(Kernel& k, const Shared<i32>& words, const Work& w) {
    if_(k.lane() == 0, [&] {
      int i = 0;
      for (const Index word : {w.n, w.head, w.column, w.begin, w.silent, w.loud, w.start, w.finish, w.base, w.segment, w.number, w.s.first, w.s.count, w.s.slot})
        words.write(0, i++, word);
    });
  }
  /// Chain `chain` from its beginning to its end, unless the list has it or there is none.
  void chain(Kernel& k, const Shared<i32>& words, Index chain, Index column, Index longest_whole, Index number) const {
    Index n = chain / heads_;
    Sequence s = offsets_.sequence(k, min(n, N_ - 1));
    Pred mine = (status_.read({0}) > n) & (s.chunks() <= longest_whole);
    Index none = k.index(0), start = k.index(static_cast<int>(Start::initial)), finish = k.index(static_cast<int>(Finish::final_state));
    tell(k, words, {n, chain % heads_, column, none, none, select(mine, s.chunks(), 0), select(mine, start, static_cast<int>(Start::zero)),
             select(mine, finish, static_cast<int>(Finish::nothing)), none, none, number, s, mine});
  }
  void item(Kernel& k, const Shared<i32>& words, Index place, Index column, Index number) const {
    const auto word = [&](int i) { return plan_.read({place + 1, i}); };
    Index n = word(plan_item::kSequence), head = word(plan_item::kHead), first = word(plan_item::kFirst);
    Pred good = status_.read({0}) > n;  // else the planner has believed bad offsets
    Index chunks = select(good, word(plan_item::kChunks), 0);
    Index kind = word(plan_item::kKind), base = word(plan_item::kBase), segment = word(plan_item::kSegment);
    Sequence s = offsets_.sequence(k, n);
    const auto is = [&](SegmentKind which) { return kind == static_cast<int>(which); };
    const auto code = [&](auto e) { return k.index(static_cast<int>(e)); };
    Var<Index> lead(k.index(0));  // chunks before `first` that say what the state is there
    if_(good & is(SegmentKind::final) & (segment > 0) & (base < 0), [&] { lead.set(memory(k, s, head, first)); });
    Pred from_initial = (first == lead.get()) & !is(SegmentKind::transition);
    Index start = select(from_initial, code(Start::initial), select(is(SegmentKind::final) & (base >= 0) & good, code(Start::composed),
                                                                       select(is(SegmentKind::transition), code(Start::identity), static_cast<int>(Start::zero))));
    Index finish = select(is(SegmentKind::end) & good, code(Finish::end), select(is(SegmentKind::transition) & good, code(Finish::transition),
                          select(is(SegmentKind::final) & good & (first + chunks >= s.chunks()), code(Finish::final_state), static_cast<int>(Finish::nothing))));
    Pred loud = is(SegmentKind::final);
    tell(k, words, {n, head, column, first - lead.get(), lead.get() + select(loud, k.index(0), chunks), select(loud, chunks, 0), start, finish, base, segment, number, s, loud});
  }
  /// Chunks before chunk `first` that a state must be taken through to be right at `first`: those whose transition is at most 2^-kErasedBits,
  /// or all.
  Index memory(Kernel& k, const Sequence& s, Index head, Index first) const {
    Var<Index> length(k.index(0)), going(k.index(1));
    Var<Real> sum(k.real(0.0));
    k.while_([&] { return (going.get() != 0) & (length.get() < first); }, [&] {
      Index back = length.get() + k.lane(), chunk = first - 1 - back;
      Real total = select(chunk >= 0, gain_.read({s.slot + max(chunk, 0), head}), 0.0);
      for (int delta = 1; delta < 32; delta *= 2) {
        Real nearer = k.shuffle_up(total, delta);
        total = select(k.lane() >= delta, total + nearer, total);
      }
      total = total + sum.get();
      Index enough = k.ptx<Index>("redux.sync.min.s32 #out0, #0, 0xffffffff;", select(total <= -double(kErasedBits), back + 1, 0x7fffffff));
      going.set(select(enough == 0x7fffffff, k.index(1), 0));
      length.set(min(min(enough, length.get() + 32), first));
      sum.set(k.shuffle(total, k.index(31)));
    });
    return length.get();
  }

  Offsets offsets_;
  Tensor<i32> plan_, ticket_;
  Tensor<f32> gain_;
  Tensor<i32> status_;
  Index N_, heads_;
  int columns_, splits_;
};

}  // namespace tilewright::gdn
