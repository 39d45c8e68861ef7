// mbarriers: what arrivals hand to waits, phases that a waiter could miss, bytes that belong to another phase.
#include "runtime/sim/check/checker.h"
#include "runtime/sim/check/hooks.h"
#include "runtime/sim/cluster.h"

namespace tilewright::runtime::sim::check {
namespace {

BarrierState* find(CtaChecker& c, std::uint64_t address) {
  const auto it = c.barriers.find(static_cast<std::uint32_t>(address));
  return it == c.barriers.end() ? nullptr : &it->second;
}

Arriver& arriver(BarrierState& b, const Cta& cta, const Warp& w) {
  for (Arriver& a : b.arrivers)
    if (a.rank == cta.rank && a.warp == w.index) return a;
  return b.arrivers.emplace_back(Arriver{static_cast<std::uint8_t>(cta.rank), static_cast<std::uint8_t>(w.index), 0, 0, 0});
}

void arrive(BarrierState& b, Warp& w, const Instruction& i, std::uint32_t count) {
  Arriver& a = arriver(b, *w.cta, w);
  a.instruction = w.cta->check->number(i);
  a.now += count;
}

std::string phase_text(std::int64_t phase) { return "phase " + std::to_string(phase) + " (parity " + std::to_string(phase & 1) + ")"; }

}  // namespace

void note_init(Warp& w, const Instruction& i, unsigned lane, std::uint64_t address) {
  CtaChecker& c = *w.cta->check;
  c.count(w, i);
  if (const BarrierState* b = find(c, address))
    throw Fault{barrier_text(c.cta, address) + " is initialised again without mbarrier.inval; it was initialised by " + author_of(c.cta, b->init), static_cast<int>(lane)};
  Access a{c.event(w, i, 1u << lane), &c.of(w).clock, false};
  a.event.kind = Kind::mbarrier;
  c.write_shared(address, address + 8, a);
  BarrierState b;
  b.agent = c.cluster.make_agent(ClusterChecker::Role::barrier);
  b.init = a.event;
  b.waiters.resize(c.warps.size());
  c.barriers.emplace(static_cast<std::uint32_t>(address), std::move(b));
}

void note_invalidation(Warp& w, const Instruction& i, unsigned lane, std::uint64_t address) {
  CtaChecker& c = *w.cta->check;
  c.count(w, i);
  note_use(w, c.cta, address);
  Access a{c.event(w, i, 1u << lane), &c.of(w).clock, false};
  a.event.kind = Kind::mbarrier;
  c.write_shared(address, address + 8, a);
  a.event.kind = Kind::generic;   // the object has gone
  ++a.event.count;
  c.forget_mbarrier(address, a);
  c.barriers.erase(static_cast<std::uint32_t>(address));
}

void note_use(Warp& w, Cta& owner, std::uint64_t address) {
  const BarrierState* b = find(*owner.check, address);
  if (!b || w.cta->check->of(w).clock.of(b->init.agent).seen >= b->init.time) return;
  throw Fault{"uses " + barrier_text(owner, address) + ", whose initialisation is not ordered before: no barrier lies behind " + author_of(owner, b->init)};
}

void note_arrivals(Warp& w, const Instruction& i, LaneMask m, Cta& owner, std::uint64_t address, std::uint32_t count) {
  BarrierState* b = find(*owner.check, address);
  if (!b) return;
  note_use(w, owner, address);
  WarpState& s = w.cta->check->of(w);
  if (i.order != MemoryOrder::relaxed) {
    b->gathering.join(known_to(s, m));
    tick(s);
  }
  arrive(*b, w, i, count);
}

void note_late_arrival(const Flight& f, Warp& w, const Instruction& i, std::uint64_t address, std::uint32_t count) {
  BarrierState* b = find(*w.cta->check, address);
  if (!b) return;
  b->gathering.join(f.clock);
  arrive(*b, w, i, count);
}

void note_expected(Warp& w, const Instruction& i, Cta& owner, std::uint64_t address, std::uint32_t bytes) {
  BarrierState* b = find(*owner.check, address);
  if (!b) return;
  note_use(w, owner, address);
  b->expected_bytes += bytes;
  b->expecter = w.cta->check->event(w, i, 0);
}

void note_landing(const Flight& f, Cta& target, std::uint64_t address, std::uint64_t bytes) {
  BarrierState* b = find(*target.check, address);
  if (!b) return;
  b->gathering.join(f.clock);
  b->landed_bytes += bytes;
  if (b->in_flight) --b->in_flight;
  if (f.phase[target.rank] != b->phases)
    throw Fault{std::to_string(bytes) + " bytes land in " + phase_text(b->phases) + " of " + barrier_text(target, address) + "; the copy was issued in " +
                phase_text(f.phase[target.rank])};
}

void note_phase(Cta& owner, std::uint64_t address) {
  BarrierState* b = find(*owner.check, address);
  if (!b) return;
  const auto phase = static_cast<std::int64_t>(b->phases++);
  if (b->in_flight)
    throw Fault{phase_text(phase) + " of " + barrier_text(owner, address) + " completes while " + std::to_string(b->in_flight) +
                " copies that it should wait for are in flight: " + std::to_string(b->expected_bytes) + " bytes were expected, too few for the copy issued by " +
                author_of(owner, b->copy)};
  Clock& done = b->done[static_cast<std::size_t>(phase) & 1];
  std::swap(done, b->gathering);
  b->gathering.clear();
  for (std::size_t n = 0; n < b->waiters.size(); ++n) {
    Waiter& waiter = b->waiters[n];
    const WarpState& s = owner.check->warps[n];
    const Time known = std::max(done.of(s.self).seen, done.of(s.solo).seen);
    if (waiter.looked >= 0 && waiter.looked == phase - 1 && known < waiter.at) waiter.overtaken = phase;
  }
  done.know(b->agent, {b->phases, b->phases});
  b->expected_bytes = b->landed_bytes = 0;
  for (Arriver& a : b->arrivers) {
    a.before = a.now;
    a.now = 0;
  }
}

void note_wait(Warp& w, const Instruction& i, std::uint64_t address, std::uint32_t parity, bool complete) {
  CtaChecker& c = *w.cta->check;
  BarrierState* b = find(c, address);
  if (!b) return;
  note_use(w, c.cta, address);
  WarpState& s = c.of(w);
  Waiter& waiter = b->waiters[w.index];
  // The phase that the warp means: the next of this parity behind the last it knows to be complete.
  const std::int64_t known = std::max<std::int64_t>(waiter.looked, static_cast<std::int64_t>(s.clock.of(b->agent).seen) - 1);
  const auto phases = static_cast<std::int64_t>(b->phases);
  const bool first_of_empty = known < 0 && parity == 1;   // the phase before the first counts as complete
  const std::int64_t meant = known + (((known + 1) & 1) == static_cast<std::int64_t>(parity) ? 1 : 2);
  if (!first_of_empty && phases >= meant + 2)
    throw Fault{"lost phase: waits for " + phase_text(meant) + " of " + barrier_text(c.cta, address) + ", which has completed " + phase_text(phases - 1) +
                " meanwhile; a parity tells only neighbouring phases apart"};
  if (waiter.overtaken >= 0 && known <= waiter.overtaken)
    throw Fault{"phase that may be lost: " + phase_text(waiter.overtaken) + " of " + barrier_text(c.cta, address) +
                " completed without regard to whether this warp had seen the one before, at " +
                c.cta.launch.program->describe(c.cta.launch.program->code[waiter.instruction]) +
                "; a warp that is later would see neither. Who lets the barrier go on must wait for this warp"};
  if (!complete) return;
  if (phases > 0) {
    if (i.order != MemoryOrder::relaxed) s.clock.join(b->done[static_cast<std::size_t>(phases - 1) & 1]);
    waiter.looked = phases - 1;
    waiter.at = s.clock.known[s.self].seen;
    waiter.instruction = c.number(i);
    waiter.overtaken = -1;
  }
}

}  // namespace tilewright::runtime::sim::check
