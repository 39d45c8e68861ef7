// What operators share: laying out a workspace, binding kernels to arguments, remembering what was bound.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
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

/// Enqueues the steps with every tensor elsewhere; `addresses` has the order of the table that the steps were bound from.
void launch_steps_at(runtime::Device& device, const Steps& steps, std::span<const runtime::DeviceAddress> addresses, void* stream);

/// What makes calls alike, as words: sizes, types, strides, which tensors are given; everything but addresses.
class Shape {
 public:
  static constexpr std::size_t kMost = 192;
  void add(std::int64_t word) {
    words_.at(count_++) = word;
    hash_ = (hash_ ^ static_cast<std::uint64_t>(word)) * 0x9e3779b97f4a7c15u;
    hash_ ^= hash_ >> 29;
  }
  void add(float value) { add(std::int64_t{std::bit_cast<std::int32_t>(value)}); }
  std::uint64_t hash() const { return hash_; }
  bool operator==(const Shape& other) const {
    return hash_ == other.hash_ && count_ == other.count_ && std::equal(words_.begin(), words_.begin() + count_, other.words_.begin());
  }

 private:
  std::array<std::int64_t, kMost> words_;  // the first count_ of them
  std::size_t count_ = 0;
  std::uint64_t hash_ = 0;
};

/// What an operator has made for the last few shapes of calls. May be used by several threads.
template <class Plan>
class PlanCache {
 public:
  /// The plan of an equal shape, or null.
  std::shared_ptr<const Plan> find(const Shape& shape) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < kEntries; ++i)
      if (hashes_[i] == shape.hash() && plans_[i] && shapes_[i] == shape) return plans_[i];
    return nullptr;
  }
  void put(const Shape& shape, std::shared_ptr<const Plan> plan) {
    const std::lock_guard lock(mutex_);
    hashes_[next_] = shape.hash();
    shapes_[next_] = shape;
    plans_[next_] = std::move(plan);
    next_ = (next_ + 1) % kEntries;
  }

 private:
  static constexpr std::size_t kEntries = 64;
  std::mutex mutex_;
  std::array<std::uint64_t, kEntries> hashes_{};
  std::vector<Shape> shapes_ = std::vector<Shape>(kEntries);
  std::array<std::shared_ptr<const Plan>, kEntries> plans_;
  std::size_t next_ = 0;
};

/// A contiguous tensor argument.
program::TensorArgument tensor(runtime::DeviceAddress address, std::vector<std::int64_t> shape, std::string element);

}  // namespace tilewright::ops
