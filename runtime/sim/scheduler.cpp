// Runs the warps of a CTA as concurrent agents: turns in round-robin, divergent lanes by lowest program counter.
#include <algorithm>
#include <cstring>

#include "runtime/sim/cluster.h"
#include "runtime/sim/observer.h"

namespace tilewright::runtime::sim {
namespace {

void fill_special(Warp& w, const Cta& cta) {
  const Launch& launch = cta.launch;
  const auto& id = cta.id;
  const auto& c = launch.cluster;
  using enum SpecialRegister;
  for (const auto& [special, ref] : launch.program->special) {
    auto* v = w.out<std::uint32_t>(ref);
    for (unsigned l = 0; l < warp_lanes; ++l) {
      const unsigned t = w.index * warp_lanes + l;
      const auto& b = launch.block;
      switch (special) {
        case tid_x: v[l] = t % b[0]; break;
        case tid_y: v[l] = t / b[0] % b[1]; break;
        case tid_z: v[l] = t / (b[0] * b[1]); break;
        case ntid_x: v[l] = b[0]; break;
        case ntid_y: v[l] = b[1]; break;
        case ntid_z: v[l] = b[2]; break;
        case ctaid_x: v[l] = id[0]; break;
        case ctaid_y: v[l] = id[1]; break;
        case ctaid_z: v[l] = id[2]; break;
        case nctaid_x: v[l] = launch.grid[0]; break;
        case nctaid_y: v[l] = launch.grid[1]; break;
        case nctaid_z: v[l] = launch.grid[2]; break;
        case clusterid_x: v[l] = id[0] / c[0]; break;
        case clusterid_y: v[l] = id[1] / c[1]; break;
        case clusterid_z: v[l] = id[2] / c[2]; break;
        case nclusterid_x: v[l] = launch.grid[0] / c[0]; break;
        case nclusterid_y: v[l] = launch.grid[1] / c[1]; break;
        case nclusterid_z: v[l] = launch.grid[2] / c[2]; break;
        case cluster_ctaid_x: v[l] = id[0] % c[0]; break;
        case cluster_ctaid_y: v[l] = id[1] % c[1]; break;
        case cluster_ctaid_z: v[l] = id[2] % c[2]; break;
        case cluster_nctaid_x: v[l] = c[0]; break;
        case cluster_nctaid_y: v[l] = c[1]; break;
        case cluster_nctaid_z: v[l] = c[2]; break;
        case cluster_ctarank: v[l] = cta.rank; break;
        case cluster_nctarank: v[l] = c[0] * c[1] * c[2]; break;
        case laneid: v[l] = l; break;
        case warpid: v[l] = w.index; break;
        case nwarpid: v[l] = (launch.threads + 31) / 32; break;
        case smid: v[l] = static_cast<std::uint32_t>(cta.linear % launch.multiprocessors); break;
        case nsmid: v[l] = static_cast<std::uint32_t>(launch.multiprocessors); break;
        case gridid: v[l] = static_cast<std::uint32_t>(launch.grid_id); break;
        case lanemask_eq: v[l] = 1u << l; break;
        case lanemask_lt: v[l] = (1u << l) - 1; break;
        case lanemask_le: v[l] = (2u << l) - 1; break;
        case lanemask_gt: v[l] = ~((2u << l) - 1); break;
        case lanemask_ge: v[l] = ~((1u << l) - 1); break;
        case dynamic_smem_size: v[l] = launch.dynamic_shared; break;
        case total_smem_size: v[l] = launch.program->dynamic_shared + launch.dynamic_shared; break;
      }
    }
  }
}

// Lanes of equal program counter become one group again, unless one of them already counts at a barrier.
void merge_groups(Warp& w) {
  std::sort(w.groups.begin(), w.groups.end(), [](const Group& a, const Group& b) { return a.pc < b.pc; });
  const auto may_merge = [](const Group& g) { return g.block.kind != Block::Kind::named_barrier; };
  for (std::size_t n = 0; n + 1 < w.groups.size();) {
    Group& a = w.groups[n];
    const Group& b = w.groups[n + 1];
    if (a.pc == b.pc && may_merge(a) && may_merge(b)) {
      a.mask |= b.mask;
      a.block = {};
      w.groups.erase(w.groups.begin() + static_cast<std::ptrdiff_t>(n) + 1);
    } else {
      ++n;
    }
  }
}

}  // namespace

bool Warp::converged(LaneMask required, LaneMask active) {
  const LaneMask missing = required & live & ~group().mask;
  if (const LaneMask off = required & group().mask & ~active; off != 0)
    throw Fault{"the lanes " + hex(required & live) + " must execute this together, but lanes " + hex(off) + " of the warp do not take part: their guard is false", std::countr_zero(off)};
  if (missing == 0) return true;
  group().block = {Block::Kind::convergence, 0, 0, missing, false};
  return false;
}

Step Warp::block(Block::Kind kind, std::uint32_t address, std::uint32_t parity) {
  group().block = {kind, address, parity, 0, false};
  return Step::blocked;
}

Cta::Cta(const Launch& l, Cluster& together, unsigned r) : launch(l), cluster(together), rank(r) {
  const Program& p = *l.program;
  const unsigned count = (l.threads + warp_lanes - 1) / warp_lanes;
  shared.resize(p.dynamic_shared + l.dynamic_shared);
  const std::size_t per_warp = (p.register_bytes + 63) / 64 * 64 + 64;
  register_storage_.resize(per_warp * count + 64);
  auto base = reinterpret_cast<std::uintptr_t>(register_storage_.data());
  base = (base + 63) / 64 * 64;
  warps.resize(count);
  for (unsigned n = 0; n < count; ++n) {
    Warp& w = warps[n];
    w.cta = this;
    w.index = n;
    w.registers = reinterpret_cast<std::byte*>(base + per_warp * n);
    w.constants = reinterpret_cast<const std::byte*>(p.constants.data());
  }
  warpgroups.resize((count + 3) / 4);
}

void Cta::start(const std::array<unsigned, 3>& place) {
  const Program& p = *launch.program;
  id = place;
  linear = id[0] + std::uint64_t{launch.grid[0]} * (id[1] + std::uint64_t{launch.grid[1]} * id[2]);
  std::memset(shared.data(), 0xff, shared.size());
  barriers = {};
  for (Warpgroup& g : warpgroups) g = {};
  async.clear();
  async.set_policy(cluster.schedule.completion());
  pool_total = launch.entry_registers * static_cast<unsigned>(warps.size());
  pool_free = 0;
  effects = 0;
  turn = 0;
  for (Warp& w : warps) {
    std::memset(w.registers, 0, p.register_bytes);
    w.predicates.assign(p.predicates, 0);
    const unsigned first = w.index * warp_lanes;
    w.live = launch.threads - first >= warp_lanes ? all_lanes : (1u << (launch.threads - first)) - 1;
    w.groups.assign(1, Group{0, w.live, {}});
    w.current = 0;
    w.local.assign(std::size_t{p.local_bytes} * warp_lanes, std::byte{0xff});
    w.held_registers = launch.entry_registers;
    for (auto& b : w.bulk) b.reset();
    w.small_copies.clear();
    w.small_group = {};
    w.inflight.assign(p.register_bytes / slot_unit + 1, 0);
    w.wgmma_issued = 0;
    w.wgmma_commits.clear();
    w.executed = 0;
    w.clock = 0;
    w.cluster_arrived = 0;
    fill_special(w, *this);
  }
  if (observer) observer->begin(*this);
}

unsigned Cta::live_threads() const {
  unsigned n = 0;
  for (const Warp& w : warps) n += static_cast<unsigned>(std::popcount(w.live));
  return n;
}

bool Cta::alive() const {
  return std::any_of(warps.begin(), warps.end(), [](const Warp& w) { return w.live != 0; });
}

std::uint64_t Cta::executed() const {
  std::uint64_t n = 0;
  for (const Warp& w : warps) n += w.executed;
  return n;
}

// Executes one group until it blocks, yields, ends, meets other lanes or has used its budget. True when something executed.
bool Cta::group_turn(Warp& w, std::size_t number, unsigned budget) {
  const Instruction* code = launch.program->code.data();
  w.current = number;
  bool moved = false;
  while (budget-- > 0) {
    Group& g = w.groups[w.current];
    const Instruction& i = code[g.pc];
    LaneMask active = g.mask;
    if (i.guard >= 0) active &= i.guard_negated ? ~w.predicates[static_cast<std::size_t>(i.guard)] : w.predicates[static_cast<std::size_t>(i.guard)];
    if (active == 0) {
      ++g.pc;
      moved = true;
    } else {
      const std::size_t groups = w.groups.size();
      Step step;
      try {
        step = observer ? observer->execute(w, i, active) : i.exec(w, i, active);
      } catch (const Fault& f) {
        fail(w, i, f.lane, f.what);
      }
      if (step == Step::blocked) return moved;
      moved = true;
      ++w.executed;
      ++statistics.warp_instructions[static_cast<std::size_t>(i.group)];
      statistics.thread_instructions += static_cast<unsigned>(std::popcount(active));
      if (w.live == 0 || w.groups.size() != groups) return true;   // ended or diverged: choose again
      Group& after = w.groups[w.current];
      after.block = {};
      if (step == Step::next) ++after.pc;
      if (step == Step::yielded) {
        ++after.pc;
        return true;
      }
    }
    if (w.groups.size() > 1) {
      const std::uint32_t pc = w.groups[w.current].pc;
      for (std::size_t n = 0; n < w.groups.size(); ++n)
        if (n != w.current && (w.groups[n].pc == pc || (w.groups[n].block.kind == Block::Kind::none && w.groups[n].pc < pc))) return true;
    }
  }
  return moved;
}

bool Cta::warp_turn(Warp& w) {
  bool moved = false;
  const unsigned budget = cluster.schedule.budget(turn_budget);
  unsigned rounds = w.groups.size() > 1 ? turn_budget : 1;
  const std::uint64_t end = w.executed + budget;
  w.turn_began = w.executed;
  while (rounds-- > 0 && w.live != 0 && w.executed < end) {
    if (w.groups.size() > 1) merge_groups(w);
    bool any = false;
    const std::size_t groups = w.groups.size();
    for (std::size_t n = 0; n < w.groups.size(); ++n) {
      any |= group_turn(w, n, budget);
      if (w.live == 0 || w.groups.size() != groups) break;
      if (any) break;
    }
    moved |= any;
    if (!any) break;
    if (w.groups.size() == 1 && groups == 1) break;
    rounds = std::max(rounds, 1u);
  }
  return moved;
}

bool Cta::let_waits_return() {
  bool any = false;
  for (Warp& w : warps) {
    if (w.live == 0) continue;
    for (Group& g : w.groups)
      if (g.block.kind == Block::Kind::mbarrier) {
        g.block.give_up = true;
        any = true;
      }
  }
  return any;
}

bool Cta::round() {
  ++turn;
  bool moved = false;
  Schedule& schedule = cluster.schedule;
  std::array<bool, most_warps> rested{};
  const std::vector<unsigned>& order = schedule.order(static_cast<unsigned>(warps.size()));
  for (const unsigned n : order) {
    if (warps[n].live == 0) continue;
    rested[n] = schedule.rests(n, turn);
    if (!rested[n]) moved |= warp_turn(warps[n]);
  }
  for (const unsigned n : order)   // nobody rests while nothing else moves
    if (!moved && rested[n]) moved |= warp_turn(warps[n]);
  return async.advance(*this, turn, false) || moved;
}

}  // namespace tilewright::runtime::sim
