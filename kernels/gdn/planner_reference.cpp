#include "kernels/gdn/planner_reference.h"

#include <algorithm>

#include "kernels/gdn/planner_layout.h"
#include "tilewright/error.h"

namespace tilewright::gdn {
namespace {

Batch survey(const PlanRequest& r) {
  const PlannerCosts& c = r.costs;
  int sum = 0, count = 0, longest = 0, shortest = std::numeric_limits<int>::max();
  for (const int n : r.chunks)
    if (n > 0) sum += n, ++count, longest = std::max(longest, n), shortest = std::min(shortest, n);
  Batch b;
  if (count == 0) return b;
  const int heads = r.heads(), chains = count * heads;
  b.lowest = divide_up(((sum << c.shift) + static_cast<int>(r.chunks.size()) * c.start) * heads, r.slots);
  b.uncut = std::max({b.lowest, (longest << c.shift) + c.start, divide_up(chains, r.slots) * ((shortest << c.shift) + c.start)});
  b.all = chains <= kMaxListedChains;
  for (int n = 0; n < static_cast<int>(r.chunks.size()); ++n) {
    const int chunks = r.chunks[std::size_t(n)], time = (chunks << c.shift) + c.start;
    if (chunks > 0 && (b.all || time > b.lowest)) b.listed.push_back(n);
    else b.others.add(heads, time);
  }
  return b;
}

/// The layout that is estimated to be the best; does not fit if not cutting is as good.
Layout best_layout(const PlanRequest& r, const Batch& b) {
  const int chains = static_cast<int>(b.listed.size()) * r.heads();
  const auto saves = [&](int makespan) { return makespan < b.uncut - b.uncut / kGain - chains * r.costs.planning; };
  if (b.listed.empty() || b.uncut >= kLongestTime || !saves(b.lowest)) return {};
  constexpr int kNone = std::numeric_limits<int>::max();
  std::array<int, 2> estimated{kNone, kNone};
  for (int i = 0; i < kCandidates; ++i) {
    int& least = estimated[std::size_t(i / kTimes)];
    const int time = estimated_time(b.lowest, b.uncut - b.lowest, i % kTimes);
    if (time >= least) continue;  // nothing takes less than its time
    if (const int makespan = estimate(r, b, {time, i >= kTimes}); saves(makespan)) least = std::min(least, makespan);
  }
  Layout best;
  for (int i = 0; i < kCandidates; ++i) {
    const int own = estimated[std::size_t(i / kTimes)], around = own != kNone ? own : std::min(estimated[0], estimated[1]);
    if (around == kNone) break;
    const int time = layout_time(around, i % kTimes);
    if (time >= best.makespan) continue;
    if (Layout l = lay_out(r, b, {time, i >= kTimes}); l.makespan < best.makespan) best = std::move(l);
  }
  return saves(best.makespan) ? best : Layout{};
}

/// The list of a layout, in its order.
class Emitter {
 public:
  Emitter(const PlanRequest& r, const std::vector<std::int32_t>& listed, const Layout& l) : r_(r), listed_(listed), l_(l) {}

  SegmentPlan operator()() {
    for_matrix([&](const Chain& c) { prepasses(c); });
    for_matrix([&](const Chain& c) {
      if (c.cut.n == 2) final_of(c, 0);
    });
    for_matrix([&](const Chain& c) {
      if (c.cut.n == 1) plan_.items.push_back({c.sequence, c.head, 0, c.chunks, SegmentKind::final, -1, 0});
    });
    // What begins later: each region's SMs together, the finals of matrix heads together, chains that begin behind a piece of another one by one.
    struct Entry { int at, what; };
    std::vector<Entry> entries{{l_.regions[0].before, 0}, {l_.finals_at, 3}, {l_.pairs_at, 4}, {l_.regions[1].before, 1}, {l_.regions[2].before, 2}};
    for (std::size_t i = 0; i < l_.begins.size(); ++i) entries.push_back({l_.begins[i].at, 5 + static_cast<int>(i)});
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.at < b.at; });
    for (const Entry& e : entries) {
      if (e.what >= 5) piece(l_.begins[std::size_t(e.what - 5)].piece);
      else if (e.what >= 3) for_matrix([&](const Chain& c) {
        if ((c.cut.n == 2) == (e.what == 4)) finals(c);
      });
      else
        for (const Piece& p : l_.regions[std::size_t(e.what)].pieces) piece(p);
    }
    plan_.records = l_.records;
    plan_.makespan = l_.makespan;
    return std::move(plan_);
  }

  /// The same for chains that are cut into equal segments.
  SegmentPlan equal() {
    for_matrix([&](const Chain& c) { prepasses(c); });
    for (std::size_t i = 0; i < listed_.size(); ++i) {
      const int chunks = r_.chunks[std::size_t(listed_[i])];
      const Cut& cut = l_.cuts[i];
      for (int h = 0; h < r_.heads(); ++h)
        for (int j = 0; j < cut.n && r_.erase[std::size_t(h)] <= cut.erasing; ++j) {
          const int first = cut.first(j, chunks, r_.costs.shift);
          piece({static_cast<int>(i) * r_.heads() + h, first, cut.first(j + 1, chunks, r_.costs.shift) - first, j});
        }
    }
    for_matrix([&](const Chain& c) {
      finals(c);
      if (c.cut.n == 2) final_of(c, 0);
    });
    plan_.records = l_.records;
    return std::move(plan_);
  }

 private:
  struct Chain {
    int sequence, head, chunks, base;
    const Cut& cut;
  };
  /// f for the chains of matrix heads.
  template <class F>
  void for_matrix(F&& f) {
    int base = 0;
    for (std::size_t i = 0; i < listed_.size(); ++i)
      for (int h = 0; h < r_.heads() && l_.cuts[i].n > 0; ++h)
        if (r_.erase[std::size_t(h)] > l_.cuts[i].erasing) {
          f(Chain{listed_[i], h, r_.chunks[std::size_t(listed_[i])], base, l_.cuts[i]});
          base += l_.cuts[i].n - 1;
        }
  }
  void segment(const Chain& c, int j, SegmentKind kind) {
    const int first = c.cut.first(j, c.chunks, r_.costs.shift);
    plan_.items.push_back({c.sequence, c.head, first, c.cut.first(j + 1, c.chunks, r_.costs.shift) - first, kind, c.base, j});
  }
  void prepasses(const Chain& c) {
    for (int j = 0; j + 1 < c.cut.n; ++j) {
      segment(c, j, SegmentKind::end);
      if (j > 0) segment(c, j, SegmentKind::transition);
    }
  }
  void final_of(const Chain& c, int j) { segment(c, j, SegmentKind::final); }
  /// The later ones first: they have more to compose.
  void finals(const Chain& c) {
    for (int j = c.cut.n - 1; j >= (c.cut.n == 2 ? 1 : 0) && c.cut.n > 1; --j) final_of(c, j);
  }
  void piece(const Piece& p) {
    plan_.items.push_back({listed_[std::size_t(p.chain / r_.heads())], p.chain % r_.heads(), p.first, p.chunks, SegmentKind::final, -1, p.segment});
  }

  const PlanRequest& r_;
  const std::vector<std::int32_t>& listed_;
  const Layout& l_;
  SegmentPlan plan_;
};

/// Every chain of at least two chunks in r.cp segments, or in half as many until there is room.
SegmentPlan equal_plan(const PlanRequest& r) {
  std::vector<std::int32_t> listed;
  for (int n = 0; n < static_cast<int>(r.chunks.size()); ++n)
    if (r.chunks[std::size_t(n)] > 1) listed.push_back(n);
  if (listed.empty() || static_cast<int>(listed.size()) * r.heads() > kMaxListedChains) return {};
  for (int n = std::min(r.cp, kMaxSegments); n > 1; n /= 2) {
    Layout l;
    for (const int i : listed) {
      const int chunks = r.chunks[std::size_t(i)], segments = std::min(n, chunks), length = chunks / segments;
      const Cut cut{segments, (chunks << r.costs.shift) / segments, 0, erasing_limit(r, careful_limit(length))};
      const int matrices = matrix_heads(r, cut.erasing);
      l.cuts.push_back(cut);
      l.items += r.heads() * segments + matrices * (2 * segments - 3);
      l.records += matrices * (segments - 1);
    }
    if (l.items > r.item_capacity || l.records > r.record_capacity) continue;
    SegmentPlan plan = Emitter(r, listed, l).equal();
    plan.longest_whole = 1;
    return plan;
  }
  return {};
}

}  // namespace

SegmentPlan reference_plan(const PlanRequest& r) {
  if (r.erase.empty() || r.slots < 1 || r.cp < 0)
    throw Error("plan: " + std::to_string(r.erase.size()) + " heads, " + std::to_string(r.slots) + " slots, cp " + std::to_string(r.cp) +
                ": expected at least 1 head, 1 slot and cp 0");
  if (r.cp == 1 || r.costs.shift < 0 || r.heads() > kMaxPlannedHeads || r.slots > kMaxPlannedSms) return {};
  if (r.cp > 1) return equal_plan(r);
  const Batch b = survey(r);
  const Layout l = best_layout(r, b);
  if (!l.fits()) return {};
  SegmentPlan plan = Emitter(r, b.listed, l)();
  plan.longest_whole = b.all ? 0 : (l.time - r.costs.start) >> r.costs.shift;
  return plan;
}

}  // namespace tilewright::gdn
