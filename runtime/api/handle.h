// What a tilewright_handle owns.
#pragma once
#include <memory>
#include <string>

#include "runtime/cuda/cuda_device.h"
#include "runtime/ops/gdn_forward.h"
#include "runtime/ops/gemm.h"

namespace tilewright::api {

/// A device and the operators on it. Handles of one CUDA device share it, so that a kernel is loaded once on each device.
struct SharedDevice {
  explicit SharedDevice(std::unique_ptr<runtime::Device> made)
      : device(std::move(made)), driver(driver_of(*device)), kind(device->kind()), description(device->description()), gdn_forward(*device), gemm(*device) {}

  std::unique_ptr<runtime::Device> device;
  const cuda::DriverApi* driver;  // null for a simulated device
  std::string kind, description;
  ops::GdnForward gdn_forward;
  ops::Gemm gemm;

 private:
  static const cuda::DriverApi* driver_of(runtime::Device& device) {
    const auto* cuda = dynamic_cast<cuda::CudaDevice*>(&device);
    return cuda == nullptr ? nullptr : &cuda->api();
  }
};

}  // namespace tilewright::api

struct tilewright_handle {
  std::shared_ptr<tilewright::api::SharedDevice> shared;
};
