// Handles, the version and the last error.
#include "runtime/api/handle.h"

#include <map>
#include <mutex>

#include "runtime/api/context.h"
#include "runtime/api/status.h"

namespace tilewright::api {

std::string& last_error() {
  thread_local std::string message;
  return message;
}

tilewright_status fail(tilewright_status status, const std::string& message) {
  try {
    last_error() = message;
  } catch (...) {
    last_error().clear();  // no memory for the message: the status speaks alone
  }
  return status;
}

namespace {

/// The thread's current CUDA device; ordinal 0 where no context is current.
int current_ordinal() {
  cuda::DeviceOrdinal ordinal = 0;
  return cuda::driver().cuCtxGetDevice(&ordinal) == cuda::kSuccess ? ordinal : 0;
}

/// The device of this ordinal: the one in use, or a new one.
std::shared_ptr<SharedDevice> cuda_device(int ordinal) {
  static std::mutex mutex;
  static std::map<int, std::weak_ptr<SharedDevice>> devices;
  const std::lock_guard lock(mutex);
  if (auto known = devices[ordinal].lock()) return known;
  auto made = std::make_shared<SharedDevice>(runtime::make_cuda_device(ordinal));
  devices[ordinal] = made;
  return made;
}

std::shared_ptr<SharedDevice> simulated_device() { return std::make_shared<SharedDevice>(runtime::make_simulated_device()); }

std::shared_ptr<SharedDevice> make(std::int32_t device) {
  if (device == TILEWRIGHT_DEVICE_SIM) return simulated_device();
  if (device == TILEWRIGHT_DEVICE_AUTO) {
    try {
      return cuda_device(current_ordinal());
    } catch (const Error&) {
      return simulated_device();  // no driver, no GPU or no Hopper
    }
  }
  return cuda_device(device);
}

}  // namespace
}  // namespace tilewright::api

using namespace tilewright;

const char* tilewright_version(void) { return TILEWRIGHT_VERSION; }

const char* tilewright_last_error(void) { return api::last_error().c_str(); }

tilewright_status tilewright_create(int32_t device, tilewright_handle** out) {
  return api::guarded(TILEWRIGHT_NO_DEVICE, [&] {
    if (out == nullptr) throw ops::ArgumentError("tilewright_create: out is NULL, expected a place for the handle");
    *out = nullptr;
    if (device < TILEWRIGHT_DEVICE_AUTO)
      throw ops::ArgumentError("tilewright_create: device is " + std::to_string(device) +
                               ", expected a CUDA ordinal, -1 (simulated) or -2 (automatic)");
    const cuda::DriverApi* driver = nullptr;
    if (device != TILEWRIGHT_DEVICE_SIM) {
      try {
        driver = &cuda::driver();
      } catch (const Error&) {
        if (device != TILEWRIGHT_DEVICE_AUTO) throw;
      }
    }
    const api::ContextScope scope(driver);
    *out = new tilewright_handle{api::make(device)};
  });
}

void tilewright_destroy(tilewright_handle* handle) {
  if (handle == nullptr) return;
  api::guarded(TILEWRIGHT_DEVICE_ERROR, [&] {
    const api::ContextScope scope(handle->shared->driver);
    delete handle;
  });
}
