// Time of launches by events on the card.
#pragma once
#include <functional>
#include <vector>

#include "runtime/cuda/cuda_device.h"

namespace tilewright::cuda {

struct TimingOptions {
  unsigned warmups = 3;
  unsigned runs = 20;
  /// Bytes written before each run to evict the L2 (50 MB on a Hopper). The write also runs ahead of the host's
  /// launches, so that these are not measured. 0 leaves the caches warm.
  std::size_t flush_bytes = std::size_t{256} << 20;
  /// Records the launches once and replays them as a CUDA graph: host time per launch no longer counts.
  bool graph = false;
};

/// Enqueues launches on the given stream (pass it on as LaunchGeometry::stream) and does not synchronise.
using Enqueue = std::function<void(void* stream)>;

/// Milliseconds of each run, in order. Throws Error when the device is not a CUDA device, when `runs` is 0, and for
/// a kernel fault.
std::vector<double> time_each_launch_ms(runtime::Device&, const Enqueue&, const TimingOptions& = {});

/// Median of time_each_launch_ms, milliseconds.
double time_launches_ms(runtime::Device&, const Enqueue&, const TimingOptions& = {});

}  // namespace tilewright::cuda
