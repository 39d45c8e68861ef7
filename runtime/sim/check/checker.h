// What the checks of a running kernel remember: clocks of warps and of what runs beside them, shadows of memory, barriers.
// The rules are in docs/simulator.md; hooks.h is what the instruction families call.
#pragma once
#include <array>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/sim/check/global_shadow.h"
#include "runtime/sim/machine.h"

namespace tilewright::runtime::sim::check {

constexpr Agent nobody = 0xffff;

/// What a memory word hands over: the clock of who released it, for who acquires it.
struct Sync {
  Clock clock;
  std::uint64_t cluster = 0, cta = 0;
  MemoryScope scope = MemoryScope::none;
  std::uint64_t version = 0;
};

/// Bulk groups of one thread, oldest first: the number of the newest copy in each.
struct BulkHistory {
  Time open = 0;
  std::deque<Time> reading, pending;
};

struct WarpState {
  Agent self = nobody;
  Agent solo = nobody;                        // what single lanes do; its time is the warp's
  Clock clock;
  LaneMask loose = 0, loose_solo = 0;         // lanes that accessed memory since all came together: side by side, and alone
  Time together = 0;                          // the warp's time when they did
  Clock partial;                              // what some lanes hand over
  Clock released;                             // what relaxed stores hand over: the clock of the last fence
  MemoryScope released_to = MemoryScope::none;
  std::array<Clock, 3> acquired;              // what relaxed loads were handed, for the next fence: from the CTA, the cluster, elsewhere
  std::unordered_map<const void*, std::uint64_t> met;   // versions of words already acquired
  std::vector<std::uint32_t> ran;             // by instruction: executions that were noted
  // copies beside the warp: their agents and how many were issued
  Agent small = nobody, bulk_read = nobody, bulk_write = nobody;
  Time small_issued = 0, bulk_issued = 0;
  std::deque<Time> small_groups;
  std::unordered_map<unsigned, BulkHistory> bulk;   // by lane
  // wgmma: registers by slot
  std::vector<std::uint8_t> accumulates, feeds;     // products in flight that write it, that read it as A
  std::vector<std::uint32_t> use;                   // as an accumulator in flight: use_of() of the newest product
  std::vector<std::uint32_t> written_after, read_after;   // number of the wgmma.fence it was last accessed behind; of a copy, of what it copies
  std::uint32_t fences = 0;
  std::deque<const Instruction*> products;          // not waited for
  std::vector<std::pair<std::size_t, Time>> copies; // slots that hold a copy of an accumulator in flight, and of which product
  std::deque<std::size_t> commits;                  // products of each group not waited for
  std::size_t open_products = 0;
  Time products_issued = 0;                         // of its warpgroup's numbering
};

/// Threads that meet: a named barrier, or the cluster's.
struct Meeting {
  Clock gathering, done;
};

struct Waiter {
  std::int64_t looked = -1;      // the last phase that this warp has seen complete
  Time at = 0;                   // the warp's own time then
  std::int64_t overtaken = -1;   // a phase that completed without regard to whether the warp had looked at the one before
  std::uint32_t instruction = 0;
};

/// Who arrives at an mbarrier.
struct Arriver {
  std::uint8_t rank = 0, warp = 0;
  std::uint32_t instruction = 0;
  std::uint32_t now = 0, before = 0;   // arrivals in this phase and in the one before
};

struct BarrierState {
  Agent agent = nobody;          // for what its phases complete: phase p at time p + 1
  Event init;
  bool init_fenced = false;      // visible to the async proxy
  Time phases = 0;               // complete ones
  Clock gathering;
  std::array<Clock, 2> done;     // by parity of the phase
  std::vector<Waiter> waiters;   // by warp
  std::vector<Arriver> arrivers;
  std::uint64_t expected_bytes = 0, landed_bytes = 0;   // in this phase
  Event expecter;                                       // who told of bytes last
  std::uint32_t in_flight = 0;                          // copies issued for this phase that have not landed
  Event copy;                                           // the last of them
  Time last_issue = 0;                                  // phase + 1 of the last copy issued to it
};

/// A product that the warps of a warpgroup are issuing.
struct Forming {
  Clock every;                   // what each of its warps knows
  unsigned warps = 0;
};

struct GroupState {
  Agent agent = nobody;          // and the next three: the parts of products that the four warps wait for
  Time formed = 0;               // products that all four warps have issued
  std::deque<Forming> forming;
};

class ClusterChecker;

/// What all clusters of a launch share.
class LaunchChecker {
 public:
  LaunchChecker(unsigned granule, std::shared_ptr<GlobalShadow> previous, bool programmatic)
      : shadow(std::make_shared<GlobalShadow>(granule)), previous(std::move(previous)), programmatic(programmatic) {}
  const std::shared_ptr<GlobalShadow> shadow;
  const std::shared_ptr<GlobalShadow> previous;   // of the launch before, where this one may begin before that has ended
  const bool programmatic;
  std::mutex mutex;                               // of the words
  std::unordered_map<const void*, Sync> words;    // in global memory
};

class CtaChecker {
 public:
  CtaChecker(ClusterChecker& cluster, Cta& cta, unsigned granule);
  void start();

  ClusterChecker& cluster;
  Cta& cta;
  SharedShadow shared;
  std::vector<WarpState> warps;
  std::vector<GroupState> groups;
  std::array<Meeting, 16> named;
  std::unordered_map<std::uint32_t, BarrierState> barriers;   // by shared address
  std::unordered_map<const void*, Sync> words;                // in shared memory
  GlobalMemory::Range allocation;                             // of the last access to global memory

  WarpState& of(const Warp& w) { return warps[w.index]; }
  /// The event of an instruction that the warp executes now, by the warp itself.
  Event event(const Warp& w, const Instruction& i, LaneMask lanes);
  void count(const Warp& w, const Instruction& i) { ++of(w).ran[number(i)]; }
  std::uint32_t number(const Instruction& i) const;

  /// Accesses; they throw Fault when they are in conflict with an earlier one. The range must lie in the CTA's shared memory.
  void read_shared(std::uint64_t begin, std::uint64_t end, const Access&);
  void write_shared(std::uint64_t begin, std::uint64_t end, const Access&);
  /// The bytes of an mbarrier are ordinary memory again.
  void forget_mbarrier(std::uint64_t address, const Access& a) { shared.release(address, address + 8, a); }
  /// Ranges that are not in memory are left to the access itself, which reports them. A read returns whether all bytes were written once.
  bool read_global(std::uint64_t begin, std::uint64_t end, const Access&);
  void write_global(std::uint64_t begin, std::uint64_t end, const Access&);
  bool written_global(std::uint64_t begin, std::uint64_t end);

 private:
  bool reach(std::uint64_t begin, std::uint64_t end);
  void await_previous(std::uint64_t begin, std::uint64_t end, const Access&, bool writing);
  [[noreturn]] void refuse(const Conflict&, const Access&, std::uint64_t begin, bool writing);
  [[noreturn]] void refuse_global(const GlobalConflict&, const Access&, bool writing);
};

/// The clocks' components of one cluster: first all warps, then their single lanes, one for the grid before, then what is met.
class ClusterChecker {
 public:
  ClusterChecker(Cluster& cluster, LaunchChecker& launch);
  void start(std::uint64_t number);
  CtaChecker& of(const Cta& c) { return *ctas[c.rank]; }

  Cluster& cluster;
  LaunchChecker& launch;
  std::vector<std::unique_ptr<CtaChecker>> ctas;   // by rank
  Meeting barrier;
  GlobalShadow::Handle global;
  std::uint64_t number = 0;
  Agent previous_grid = 0;
  /// An agent's name in reports, for what it does beside the warp that made it.
  enum class Role : std::uint8_t { warp, previous, barrier, product, small, bulk_read, bulk_write };
  Role role(Agent a) const { return a < roles_.size() ? roles_[a] : Role::warp; }
  Agent make_agent(Role r) {
    roles_.push_back(r);
    return next_++;
  }

 private:
  Agent next_ = 0;
  std::vector<Role> roles_;
};

/// A release by the warp: what it does next is later than what it handed over.
inline void tick(WarpState& s) { s.clock.known[s.solo].seen = ++s.clock.known[s.self].seen; }

/// What those lanes know and can hand over: of what others of their warp did, what lies before all came together.
const Clock& known_to(WarpState&, LaneMask lanes);
/// All lanes have come together at an instruction that orders their accesses.
void come_together(WarpState&);

// Words of reports (report.cpp).
std::string place_of_shared(const Cta&, std::uint64_t address);
std::string barrier_text(const Cta&, std::uint64_t address);
/// "warp 1 (producer), PTX line 12 `...` (kernel.cpp:34), execution 3".
std::string author_of(const Cta&, const Event&);
std::string conflict_text(CtaChecker&, const Conflict&, const Access&, const std::string& place, bool writing, const std::string& elsewhere);
/// Who has arrived at an mbarrier in this phase and who has not, from the phases before; which bytes are missing.
std::string pending_text(CtaChecker&, std::uint32_t address);

}  // namespace tilewright::runtime::sim::check
