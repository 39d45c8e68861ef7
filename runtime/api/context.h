// The CUDA context of the calling thread is the caller's: calls leave it as it was.
#pragma once
#include "runtime/cuda/cuda_device.h"

namespace tilewright::api {

/// Restores the thread's current context at the end of the scope. Does nothing for a null driver (a simulated device).
class ContextScope {
 public:
  explicit ContextScope(const cuda::DriverApi* driver) : driver_(driver) {
    if (driver_ != nullptr && driver_->cuCtxGetCurrent(&context_) != cuda::kSuccess) driver_ = nullptr;
  }
  ~ContextScope() {
    if (driver_ != nullptr) driver_->cuCtxSetCurrent(context_);
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  const cuda::DriverApi* driver_;
  cuda::Context context_ = nullptr;
};

}  // namespace tilewright::api
