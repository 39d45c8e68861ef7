// Device memory with guard bytes on both sides.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/device/device.h"

namespace tilewright::cli {

/// Owns `bytes` of device memory between two guards. Whoever writes past either end is found out.
class GuardedBuffer {
 public:
  static constexpr std::size_t kGuard = 4096;
  static constexpr std::uint8_t kPattern = 0xa5, kPoison = 0xff;  // sixteen or 32 bits of ones: a NaN in every float type

  GuardedBuffer(runtime::Device& device, std::size_t bytes)
      : device_(&device), bytes_(bytes), raw_(device.allocate(bytes + 2 * kGuard)) {
    device.fill(raw_, kPattern, kGuard);
    device.fill(raw_ + kGuard + bytes, kPattern, kGuard);
  }
  GuardedBuffer(GuardedBuffer&& other) noexcept : device_(other.device_), bytes_(other.bytes_), raw_(std::exchange(other.raw_, 0)) {}
  GuardedBuffer& operator=(GuardedBuffer&&) = delete;
  ~GuardedBuffer() {
    if (raw_ == 0) return;
    try {
      device_->release(raw_);
    } catch (const std::exception&) {
      // The device is lost; whoever uses it next hears of it.
    }
  }

  runtime::DeviceAddress address() const { return raw_ + kGuard; }
  std::size_t bytes() const { return bytes_; }
  void poison() { device_->fill(address(), kPoison, bytes_); }
  void upload(const void* from) { device_->copy_to_device(address(), from, bytes_); }
  template <class Value>
  std::vector<Value> download() const {
    std::vector<Value> values(bytes_ / sizeof(Value));
    device_->copy_to_host(values.data(), address(), bytes_);
    return values;
  }
  /// Whether both guards are as they were.
  bool intact() const {
    std::vector<std::uint8_t> guards(2 * kGuard);
    device_->copy_to_host(guards.data(), raw_, kGuard);
    device_->copy_to_host(guards.data() + kGuard, raw_ + kGuard + bytes_, kGuard);
    return std::all_of(guards.begin(), guards.end(), [](std::uint8_t b) { return b == kPattern; });
  }

 private:
  runtime::Device* device_;
  std::size_t bytes_;
  runtime::DeviceAddress raw_;
};

}  // namespace tilewright::cli
