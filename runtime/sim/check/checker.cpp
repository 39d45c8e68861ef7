#include "runtime/sim/check/checker.h"

#include <bit>

#include "runtime/sim/cluster.h"

namespace tilewright::runtime::sim::check {

CtaChecker::CtaChecker(ClusterChecker& c, Cta& of, unsigned granule) : cluster(c), cta(of), shared(of.shared.size(), granule) {}

void CtaChecker::start() {
  const Program& p = *cta.launch.program;
  shared.clear();
  barriers.clear();
  words.clear();
  named = {};
  groups.assign(cta.warpgroups.size(), {});
  warps.resize(cta.warps.size());
  for (std::size_t n = 0; n < warps.size(); ++n) {
    std::vector<std::uint32_t> ran = std::move(warps[n].ran);   // keeps its memory
    warps[n] = {};
    WarpState& s = warps[n];
    ran.assign(p.code.size(), 0);
    s.ran = std::move(ran);
    s.self = static_cast<Agent>(cta.rank * cta.warps.size() + n);
    s.solo = static_cast<Agent>(s.self + cluster.ctas.size() * cta.warps.size());
    s.clock.know(s.self, {1, 0});
    s.clock.know(s.solo, {1, 0});
    if (!cluster.launch.programmatic) s.clock.know(cluster.previous_grid, {1, 1});
    s.accumulates.assign(p.register_bytes / slot_unit + 1, 0);
    s.feeds = s.accumulates;
    s.written_after.assign(s.accumulates.size(), 0);
    s.use = s.read_after = s.written_after;
  }
}

ClusterChecker::ClusterChecker(Cluster& c, LaunchChecker& l) : cluster(c), launch(l) {
  for (const auto& cta : c.ctas) ctas.push_back(std::make_unique<CtaChecker>(*this, *cta, cta->launch.program->shared_granule));
}

void ClusterChecker::start(std::uint64_t n) {
  number = n;
  barrier = {};
  roles_.clear();
  next_ = 0;
  for (const auto& c : ctas)
    for (std::size_t w = 0; w < 2 * c->cta.warps.size(); ++w) make_agent(Role::warp);
  previous_grid = make_agent(Role::previous);
  for (const auto& c : ctas) c->start();
}

std::uint32_t CtaChecker::number(const Instruction& i) const { return static_cast<std::uint32_t>(&i - cta.launch.program->code.data()); }

Event CtaChecker::event(const Warp& w, const Instruction& i, LaneMask lanes) {
  const WarpState& s = of(w);
  Event e;
  e.agent = std::has_single_bit(lanes) ? s.solo : s.self;
  e.time = s.clock.known[s.self].seen;
  e.instruction = number(i);
  e.count = s.ran[e.instruction];
  e.rank = static_cast<std::uint8_t>(cta.rank);
  e.warp = static_cast<std::uint8_t>(w.index);
  e.lanes = lanes;
  return e;
}

const Clock& known_to(WarpState& s, LaneMask lanes) {
  const bool others = s.loose & ~lanes, others_alone = s.loose_solo & ~lanes;
  if (!others && !others_alone) return s.clock;
  s.partial = s.clock;
  const auto limit = [&](Agent a) {
    Known& k = s.partial.known[a];
    k = {std::min(k.seen, s.together), std::min(k.fenced, s.together)};
  };
  if (others) limit(s.self);
  if (others_alone) limit(s.solo);
  return s.partial;
}

void come_together(WarpState& s) {
  if (!s.loose && !s.loose_solo) return;
  s.together = s.clock.known[s.self].seen;
  s.loose = s.loose_solo = 0;
  tick(s);
}

void CtaChecker::read_shared(std::uint64_t begin, std::uint64_t end, const Access& a) {
  if (begin < shared_base || end > cta.shared.size() || begin >= end) return;
  if (const auto x = shared.read(begin, end, a)) refuse(*x, a, begin, false);
}

void CtaChecker::write_shared(std::uint64_t begin, std::uint64_t end, const Access& a) {
  if (begin < shared_base || end > cta.shared.size() || begin >= end) return;
  if (const auto x = shared.write(begin, end, a)) refuse(*x, a, begin, true);
}

bool CtaChecker::reach(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return false;
  if (!allocation.holds(begin, end - begin)) allocation = cta.launch.memory->find(begin, end - begin);
  return allocation.begin <= allocation.end;
}

// A launch that begins before the one before it has ended must not touch what that one wrote.
void CtaChecker::await_previous(std::uint64_t begin, std::uint64_t end, const Access& a, bool writing) {
  if (!cluster.launch.previous || a.clock->of(cluster.previous_grid).seen) return;
  if (cluster.launch.previous->touched(begin, end, writing))
    throw Fault{std::string(writing ? "writes" : "reads") + " global memory at " + hex(begin) + " that the kernel launched before has " +
                (writing ? "used" : "written") + ": in a programmatic launch griddepcontrol.wait must come first"};
}

bool CtaChecker::read_global(std::uint64_t begin, std::uint64_t end, const Access& a) {
  if (!reach(begin, end)) return true;
  await_previous(begin, end, a, false);
  if (const auto x = cluster.launch.shadow->read(begin, end, a, static_cast<std::uint32_t>(cluster.number), cluster.global)) refuse_global(*x, a, false);
  if (!allocation.written || allocation.written->holds(begin - allocation.begin, end - allocation.begin)) return true;
  if (a.needs_values) {
    Conflict c;
    c.why = Conflict::Why::unwritten;
    c.address = begin;
    refuse_global({c, 0}, a, false);
  }
  return false;
}

void CtaChecker::write_global(std::uint64_t begin, std::uint64_t end, const Access& a) {
  if (!reach(begin, end)) return;
  await_previous(begin, end, a, true);
  if (const auto x = cluster.launch.shadow->write(begin, end, a, static_cast<std::uint32_t>(cluster.number), cluster.global)) refuse_global(*x, a, true);
  if (allocation.written) allocation.written->mark(begin - allocation.begin, end - allocation.begin);
}

bool CtaChecker::written_global(std::uint64_t begin, std::uint64_t end) {
  return !reach(begin, end) || !allocation.written || allocation.written->holds(begin - allocation.begin, end - allocation.begin);
}

void CtaChecker::refuse(const Conflict& c, const Access& a, std::uint64_t, bool writing) {
  throw Fault{conflict_text(*this, c, a, "shared memory at " + place_of_shared(cta, c.address), writing, {})};
}

void CtaChecker::refuse_global(const GlobalConflict& g, const Access& a, bool writing) {
  std::string elsewhere;
  if (g.cluster != cluster.number) {
    const auto& l = cta.launch;
    std::array<unsigned, 3> first{};
    std::uint64_t n = g.cluster;
    for (unsigned axis = 0; axis < 3; ++axis) {
      const unsigned count = l.grid[axis] / l.cluster[axis];
      first[axis] = static_cast<unsigned>(n % count) * l.cluster[axis];
      n /= count;
    }
    const unsigned r = g.conflict.other.rank;
    elsewhere = "CTA " + place_of({first[0] + r % l.cluster[0], first[1] + r / l.cluster[0] % l.cluster[1], first[2] + r / l.cluster[0] / l.cluster[1]}) + ", ";
  }
  throw Fault{conflict_text(*this, g.conflict, a, "global memory at " + hex(g.conflict.address) + " (" + cta.launch.memory->within(g.conflict.address) + ")", writing, elsewhere)};
}

}  // namespace tilewright::runtime::sim::check
