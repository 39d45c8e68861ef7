// Vector clocks of the agents that run together: what each of them knows to have happened before.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace tilewright::runtime::sim::check {

/// A component of a cluster's clocks: a warp, or what runs beside warps and completes by itself.
using Agent = std::uint16_t;
using Time = std::uint32_t;

/// How far one agent's past is known: everything it did up to `seen`; of that, what lies before a proxy fence up to `fenced`.
struct Known {
  Time seen = 0, fenced = 0;
};

/// What is known of agents in other clusters, by the cluster's number.
using Foreign = std::map<std::uint64_t, std::vector<Known>>;

struct Clock {
  std::vector<Known> known;                  // by agent; one that is absent is not known at all
  std::shared_ptr<const Foreign> foreign;    // never changed: joined into a new one

  Known of(Agent a) const { return a < known.size() ? known[a] : Known{}; }
  Known of(std::uint64_t cluster, Agent a) const {
    if (!foreign) return {};
    const auto it = foreign->find(cluster);
    return it == foreign->end() || a >= it->second.size() ? Known{} : it->second[a];
  }
  void know(Agent a, Known k) {
    if (a >= known.size()) known.resize(a + 1u);
    known[a].seen = std::max(known[a].seen, k.seen);
    known[a].fenced = std::max(known[a].fenced, k.fenced);
  }
  void clear() {
    known.clear();
    foreign.reset();
  }
  bool empty() const { return known.empty(); }
  /// Learns what `other` knows; both belong to the same cluster.
  void join(const Clock& other);
  /// Learns what an agent of cluster `theirs` knows; this clock belongs to cluster `mine`.
  void join_foreign(const Clock& other, std::uint64_t theirs, std::uint64_t mine);
  /// Keeps what both know.
  void meet(const Clock& other);
  /// A proxy fence: all that is known so far lies behind it.
  void fence() {
    for (Known& k : known) k.fenced = k.seen;
    if (foreign) fence_foreign();
  }

 private:
  void fence_foreign();
};

}  // namespace tilewright::runtime::sim::check
