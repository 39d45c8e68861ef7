// Barriers of all kinds: phases complete when their arrivals and bytes are in; waits pass when their phase is complete.
#include <algorithm>

#include "compiler/verify/protocol/Machine.h"

using namespace mlir;

namespace tilewright::verify::protocol {

namespace {

std::int64_t bytes_of(const TileUse& use, const Tile& tile) {
  return std::int64_t{use.place.height} * use.place.width * tile.element_bytes;
}

std::string times(std::int64_t n) { return n == 1 ? "once" : std::to_string(n) + " times"; }

}  // namespace

int Machine::ring_signal(int cta, int ring, int stage, bool full) const {
  const int stages = program_.rings[static_cast<std::size_t>(ring)].stages;
  return cta * signals_of_cta_ + ring_base_[static_cast<std::size_t>(ring)] + (full ? 0 : stages) + stage;
}

/// Whether the whole warp (or the role's one thread) is here, as a rendezvous of its lanes needs.
bool Machine::converges(Actor& a, const Instr& i) {
  if (a.mask == a.lanes && !a.maybe) return true;
  const bool unknown = a.maybe && a.mask == a.lanes;
  return !report(a, i, "convergence", "role", unknown ? "cannot be decided: a condition that may differ between lanes decides whether " + who(a) + " comes here, and its lanes meet here"
                                              : "only some lanes of " + who(a) + " come here, but it is for whole warps: the lanes of a warp meet here",
         "take it out of the branch, or let the condition be the same for all lanes of a warp (k.uniform)", unknown);
}

bool Machine::wait(Actor& a, const Instr& i, int signal, std::int64_t phase) {
  Signal& s = signals_[static_cast<std::size_t>(signal)];
  if (s.done <= phase) {
    a.blocked = signal, a.blocked_phase = phase;
    return false;
  }
  if (s.done > phase + 1) {
    report(a, i, "phases", subject_of(s), who(a) + " waits for phase " + std::to_string(phase) + " of " + signal_name(s) + " when " + std::to_string(s.done) +
           " phases are complete; the parity that it waits for means another phase by then", "a role that waits must see every phase before the next but one completes");
    return false;
  }
  a.clock.join(s.last);
  s.waited[static_cast<std::size_t>(a.number)] = {phase, ++a.clock.seen[static_cast<std::size_t>(a.number)], &i};
  note(a, i, signal);
  return true;
}

void Machine::arrive(Actor& a, const Instr& i, int signal, bool announces) {
  Signal& s = signals_[static_cast<std::size_t>(signal)];
  const int before = s.arrivals[static_cast<std::size_t>(a.number)][announces]++;
  if (a.clock.seen[static_cast<std::size_t>(s.component)] < static_cast<std::uint32_t>(before)) {
    report(a, i, "phases", subject_of(s), who(a) + " may arrive twice in one phase of " + signal_name(s) + ": nothing orders this arrival after the end of phase " + std::to_string(before - 1),
           "let the role wait for that phase, or for something that follows from it, before it arrives again");
    return;
  }
  ++a.clock.seen[static_cast<std::size_t>(a.number)];
  s.gathering.join(a.clock);
  --s.pending;
  note(a, i, signal);
  complete(s, i);
}

void Machine::complete(Signal& s, const Instr&) {
  if (s.pending > 0 || s.bytes != 0) return;
  for (std::size_t w = 0; w < s.waited.size(); ++w) {
    const Signal::Waited& last = s.waited[w];
    if (s.done == 0 || last.phase != s.done - 1 || s.gathering.seen[w] >= last.at) continue;
    Actor& late = actors_[w];
    report(late, *last.instr, "phases", subject_of(s), who(late) + " may miss phase " + std::to_string(last.phase) + " of " + signal_name(s) +
           ": phase " + std::to_string(s.done) + " can complete before it has looked, and then the parity means another phase",
           "a role that waits must see every phase before the next but one completes: let what completes the next phase wait for this role");
    return;
  }
  ++s.done;
  s.pending = s.count;
  s.gathering.seen[static_cast<std::size_t>(s.component)] = static_cast<std::uint32_t>(s.done);
  s.last = s.gathering;
}

bool Machine::rendezvous(Actor& a, const Instr& i, int signal) {
  if (!a.half) {
    if (!converges(a, i)) return false;
    arrive(a, i, signal);
    a.half = true;
  }
  const Signal& s = signals_[static_cast<std::size_t>(signal)];
  if (finding_ || !wait(a, i, signal, s.arrivals[static_cast<std::size_t>(a.number)][0] - 1)) return false;
  a.half = false;
  a.converged = a.clock.seen[static_cast<std::size_t>(a.number)];
  return true;
}

/// The stage that a commit, release or copy names: one that acquire or wait gave.
std::optional<int> Machine::stage_of(Actor& a, const Instr& i) {
  const auto r = static_cast<std::size_t>(i.target);
  const RingInfo& ring = program_.rings[r];
  Val v = in(a, i);
  if (v.is(Val::number) && v.x >= 0 && v.x < ring.stages) return static_cast<int>(v.x);
  if (report(a, i, "phases", ring.name, "cannot be decided: the stage of ring \"" + ring.name + "\" is not one that acquire or wait gave", "use the Stage that acquire() or wait() returned", true))
    return std::nullopt;
  const std::int64_t used = i.code == Code::release ? a.consumed[r] : a.acquired[r];  // waived: the newest
  return static_cast<int>((std::max<std::int64_t>(used, 1) - 1) % ring.stages);
}

bool Machine::acquire(Actor& a, const Instr& i) {
  const auto r = static_cast<std::size_t>(i.target);
  const RingInfo& ring = program_.rings[r];
  const int stage = static_cast<int>(a.acquired[r] % ring.stages);
  const std::int64_t use = a.acquired[r] / ring.stages;
  if (use > 0 && !wait(a, i, ring_signal(a.cta, i.target, stage, false), use - 1)) return false;
  ++a.acquired[r], ++a.held[r][static_cast<std::size_t>(stage)];
  a.scalars[static_cast<std::size_t>(i.result)] = Val::of(stage);
  if (ring.bytes && a.warp == 0 && (a.mask & 1)) {
    const int full = ring_signal(a.cta, i.target, stage, true);
    signals_[static_cast<std::size_t>(full)].bytes += ring.bytes;
    arrive(a, i, full, true);
  }
  return true;
}

/// Commit or release.
void Machine::release(Actor& a, const Instr& i) {
  if (!converges(a, i)) return;
  auto stage = stage_of(a, i);
  if (!stage) return;
  const bool commits = i.code == Code::commit;
  const RingInfo& ring = program_.rings[static_cast<std::size_t>(i.target)];
  int& open = (commits ? a.held : a.taken)[static_cast<std::size_t>(i.target)][static_cast<std::size_t>(*stage)];
  if (open-- <= 0)
    return void(report(a, i, "phases", ring.name, who(a) + (commits ? " commits" : " releases") + " stage " + std::to_string(*stage) + " of ring \"" + ring.name + "\", which it has not " +
                  (commits ? "acquired" : "waited for") + " since it last " + (commits ? "committed" : "released") + " it",
                  commits ? "acquire() a stage, then commit it once" : "wait() for a stage, also where nothing of it is read, then release it once"));
  if (commits) {
    arrive(a, i, ring_signal(a.cta, i.target, *stage, true));
  } else {
    for (int cta = 0; cta < ctas_ && !finding_; ++cta)
      if (ring.ctas > 1 || cta == a.cta) arrive(a, i, ring_signal(cta, i.target, *stage, false));
  }
  a.converged = a.clock.seen[static_cast<std::size_t>(a.number)];
}

/// A copy by TMA: its bytes land in the phase that the producer's last acquire of the stage announced.
void Machine::land(Actor& a, const Instr& i) {
  if (a.warp != 0 || !(a.mask & 1)) return;
  auto stage = stage_of(a, i);
  if (!stage) return;
  const auto r = static_cast<std::size_t>(i.target);
  const RingInfo& ring = program_.rings[r];
  const std::int64_t phase = (a.acquired[r] - *stage + ring.stages - 1) / ring.stages - 1;
  const TileUse& use = i.uses.front();
  const std::int64_t bytes = bytes_of(use, program_.tiles[static_cast<std::size_t>(use.place.tile)]);
  for (int cta = 0; cta < ctas_ && !finding_; ++cta) {
    if (!i.number && cta != a.cta) continue;
    const int signal = ring_signal(cta, i.target, *stage, true);
    Signal& s = signals_[static_cast<std::size_t>(signal)];
    if (phase < 0 || s.done > phase)
      return void(report(a, i, "bytes", ring.name, phase < 0 ? who(a) + " fills stage " + std::to_string(*stage) + " of ring \"" + ring.name + "\", which it has not acquired"
                                                        : "more bytes land in " + signal_name(s) + " than the " + std::to_string(ring.bytes) + " that its acquire announced: they count for the next use",
                    "acquire() a stage first, and fill each of its tiles once"));
    if (a.clock.seen[static_cast<std::size_t>(s.component)] < static_cast<std::uint32_t>(phase))
      return void(report(a, i, "phases", ring.name, "the bytes of this copy may land in " + signal_name(s) + " before it was emptied " + times(phase), "acquire() waits for the consumers of all CTAs where the ring is filled by multicast"));
    Access access;
    access.component = s.component, access.end = static_cast<std::uint32_t>(phase + 1);
    note(a, i, signal);
    touch(a, i, use, cta, access);
    if (finding_) return;
    // Landing follows from what the issuing thread has waited for: not a release of its own accesses, but of phases.
    for (std::size_t c = actors_.size(); c < a.clock.seen.size(); ++c) s.gathering.seen[c] = std::max(s.gathering.seen[c], a.clock.seen[c]);
    s.bytes -= bytes;
    complete(s, i);
  }
}

bool Machine::synchronise(Actor& a, const Instr& i) {
  const int base = a.cta * signals_of_cta_;
  const auto met = [&] { a.converged = ++a.clock.seen[static_cast<std::size_t>(a.number)]; };
  switch (i.code) {
    case Code::acquire: return acquire(a, i);
    case Code::wait: {
      const auto r = static_cast<std::size_t>(i.target);
      const int stages = program_.rings[r].stages, stage = static_cast<int>(a.consumed[r] % stages);
      if (!wait(a, i, ring_signal(a.cta, i.target, stage, true), a.consumed[r] / stages)) return false;
      ++a.consumed[r], ++a.taken[r][static_cast<std::size_t>(stage)];
      a.scalars[static_cast<std::size_t>(i.result)] = Val::of(stage);
      return true;
    }
    case Code::commit:
    case Code::release: return release(a, i), true;
    case Code::arrive: {
      if (!converges(a, i)) return false;
      const bool cluster = program_.barriers[static_cast<std::size_t>(i.target)].cluster;
      for (int cta = 0; cta < ctas_ && !finding_; ++cta)
        if (cluster || cta == a.cta) arrive(a, i, cta * signals_of_cta_ + barrier_base_ + i.target);
      return met(), true;
    }
    case Code::wait_for: {
      std::int64_t& count = a.waits[static_cast<std::size_t>(i.target)];
      if (!wait(a, i, base + barrier_base_ + i.target, count)) return false;
      return ++count, true;
    }
    case Code::sync:
      if (a.lanes == 1) return true;
      if (program_.roles[static_cast<std::size_t>(a.role)].place.warps > 1) return rendezvous(a, i, base + sync_base_[static_cast<std::size_t>(a.role)]);
      return converges(a, i) ? (met(), true) : false;
    case Code::warp_sync:
      if (a.lanes == 1) return true;
      return converges(a, i) ? (met(), true) : false;
    case Code::meet: {
      const int signal = base + meeting_base_ + i.target;
      if (!i.number) return rendezvous(a, i, signal);
      if (!converges(a, i)) return false;
      arrive(a, i, signal);
      return met(), true;
    }
    case Code::cluster_arrive:
      if (!converges(a, i)) return false;
      arrive(a, i, cluster_signal_);
      return met(), true;
    default: {
      const Signal& s = signals_[static_cast<std::size_t>(cluster_signal_)];
      if (!wait(a, i, cluster_signal_, s.arrivals[static_cast<std::size_t>(a.number)][0] - 1)) return false;
      return met(), true;
    }
  }
}

}  // namespace tilewright::verify::protocol
