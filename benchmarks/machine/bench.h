// What the measurements of the machine share: devices, memory, random numbers, statistics.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "runtime/ops/operator.h"
#include "tilewright/dsl.h"

namespace tilewright::machine {

using Json = nlohmann::ordered_json;

/// Where measurements run. Without a card `target` is a second simulated device: the checks still hold, times are left out.
struct Setup {
  runtime::Device& target;
  runtime::Device& simulator;
  ops::LoadedPrograms target_programs, simulator_programs;
  bool card = false;        ///< target is a Hopper
  bool small = false;       ///< sizes for a quick run
  std::uint64_t seed = 0;
  std::string executable;   ///< this program, to be started afresh
};

/// One measurement: a name for the command line, and what it does. Its result has a key "pass".
struct Measurement {
  const char* name;
  Json (*run)(Setup&);
};

Json ragged_copies(Setup&);
Json dependent_launches(Setup&);
Json tensor_core_error(Setup&);
Json scalar_agreement(Setup&);
Json cold_compile(Setup&);
Json large_tensors(Setup&);
/// What a fresh process does for cold_compile: builds and loads the forward kernels, prints a line of JSON.
int cold_child(const std::string& heads, const std::string& device);

/// Numbers that are a function of (seed, index).
struct Random {
  std::uint64_t seed;
  std::uint64_t bits(std::uint64_t index) const {
    std::uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15ull + index * 0xd1342543de82ef95ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
  }
  /// Uniform in (0, 1).
  double uniform(std::uint64_t index) const { return (double(bits(index) >> 11) + 0.5) * 0x1p-53; }
  /// Bell-shaped with mean 0 and variance 1: the sum of four uniform numbers.
  float bell(std::uint64_t index) const {
    const std::uint64_t b = bits(index);
    const int sum = int(b & 0xffff) + int(b >> 16 & 0xffff) + int(b >> 32 & 0xffff) + int(b >> 48);
    return float(sum - 131070) * (1.7320508f / 65536);
  }
};

/// Device memory that goes back when it leaves scope.
class Buffer {
 public:
  Buffer(runtime::Device& device, std::size_t bytes) : device_(device), bytes_(bytes), address_(device.allocate(std::max<std::size_t>(bytes, 16))) {}
  template <class T>
  Buffer(runtime::Device& device, const std::vector<T>& host) : Buffer(device, host.size() * sizeof(T)) {
    device.copy_to_device(address_, host.data(), bytes_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { device_.release(address_); }
  runtime::DeviceAddress address() const { return address_; }
  std::size_t bytes() const { return bytes_; }
  /// Every byte 0xff: a NaN in each float format.
  void poison() { device_.fill(address_, 0xff, bytes_); }
  template <class T>
  std::vector<T> host() const {
    std::vector<T> out(bytes_ / sizeof(T));
    device_.copy_to_host(out.data(), address_, out.size() * sizeof(T));
    return out;
  }

 private:
  runtime::Device& device_;
  std::size_t bytes_;
  runtime::DeviceAddress address_;
};

/// A kernel, built and loaded once per device.
inline std::shared_ptr<const ops::Loaded> load(ops::LoadedPrograms& programs, const std::string& key, std::function<Program()> make) {
  return programs.get({{"machine " + key, std::move(make)}}).front();
}

/// Median and the central nine tenths of times in milliseconds, given in microseconds.
inline Json spread_us(std::vector<double> ms) {
  std::sort(ms.begin(), ms.end());
  auto at = [&](double q) { return 1e3 * ms[std::min(ms.size() - 1, std::size_t(q * double(ms.size())))]; };
  return {{"median_us", at(0.5)}, {"p05_us", at(0.05)}, {"p95_us", at(0.95)}, {"runs", ms.size()}};
}

}  // namespace tilewright::machine
