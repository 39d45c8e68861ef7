// Bulk copies and cp.async: agents of their own, whose accesses count from their issue until a wait covers them.
#include "runtime/sim/check/checker.h"
#include "runtime/sim/check/hooks.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/tensor_map.h"

namespace tilewright::runtime::sim::check {
namespace {

using Role = ClusterChecker::Role;

Agent agent_of(CtaChecker& c, Agent& a, Role r) {
  if (a == nobody) a = c.cluster.make_agent(r);
  return a;
}

/// A copy to shared memory that an mbarrier of `target` completes: the event of its accesses, in the phase that is not complete yet.
Access arriving(const BulkIssue& n, Flight& f, Cta& target, std::uint64_t barrier) {
  CtaChecker& c = *n.warp.cta->check;
  WarpState& s = c.of(n.warp);
  Access a{c.event(n.warp, n.instruction, 1u << n.lane), &known_to(s, 1u << n.lane), false};
  a.event.kind = Kind::async;
  const auto it = target.check->barriers.find(static_cast<std::uint32_t>(barrier));
  if (it == target.check->barriers.end()) return a;
  BarrierState& b = it->second;
  note_use(n.warp, target, barrier);
  if (!b.init_fenced && s.clock.of(b.init.agent).fenced < b.init.time)
    throw Fault{barrier_text(target, barrier) + " is used by the async proxy, but no fence.mbarrier_init or fence.proxy.async lies behind its initialisation by " +
                author_of(target, b.init)};
  a.event.agent = b.agent;
  a.event.time = b.phases + 1;
  f.phase[target.rank] = b.phases;
  ++b.in_flight;
  b.copy = a.event;
  b.last_issue = b.phases + 1;
  return a;
}

/// The copy carries what its lane knows; what the warp does next is later.
void depart(WarpState& s, Flight& f, unsigned lane) {
  f.clock = known_to(s, 1u << lane);
  tick(s);
}

/// A copy from shared memory: the events of its read of shared memory and of its write of global memory.
struct Leaving {
  Access read, write;
};
Leaving leaving(const BulkIssue& n, bool reduces) {
  CtaChecker& c = *n.warp.cta->check;
  WarpState& s = c.of(n.warp);
  Leaving l;
  l.read.event = c.event(n.warp, n.instruction, 1u << n.lane);
  l.read.event.kind = Kind::async;
  l.read.event.time = ++s.bulk_issued;
  l.read.clock = &known_to(s, 1u << n.lane);
  l.write = l.read;
  l.read.event.agent = agent_of(c, s.bulk_read, Role::bulk_read);
  l.write.event.agent = agent_of(c, s.bulk_write, Role::bulk_write);
  l.write.event.scope = reduces ? MemoryScope::gpu : MemoryScope::none;   // reductions are relaxed atomics
  s.bulk[n.lane].open = s.bulk_issued;
  return l;
}

}  // namespace

void note_issue(Warp& w, const Instruction& i) { w.cta->check->count(w, i); }

void note_load_box(const BulkIssue& n, Flight& f, const TensorMapSpec& map, const std::array<std::int32_t, 5>& at, std::uint64_t shared, Cta& target,
                   std::uint64_t barrier, bool first) {
  CtaChecker& c = *n.warp.cta->check;
  Access a = arriving(n, f, target, barrier);
  if (first) depart(c.of(n.warp), f, n.lane);
  const unsigned size = size_of(map.element);
  each_box_row(map, at, shared, [&](const BoxRow& row) {
    if (row.last <= row.first) return;
    const std::uint64_t begin = row.global + static_cast<std::uint64_t>(row.first * size);
    c.read_global(begin, begin + static_cast<std::uint64_t>((row.last - row.first) * size), a);
  });
  target.check->write_shared(shared, shared + box_bytes(map), a);   // a swizzle moves bytes within rows only
}

void note_store_box(const BulkIssue& n, const TensorMapSpec& map, const std::array<std::int32_t, 5>& at, std::uint64_t shared, bool reduces) {
  CtaChecker& c = *n.warp.cta->check;
  Leaving l = leaving(n, reduces);
  const unsigned size = size_of(map.element);
  const std::uint64_t pitch = std::uint64_t{map.box[0]} * size;
  each_box_row(map, at, shared, [&](const BoxRow& row) {
    if (row.last <= row.first) return;
    l.read.needs_values = row.first == 0 && row.last == map.box[0];   // swizzled bytes of a part are not told apart
    c.read_shared(row.shared, row.shared + pitch, l.read);
    const std::uint64_t begin = row.global + static_cast<std::uint64_t>(row.first * size);
    c.write_global(begin, begin + static_cast<std::uint64_t>((row.last - row.first) * size), l.write);
  });
}

void note_bulk_in(const BulkIssue& n, Flight& f, std::uint64_t from, bool from_shared, std::uint64_t shared, std::uint64_t bytes, Cta& target,
                  std::uint64_t barrier) {
  CtaChecker& c = *n.warp.cta->check;
  Access a = arriving(n, f, target, barrier);
  depart(c.of(n.warp), f, n.lane);
  if (from_shared) {
    a.needs_values = true;
    c.read_shared(from, from + bytes, a);
  } else {
    c.read_global(from, from + bytes, a);
  }
  target.check->write_shared(shared, shared + bytes, a);
}

void note_bulk_out(const BulkIssue& n, std::uint64_t shared, std::uint64_t to, std::uint64_t bytes, bool reduces) {
  CtaChecker& c = *n.warp.cta->check;
  const Leaving l = leaving(n, reduces);
  c.read_shared(shared, shared + bytes, l.read);
  c.write_global(to, to + bytes, l.write);
}

void note_remote_store(const BulkIssue& n, Flight& f, std::uint64_t shared, std::uint64_t bytes, Cta& target, std::uint64_t barrier) {
  const Access a = arriving(n, f, target, barrier);
  depart(n.warp.cta->check->of(n.warp), f, n.lane);
  target.check->write_shared(shared, shared + bytes, a);
}

void note_bulk_commit(Warp& w, LaneMask m) {
  WarpState& s = w.cta->check->of(w);
  each_lane(m, [&](unsigned l) {
    const auto it = s.bulk.find(l);
    if (it == s.bulk.end()) return;
    it->second.reading.push_back(it->second.open);
    it->second.pending.push_back(it->second.open);
  });
}

void note_bulk_wait(Warp& w, LaneMask m, std::size_t keep, bool only_reading) {
  WarpState& s = w.cta->check->of(w);
  if (s.bulk_read == nobody) return;
  const auto learn = [&](std::deque<Time>& groups, Agent agent) {
    for (; groups.size() > keep; groups.pop_front()) s.clock.know(agent, {groups.front(), groups.front()});
  };
  each_lane(m, [&](unsigned l) {
    const auto it = s.bulk.find(l);
    if (it == s.bulk.end()) return;
    learn(it->second.reading, s.bulk_read);
    if (!only_reading) learn(it->second.pending, s.bulk_write);
  });
}

void note_small_copy(Warp& w, const Instruction& i, unsigned lane, std::uint64_t to, std::uint64_t from, unsigned read, unsigned size) {
  CtaChecker& c = *w.cta->check;
  WarpState& s = c.of(w);
  Access a{c.event(w, i, 1u << lane), &s.clock, false};
  a.event.agent = agent_of(c, s.small, Role::small);
  a.event.kind = Kind::small_copy;
  a.event.time = s.small_issued + 1;   // of all copies since the last commit
  if (read) c.read_global(from, from + read, a);
  c.write_shared(to, to + size, a);
}

void note_small_commit(Warp& w) {
  WarpState& s = w.cta->check->of(w);
  s.small_groups.push_back(++s.small_issued);
}

void note_small_wait(Warp& w, std::size_t keep, bool all) {
  WarpState& s = w.cta->check->of(w);
  if (s.small == nobody) return;
  if (all) note_small_commit(w);
  for (; s.small_groups.size() > (all ? 0 : keep); s.small_groups.pop_front()) s.clock.know(s.small, {s.small_groups.front(), 0});
}

Flight small_flight(Warp& w) {
  WarpState& s = w.cta->check->of(w);
  if (s.small != nobody) note_small_commit(w);   // later copies are not covered
  Flight f;
  f.clock = s.clock;
  if (s.small != nobody) f.clock.know(s.small, {s.small_issued, 0});
  tick(s);
  return f;
}

}  // namespace tilewright::runtime::sim::check
