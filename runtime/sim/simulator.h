// The simulated Hopper: executes PTX text on the CPU, warp by warp, with TMA and wgmma as asynchronous agents.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/device/device.h"

namespace tilewright::runtime::sim {

/// A role of a kernel: the warps [first_warp, first_warp + warps) and the name reports use for them.
struct RoleName {
  std::string kernel;        // empty: every kernel
  unsigned first_warp = 0;
  unsigned warps = 1;
  std::string name;
};

/// A name for the mbarrier at an offset in a kernel's dynamic shared memory.
struct BarrierName {
  std::string kernel;        // empty: every kernel
  std::uint32_t offset = 0;  // bytes
  std::string name;          // as reports show it: "in.full[1]"
};

struct SimulatorOptions {
  unsigned threads = 0;                        // host threads over CTAs; 0: one per core, at most 8
  unsigned multiprocessors = 132;              // what persistent kernels size their grids by
  std::uint64_t step_limit = 40'000'000;       // warp instructions of one CTA without a visible effect before it counts as stuck
  std::uint64_t schedule = 0;                  // seed of what the machine leaves open; 0: warps in turn, copies in the order of their issue
  bool checks = true;                          // races, missing fences and waits, memory nobody wrote (docs/simulator.md)
  std::vector<RoleName> roles{};
  std::vector<BarrierName> barriers{};
};

enum class InstructionClass : std::uint8_t {
  integer, floating, special_function, conversion, move, predicate, control, global_load, global_store, shared_load, shared_store,
  local_memory, atomic, collective, barrier, mbarrier, async_copy, matrix, wgmma, other, count
};

/// The class's name in reports.
std::string_view name_of(InstructionClass);

/// What a simulated device has executed since it was made or since the last reset.
struct SimulatorStatistics {
  std::array<std::uint64_t, static_cast<std::size_t>(InstructionClass::count)> warp_instructions{};
  std::uint64_t thread_instructions = 0;
  std::uint64_t tensor_flops = 0;              // wgmma and mma, two per multiply-add
  std::uint64_t bulk_bytes = 0;                // moved by TMA and bulk copies
  void add(const SimulatorStatistics&);
};

/// A simulated device with options. Its global addresses are host addresses.
std::unique_ptr<Device> make_simulated_device(const SimulatorOptions&);

class Instrument;
/// Later launches are watched by `instrument` (count/counting.h, shadow/shadow.h); null: by nothing. Error when `device` is of another kind.
void watch(Device& device, std::shared_ptr<Instrument> instrument);
/// Later launches follow this schedule: the order of warps and of CTAs that talk, when copies and products complete, whether a try_wait
/// returns early. The same seed and the same launches give the same run. Error when `device` is of another kind.
void set_schedule(Device& device, std::uint64_t seed);
/// Whether later launches are checked. Error when `device` is of another kind.
void set_checks(Device& device, bool on);

/// Adds names that reports of later launches use, as a compiler's sidecar knows them. Error when `device` is of another kind.
void add_names(Device& device, const std::vector<RoleName>& roles, const std::vector<BarrierName>& barriers);

/// Memory of the caller's own that kernels of a simulated device may access while this object lives: what a caller passes as
/// device pointers without having allocated it there. Does nothing on a device of another kind.
class LentMemory {
 public:
  struct Range {
    DeviceAddress address = 0;
    std::uint64_t bytes = 0;
  };
  LentMemory(Device& device, std::vector<Range> ranges);
  ~LentMemory();
  LentMemory(const LentMemory&) = delete;
  LentMemory& operator=(const LentMemory&) = delete;

 private:
  Device& device_;
  std::vector<Range> ranges_;
};

/// Statistics of a device made by make_simulated_device; Error when `device` is of another kind.
SimulatorStatistics statistics(const Device& device);
void reset_statistics(Device& device);

}  // namespace tilewright::runtime::sim
