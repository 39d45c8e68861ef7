// Looks on while a kernel runs on its host case.
#pragma once
#include <string>

#include "runtime/device/device.h"
#include "runtime/ops/operator.h"

namespace tilewright::cli {

class Watcher {
 public:
  virtual ~Watcher() = default;
  /// Before the launch of `steps`, and after it, when the device is idle.
  virtual void begin(runtime::Device&, const ops::Steps& steps) = 0;
  virtual void end(runtime::Device&, const ops::Steps& steps) = 0;
  /// After the launch: an output, of an element as in a sidecar.
  virtual void output(const std::string& /*name*/, runtime::DeviceAddress, std::size_t /*elements*/, const std::string& /*element*/) {}
};

}  // namespace tilewright::cli
