#include "runtime/sim/count/counting.h"

#include <algorithm>
#include <utility>

#include "runtime/sim/access.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/count/banks.h"

namespace tilewright::runtime::sim {
namespace {

/// How the lanes of an instruction access memory.
enum class Access : std::uint8_t { none, load, store, atomic, matrix_load, matrix_store, small_copy, remote_store };

Access access_of(const ptx::Statement& s, const Instruction& i) {
  const std::string_view name = s.parts[0];
  if (name == "ld" || name == "ldu") return i.space == MemorySpace::param ? Access::none : Access::load;
  if (name == "st") return s.parts.size() > 1 && s.parts[1] == "async" ? Access::remote_store : Access::store;
  if (name == "atom" || name == "red") return Access::atomic;
  if (name == "ldmatrix") return Access::matrix_load;
  if (name == "stmatrix") return Access::matrix_store;
  return name == "cp" && i.bytes && i.group == InstructionClass::async_copy ? Access::small_copy : Access::none;
}

struct Tally {
  std::uint64_t executed = 0, threads = 0, passes = 0, least = 0;
};

class Counter final : public Observer {
 public:
  explicit Counter(const Launch& l) : program_(*l.program), code_(l.program->code.data()) {
    for (const Instruction& i : program_.code)
      access_.push_back(i.statement < program_.function->statements.size() ? access_of(program_.statement(i), i) : Access::none);
    for (unsigned w = 0; w < (l.threads + warp_lanes - 1) / warp_lanes; ++w) {
      const std::string role = l.role_of(w);
      const auto known = std::find(roles.begin(), roles.end(), role);
      role_of_.push_back(static_cast<unsigned>(known - roles.begin()));
      if (known == roles.end()) roles.push_back(role);
    }
    tallies.assign(roles.size(), std::vector<Tally>(program_.code.size()));
  }

  Step execute(Warp& w, const Instruction& i, LaneMask m) override {
    const auto n = static_cast<std::size_t>(&i - code_);
    Seen seen;
    if (access_[n] != Access::none) seen = look(w, i, m, access_[n]);
    const Step step = i.exec(w, i, m);
    if (step == Step::blocked) return step;
    Tally& t = tallies[role_of_[w.index]][n];
    ++t.executed;
    t.threads += static_cast<unsigned>(std::popcount(m));
    t.passes += seen.passes.passes;
    t.least += seen.passes.least;
    for (const auto& [kind, bytes] : seen.traffic)
      if (bytes) add(kind, bytes);
    return step;
  }
  void transferred(Transfer way, std::uint64_t bytes) override {
    static constexpr Traffic kinds[] = {Traffic::bulk_in, Traffic::bulk_out, Traffic::bulk_reduction, Traffic::bulk_within_shared, Traffic::multicast};
    add(kinds[static_cast<unsigned>(way)], bytes);
  }

  std::vector<std::string> roles;
  std::vector<std::vector<Tally>> tallies;   // by role and instruction
  TrafficBytes traffic{};

 private:
  struct Seen {
    Passes passes;
    std::array<std::pair<Traffic, std::uint64_t>, 4> traffic{};
  };

  void add(Traffic kind, std::uint64_t bytes) { traffic[static_cast<std::size_t>(kind)] += bytes; }

  /// What the lanes access: looked at first, as a load may overwrite its address.
  static Seen look(Warp& w, const Instruction& i, LaneMask m, Access access) {
    const bool matrix = access == Access::matrix_load || access == Access::matrix_store;
    if (matrix) m = i.extra[1] == 4 ? all_lanes : (1u << 8 * i.extra[1]) - 1;   // the lanes whose addresses count
    unsigned bytes = matrix ? 16 : access == Access::atomic ? atomic_bytes(w, i) : i.bytes * i.elements;
    if (access == Access::remote_store) bytes = i.bytes * i.list_count;
    std::array<std::int64_t, warp_lanes> shared;
    shared.fill(-1);
    std::uint64_t in_shared = 0, in_global = 0, in_local = 0, in_other = 0;
    each_lane(m, [&](unsigned l) {
      const std::uint64_t a = lane_address(w, i, 0, i.extra[0], l);
      const bool generic = i.space == MemorySpace::generic && !matrix && access != Access::small_copy;
      const std::uint64_t window = generic ? a & window_mask : shared_window;
      if (i.space == MemorySpace::global || (generic && window != shared_window && window != local_window)) return static_cast<void>(in_global += bytes);
      if (i.space == MemorySpace::local || window == local_window) return static_cast<void>(in_local += bytes);
      const std::uint64_t place = shared_address(a), number = place >> cluster_shift;
      if (number && number - 1 != w.cta->rank) return static_cast<void>(in_other += bytes);
      shared[l] = static_cast<std::int64_t>(place & ((1ull << cluster_shift) - 1));
      in_shared += bytes;
    });
    Seen seen;
    if (access == Access::small_copy || access == Access::remote_store) {
      seen.traffic[0] = {access == Access::small_copy ? Traffic::small_copy : Traffic::remote, in_shared + in_other};
    } else {
      const bool atomic = access == Access::atomic, load = access == Access::load || access == Access::matrix_load;
      seen.traffic = {{{atomic ? Traffic::global_atomic : load ? Traffic::global_read : Traffic::global_write, in_global},
                       {atomic ? Traffic::shared_atomic : load ? Traffic::shared_read : Traffic::shared_write, in_shared},
                       {Traffic::local, in_local},
                       {Traffic::remote, in_other}}};
    }
    if (in_shared && access != Access::remote_store)
      seen.passes = access == Access::atomic ? passes_of_atomic(shared, bytes) : passes_of_access(shared, std::min(bytes, 16u));
    return seen;
  }
  static unsigned atomic_bytes(const Warp& w, const Instruction& i) {
    const auto type = ptx::scalar_type(w.cta->launch.program->statement(i).parts.back());
    return (type ? ptx::bytes_of(*type) : 4) * std::max(1u, i.list_count);
  }

  const Program& program_;
  const Instruction* code_;
  std::vector<Access> access_;
  std::vector<unsigned> role_of_;   // by warp: index in roles
};

}  // namespace

std::string_view name_of(Traffic t) {
  static constexpr std::string_view names[] = {"global read", "global write", "global atomic", "shared read", "shared write", "shared atomic",
                                               "remote shared", "local", "cp.async in", "TMA in", "TMA out", "TMA reduction", "bulk within shared", "TMA multicast"};
  return t < Traffic::count ? names[static_cast<std::size_t>(t)] : "unknown";
}

std::unique_ptr<Observer> Counting::observe(const Launch& l) { return std::make_unique<Counter>(l); }

void Counting::finish(const Launch& l, Observer& observer) {
  const auto& counter = static_cast<Counter&>(observer);
  const Program& p = *l.program;
  const std::lock_guard lock(mutex_);
  auto kernel = std::find_if(kernels_.begin(), kernels_.end(), [&](const KernelCounts& k) { return k.kernel == p.function->name; });
  if (kernel == kernels_.end()) kernel = kernels_.insert(kernel, KernelCounts{p.function->name, 0, {}, {}});
  kernel->launches += std::exchange(last_launch_[kernel->kernel], l.grid_id) != l.grid_id;
  for (std::size_t n = 0; n < kernel->traffic.size(); ++n) kernel->traffic[n] += counter.traffic[n];
  std::map<std::array<std::string, 3>, std::size_t> known;
  for (std::size_t n = 0; n < kernel->sites.size(); ++n) known[{kernel->sites[n].role, kernel->sites[n].source, kernel->sites[n].opcode}] = n;
  const bool first = kernel->sites.empty();
  for (std::size_t r = 0; r < counter.roles.size(); ++r)
    for (std::size_t n = 0; n + 1 < p.code.size(); ++n) {   // the last one is the end that nobody wrote
      const Tally& t = counter.tallies[r][n];
      const ptx::Statement& s = p.statement(p.code[n]);
      const auto [at, is_new] = known.try_emplace({counter.roles[r], p.source_of(p.code[n]), s.opcode}, kernel->sites.size());
      if (is_new) kernel->sites.push_back({counter.roles[r], p.source_of(p.code[n]), s.opcode, s.ptx_line, 0, p.code[n].group, 0, 0, 0, 0});
      Site& site = kernel->sites[at->second];
      site.instructions += first;
      site.executed += t.executed, site.threads += t.threads, site.passes += t.passes, site.least += t.least;
    }
}

std::vector<KernelCounts> Counting::kernels() const {
  const std::lock_guard lock(mutex_);
  std::vector<KernelCounts> result = kernels_;
  for (KernelCounts& k : result) {
    std::erase_if(k.sites, [](const Site& s) { return s.executed == 0; });
    std::stable_sort(k.sites.begin(), k.sites.end(), [](const Site& a, const Site& b) { return a.ptx_line < b.ptx_line; });
  }
  return result;
}

void Counting::reset() {
  const std::lock_guard lock(mutex_);
  kernels_.clear();
  last_launch_.clear();
}

}  // namespace tilewright::runtime::sim
