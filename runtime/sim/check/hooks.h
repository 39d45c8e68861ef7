// What the instruction families tell the checks. Callers have seen that the CTA has a checker: `if (cta.check) check::...`.
#pragma once
#include <functional>

#include "runtime/device/device.h"
#include "runtime/sim/check/clock.h"
#include "runtime/sim/machine.h"

namespace tilewright::runtime::sim::check {

enum class Use : std::uint8_t { load, store, atomic };

// an execution of an instruction whose lanes issue copies
void note_issue(Warp&, const Instruction&);

// memory instructions: before they are performed
void note_access(Warp&, const Instruction&, LaneMask, unsigned bytes, Use);
void note_rows(Warp&, const Instruction&, unsigned rows, Use);             // ldmatrix, stmatrix: 16 bytes for each of the first lanes

// fences
void note_fence(Warp&, MemoryScope);
void note_proxy_fence(Warp&);
void note_init_fence(Warp&);
void note_grid_wait(Warp&);

// barriers of a warp, named barriers, and the cluster's
void note_together(Warp&, LaneMask);                                       // lanes that meet at an instruction that orders their accesses
void note_arrival(Warp&, unsigned barrier);
void note_completion(Cta&, unsigned barrier);
void note_departure(Warp&, unsigned barrier);
void note_cluster_arrival(Warp&, bool release);
void note_cluster_completion(Cluster&);
void note_cluster_departure(Warp&);

// mbarriers; `owner` is the CTA they lie in
void note_init(Warp&, const Instruction&, unsigned lane, std::uint64_t address);
void note_invalidation(Warp&, const Instruction&, unsigned lane, std::uint64_t address);
void note_use(Warp&, Cta& owner, std::uint64_t address);                   // synchronised with the initialisation
void note_arrivals(Warp&, const Instruction&, LaneMask, Cta& owner, std::uint64_t address, std::uint32_t count);
void note_expected(Warp&, const Instruction&, Cta& owner, std::uint64_t address, std::uint32_t bytes);
void note_phase(Cta& owner, std::uint64_t address);                        // the phase has just completed
void note_wait(Warp&, const Instruction&, std::uint64_t address, std::uint32_t parity, bool complete);

/// What a copy in flight carries for the checks.
struct Flight {
  Clock clock;                  // what its issuer knew
  std::array<Time, 8> phase{};  // of the mbarrier that it completes, by the CTA that it lies in
};

// bulk copies: at the issue; bytes that land
struct BulkIssue {
  Warp& warp;
  const Instruction& instruction;
  unsigned lane;
};
void note_load_box(const BulkIssue&, Flight&, const TensorMapSpec&, const std::array<std::int32_t, 5>& at, std::uint64_t shared, Cta& target, std::uint64_t barrier, bool first);
void note_store_box(const BulkIssue&, const TensorMapSpec&, const std::array<std::int32_t, 5>& at, std::uint64_t shared, bool reduces);
void note_bulk_in(const BulkIssue&, Flight&, std::uint64_t from, bool from_shared, std::uint64_t shared, std::uint64_t bytes, Cta& target, std::uint64_t barrier);
void note_bulk_out(const BulkIssue&, std::uint64_t shared, std::uint64_t to, std::uint64_t bytes, bool reduces);
void note_remote_store(const BulkIssue&, Flight&, std::uint64_t shared, std::uint64_t bytes, Cta& target, std::uint64_t barrier);
void note_landing(const Flight&, Cta& target, std::uint64_t barrier, std::uint64_t bytes);
void note_bulk_commit(Warp&, LaneMask);
void note_bulk_wait(Warp&, LaneMask, std::size_t keep, bool only_reading);

// cp.async
void note_small_copy(Warp&, const Instruction&, unsigned lane, std::uint64_t to, std::uint64_t from, unsigned read, unsigned size);
void note_small_commit(Warp&);
void note_small_wait(Warp&, std::size_t keep, bool all);
/// The clock that an arrival of earlier copies carries.
Flight small_flight(Warp&);
void note_late_arrival(const Flight&, Warp&, const Instruction&, std::uint64_t address, std::uint32_t count);

// wgmma
void note_product_fence(Warp&);
using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;       // begin, end
/// Issued by one warp; operands() gives the ranges of shared memory that the product reads.
void note_product(Warp&, const Instruction&, const std::function<Ranges()>& operands);
void note_product_commit(Warp&);
void note_product_wait(Warp&, std::size_t keep);
void note_registers(Warp&, const Instruction&);                            // an instruction on registers that some wgmma uses

// ends
void note_exit(Warp&);

}  // namespace tilewright::runtime::sim::check
