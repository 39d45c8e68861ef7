#include "runtime/sim/check/shared_shadow.h"

#include <bit>

namespace tilewright::runtime::sim::check {

bool morally_strong(MemoryScope a, MemoryScope b, bool same_cta, bool same_cluster) {
  const MemoryScope least = std::min(a, b);
  return least >= MemoryScope::gpu || (least == MemoryScope::cluster && same_cluster) || (least == MemoryScope::cta && same_cta);
}

SharedShadow::SharedShadow(std::size_t bytes, unsigned granule)
    : cells_((bytes + granule - 1) / granule), shift_(static_cast<unsigned>(std::countr_zero(granule))) {}

void SharedShadow::clear() {
  std::fill(cells_.begin(), cells_.end(), Cell{});
  table_.clear();
  latest_.clear();
}

EventId SharedShadow::number(const Event& e) {
  if (table_.crowded()) {
    table_.compact([&](auto&& mark) {
      for (Cell& c : cells_) mark(c.write, c.reads);
    });
    latest_.clear();
  }
  if (e.agent >= latest_.size()) latest_.resize(e.agent + 1u, 0);
  EventId& last = latest_[e.agent];
  if (last) {
    const Event& l = table_.event(last);
    if (l.instruction == e.instruction && l.time == e.time && l.count == e.count && l.warp == e.warp && l.kind == e.kind) return last;
  }
  return last = table_.add(e);
}

std::optional<Conflict> SharedShadow::after_write(EventId n, const Access& a, bool reading) const {
  if (n == 0) {
    if (reading && a.needs_values) return Conflict{Conflict::Why::unwritten, false, {}, 0};
    return {};
  }
  const Event& e = table_.event(n);
  const bool itself = e.agent == a.event.agent && e.time == a.event.time && e.instruction == a.event.instruction && e.count == a.event.count &&
                      e.warp == a.event.warp && e.rank == a.event.rank && e.kind == a.event.kind && e.kind != Kind::generic;
  if (itself) return {};   // a copy of several rows
  if (e.kind == Kind::mbarrier && a.event.kind != Kind::mbarrier) return Conflict{Conflict::Why::mbarrier, false, e, 0};
  const Known known = a.clock->of(e.agent);
  if (known.seen < e.time) {
    if (!reading && writes_alike(a, e)) return {};
    if (a.event.scope != MemoryScope::none && e.scope != MemoryScope::none && morally_strong(a.event.scope, e.scope, a.event.rank == e.rank, true)) return {};
    return Conflict{Conflict::Why::unordered, false, e, 0};
  }
  // Two copies that the same phase of an mbarrier completes are not ordered.
  if (!reading && e.kind == Kind::async && a.event.kind == Kind::async && e.agent == a.event.agent && e.time == a.event.time &&
      (e.instruction != a.event.instruction || e.count != a.event.count || e.warp != a.event.warp || e.rank != a.event.rank))
    return Conflict{Conflict::Why::unordered, false, e, 0};
  if (a.event.kind == Kind::async && e.kind != Kind::async && known.fenced < e.time) return Conflict{Conflict::Why::unfenced, false, e, 0};
  return {};
}

std::optional<Conflict> SharedShadow::after_reads(ReadSetId n, const Access& a) const {
  if (n == 0) return {};
  for (const EventId r : table_.reads(n)) {
    const Event& e = table_.event(r);
    if (e.known_to(*a.clock)) continue;
    if (a.event.scope != MemoryScope::none && e.scope != MemoryScope::none && morally_strong(a.event.scope, e.scope, a.event.rank == e.rank, true)) continue;
    return Conflict{Conflict::Why::unordered, true, e, 0};
  }
  return {};
}

std::optional<Conflict> SharedShadow::read(std::uint64_t begin, std::uint64_t end, const Access& a) {
  const EventId id = number(a.event);
  Cell* c = cells_.data() + (begin >> shift_);
  Cell* const last = cells_.data() + ((end - 1) >> shift_) + 1;
  EventId checked = ~0u;
  ReadSetId from = ~0u, to = 0;
  for (; c != last; ++c) {
    if (c->write != checked) {
      if (auto x = after_write(checked = c->write, a, true)) return x->address = address_of(c), x;
    }
    if (c->reads != from) to = table_.with(from = c->reads, id, *a.clock);
    c->reads = to;
  }
  return {};
}

std::optional<Conflict> SharedShadow::write(std::uint64_t begin, std::uint64_t end, const Access& a) {
  const EventId id = number(a.event);
  Cell* c = cells_.data() + (begin >> shift_);
  Cell* const last = cells_.data() + ((end - 1) >> shift_) + 1;
  EventId checked = ~0u;
  ReadSetId from = ~0u;
  for (; c != last; ++c) {
    if (c->write != checked) {
      if (auto x = after_write(checked = c->write, a, false)) return x->address = address_of(c), x;
    }
    if (c->reads != from) {
      if (auto x = after_reads(from = c->reads, a)) return x->address = address_of(c), x;
    }
    *c = {id, 0};
  }
  return {};
}

void SharedShadow::release(std::uint64_t begin, std::uint64_t end, const Access& a) {
  const EventId id = number(a.event);
  for (std::uint64_t n = begin >> shift_; n <= (end - 1) >> shift_; ++n) cells_[n] = {id, 0};
}

bool SharedShadow::written(std::uint64_t begin, std::uint64_t end) const {
  for (std::uint64_t n = begin >> shift_; n <= (end - 1) >> shift_; ++n)
    if (cells_[n].write == 0) return false;
  return true;
}

}  // namespace tilewright::runtime::sim::check
