// Checks of the arguments of gdn_forward.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "runtime/ops/gdn_forward.h"

namespace tilewright::ops {

/// The tensors of a call, in the order of checks and tables; from T on those that may be parts of the workspace. start_state is what the chain kernel reads: the
/// initial state or its copy.
enum class GdnTensor : std::size_t {
  q, k, v, g, beta, A_log, dt_bias, cu_seqlens, prefix_lens, initial_state, read_slots, final_state, write_slots, checkpoints,
  checkpoint_starts, checkpoint_slots, o, T, b, status, offset_fault, gain, plan, sync, ticket, ready, ends, transitions,
  start_state, count
};
inline constexpr std::size_t kGdnTensors = static_cast<std::size_t>(GdnTensor::count);

struct GdnForwardTensors {
  std::array<Tensor, kGdnTensors> all;
  Tensor& operator[](GdnTensor which) { return all[static_cast<std::size_t>(which)]; }
  const Tensor& operator[](GdnTensor which) const { return all[static_cast<std::size_t>(which)]; }
};

/// Where the parts of the workspace lie: T, b, what the prologue tells the chain of the offsets, the bounds of the chunks' transitions; the planner's list
/// and what belongs to it (kernels/gdn/segment_plan.h, records.h); copies of initial states, if this call `keeps` them (kept_states.h).
struct GdnForwardWorkspace {
  std::uint64_t T = 0, b = 0, status = 0, gain = 0, plan = 0, sync = 0, ends = 0, transitions = 0, kept = 0, bytes = 0;
  bool keeps = false;
};
/// The form of the chain kernel; room for a planner's list, its records and copies of initial states, none without a planner.
struct GdnForwardCuts {
  gdn::Form form = gdn::Form::full;
  std::int64_t items = 0, records = 0, kept = 0;
  bool segments() const { return items != 0; }
};
GdnForwardCuts gdn_forward_cuts(const GdnForwardArguments&);
GdnForwardWorkspace gdn_forward_workspace(const GdnForwardArguments&);

/// Addresses of the call's tensors, in the order of GdnTensor.
using GdnForwardAddresses = std::array<runtime::DeviceAddress, kGdnTensors>;
GdnForwardAddresses gdn_forward_addresses(const GdnForwardArguments&, const GdnForwardWorkspace&, runtime::DeviceAddress offset_fault);

/// Checks sizes, heads and numbers: what the workspace follows from.
void check_gdn_forward_sizes(const GdnForwardArguments&);
/// Checks everything but addresses, and gives every tensor its shape and strides. T and b are the saved ones, or those of the
/// workspace. Throws ArgumentError or UnsupportedError, which name the field, what was given and what was expected.
GdnForwardTensors check_gdn_forward(const GdnForwardArguments&);
/// Checks alignment, workspace and overlaps of tensors that check_gdn_forward has described.
void check_gdn_forward_addresses(const GdnForwardArguments&, const GdnForwardTensors&, const GdnForwardWorkspace&);
/// Memory of a call for a device that has to be told: every given tensor and the workspace.
std::vector<std::pair<runtime::DeviceAddress, std::uint64_t>> gdn_forward_memory(const GdnForwardArguments&);
/// Checks the lists that the device reads and does not check, where the host can read them too (the simulated device): slots, checkpoints.
void check_gdn_forward_lists(const GdnForwardArguments&, const GdnForwardTensors&);

}  // namespace tilewright::ops
