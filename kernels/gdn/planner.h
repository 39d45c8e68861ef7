// The planner on the device: from offsets and gates to the chain kernel's work list (segment_plan.h), with one warpgroup of one CTA. It makes the same
// list as reference_plan() in planner_reference.h from the same numbers of chunks after which heads erase, which it estimates by sampling the gates.
// docs/kernels/gdn_plan.md explains plans and costs.
#pragma once
#include <optional>

#include "kernels/gdn/planner_inputs.h"
#include "kernels/gdn/planner_list.h"

namespace tilewright::gdn {

class Planner {
 public:
  /// Declares the outputs: plan [plan_rows, kPlanWords] with at least item_capacity + 1 rows, and sync [sync_words], which is zeroed.
  Planner(Kernel& k, const Dim& tokens, const Dim& sequences, Index heads)
      : k_(k), a_(k), plan_(k.out<i32>("plan", {k.dim("plan_rows"), kPlanWords})), sync_words_(k.dim("sync_words")), sync_(k.out<i32>("sync", {sync_words_})),
        space_(k), tokens_(tokens), N_(sequences), heads_(heads) {}

  const PlannerSpace& space() const { return space_; }

  /// Called by all threads of a warpgroup. `after()` is for tests: the heads' estimates stand in the space, until it returns.
  template <class After>
  void operator()(const Offsets& offsets, const Gates& gates, After&& after) const {
    Var<Index> items(k_.index(0)), longest_whole(k_.index(kNoPlan)), records(k_.index(0));
    if_((a_.shift >= 0) & (a_.cp != 1) & (heads_ <= kMaxPlannedHeads) & (a_.slots <= kMaxPlannedSms), [&] {
      PlannerInputs in(k_, space_, offsets, gates, tokens_, N_, heads_);
      clear();
      k_.sync();
      in.sample();
      const PlannerInputs::Totals t = in.survey();
      if_((t.count > 0) & (t.sum <= tokens_ / kChunk + N_), [&] {  // not more than there can be, if the offsets are right
        if_(a_.cp == 0, [&] { by_costs(in, t, items, longest_whole, records, after); }, [&] { equal(in, items, longest_whole, records, after); });
      });
    }, [&] { clear(); });
    PlanList(k_, plan_, a_, space_, heads_, k_.index(0)).header(items.get(), longest_whole.get(), records.get());
  }
  void operator()(const Offsets& offsets, const Gates& gates) const {
    operator()(offsets, gates, [] {});
  }

 private:
  void clear() const {
    for_range(k_.thread(), sync_words_, kPlannerThreads, [&](Index i) { sync_.write({i}, k_.index(0)); });
    space_.erase().set(k_.thread(), k_.index(0));
    for (int i = 0; i < kMaxListedChains; i += kPlannerThreads) space_.begin_at().set(k_.thread() + i, k_.index(kNoPlan));
  }

  template <class After>
  void by_costs(PlannerInputs& in, const PlannerInputs::Totals& t, Var<Index>& items, Var<Index>& longest_whole, Var<Index>& records, After&& after) const {
    Index chains = t.count * heads_, work = ((t.sum << a_.shift) + N_ * a_.start) * heads_;
    Index lowest = large_quotient(work + a_.slots - 1, a_.slots), waves = large_quotient(chains + a_.slots - 1, a_.slots);
    Index uncut = max(lowest, max(a_.whole(t.longest), waves * a_.whole(t.shortest))), enough = uncut - (uncut >> kLogGain);
    if_((lowest < enough) & (uncut < kLongestTime), [&] {
      Pred all = chains <= kMaxListedChains;
      const PlannerInputs::Listed l = in.list([&](Index c) { return (c > 0) & (all | (a_.whole(c) > lowest)); });
      after();
      Index listed_chains = l.count * heads_, worth = enough - listed_chains * a_.planning;
      if_((l.count > 0) & (listed_chains <= kMaxListedChains) & (lowest < worth), [&] {
        Index others = N_ - l.count;
        Survey s{heads_, l.count, select(all, k_.index(1), 0), others * heads_, (((t.sum - l.sum) << a_.shift) + others * a_.start) * heads_,
                 select(others > 0, a_.whole(l.other_longest), 0)};
        Line c(k_, a_, space_, s);
        c.prepare();
        Var<Index> time(k_.index(0)), bold(k_.index(0)), who(k_.index(0)), turn(k_.index(kEstimate));
        Index mine = k_.thread() & (kTimes - 1);
        time.set(lowest + (((((uncut - lowest) * (mine + 1)) >> kLogTimes) * (mine + 1)) >> kLogTimes)), bold.set(k_.thread() >> kLogTimes);
        // Estimates, then layouts, by each thread for a time of its own; then all threads write down the best layout.
        k_.while_([&] { return turn.get() < kDone; }, [&] {
          Pred record = turn.get() == kRecord;
          if_(!record, [&] { c.cut(time.get(), bold.get() != 0); });
          if_(turn.get() == kEstimate, [&] {
            Index estimate = c.estimate(time.get());
            const FromWarps least(k_, space_.scratch(PlannerSpace::kEstimates), {warp_min(k_, select(estimate < worth, estimate, kNoPlan))});
            Index careful = min(least(0, 0), least(0, 1)), bolder = min(least(0, 2), least(0, 3)), own = select(bold.get() != 0, bolder, careful);
            Index around = select(own < kNoPlan, own, min(careful, bolder)), from = around - (around >> 3);
            time.set(from + (((from >> 6) * (mine * (mine + 16))) >> 7)), turn.set(select(around < kNoPlan, k_.index(kLayOut), kDone));
          }, [&] {
            Index makespan = c.walk(time.get(), record, who.get());
            if_(record, [&] { turn.set(k_.index(kPlanned)); }, [&] {
              const FromWarps least(k_, space_.scratch(PlannerSpace::kLayouts),
                                    {warp_min(k_, select(makespan < worth, (makespan << kThreadBits) | k_.thread(), kNoPlan))});
              Index chosen = least.least(0);
              who.set(chosen & (kPlannerThreads - 1)), turn.set(select(chosen < kNoPlan, k_.index(kRecord), kDone));
              c.tell(who.get(), time);
            });
          });
        });
        if_(turn.get() == kPlanned, [&] {
          PlanList(k_, plan_, a_, space_, heads_, l.count).write(c, time.get());
          items.set(c.items.get()), records.set(c.records.get()), longest_whole.set(select(all, k_.index(0), (time.get() - a_.start) >> a_.shift));
        });
      });
    });
  }

  /// Every chain of at least two chunks in `cp` segments, or in half as many until there is room.
  template <class After>
  void equal(PlannerInputs& in, Var<Index>& items, Var<Index>& longest_whole, Var<Index>& records, After&& after) const {
    const PlannerInputs::Listed l = in.list([&](Index c) { return c > 1; });
    after();
    if_((l.count > 0) & (l.count * heads_ <= kMaxListedChains), [&] {
      const auto erasing_of = [&](Index i) { return erasing_limit(k_, a_, careful_limit(quotient(space_.chunks()[i], space_.segments()[i]))); };
      Var<Index> n(min(a_.cp, kMaxSegments)), prepasses(k_.index(0)), pieces(k_.index(0)), finals(k_.index(0)), all_records(k_.index(0)), fits(k_.index(0));
      k_.while_([&] { return (fits.get() == 0) & (n.get() > 1); }, [&] {
        for (Var<Index>* v : {&prepasses, &pieces, &finals, &all_records}) v->set(k_.index(0));
        for_range(k_.thread(), l.count, kPlannerThreads, [&](Index i) {
          Index chunks = space_.chunks()[i], segments = min(n.get(), chunks);
          space_.segments().set(i, segments);
          Index matrices = HeadsByLimit(k_, space_, heads_, erasing_limit(k_, a_, careful_limit(quotient(chunks, segments)))).matrices.get();
          add(prepasses, matrices * (segments * 2 - 3)), add(pieces, (heads_ - matrices) * segments), add(finals, matrices * segments), add(all_records, matrices * (segments - 1));
        });
        const FromWarps sums(k_, space_.scratch(PlannerSpace::kEqual), {warp_sum(k_, prepasses.get()), warp_sum(k_, pieces.get()), warp_sum(k_, finals.get()), warp_sum(k_, all_records.get())});
        prepasses.set(sums.sum(0)), pieces.set(sums.sum(1)), finals.set(sums.sum(2)), all_records.set(sums.sum(3));
        Index all_items = prepasses.get() + pieces.get() + finals.get();
        fits.set(select((all_items <= a_.item_capacity) & (all_records.get() <= a_.record_capacity), k_.index(1), 0));
        n.set(select(fits.get() == 0, n.get() >> 1, n.get()));
        k_.sync();
      });
      if_(fits.get() != 0, [&] {
        PlanList(k_, plan_, a_, space_, heads_, l.count).write_equal(erasing_of, prepasses.get(), pieces.get());
        items.set(prepasses.get() + pieces.get() + finals.get()), records.set(all_records.get()), longest_whole.set(k_.index(1));
      });
    });
  }

  /// What a turn of by_costs does; kDone: there is no list, kPlanned: there is one.
  enum Turn { kEstimate, kLayOut, kRecord, kDone, kPlanned };
  static constexpr int kThreadBits = 7;
  static constexpr int kLogTimes = 6, kLogGain = 3;
  static_assert(kPlannerThreads == 1 << kThreadBits && kTimes == 1 << kLogTimes && kGain == 1 << kLogGain);

  Kernel& k_;
  PlannerArguments a_;
  Tensor<i32> plan_;
  Dim sync_words_;
  Tensor<i32> sync_;
  PlannerSpace space_;
  Dim tokens_, N_;
  Index heads_;
};

/// The planner as a kernel of its own. `estimates`: writes what it takes for the heads' chunks after which nothing is left to erase [heads].
inline Program planner(Element gate, bool estimates = false) {
  return kernel("gdn_planner", [=](Kernel& k) {
    Dim tokens = k.dim("T"), N = k.dim("N"), heads = k.dim("heads");
    Gates gates(k, tokens, gate, Element::f32);
    Offsets offsets(k);
    std::optional<Tensor<i32>> erase;
    if (estimates) erase = k.out<i32>("erase", {heads});
    Planner plan(k, tokens, N, heads);
    k.grid(1);
    Role all = k.role("all", warpgroups(1));
    all([&] {
      plan(offsets, gates, [&] {
        if (erase)
          for_range(k.thread(), heads.index(), kPlannerThreads, [&](Index h) { erase->write({h}, plan.space().erase()[h]); });
      });
    });
  });
}

}  // namespace tilewright::gdn
