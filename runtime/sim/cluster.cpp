#include "runtime/sim/cluster.h"

#include "runtime/sim/check/checker.h"
#include "runtime/sim/check/hooks.h"

#include "tilewright/error.h"

namespace tilewright::runtime::sim {
namespace {

constexpr unsigned idle_limit = 4;   // times all waits may return without effect before it is a deadlock

}  // namespace

Cluster::Cluster(const Launch& l) : launch(l) {
  for (unsigned r = 0; r < l.cluster[0] * l.cluster[1] * l.cluster[2]; ++r) ctas.push_back(std::make_unique<Cta>(l, *this, r));
  if (!l.checks) return;
  checker = std::make_unique<check::ClusterChecker>(*this, *l.checks);
  for (const auto& cta : ctas) cta->check = checker->ctas[cta->rank].get();
}

Cluster::~Cluster() = default;

void Cluster::start(const std::uint64_t number_of_this) {
  std::uint64_t number = number_of_this;
  const auto& c = launch.cluster;
  schedule = Schedule(launch.options->schedule, launch.stream << 32 | number);
  std::array<unsigned, 3> first{};
  for (unsigned axis = 0; axis < 3; ++axis) {
    const unsigned count = launch.grid[axis] / c[axis];
    first[axis] = static_cast<unsigned>(number % count) * c[axis];
    number /= count;
  }
  barrier = {};
  for (const auto& cta : ctas)
    cta->start({first[0] + cta->rank % c[0], first[1] + cta->rank / c[0] % c[1], first[2] + cta->rank / c[0] / c[1]});
  if (checker) checker->start(number_of_this);
}

unsigned Cluster::live_threads() const {
  unsigned n = 0;
  for (const auto& c : ctas) n += c->live_threads();
  return n;
}

std::uint64_t Cluster::executed() const {
  std::uint64_t n = 0;
  for (const auto& c : ctas) n += c->executed();
  return n;
}

std::uint64_t Cluster::effects() const {
  std::uint64_t n = 0;
  for (const auto& c : ctas) n += c->effects;
  return n;
}

bool Cluster::complete_barrier() {
  if (barrier.arrived < live_threads()) return false;
  barrier.arrived = 0;
  ++barrier.generation;
  if (checker) check::note_cluster_completion(*this);
  return true;
}

std::string Cluster::name() const { return (ctas.size() > 1 ? "the cluster of " : "") + ctas.front()->name(); }

std::string Cluster::blocked_report() const {
  std::string out;
  for (const auto& c : ctas) out += c->blocked_report();
  return out;
}

bool Cluster::complete_a_copy() {
  for (const auto& c : ctas)
    if (c->async.advance(*c, c->turn, true)) return true;
  return false;
}

bool Cluster::let_waits_return() {
  bool any = false;
  for (const auto& c : ctas) any |= c->let_waits_return();
  return any;
}

Cluster::State Cluster::run(std::uint64_t patience, std::uint64_t rounds) {
  unsigned idle = 0;
  std::uint64_t idle_effects = ~0ull;
  std::uint64_t last_effects = effects();
  std::uint64_t executed_at_effect = executed();
  for (;; --rounds) {
    if (rounds == 0) return State::paused;
    bool moved = false, alive = false;
    for (const auto& c : ctas) {
      moved |= c->round();
      alive |= c->alive();
    }
    if (!alive) {
      while (complete_a_copy()) {}
      return State::ended;
    }
    if (const std::uint64_t now = effects(); now != last_effects) {
      launch.effects.fetch_add(1, std::memory_order_relaxed);
      last_effects = now;
      executed_at_effect = executed();
    } else if (executed() - executed_at_effect > patience) {
      return State::polling;
    }
    if (moved || complete_a_copy()) continue;
    idle = last_effects == idle_effects ? idle + 1 : 0;
    idle_effects = last_effects;
    if (idle < idle_limit && let_waits_return()) continue;
    throw Error("deadlock in kernel '" + launch.program->function->name + "': no warp of " + name() + " can go on and no copy is in flight\n" +
                blocked_report());
  }
}

}  // namespace tilewright::runtime::sim
