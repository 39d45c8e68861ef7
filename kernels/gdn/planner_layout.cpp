#include "kernels/gdn/planner_layout.h"

namespace tilewright::gdn {
namespace {

/// The cut of a matrix head's chain that ends within `time` when its prepasses take `rounds` turns; n = 0 if there is none.
Cut cut_matrix(const PlannerCosts& c, int chunks, int time, int rounds) {
  const int step = 1 << c.shift, length = chunks << c.shift;
  if (rounds == 1) {  // two segments: the first one's final waits for nothing, so it is the longer one
    const int l = divide_up(c.start + length, 2 * step - c.state);
    if (l < chunks && c.start + l * step <= time && 2 * c.start + l * c.state + (chunks - l) * step <= time) return {2, l << c.shift, 0, 0};
  }
  const int share = ((time - (rounds + 1) * c.start) << c.shift) / (rounds * c.state + step);
  if (share < step) return {};
  for (int n = std::max(3, divide_up(length, share)); n <= std::min(chunks, kMaxSegments);) {
    const int all = length + c.hop * Cut::steps(n), needed = divide_up(all, share);
    if (needed > n) {
      n = needed;
      continue;
    }
    if (all / n - c.hop * (n - 2) < step) break;
    return {n, all / n, c.hop, 0};
  }
  return {};
}

/// What the matrix heads take.
struct Matrices {
  int whole = 0, whole_time = 0;  ///< chains that are not cut, and the longest one's time
  int prepasses = 0, finals = 0, busy = 0, later = 0;  ///< items; SMs that they take altogether, SMs that they leave after the prepasses
  int prepass_time = 0, final_time = 0;  ///< of the longest prepass, of the longest final behind it
  int pair_prepass = 0, pair_time = 0;  ///< the same of chains of two segments, altogether
  int records = 0;

  void add(const PlannerCosts& c, const Cut& cut, int chunks, int heads) {
    const int n = cut.n;
    const auto length = [&](int j) { return cut.first(j + 1, chunks, c.shift) - cut.first(j, chunks, c.shift); };
    records += heads * (n - 1), finals += heads * n;
    if (n == 2) {
      const int pre = c.start + length(0) * c.state;
      prepasses += heads, busy += 2 * heads, pair_prepass = std::max(pair_prepass, pre);
      pair_time = std::max({pair_time, c.start + (length(0) << c.shift), pre + c.start + (length(1) << c.shift)});
      return;
    }
    prepasses += heads * (2 * n - 3), busy += heads * n, later += heads * (n - 3);
    const int most = divide_up(cut.share, 1 << c.shift);
    prepass_time = std::max(prepass_time, c.start + most * c.state);
    final_time = std::max(final_time, c.start + (most << c.shift));
  }
};

/// Lays the erasing heads' chains along the SMs of the regions, one SM after the other.
class Line {
 public:
  Line(const PlannerCosts& c, Layout& to, int time) : c_(c), to_(to), time_(time) { enter(); }

  /// False if there is no room.
  bool place(int chain, int chunks, int warm) {
    const int restart = c_.start + warm * c_.state;
    if (used_ > 0) {  // a beginning that saves less than the restart behind it is not worth it
      const int x = room() >> c_.shift;
      if (x < chunks && (x << c_.shift) <= restart - c_.start) next();
    }
    if (region_ == 3) return false;
    int x = std::min(chunks, room() >> c_.shift), segment = 0;
    put({chain, 0, x, segment++}, c_.start);
    for (int done = x; done < chunks; done += x) {
      next();
      const auto fits = [&] { return (limit() - restart) >> c_.shift; };
      while (region_ < 3 && fits() < 1) leave();
      if (region_ == 3) return false;
      x = std::min(chunks - done, fits());
      put({chain, done, x, segment++}, restart);
    }
    return true;
  }
  int pieces() const { return pieces_; }

 private:
  Region& region() { return to_.regions[std::size_t(region_)]; }
  int limit() { return time_ - region().before; }
  int room() { return limit() - used_ - c_.start; }
  void put(const Piece& p, int begin) {
    if (used_ == 0) region().pieces.push_back(p);
    else to_.begins.push_back({region().before + used_, p});
    used_ += begin + (p.chunks << c_.shift);
    ++pieces_;
  }
  /// To the next SM.
  void next() {
    used_ = 0;
    if (++slot_ >= region().slots) leave();
  }
  void leave() { ++region_, enter(); }
  void enter() {
    slot_ = used_ = 0;
    while (region_ < 3 && (region().slots <= 0 || room() < 1 << c_.shift)) ++region_;
  }

  const PlannerCosts& c_;
  Layout& to_;
  int time_, region_ = 0, slot_ = 0, used_ = 0, pieces_ = 0;
};

}  // namespace

int matrix_heads(const PlanRequest& r, int erasing) {
  return static_cast<int>(std::count_if(r.erase.begin(), r.erase.end(), [&](int w) { return w > erasing; }));
}

namespace {

/// A candidate before its erasing heads are laid out.
struct Frame {
  bool possible = false;
  Layout layout;
  Matrices m;
  int erasing = 0, matrices = 0, reserve = 0, whole_end = 0;
  int chunks = 0, sequences = 0;  ///< of the sequences in the list

  /// With so many pieces of erasing heads, which end in time.
  void finish(const PlanRequest& r, int pieces) {
    layout.records = m.records;
    layout.items = m.prepasses + m.finals + m.whole + pieces;
    if (layout.items <= r.item_capacity && layout.records <= r.record_capacity)
      layout.makespan = std::max({layout.time, reserve, layout.finals_at + m.final_time, m.pair_time, whole_end});
  }
};

Frame frame_of(const PlanRequest& r, const Batch& batch, const Goal& goal) {
  const PlannerCosts& c = r.costs;
  const int step = 1 << c.shift, heads = r.heads(), time = goal.time;
  const int erasing = erasing_limit(r, goal.bold ? bold_limit(c, time) : careful_limit(std::max(time - 2 * c.start, 0) / (step + c.state)));
  const int matrices = matrix_heads(r, erasing);
  for (int rounds = 1; rounds <= 2; ++rounds) {
    Frame f;
    Layout& l = f.layout;
    Matrices& m = f.m;
    f.erasing = erasing, f.matrices = matrices, l.time = time;
    Tail tail = batch.others;
    for (const int n : batch.listed) {
      const int chunks = r.chunks[std::size_t(n)], whole = (chunks << c.shift) + c.start;
      Cut cut;
      if (whole <= time) {
        if (!batch.all) tail.add(heads, whole);
        else if (cut.n = 1; matrices > 0) m.whole += matrices, m.whole_time = std::max(m.whole_time, whole);
      } else if (matrices == 0) {
        cut.n = 1;
      } else if (cut = cut_matrix(c, chunks, time, rounds); cut.n > 0) {
        m.add(c, cut, chunks, matrices);
      } else {
        return {};
      }
      if (cut.n > 0) f.chunks += chunks, ++f.sequences;
      cut.erasing = erasing;
      l.cuts.push_back(cut);
    }
    int free = r.slots - m.busy - m.later;
    if (rounds == 2) m.later = r.slots - m.busy, free = 0;
    if (rounds == 1 && free < 0) continue;
    if (m.later < 0 || m.prepasses > rounds * r.slots || (m.whole > 0 && free == 0)) return {};
    const int turns = m.whole > 0 ? m.whole / free : 0, left = m.whole - turns * free;
    if (turns >= kMostTurns) return {};
    f.whole_end = (turns + (left > 0 ? 1 : 0)) * m.whole_time;
    l.finals_at = rounds * m.prepass_time, l.pairs_at = m.pair_prepass;
    l.regions[0] = {free - left, turns * m.whole_time, {}};
    l.regions[1] = {left, (turns + 1) * m.whole_time, {}};
    l.regions[2] = {m.later, l.finals_at, {}};
    // Whole chains that follow the list begin as SMs become free, in an order that is not ours.
    if (tail.chains > 0) {
      if (r.slots <= m.busy) return {};
      f.reserve = divide_up(tail.work, r.slots - m.busy) + tail.longest;
    }
    f.possible = true;
    return f;
  }
  return {};
}

}  // namespace

int estimate(const PlanRequest& r, const Batch& batch, const Goal& goal) {
  const PlannerCosts& c = r.costs;
  Frame f = frame_of(r, batch, goal);
  if (!f.possible) return f.layout.makespan;
  int warm = 0, erasing = 0;
  for (const int w : r.erase)
    if (w <= f.erasing) warm += w, ++erasing;
  if (erasing > 0) {  // time on the SMs behind a start and a usual warm-up
    const int begin = c.start + warm / erasing * c.state + c.state / 2;
    int room = 0;
    for (const Region& region : f.layout.regions) room += std::max(region.slots, 0) * (std::max(goal.time - f.reserve - region.before - begin, 0) >> 3);
    if (room < (erasing * f.chunks << c.shift) >> 3) return f.layout.makespan;
  }
  f.finish(r, 0);
  return f.layout.makespan;
}

Layout lay_out(const PlanRequest& r, const Batch& batch, const Goal& goal) {
  Frame f = frame_of(r, batch, goal);
  if (!f.possible) return {};
  Line line(r.costs, f.layout, goal.time - f.reserve);
  for (std::size_t i = 0; i < batch.listed.size(); ++i)
    for (int h = 0; h < r.heads(); ++h)
      if (f.layout.cuts[i].n > 0 && r.erase[std::size_t(h)] <= f.erasing)
        if (!line.place(int(i) * r.heads() + h, r.chunks[std::size_t(batch.listed[i])], r.erase[std::size_t(h)])) return {};
  f.finish(r, line.pieces());
  return f.layout;
}

}  // namespace tilewright::gdn
