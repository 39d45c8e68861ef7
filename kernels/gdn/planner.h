// The planner on the device: from offsets and gates to the chain kernel's work list (segment_plan.h), with one warpgroup of one CTA. It makes the same
// list as reference_plan() in planner_reference.h from the same numbers of chunks after which heads erase, which it estimates by sampling the gates.
// docs/kernels/gdn_plan.md explains plans and costs.
#pragma once
#include <optional>

#include "kernels/gdn/gate.h"
#include "kernels/gdn/planner_list.h"

namespace tilewright::gdn {

class Planner {
 public:
  /// Declares the outputs: plan [plan_rows, kPlanWords] with at least item_capacity + 1 rows, and sync [sync_words], which is zeroed.
  Planner(Kernel& k, const Dim& tokens, const Dim& sequences, Index heads)
      : k_(k), a_(k), plan_(k.out<i32>("plan", {k.dim("plan_rows"), kPlanWords})), sync_words_(k.dim("sync_words")), sync_(k.out<i32>("sync", {sync_words_})),
        space_(k), tokens_(tokens), N_(sequences), heads_(heads) {}

  const PlannerSpace& space() const { return space_; }

  /// Called by all threads of a warpgroup. `after(erase)` is for tests: the heads' estimates stand in the space, until it returns.
  template <class After>
  void operator()(const Offsets& offsets, const Gates& gates, After&& after) const {
    for_range(k_.thread(), sync_words_, kPlannerThreads, [&](Index i) { sync_.write({i}, k_.index(0)); });
    Var<Index> items(k_.index(0)), longest_whole(k_.index(kNoPlan)), records(k_.index(0));
    if_((a_.shift >= 0) & (a_.cp != 1) & (heads_ <= kMaxPlannedHeads) & (a_.slots <= kMaxPlannedSms), [&] {
      Totals t = survey(offsets);
      if_((t.count > 0) & (t.sum <= tokens_ / kChunk + N_), [&] {  // not more than there can be, if the offsets are right
        if_(a_.cp == 0, [&] { by_costs(offsets, gates, t, items, longest_whole, records, after); },
            [&] { equal(offsets, gates, items, longest_whole, records, after); });
      });
    });
    PlanList(k_, plan_, a_, space_, heads_, k_.index(0)).header(items.get(), longest_whole.get(), records.get());
  }
  void operator()(const Offsets& offsets, const Gates& gates) const {
    operator()(offsets, gates, [] {});
  }

 private:
  /// Of the sequences with chunks: all chunks, how many there are, the longest and the shortest.
  struct Totals {
    Index sum, count, longest, shortest;
  };
  /// A sequence's chunks; 0 past the last sequence and where offsets decrease.
  Index chunks_of(const Offsets& offsets, Index n) const {
    Index at = min(n, N_ - 1);
    return select(n < N_, max(offsets.start(k_, at + 1) - offsets.start(k_, at), 0) + (kChunk - 1), 0) / kChunk;
  }
  Totals survey(const Offsets& offsets) const {
    Var<Index> sum(k_.index(0)), count(k_.index(0)), longest(k_.index(0)), shortest(k_.index(-kNoPlan));
    for_range(k_.thread(), N_.index(), kAtATime * kPlannerThreads, [&](Index n) {
      std::vector<Index> chunks;
      for (int i = 0; i < kAtATime; ++i) chunks.push_back(chunks_of(offsets, n + i * kPlannerThreads));
      for (const Index c : chunks) {
        add(sum, c), add(count, min(c, 1)), keep_max(longest, c);
        keep_max(shortest, select(c > 0, 0 - c, -kNoPlan));
      }
    });
    const auto all = Reductions(k_, space_.scratch())({sum.get(), count.get()}, {longest.get(), shortest.get()});
    return {all[0], all[1], all[2], 0 - all[3]};
  }

  /// Puts the sequences for which `takes(chunks)` into the space, in their order: their number, their chunks altogether, the longest of the others.
  struct Listed {
    Index count, sum, other_longest;
  };
  template <class Takes>
  Listed list(const Offsets& offsets, Takes&& takes) const {
    Var<Index> count(k_.index(0)), sum(k_.index(0)), longest(k_.index(0));
    const Shared<i32> of_warp = space_.scratch().tile;
    for_range(k_.index(0), N_.index(), kAtATime * kPlannerThreads, [&](Index base) {
      Index first = base + k_.thread() * kAtATime, below = lanes_below(k_);
      std::vector<Index> chunks, mine;
      for (int i = 0; i < kAtATime; ++i) chunks.push_back(chunks_of(offsets, first + i));
      Var<Index> before(k_.index(0)), total(k_.index(0));
      for (const Index c : chunks) {
        Pred taken = takes(c);
        Index bits = ballot(k_, taken);
        add(before, count_bits(k_, bits & below)), add(total, count_bits(k_, bits));
        mine.push_back(select(taken, k_.index(1), 0));
        keep_max(longest, select(taken, k_.index(0), c));
      }
      k_.sync();
      if_(k_.lane() == 0, [&] { of_warp.write(0, k_.warp(), total.get()); });
      k_.sync();
      Var<Index> at(count.get() + before.get());
      for (int w = 0; w < 4; ++w) add(at, select(k_.warp() > w, of_warp.read(0, w), 0)), add(count, of_warp.read(0, w));
      for (int i = 0; i < kAtATime; ++i) {
        if_((mine[std::size_t(i)] > 0) & (at.get() < kMaxListedChains), [&] {
          space_.sequence().set(at.get(), first + i), space_.chunks().set(at.get(), chunks[std::size_t(i)]);
          add(sum, chunks[std::size_t(i)]);
        });
        add(at, mine[std::size_t(i)]);
      }
    });
    const auto all = Reductions(k_, space_.scratch())({sum.get()}, {longest.get()});
    return {count.get(), all[0], all[1]};
  }

  /// Estimates of the heads' chunks after which nothing is left, from a few tokens of the batch.
  void sample(const Offsets& offsets, const Gates& gates) const {
    const Words erase = space_.erase();
    k_.sync();
    erase.set(k_.thread(), k_.index(0));
    k_.sync();
    Index first = offsets.start(k_, k_.index(0)), count = max(min(offsets.start(k_, N_), tokens_) - first, 0);
    Index samples = max(min(quotient(k_.index(kSamples), heads_), 64), 16), apart = max(quotient(count, samples), 1), all = samples * heads_;
    for_range(k_.thread(), all, kAtATime * kPlannerThreads, [&](Index at) {
      std::vector<Var<Real>> gate, strength;
      std::vector<Index> head;
      for (int i = 0; i < kAtATime; ++i) {
        gate.emplace_back(k_.real(0.0)), strength.emplace_back(k_.real(0.0));
        Index number = at + i * kPlannerThreads, sample = quotient(number, heads_), token = min(sample * apart + (apart >> 1), count - 1);
        head.push_back(number - sample * heads_);
        gates.read_gate(k_, (number < all) & (count > 0) & (first >= 0), first + token, head.back(), gate.back());
      }
      for (int i = 0; i < kAtATime; ++i)
        if_(at + i * kPlannerThreads < all, [&] {
          Real bits = -gates.log_decay(k_, gate[std::size_t(i)].get(), head[std::size_t(i)]) * kLog2E;
          red_add(erase.tile, {head[std::size_t(i)] >> 2, head[std::size_t(i)] & 3}, to_index(bits * kBitParts));
        });
    });
    k_.sync();
    // Chunks for kErasedBits: samples x bits / (64 x sum).
    Index sum = erase[k_.thread()], w = quotient_up(samples * (kErasedBits * kBitParts / kChunk), max(sum, 1));
    k_.sync();
    erase.set(k_.thread(), select(k_.thread() < heads_, select(sum > 0, max(w, 1), kNeverErased), -2));
    k_.sync();
  }

  template <class After>
  void by_costs(const Offsets& offsets, const Gates& gates, const Totals& t, Var<Index>& items, Var<Index>& longest_whole, Var<Index>& records, After&& after) const {
    Index chains = t.count * heads_, work = ((t.sum << a_.shift) + N_ * a_.start) * heads_;
    Index lowest = (work + a_.slots - 1) / a_.slots, waves = (chains + a_.slots - 1) / a_.slots;
    Index uncut = max(lowest, max(a_.whole(t.longest), waves * a_.whole(t.shortest)));
    Index enough = uncut - uncut / kGain;
    if_(lowest < enough, [&] {
      Pred all = chains <= kMaxListedChains;
      Listed l = list(offsets, [&](Index c) { return (c > 0) & (all | (a_.whole(c) > lowest)); });
      Index listed_chains = l.count * heads_;
      const auto saves = [&](Index makespan) { return makespan < enough - listed_chains * a_.planning; };
      if_((l.count > 0) & (listed_chains <= kMaxListedChains) & saves(lowest), [&] {
        sample(offsets, gates);
        after();
        Index others = N_ - l.count;
        Survey s{heads_, l.count, select(all, k_.index(1), 0), others * heads_, (((t.sum - l.sum) << a_.shift) + others * a_.start) * heads_,
                 select(others > 0, a_.whole(l.other_longest), 0)};
        Candidate c(k_, a_, space_, s);
        Reductions reduce(k_, space_.scratch());
        Index range = uncut - lowest;
        Var<Index> best(k_.index(kNoPlan)), time(k_.index(0)), bold(k_.index(0)), turn(k_.index(0));
        // Estimates, a pair of threads for a time; then layouts for the best time and longer ones, until one fits.
        constexpr int kLay = 1, kDone = 2;
        const auto time_of = [&](Index pair) { return lowest + ((range * (pair + 1) / kTimes) * (pair + 1)) / kTimes; };
        time.set(time_of(k_.thread() >> 1)), bold.set(k_.thread() & 1);
        k_.while_([&] { return turn.get() < kDone; }, [&] {
          Pred lays = turn.get() == kLay;
          if_(lays, [&] {
            k_.sync();
            for (int i = 0; i < kMaxListedChains; i += kPlannerThreads) space_.begin_at().set(k_.thread() + i, k_.index(kNoPlan));
            k_.sync();
          });
          c(time.get(), bold.get() != 0, lays);
          if_(lays, [&] {
            Pred fits = c.makespan.get() < kNoPlan;
            best.set(select(fits, c.makespan.get(), kNoPlan));
            if_(fits, [&] { turn.set(k_.index(kDone)); }, [&] { add(time, max(time.get() / kLonger, 1)); });
          }, [&] {
            best.set(0 - reduce({}, {0 - c.makespan.get()})[0]);
            Index who = kPlannerThreads - reduce({}, {select(c.makespan.get() == best.get(), kPlannerThreads - k_.thread(), 0)})[0];
            time.set(time_of(who >> 1)), bold.set(who & 1), turn.set(select(saves(best.get()), k_.index(kLay), kDone));
            add(time, time.get() / kMore);
          });
          if_(!saves(time.get()) & (turn.get() == kLay), [&] { turn.set(k_.index(kDone)), best.set(k_.index(kNoPlan)); });
        });
        if_(saves(best.get()), [&] {
          PlanList(k_, plan_, a_, space_, heads_, l.count).write(c);
          items.set(c.items.get()), records.set(c.records.get()), longest_whole.set(select(all, k_.index(0), (time.get() - a_.start) >> a_.shift));
        });
      });
    });
  }

  /// Every chain of at least two chunks in `cp` segments, or in half as many until there is room.
  template <class After>
  void equal(const Offsets& offsets, const Gates& gates, Var<Index>& items, Var<Index>& longest_whole, Var<Index>& records, After&& after) const {
    Listed l = list(offsets, [&](Index c) { return c > 1; });
    if_((l.count > 0) & (l.count * heads_ <= kMaxListedChains), [&] {
      sample(offsets, gates);
      after();
      const auto erasing_of = [&](Index i) { return erasing_limit(k_, a_, careful_limit(quotient(space_.chunks()[i], space_.segments()[i]))); };
      Var<Index> n(min(a_.cp, kMaxSegments)), all_items(k_.index(0)), all_records(k_.index(0)), fits(k_.index(0));
      k_.while_([&] { return (fits.get() == 0) & (n.get() > 1); }, [&] {
        all_items.set(k_.index(0)), all_records.set(k_.index(0));
        k_.sync();
        for_range(k_.thread(), l.count, kPlannerThreads, [&](Index i) {
          Index chunks = space_.chunks()[i], segments = min(n.get(), chunks);
          space_.segments().set(i, segments), space_.share().set(i, quotient(chunks << a_.shift, segments));
          Index matrices = matrix_heads(k_, space_, heads_, erasing_limit(k_, a_, careful_limit(quotient(chunks, segments))));
          add(all_items, heads_ * segments + matrices * (segments * 2 - 3)), add(all_records, matrices * (segments - 1));
        });
        const auto total = Reductions(k_, space_.scratch())({all_items.get(), all_records.get()}, {});
        all_items.set(total[0]), all_records.set(total[1]);
        fits.set(select((total[0] <= a_.item_capacity) & (total[1] <= a_.record_capacity), k_.index(1), 0));
        n.set(select(fits.get() == 0, n.get() >> 1, n.get()));
      });
      if_(fits.get() != 0, [&] {
        PlanList(k_, plan_, a_, space_, heads_, l.count).write_equal(erasing_of);
        items.set(all_items.get()), records.set(all_records.get()), longest_whole.set(k_.index(1));
      });
    });
  }

  /// Loads of a thread that are under way together; samples altogether; parts of a bit in which decays are summed up.
  static constexpr int kAtATime = 4, kSamples = 2048, kBitParts = 256;

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
