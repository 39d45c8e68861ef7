// A Hopper behind libcuda.
#pragma once
#include "runtime/cuda/driver_api.h"
#include "runtime/device/device.h"

namespace tilewright::cuda {

/// A Device on the primary context of one card, the context that PyTorch and the CUDA runtime use too.
/// Every call makes that context current on the calling thread. Calls may come from several threads.
class CudaDevice final : public runtime::Device {
 public:
  /// Throws Error when the ordinal does not exist or the card is not of compute capability 9.0.
  CudaDevice(const DriverApi&, int ordinal);
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  std::string_view kind() const override { return "cuda"; }
  std::string description() const override;
  std::string card() const override { return name_; }
  unsigned multiprocessors() const override { return multiprocessors_; }
  runtime::DeviceAddress allocate(std::size_t bytes) override;
  void release(runtime::DeviceAddress) override;
  void copy_to_device(runtime::DeviceAddress to, const void* from, std::size_t bytes) override;
  void copy_to_host(void* to, runtime::DeviceAddress from, std::size_t bytes) override;
  /// Page-locked host memory.
  runtime::MappedMemory allocate_mapped(std::size_t bytes) override;
  void release_mapped(const runtime::MappedMemory&) override;
  void fill(runtime::DeviceAddress to, std::uint8_t value, std::size_t bytes) override;
  /// cuTensorMapEncodeTiled with 256-byte L2 promotion; out-of-bounds elements read as zero.
  runtime::EncodedTensorMap encode(const runtime::TensorMapSpec&) override;
  /// Writes the address into the encoded map where the driver keeps it as one plain word; else encodes anew.
  void move_map(runtime::EncodedTensorMap&, const runtime::TensorMapSpec&, runtime::DeviceAddress) override;
  std::string why_not_addressable(runtime::DeviceAddress) override;
  /// Loads the cubin, or lets the driver assemble the PTX when there is none. The device must outlive the kernel.
  std::unique_ptr<runtime::LoadedKernel> load(const runtime::KernelImage&) override;
  runtime::DeviceVariable variable(runtime::LoadedKernel&, const std::string& name) override;
  void launch(runtime::LoadedKernel&, const runtime::LaunchGeometry&,
              std::span<const runtime::KernelParameter>) override;
  void synchronize() override;

  const DriverApi& api() const { return api_; }
  /// Whether move_map does without the driver.
  bool moves_maps() const { return address_word_ >= 0; }
  /// Makes the device's context current on this thread.
  void make_current() const;
  Context context() const { return context_; }

 private:
  const DriverApi& api_;
  DeviceOrdinal device_ = 0;
  Context context_ = nullptr;
  std::string name_;
  int driver_version_ = 0;
  unsigned multiprocessors_ = 0;
  unsigned max_shared_bytes_ = 0;
  bool pageable_access_ = false;  // kernels may use plain host memory
  int address_word_ = -1;  // the word of an encoded map that holds its address; -1: unknown
};

}  // namespace tilewright::cuda
