// Kernels on a device.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/ops/build.h"

namespace tilewright::ops {

/// A kernel on a device.
struct Loaded {
  BuiltPointer built;
  std::unique_ptr<runtime::LoadedKernel> kernel;
};
using Kernels = std::vector<std::shared_ptr<const Loaded>>;

/// The kernels of an operator on one device; may be used by several threads.
class LoadedPrograms {
 public:
  explicit LoadedPrograms(runtime::Device& device, BuildOptions options = {}, Builder& builder = process_builder());
  /// The kernels of these sources, in order. Builds and loads what is not there yet.
  Kernels get(const std::vector<Source>& sources);
  runtime::Device& device() const { return device_; }

 private:
  runtime::Device& device_;
  BuildOptions options_;
  Builder& builder_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const Loaded>> loaded_;  // by Source::key
  std::unordered_map<const Built*, std::shared_ptr<const Loaded>> programs_;  // of sources without a key
};

/// What an operator has made of its kernels by their configuration, a plain struct of integers and enumerations: a known
/// configuration costs a hash and a comparison, no strings. May be used by several threads.
template <class Configuration, class Value = Kernels>
class KernelTable {
  static_assert(std::is_trivially_copyable_v<Configuration> && std::has_unique_object_representations_v<Configuration>,
                "equal configurations must have equal bytes: no padding, no floating point");

 public:
  /// The value of a configuration. `make()`, which gives it, is called the first time only.
  template <class Make>
  std::shared_ptr<const Value> get(const Configuration& configuration, Make&& make) {
    {
      const std::shared_lock lock(mutex_);
      if (const auto found = table_.find(configuration); found != table_.end()) return found->second;
    }
    auto made = std::make_shared<const Value>(make());
    const std::unique_lock lock(mutex_);
    return table_.emplace(configuration, std::move(made)).first->second;
  }

 private:
  struct Hash {
    std::size_t operator()(const Configuration& configuration) const {
      std::uint64_t hash = sizeof configuration;
      const char* bytes = reinterpret_cast<const char*>(&configuration);
      for (std::size_t at = 0; at < sizeof configuration; at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes + at, std::min<std::size_t>(8, sizeof configuration - at));
        hash = std::rotl((hash ^ word) * 0x9e3779b97f4a7c15, 29);
      }
      return hash;
    }
  };
  struct Equal {
    bool operator()(const Configuration& a, const Configuration& b) const { return std::memcmp(&a, &b, sizeof a) == 0; }
  };
  std::shared_mutex mutex_;
  std::unordered_map<Configuration, std::shared_ptr<const Value>, Hash, Equal> table_;
};

}  // namespace tilewright::ops
