// A device's memory, behind the C interface.
#include "runtime/api/context.h"
#include "runtime/api/handle.h"
#include "runtime/api/status.h"

using namespace tilewright;

namespace {

/// Runs `body` with the device's context, after checks that every function here makes.
template <class Body>
tilewright_status on_device(const char* who, tilewright_handle* handle, Body&& body) {
  return api::guarded(TILEWRIGHT_DEVICE_ERROR, [&] {
    if (handle == nullptr) throw ops::ArgumentError(std::string(who) + ": handle is NULL");
    const api::ContextScope scope(handle->shared->driver);
    body(*handle->shared->device);
  });
}

void check_copy(const char* who, const void* to, const void* from, uint64_t bytes) {
  if (bytes == 0) throw ops::ArgumentError(std::string(who) + ": bytes is 0, expected at least 1");
  if (to == nullptr) throw ops::ArgumentError(std::string(who) + ": to is NULL");
  if (from == nullptr) throw ops::ArgumentError(std::string(who) + ": from is NULL");
}

}  // namespace

tilewright_status tilewright_allocate(tilewright_handle* handle, uint64_t bytes, void** out) {
  return on_device("allocate", handle, [&](runtime::Device& device) {
    if (out == nullptr) throw ops::ArgumentError("allocate: out is NULL, expected a place for the address");
    *out = nullptr;
    if (bytes == 0) throw ops::ArgumentError("allocate: bytes is 0, expected at least 1");
    *out = reinterpret_cast<void*>(device.allocate(bytes));
  });
}

tilewright_status tilewright_free(tilewright_handle* handle, void* memory) {
  return on_device("free", handle, [&](runtime::Device& device) {
    if (memory != nullptr) device.release(reinterpret_cast<runtime::DeviceAddress>(memory));
  });
}

tilewright_status tilewright_copy_to_device(tilewright_handle* handle, void* to, const void* from, uint64_t bytes) {
  return on_device("copy_to_device", handle, [&](runtime::Device& device) {
    check_copy("copy_to_device", to, from, bytes);
    device.copy_to_device(reinterpret_cast<runtime::DeviceAddress>(to), from, bytes);
  });
}

tilewright_status tilewright_copy_to_host(tilewright_handle* handle, void* to, const void* from, uint64_t bytes) {
  return on_device("copy_to_host", handle, [&](runtime::Device& device) {
    check_copy("copy_to_host", to, from, bytes);
    device.copy_to_host(to, reinterpret_cast<runtime::DeviceAddress>(from), bytes);
  });
}

tilewright_status tilewright_synchronize(tilewright_handle* handle) {
  return on_device("synchronize", handle, [](runtime::Device& device) { device.synchronize(); });
}

const char* tilewright_device_kind(const tilewright_handle* handle) { return handle == nullptr ? "" : handle->shared->kind.c_str(); }

const char* tilewright_device_description(const tilewright_handle* handle) {
  return handle == nullptr ? "" : handle->shared->description.c_str();
}
