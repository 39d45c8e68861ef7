// What a tilewright_handle owns.
#pragma once
#include <memory>
#include <string>

#include "runtime/cuda/cuda_device.h"
#include "runtime/ops/gdn_forward.h"
#include "runtime/ops/gemm.h"

struct tilewright_handle {
  explicit tilewright_handle(std::unique_ptr<tilewright::runtime::Device> made)
      : device(std::move(made)), driver(driver_of(*device)), kind(device->kind()), description(device->description()), gdn_forward(*device), gemm(*device) {}

  std::unique_ptr<tilewright::runtime::Device> device;
  const tilewright::cuda::DriverApi* driver;  // null for a simulated device
  std::string kind, description;
  tilewright::ops::GdnForward gdn_forward;
  tilewright::ops::Gemm gemm;

 private:
  static const tilewright::cuda::DriverApi* driver_of(tilewright::runtime::Device& device) {
    const auto* cuda = dynamic_cast<tilewright::cuda::CudaDevice*>(&device);
    return cuda == nullptr ? nullptr : &cuda->api();
  }
};
