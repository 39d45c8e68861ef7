// The state of the running machine: warps, a CTA with its shared memory, barriers and pending asynchronous operations.
#pragma once
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/sim/async.h"
#include "runtime/sim/memory.h"
#include "runtime/sim/program.h"

namespace tilewright::runtime::sim {

/// A kernel's run-time fault, thrown where it happens; the scheduler adds kernel, CTA, warp and line and makes it an Error.
struct Fault {
  std::string what;
  int lane = -1;
};

/// Why a group of lanes cannot go on.
struct Block {
  enum class Kind : std::uint8_t { none, mbarrier, named_barrier, cluster_barrier, register_pool, convergence, bulk_group, wgmma };
  Kind kind = Kind::none;
  std::uint32_t address = 0;     // mbarrier; named barrier: its number
  std::uint32_t parity = 0;      // mbarrier phase bit waited for; named barrier: generation; register pool: registers wanted
  LaneMask lanes = 0;            // convergence: lanes that are missing
  bool give_up = false;          // a try_wait returns false instead of blocking again
};

/// Lanes of a warp that share a program counter.
struct Group {
  std::uint32_t pc = 0;
  LaneMask mask = all_lanes;
  Block block;
};

/// One thread's bulk groups: operations of a group that have not finished reading, and not finished at all.
struct BulkGroup {
  unsigned reading = 0;
  unsigned pending = 0;
};
struct BulkThread {
  std::shared_ptr<BulkGroup> open;
  std::deque<std::shared_ptr<BulkGroup>> committed;
};

/// A cp.async of one warp instruction, performed at the wait at the latest.
struct SmallCopy {
  const Instruction* instruction = nullptr;
  LaneMask lanes = 0;
  std::array<std::uint32_t, warp_lanes> to{};
  std::array<const std::byte*, warp_lanes> from{};
  std::array<std::uint8_t, warp_lanes> read{};     // bytes read; the rest of the element is zero
  std::array<std::uint32_t, warp_lanes> group{};   // the lane's group number
  LaneMask done = 0;
};

struct WgmmaRecord {
  const Instruction* instruction = nullptr;
  std::uint64_t a = 0;           // descriptors
  std::uint64_t b = 0;
  bool accumulate = true;
};

struct Cta;
struct Cluster;
class Observer;
namespace check {
class CtaChecker;
class LaunchChecker;
}

struct Warp {
  Cta* cta = nullptr;
  unsigned index = 0;
  std::byte* registers = nullptr;
  const std::byte* constants = nullptr;
  std::vector<LaneMask> predicates;
  std::vector<Group> groups;
  std::size_t current = 0;
  LaneMask live = all_lanes;
  std::vector<std::byte> local;
  unsigned held_registers = 0;                     // per thread, of the pool
  std::array<std::unique_ptr<BulkThread>, warp_lanes> bulk;
  std::vector<std::shared_ptr<SmallCopy>> small_copies;
  std::array<std::uint32_t, warp_lanes> small_group{};
  std::vector<std::uint8_t> inflight;              // wgmma operations in flight by register slot
  std::uint64_t wgmma_issued = 0;
  std::deque<std::uint64_t> wgmma_commits;         // issued count at each commit
  LaneMask carry = 0;                              // condition code of add.cc and its kin
  std::uint32_t cluster_generation = 0;            // of the cluster barrier at this warp's arrival
  LaneMask cluster_arrived = 0;                    // lanes that have arrived there and not waited
  std::uint64_t returned_early_at = ~0ull;         // the CTA's effects when a try_wait last returned early
  std::uint64_t executed = 0;                      // warp instructions
  std::uint64_t turn_began = 0;                    // what of them was executed before the warp's turn
  std::uint64_t clock = 0;                         // what it last read of its clock

  template <class T> T* out(Ref r) { return reinterpret_cast<T*>(registers + r); }
  template <class T> const T* in(Ref r) const {
    return reinterpret_cast<const T*>(r >= 0 ? registers + r : constants + std::size_t{slot_unit} * static_cast<unsigned>(~r));
  }
  Group& group() { return groups[current]; }
  void set_predicate(std::int32_t p, LaneMask lanes, LaneMask values) {
    predicates[p] = (predicates[p] & ~lanes) | (values & lanes);
  }
  /// Whether all living lanes of `required` are in `active`; if not, the group blocks until they arrive.
  bool converged(LaneMask required, LaneMask active);
  Step block(Block::Kind kind, std::uint32_t address = 0, std::uint32_t parity = 0);
};

struct NamedBarrier {
  unsigned arrived = 0;
  unsigned expected = 0;         // 0: all living threads
  std::uint32_t generation = 0;
  unsigned true_count = 0;       // of a reduction, this phase
  unsigned last_true = 0;        // and the one that completed last
  bool last_all = false;
};

struct Warpgroup {
  std::array<std::deque<WgmmaRecord>, 4> issued;
  std::uint64_t executed = 0;
};

/// What all CTAs of a launch share; constant while it runs.
struct Launch {
  const Program* program = nullptr;
  std::array<unsigned, 3> grid{1, 1, 1};
  std::array<unsigned, 3> block{1, 1, 1};
  std::array<unsigned, 3> cluster{1, 1, 1};
  unsigned threads = 0;
  std::uint32_t dynamic_shared = 0;
  unsigned entry_registers = 0;  // per thread, of the pool rule
  std::vector<std::byte> params;
  const GlobalMemory* memory = nullptr;
  const SimulatorOptions* options = nullptr;
  check::LaunchChecker* checks = nullptr;   // null: none
  std::uint64_t grid_id = 0;
  unsigned multiprocessors = 0;
  std::uint64_t resident = 0;    // clusters that run at a time, at most
  std::uint64_t stream = 0;      // launches since the schedule was set: each has decisions of its own
  mutable std::atomic<std::uint64_t> effects{0};   // of all CTAs: one that polls is stuck only when none of them moves
  std::string role_of(unsigned warp) const;
  std::string barrier_name(std::uint32_t shared_address) const;   // empty when nobody named it
};

struct Cta {
  Cta(const Launch& launch, Cluster& cluster, unsigned rank);
  void start(const std::array<unsigned, 3>& id);
  /// One turn of every warp and of the copies in flight; true when something moved. Throws Error.
  bool round();

  const Launch& launch;
  Cluster& cluster;
  const unsigned rank;                       // in the cluster
  std::array<unsigned, 3> id{};
  std::uint64_t linear = 0;
  std::vector<std::byte> shared;             // byte 0 is shared address 0
  std::vector<Warp> warps;
  std::array<NamedBarrier, 16> barriers;
  std::vector<Warpgroup> warpgroups;
  unsigned pool_free = 0;                    // registers per thread times warps
  unsigned pool_total = 0;
  AsyncQueue async;
  std::uint64_t effects = 0;                 // visible to others: stores, arrivals, ends; a CTA without them is stuck
  std::uint64_t turn = 0;
  SimulatorStatistics statistics;
  Observer* observer = nullptr;
  GlobalMemory::Range cached;                // allocation of the last global access
  check::CtaChecker* check = nullptr;        // null: no checks

  unsigned live_threads() const;
  bool alive() const;
  std::uint64_t executed() const;            // warp instructions
  /// Lets every mbarrier wait return without its phase, as the instruction may; false when there is none.
  bool let_waits_return();
  std::string name() const;                  // "CTA (0, 0, 0)"
  std::string where(const Warp&) const;      // its role and place, for reports
  std::string blocked_report() const;
  /// The CTA of the cluster that an address of shared::cluster lies in; the address becomes one of its own window.
  Cta& owner(std::uint64_t& address, int lane);
  /// A checked host address; Fault names what is wrong.
  std::byte* global(std::uint64_t address, std::uint64_t bytes, std::uint64_t align, int lane, const char* what);
  std::byte* shared_at(std::uint64_t address, std::uint64_t bytes, std::uint64_t align, int lane, const char* what);
  [[noreturn]] void fail(const Warp&, const Instruction&, int lane, const std::string& what) const;

 private:
  bool warp_turn(Warp&);
  bool group_turn(Warp&, std::size_t group, unsigned budget);
  std::string blocked_text(const Warp&, const Group&) const;

  std::vector<std::byte> register_storage_;
};

constexpr unsigned turn_budget = 512;   // instructions of a warp's turn
constexpr unsigned most_warps = 32;     // of a CTA

// Generic addresses: host addresses are global memory; the other spaces have windows far above them.
constexpr std::uint64_t shared_window = 0x0100'0000'0000'0000ull;
constexpr std::uint64_t local_window = 0x0200'0000'0000'0000ull;
constexpr std::uint64_t param_window = 0x0300'0000'0000'0000ull;
constexpr std::uint64_t window_mask = 0xff00'0000'0000'0000ull;

// An address of shared::cluster names its CTA above the offset: 0 the CTA that uses it, else its rank in the cluster + 1.
constexpr unsigned cluster_shift = 24;

/// Calls f(lane) for each lane of the mask; the full mask is a plain loop that compilers vectorise.
template <class F>
inline void each_lane(LaneMask mask, F&& f) {
  if (mask == all_lanes) {
    for (unsigned l = 0; l < warp_lanes; ++l) f(l);
  } else {
    for (; mask; mask &= mask - 1) f(static_cast<unsigned>(std::countr_zero(mask)));
  }
}

/// Addresses of the lanes of a memory operand: in[slot] + offset.
inline std::uint64_t lane_address(const Warp& w, const Instruction& i, unsigned slot, bool wide, unsigned lane) {
  const std::uint64_t base = wide ? w.in<std::uint64_t>(i.in[slot])[lane] : w.in<std::uint32_t>(i.in[slot])[lane];
  const std::uint64_t sum = base + static_cast<std::uint64_t>(i.offset);
  return wide ? sum : sum & 0xffffffffu;
}

/// A shared address from a 32-bit, 64-bit or generic register value.
inline std::uint64_t shared_address(std::uint64_t v) { return (v & window_mask) == shared_window ? v & ~window_mask : v; }

std::string hex(std::uint64_t);
std::string place_of(const std::array<unsigned, 3>& cta);   // "(0, 0, 0)"

}  // namespace tilewright::runtime::sim
