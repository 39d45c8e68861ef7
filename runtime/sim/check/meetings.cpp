// Fences, named barriers, the cluster's barrier, and the ends of warps and CTAs.
#include "runtime/sim/check/checker.h"
#include "runtime/sim/check/hooks.h"
#include "runtime/sim/cluster.h"

namespace tilewright::runtime::sim::check {

void note_fence(Warp& w, MemoryScope scope) {
  WarpState& s = w.cta->check->of(w);
  for (unsigned d = 0; d < s.acquired.size(); ++d) {
    if (scope < MemoryScope::gpu && static_cast<unsigned>(scope) <= d) continue;
    s.clock.join(s.acquired[d]);
    s.acquired[d].clear();
  }
  s.released = s.clock;
  s.released_to = scope;
  tick(s);
}

void note_proxy_fence(Warp& w) {
  WarpState& s = w.cta->check->of(w);
  s.clock.fence();
  tick(s);
}

void note_init_fence(Warp& w) {
  const WarpState& s = w.cta->check->of(w);
  for (const auto& c : w.cta->check->cluster.ctas)
    for (auto& [address, b] : c->barriers) b.init_fenced |= b.init.agent == s.self || b.init.agent == s.solo;
}

void note_grid_wait(Warp& w) { w.cta->check->of(w).clock.know(w.cta->check->cluster.previous_grid, {1, 1}); }

void note_together(Warp& w, LaneMask m) {
  if ((m & w.live) == w.live) come_together(w.cta->check->of(w));
}

void note_arrival(Warp& w, unsigned barrier) {
  CtaChecker& c = *w.cta->check;
  c.named[barrier].gathering.join(c.of(w).clock);
  tick(c.of(w));
}

void note_completion(Cta& cta, unsigned barrier) {
  Meeting& m = cta.check->named[barrier];
  std::swap(m.done, m.gathering);
  m.gathering.clear();
}

void note_departure(Warp& w, unsigned barrier) {
  CtaChecker& c = *w.cta->check;
  c.of(w).clock.join(c.named[barrier].done);
}

void note_cluster_arrival(Warp& w, bool release) {
  CtaChecker& c = *w.cta->check;
  if (!release) return;
  c.cluster.barrier.gathering.join(c.of(w).clock);
  tick(c.of(w));
}

void note_cluster_completion(Cluster& cluster) {
  Meeting& m = cluster.checker->barrier;
  std::swap(m.done, m.gathering);
  m.gathering.clear();
}

void note_cluster_departure(Warp& w) { w.cta->check->of(w).clock.join(w.cta->check->cluster.barrier.done); }

// Shared memory goes with the CTA: nothing may still use it.
void note_exit(Warp& w) {
  CtaChecker& c = *w.cta->check;
  if (c.cta.alive()) return;
  Clock end;
  for (const WarpState& s : c.warps) end.join(s.clock);
  for (const auto& [address, b] : c.barriers)
    if (b.last_issue > end.of(b.agent).seen)
      throw Fault{"the CTA ends while the copy issued by " + author_of(c.cta, b.copy) + " may still write its shared memory: nobody has waited for phase " +
                  std::to_string(b.last_issue - 1) + " of " + barrier_text(c.cta, address)};
  for (const WarpState& s : c.warps)
    if (s.bulk_read != nobody && end.of(s.bulk_read).seen < s.bulk_issued)
      throw Fault{"the CTA ends while a bulk store of " + c.cta.where(c.cta.warps[static_cast<std::size_t>(&s - c.warps.data())]) +
                  " may still read its shared memory: no cp.async.bulk.wait_group.read (or wait_group) covers it"};
}

}  // namespace tilewright::runtime::sim::check
