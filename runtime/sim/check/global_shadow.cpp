#include "runtime/sim/check/global_shadow.h"

#include "tilewright/error.h"

namespace tilewright::runtime::sim::check {
namespace {

constexpr std::size_t most_segments = 1u << 14;

class Hold {
 public:
  explicit Hold(std::atomic_flag& f) : flag_(f) {
    while (flag_.test_and_set(std::memory_order_acquire)) {}
  }
  ~Hold() { flag_.clear(std::memory_order_release); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  std::atomic_flag& flag_;
};

}  // namespace

GlobalShadow::GlobalShadow(unsigned granule) : granule_(granule), segments_(std::make_unique<std::atomic<GlobalEvent*>[]>(most_segments)) {}

GlobalShadow::Page& GlobalShadow::page(std::uint64_t number, Handle& h) {
  const std::size_t slot = number % h.pages.size();
  if (h.pages[slot] && h.numbers[slot] == number) return *static_cast<Page*>(h.pages[slot]);
  Page* found = nullptr;
  {
    const std::shared_lock lock(mutex_);
    if (const auto it = pages_.find(number); it != pages_.end()) found = it->second.get();
  }
  if (!found) {
    const std::unique_lock lock(mutex_);
    auto& made = pages_[number];
    if (!made) made = std::make_unique<Page>();
    found = made.get();
  }
  h.numbers[slot] = number;
  h.pages[slot] = found;
  return *found;
}

EventId GlobalShadow::number(const Access& a, std::uint32_t cluster, Handle& h) {
  const Event& e = a.event;
  if (h.cluster != cluster) {
    h.latest.clear();
    h.cluster = cluster;
  }
  if (e.agent >= h.latest.size()) h.latest.resize(e.agent + 1u, 0);
  EventId& last = h.latest[e.agent];
  if (last) {
    const Event& l = event(last).event;
    if (l.instruction == e.instruction && l.time == e.time && l.warp == e.warp && l.kind == e.kind) return last;
  }
  const EventId n = next_.fetch_add(1);
  const std::size_t segment = n >> segment_bits;
  if (segment >= most_segments) throw Error("the launch makes more accesses to global memory than the checks can follow; run it without them");
  if (!segments_[segment].load(std::memory_order_acquire)) {
    const std::lock_guard lock(growth_);
    if (!segments_[segment].load(std::memory_order_relaxed)) {
      owned_.push_back(std::make_unique<GlobalEvent[]>(std::size_t{1} << segment_bits));
      segments_[segment].store(owned_.back().get(), std::memory_order_release);
    }
  }
  event(n) = {cluster, e};
  return last = n;
}

std::optional<GlobalConflict> GlobalShadow::unordered(EventId n, const Access& a, std::uint32_t cluster, bool with_read, bool writing) {
  if (n == 0) return {};
  const GlobalEvent& g = event(n);
  const Event& e = g.event;
  const bool same = g.cluster == cluster;
  const Known known = same ? a.clock->of(e.agent) : a.clock->of(g.cluster, e.agent);
  if (known.seen < e.time) {
    if (writing && !with_read && writes_alike(a, e)) return {};
    if (a.event.scope != MemoryScope::none && e.scope != MemoryScope::none && morally_strong(a.event.scope, e.scope, same && e.rank == a.event.rank, same)) return {};
    return GlobalConflict{{Conflict::Why::unordered, with_read, e, 0}, g.cluster};
  }
  if (with_read) return {};
  const bool same_phase = writing && same && e.kind == Kind::async && a.event.kind == Kind::async && e.agent == a.event.agent && e.time == a.event.time &&
                          e.scope == MemoryScope::none && e.instruction != a.event.instruction;
  if (same_phase) return GlobalConflict{{Conflict::Why::unordered, false, e, 0}, g.cluster};
  if (a.event.kind == Kind::async && e.kind != Kind::async && known.fenced < e.time) return GlobalConflict{{Conflict::Why::unfenced, false, e, 0}, g.cluster};
  return {};
}

std::optional<GlobalConflict> GlobalShadow::apply(Cell& c, EventId id, const Access& a, std::uint32_t cluster, bool writing) {
  if (auto x = unordered(c.write, a, cluster, false, writing)) return x;
  if (writing) {
    if (auto x = unordered(c.read, a, cluster, true, true)) return x;
    if (auto x = unordered(c.other_read, a, cluster, true, true)) return x;
    c = {id, 0, 0};
  } else if (c.read != id) {
    if (c.read) {
      const GlobalEvent &last = event(c.read), &mine = event(id);
      if (last.cluster != mine.cluster || last.event.agent != mine.event.agent) c.other_read = c.read;
    }
    c.read = id;
  }
  return {};
}

std::optional<GlobalConflict> GlobalShadow::visit(std::uint64_t begin, std::uint64_t end, const Access& a, std::uint32_t cluster, Handle& h, bool writing) {
  const EventId id = number(a, cluster, h);
  const unsigned per_line = line_bytes / granule_;
  while (begin < end) {
    Page& p = page(begin / page_bytes, h);
    const Hold hold(p.busy);
    const std::uint64_t stop = std::min(end, (begin / page_bytes + 1) * page_bytes);
    while (begin < stop) {
      Line& line = p.line[begin % page_bytes / line_bytes];
      const std::uint64_t line_begin = begin / line_bytes * line_bytes, upto = std::min(stop, line_begin + line_bytes);
      const bool whole = begin == line_begin && upto == line_begin + line_bytes;
      std::optional<GlobalConflict> x;
      if (whole && !line.cells) {
        x = apply(line.all, id, a, cluster, writing);
      } else {
        if (!line.cells) {
          line.cells = std::make_unique<Cell[]>(per_line);
          std::fill(line.cells.get(), line.cells.get() + per_line, line.all);
        }
        Cell before, after;
        bool have = false;
        for (std::uint64_t n = (begin - line_begin) / granule_; n <= (upto - 1 - line_begin) / granule_ && !x; ++n) {
          Cell& c = line.cells[n];
          if (have && c == before) {
            c = after;
            continue;
          }
          before = c;
          x = apply(c, id, a, cluster, writing);
          after = c;
          have = true;
          if (x) x->conflict.address = line_begin + n * granule_;
        }
        if (whole && writing && !x) {
          line.all = {id, 0, 0};
          line.cells.reset();
        }
      }
      if (x) {
        if (!x->conflict.address) x->conflict.address = begin;
        return x;
      }
      begin = upto;
    }
  }
  return {};
}

std::optional<GlobalConflict> GlobalShadow::read(std::uint64_t begin, std::uint64_t end, const Access& a, std::uint32_t cluster, Handle& h) {
  return visit(begin, end, a, cluster, h, false);
}

std::optional<GlobalConflict> GlobalShadow::write(std::uint64_t begin, std::uint64_t end, const Access& a, std::uint32_t cluster, Handle& h) {
  return visit(begin, end, a, cluster, h, true);
}

std::optional<GlobalEvent> GlobalShadow::touched(std::uint64_t begin, std::uint64_t end, bool writing) {
  for (; begin < end; begin = (begin / line_bytes + 1) * line_bytes) {
    const auto it = pages_.find(begin / page_bytes);
    if (it == pages_.end()) continue;
    const Line& line = it->second->line[begin % page_bytes / line_bytes];
    const std::uint64_t line_begin = begin / line_bytes * line_bytes, upto = std::min(end, line_begin + line_bytes);
    for (std::uint64_t n = (begin - line_begin) / granule_; n <= (upto - 1 - line_begin) / granule_; ++n) {
      const Cell& c = line.cells ? line.cells[n] : line.all;
      if (const EventId e = c.write ? c.write : writing ? c.read : 0) return event(e);
    }
  }
  return {};
}

}  // namespace tilewright::runtime::sim::check
