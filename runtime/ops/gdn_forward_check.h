// What is checked of a forward call before anything is enqueued.
#pragma once
#include "runtime/ops/gdn_forward.h"

namespace tilewright::ops {

/// A tensor of a call, as memory.
struct MemoryRegion {
  const char* name;
  runtime::DeviceAddress address;
  std::uint64_t bytes;
  bool output;
};
/// Every tensor of a call and the workspace; sizes must be good.
std::vector<MemoryRegion> gdn_forward_regions(const GdnForwardArguments&);

/// Sizes, dtype, heads and widths.
void check_gdn_forward_sizes(const GdnForwardArguments&);
/// All of a call: sizes, pointers, alignment, workspace, overlaps of outputs.
void check_gdn_forward(const GdnForwardArguments&, std::uint64_t workspace_bytes);
/// Offsets that the host can read: the simulated device's memory. They must not decrease and stay in 0..T.
void check_host_offsets(const GdnForwardArguments&);

}  // namespace tilewright::ops
