// What operators share: laying out a workspace, binding kernels to arguments, remembering bound launches.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/ops/errors.h"
#include "runtime/ops/loaded_programs.h"
#include "runtime/program/program.h"

namespace tilewright::ops {

/// Offsets of the parts of a workspace, each aligned to 256 bytes.
class WorkspaceLayout {
 public:
  static constexpr std::uint64_t kAlignment = 256;
  /// Reserves a part; returns its offset.
  std::uint64_t add(std::uint64_t bytes) {
    const std::uint64_t offset = bytes_;
    bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return offset;
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::uint64_t bytes_ = 0;
};

/// One launch of a sequence: a kernel and its packed arguments.
struct Step {
  std::shared_ptr<const Loaded> program;
  program::BoundProgram bound;
  bool programmatic = false;  ///< may start before the previous kernel of the stream ends; the kernel itself waits
};
using Steps = std::vector<Step>;

/// Binds a kernel to arguments.
Step bind_step(runtime::Device& device, std::shared_ptr<const Loaded> program, const program::TensorArguments& tensors,
          const program::Scalars& scalars, bool programmatic = false);

/// Enqueues the steps on a stream.
void launch_steps(runtime::Device& device, const Steps& steps, void* stream);

/// The last few calls of an operator and their bound steps: a repeated call costs its launches only.
template <class Arguments>
class CallCache {
 public:
  /// The steps of an equal call, or null.
  std::shared_ptr<const Steps> find(const Arguments& arguments) {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_)
      if (entry.steps && entry.arguments == arguments) return entry.steps;
    return nullptr;
  }
  void put(const Arguments& arguments, std::shared_ptr<const Steps> steps) {
    const std::lock_guard lock(mutex_);
    entries_[next_] = {arguments, std::move(steps)};
    next_ = (next_ + 1) % entries_.size();
  }

 private:
  struct Entry {
    Arguments arguments;
    std::shared_ptr<const Steps> steps;
  };
  std::mutex mutex_;
  std::array<Entry, 32> entries_;
  std::size_t next_ = 0;
};

/// A contiguous tensor argument.
program::TensorArgument tensor(runtime::DeviceAddress address, std::vector<std::int64_t> shape, std::string element);

}  // namespace tilewright::ops
