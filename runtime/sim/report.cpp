// What people read when a kernel goes wrong: where each warp is, and what it waits for. Also the checked accesses.
#include <cstdio>
#include <cstring>

#include "runtime/sim/check/checker.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/mbarrier.h"
#include "tilewright/error.h"

namespace tilewright::runtime::sim {

std::string hex(std::uint64_t v) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(v));
  return text;
}

std::string_view name_of(InstructionClass c) {
  static constexpr std::string_view names[] = {"integer", "floating", "special function", "conversion", "move", "predicate", "control", "global load",
                                               "global store", "shared load", "shared store", "local memory", "atomic", "collective", "barrier", "mbarrier",
                                               "async copy", "matrix", "wgmma", "other"};
  return c < InstructionClass::count ? names[static_cast<std::size_t>(c)] : "unknown";
}

void SimulatorStatistics::add(const SimulatorStatistics& o) {
  for (std::size_t n = 0; n < warp_instructions.size(); ++n) warp_instructions[n] += o.warp_instructions[n];
  thread_instructions += o.thread_instructions;
  tensor_flops += o.tensor_flops;
  bulk_bytes += o.bulk_bytes;
}

std::string Launch::role_of(unsigned warp) const {
  for (const RoleName& r : options->roles)
    if ((r.kernel.empty() || r.kernel == program->function->name) && warp >= r.first_warp && warp - r.first_warp < r.warps) return r.name;
  return {};
}

std::string Launch::barrier_name(std::uint32_t address) const {
  for (const BarrierName& b : options->barriers)
    if ((b.kernel.empty() || b.kernel == program->function->name) && program->dynamic_shared + b.offset == address) return b.name;
  return {};
}

std::string place_of(const std::array<unsigned, 3>& id) {
  return "(" + std::to_string(id[0]) + ", " + std::to_string(id[1]) + ", " + std::to_string(id[2]) + ")";
}

std::string Cta::name() const { return "CTA " + place_of(id); }

std::string Cta::where(const Warp& w) const {
  const std::string role = launch.role_of(w.index);
  return (cluster.ctas.size() > 1 ? name() + ", warp " : "warp ") + std::to_string(w.index) + (role.empty() ? "" : " (" + role + ")");
}

void Cta::fail(const Warp& w, const Instruction& i, int lane, const std::string& what) const {
  throw Error("kernel '" + launch.program->function->name + "', " + (cluster.ctas.size() > 1 ? "" : name() + ", ") + where(w) + (lane < 0 ? "" : ", lane " + std::to_string(lane)) + ", " +
              launch.program->describe(i) + ": " + what);
}

std::string Cta::blocked_text(const Warp&, const Group& g) const {
  switch (g.block.kind) {
    case Block::Kind::none: return "can go on";
    case Block::Kind::mbarrier: {
      std::uint64_t v;
      std::memcpy(&v, shared.data() + g.block.address, 8);
      const Mbarrier b = Mbarrier::unpack(v);
      std::string place = "shared address " + hex(g.block.address);
      if (g.block.address >= launch.program->dynamic_shared)
        place += " (dynamic shared memory + " + std::to_string(g.block.address - launch.program->dynamic_shared) + ")";
      const std::string name = launch.barrier_name(g.block.address);
      return "waits for the phase of parity " + std::to_string(g.block.parity) + " of the mbarrier " + (name.empty() ? "" : name + " ") + "at " + place + ": its phase has parity " +
             std::to_string(b.phase) + ", " + std::to_string(b.pending) + " of " + std::to_string(b.expected) + " arrivals pending, " +
             std::to_string(b.bytes) + " bytes pending" + (check ? check::pending_text(*check, g.block.address) : "");
    }
    case Block::Kind::named_barrier: {
      const NamedBarrier& b = barriers[g.block.address];
      return "waits at barrier " + std::to_string(g.block.address) + ": " + std::to_string(b.arrived) + " of " +
             std::to_string(b.expected ? b.expected : live_threads()) + " threads have arrived";
    }
    case Block::Kind::cluster_barrier:
      return "waits at the barrier of the cluster: " + std::to_string(cluster.barrier.arrived) + " of " + std::to_string(cluster.live_threads()) +
             " threads have arrived";
    case Block::Kind::register_pool:
      return "waits for registers: asks for " + std::to_string(g.block.parity) + " per thread, the CTA's register pool of " +
             std::to_string(launch.entry_registers) + " x " + std::to_string(warps.size()) + " warps has " + std::to_string(pool_free) +
             " (registers per thread, summed over warps) free; the sum over warpgroups must not exceed entry registers x warpgroups";
    case Block::Kind::convergence:
      return "waits for lanes " + hex(g.block.lanes) + " of its warp, which took another way, to reach the same instruction";
    case Block::Kind::bulk_group: return "waits for bulk copies of its own";
    case Block::Kind::wgmma: return "waits for the other warps of its warpgroup to issue the same wgmma";
  }
  return {};
}

std::string Cta::blocked_report() const {
  std::string out;
  for (const Warp& w : warps) {
    if (w.live == 0) continue;
    for (const Group& g : w.groups) {
      out += "  " + where(w);
      if (g.mask != all_lanes) out += " lanes " + hex(g.mask);
      out += " at " + launch.program->describe(launch.program->code[g.pc]) + ": " + blocked_text(w, g) + "\n";
    }
  }
  return out;
}

std::byte* Cta::global(std::uint64_t address, std::uint64_t bytes, std::uint64_t align, int lane, const char* what) {
  if (!cached.holds(address, bytes)) {
    const GlobalMemory::Range r = launch.memory->find(address, bytes);
    if (r.begin > r.end)
      throw Fault{std::string(what) + " of " + std::to_string(bytes) + " bytes at global address " + hex(address) + " is out of bounds: " +
                      launch.memory->describe(address, bytes), lane};
    cached = r;
  }
  if (address & (align - 1))
    throw Fault{std::string(what) + " of " + std::to_string(bytes) + " bytes at global address " + hex(address) + " is misaligned: expected a multiple of " +
                    std::to_string(align), lane};
  return reinterpret_cast<std::byte*>(address);
}

Cta& Cta::owner(std::uint64_t& address, int lane) {
  const std::uint64_t number = address >> cluster_shift;
  address &= (1ull << cluster_shift) - 1;
  if (number == 0 || number - 1 == rank) return *this;
  if (number > cluster.ctas.size())
    throw Fault{"shared memory of CTA " + std::to_string(number - 1) + " of a cluster of " + std::to_string(cluster.ctas.size()), lane};
  Cta& other = *cluster.ctas[number - 1];
  if (!other.alive()) throw Fault{"shared memory of CTA " + std::to_string(other.rank) + " of the cluster, which has ended", lane};
  return other;
}

std::byte* Cta::shared_at(std::uint64_t address, std::uint64_t bytes, std::uint64_t align, int lane, const char* what) {
  if (address >> cluster_shift)
    throw Fault{std::string(what) + " at address " + hex(address) + ", which mapa made for shared::cluster; the instruction reaches its own CTA only", lane};
  if (address < shared_base || address > shared.size() || bytes > shared.size() - address)
    throw Fault{std::string(what) + " of " + std::to_string(bytes) + " bytes at shared address " + hex(address) + " is out of bounds: the kernel has [" +
                    hex(shared_base) + ", " + hex(shared.size()) + ")", lane};
  if (address & (align - 1))
    throw Fault{std::string(what) + " of " + std::to_string(bytes) + " bytes at shared address " + hex(address) + " is misaligned: expected a multiple of " +
                    std::to_string(align), lane};
  return shared.data() + address;
}

}  // namespace tilewright::runtime::sim
