// Words for what the checks find.
#include "runtime/sim/cluster.h"
#include "runtime/sim/check/checker.h"

namespace tilewright::runtime::sim::check {

std::string place_of_shared(const Cta& cta, std::uint64_t address) {
  const std::uint64_t dynamic = cta.launch.program->dynamic_shared;
  return hex(address) + (address >= dynamic && cta.launch.dynamic_shared ? " (dynamic shared memory + " + std::to_string(address - dynamic) + ")" : "");
}

std::string barrier_text(const Cta& cta, std::uint64_t address) {
  const std::string name = cta.launch.barrier_name(static_cast<std::uint32_t>(address));
  return "the mbarrier " + (name.empty() ? "" : name + " ") + "at shared address " + hex(address);
}

std::string author_of(const Cta& cta, const Event& e) {
  const Cta& author = *cta.cluster.ctas[e.rank];
  const Program& p = *cta.launch.program;
  return author.where(author.warps[e.warp]) + ", " + p.describe(p.code[e.instruction]) + (e.count > 1 ? ", execution " + std::to_string(e.count) : "");
}

namespace {

std::string use_of(const CtaChecker& c, const Event& e, bool read) {
  const std::string lines = author_of(c.cta, e);
  switch (c.cluster.role(e.agent)) {
    case ClusterChecker::Role::barrier: return std::string(read ? "what the copy reads" : "what the copy writes") + " that " + lines + " issued";
    case ClusterChecker::Role::product: return "the operand that a wgmma reads, issued by " + lines;
    case ClusterChecker::Role::small: return "what a cp.async writes, issued by " + lines;
    case ClusterChecker::Role::bulk_read: return "what a bulk store reads, issued by " + lines;
    case ClusterChecker::Role::bulk_write: return "what a bulk store writes, issued by " + lines;
    default: return std::string(read ? "the read by " : "the write by ") + lines;
  }
}

std::string what_is_missing(const CtaChecker& c, const Event& e, const Clock& later) {
  switch (c.cluster.role(e.agent)) {
    case ClusterChecker::Role::barrier:
      for (const auto& cta : c.cluster.ctas)
        for (const auto& [address, b] : cta->barriers)
          if (b.agent == e.agent) {
            const std::string phase = std::to_string(e.time - 1);
            return "nothing orders it after a wait for phase " + phase + " (parity " + std::to_string((e.time - 1) % 2) + ") of " + barrier_text(cta->cta, address);
          }
      return "nothing orders it after a wait for the copy's mbarrier";
    case ClusterChecker::Role::product: return "nothing orders it after a wgmma.wait_group that covers the wgmma";
    case ClusterChecker::Role::small: return "nothing orders it after a wait for the cp.async";
    case ClusterChecker::Role::bulk_read: return "nothing orders it after a cp.async.bulk.wait_group.read (or wait_group) of that thread that covers the copy";
    case ClusterChecker::Role::bulk_write: return "nothing orders it after a cp.async.bulk.wait_group (without .read) of that thread that covers the copy";
    default: break;
  }
  const WarpState& other = c.cluster.ctas[e.rank]->warps[e.warp];
  return later.of(e.agent == other.solo ? other.self : other.solo).seen >= e.time
             ? "the lanes of that warp have not come together (bar.warp.sync) before one of them signalled for all"
             : "no barrier or other synchronisation orders the two";
}

}  // namespace

std::string conflict_text(CtaChecker& c, const Conflict& x, const Access& a, const std::string& place, bool writing, const std::string& elsewhere) {
  const std::string verb = writing ? "writes " : "reads ";
  const std::string when = a.event.count > 1 ? "execution " + std::to_string(a.event.count) + " of it " : "";
  const bool foreign = !elsewhere.empty();
  std::string other;
  if (x.why != Conflict::Why::unwritten) {
    if (foreign) {   // agents are numbered by cluster
      const Program& p = *c.cta.launch.program;
      const std::string role = c.cta.launch.role_of(x.other.warp);
      other = std::string(x.with_read ? "the read by " : "the write by ") + elsewhere + "warp " + std::to_string(x.other.warp) + (role.empty() ? "" : " (" + role + ")") + ", " +
              p.describe(p.code[x.other.instruction]);
    } else {
      other = use_of(c, x.other, x.with_read);
    }
  }
  switch (x.why) {
    case Conflict::Why::unwritten: return when + "reads " + place + ", which nobody has written";
    case Conflict::Why::mbarrier: return when + verb + place + ", where an mbarrier lies that only mbarrier instructions may touch; it was initialised by " + author_of(c.cta, x.other);
    case Conflict::Why::unfenced:
      return "missing proxy fence: " + when + verb + place + " through the async proxy after " + other +
             ", through the generic proxy; no fence.proxy.async lies between the two";
    case Conflict::Why::unordered: break;
  }
  return "race: " + when + verb + place + ", in conflict with " + other + "; " +
         (foreign ? "nothing orders the two CTAs: no release and acquire at a scope that reaches both" : what_is_missing(c, x.other, *a.clock));
}

std::string pending_text(CtaChecker& c, std::uint32_t address) {
  const auto it = c.barriers.find(address);
  if (it == c.barriers.end()) return {};
  const BarrierState& b = it->second;
  const Program& p = *c.cta.launch.program;
  std::string here, missing;
  const auto who = [&](const Arriver& a) {
    const Cta& cta = *c.cta.cluster.ctas[a.rank];
    return cta.where(cta.warps[a.warp]) + " at " + p.describe(p.code[a.instruction]);
  };
  for (const Arriver& a : b.arrivers) {
    if (a.now) here += "\n      arrived: " + who(a) + (a.now > 1 ? ", " + std::to_string(a.now) + " times" : "");
    if (a.now < a.before) missing += "\n      has not arrived, but did in the phase before: " + who(a);
  }
  if (b.arrivers.empty()) missing += "\n      nobody has ever arrived at it; it was initialised by " + author_of(c.cta, b.init);
  else if (here.empty() && missing.empty()) missing += "\n      nobody has arrived in this phase";
  std::string bytes;
  if (b.expected_bytes || b.landed_bytes || b.in_flight)
    bytes = "\n      bytes: " + std::to_string(b.expected_bytes) + " expected" + (b.expected_bytes ? " (last by " + author_of(c.cta, b.expecter) + ")" : "") + ", " +
            std::to_string(b.landed_bytes) + " landed, " + std::to_string(b.in_flight) + " copies in flight";
  return "\n      complete phases: " + std::to_string(b.phases) + here + missing + bytes;
}

}  // namespace tilewright::runtime::sim::check
