// Counts what launches execute: instructions by class and role, the passes of accesses to shared memory, bytes by kind.
// The counts do not depend on the number of host threads, unless CTAs poll for one another.
#pragma once
#include <array>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/sim/observer.h"

namespace tilewright::runtime::sim {

/// Kinds of traffic. Of an instruction: what its lanes asked for. Of a bulk copy: what it moved, elements outside the tensor
/// included. `multicast` is what arrived in all targets, `remote` what lanes moved to or from another CTA's shared memory.
enum class Traffic : std::uint8_t {
  global_read, global_write, global_atomic, shared_read, shared_write, shared_atomic, remote, local, small_copy,
  bulk_in, bulk_out, bulk_reduction, bulk_within_shared, multicast, count
};
std::string_view name_of(Traffic);
using TrafficBytes = std::array<std::uint64_t, static_cast<std::size_t>(Traffic::count)>;

/// One line of the author as one role executes one kind of instruction of it.
struct Site {
  std::string role;            // empty where nobody named it
  std::string source;          // "gemm.h:124", with folders as the PTX has them; empty where there is none
  std::string opcode;          // "ld.shared.v4.b32"
  unsigned ptx_line = 0;       // the first one
  unsigned instructions = 0;   // of the PTX that are counted here
  InstructionClass group = InstructionClass::other;
  std::uint64_t executed = 0;  // warp instructions
  std::uint64_t threads = 0;   // thread instructions
  std::uint64_t passes = 0;    // over the banks of shared memory; of an access elsewhere 0
  std::uint64_t least = 0;     // passes that as many accesses of their widths take without a conflict
};

/// All launches of one kernel.
struct KernelCounts {
  std::string kernel;
  std::uint64_t launches = 0;
  std::vector<Site> sites;     // in the order of the PTX
  TrafficBytes traffic{};
};

class Counting final : public Instrument {
 public:
  std::unique_ptr<Observer> observe(const Launch&) override;
  void finish(const Launch&, Observer&) override;
  /// In the order of the first launches.
  std::vector<KernelCounts> kernels() const;
  void reset();

 private:
  mutable std::mutex mutex_;
  std::vector<KernelCounts> kernels_;
  std::map<std::string, std::uint64_t> last_launch_;   // of a kernel: grid_id
};

}  // namespace tilewright::runtime::sim
