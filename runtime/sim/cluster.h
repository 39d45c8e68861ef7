// The CTAs that run together: a cluster of the launch, or one CTA alone.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "runtime/sim/machine.h"
#include "runtime/sim/schedule.h"

namespace tilewright::runtime::sim {

namespace check {
class ClusterChecker;
}

struct Cluster {
  explicit Cluster(const Launch& launch);
  ~Cluster();
  /// Begins cluster `number` of the launch, x first.
  void start(std::uint64_t number);

  enum class State { ended, polling, paused };
  /// Runs until every warp has ended, until `patience` warp instructions had no effect that others could see (it polls for
  /// what another CTA is to write), or for `rounds` turns of its warps. Throws Error for a fault or a deadlock.
  State run(std::uint64_t patience, std::uint64_t rounds = ~0ull);

  /// Whether every living thread of the cluster has arrived at its barrier; if so the next phase begins.
  bool complete_barrier();
  unsigned live_threads() const;
  std::uint64_t executed() const;       // warp instructions
  std::string name() const;             // "CTA (0, 0, 0)", "the cluster of CTA (0, 0, 0)"
  std::string blocked_report() const;

  const Launch& launch;
  std::vector<std::unique_ptr<Cta>> ctas;   // by rank
  NamedBarrier barrier;
  Schedule schedule;
  std::unique_ptr<check::ClusterChecker> checker;   // null: no checks

 private:
  std::uint64_t effects() const;
  bool complete_a_copy();
  bool let_waits_return();
};

}  // namespace tilewright::runtime::sim
