// What every device (a real Hopper behind libcuda, the simulated one) offers to the rest of the runtime.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/error.h"

namespace tilewright::runtime {

/// Address in the device's global memory. On the simulated device it is a host address.
using DeviceAddress = std::uint64_t;

enum class MapElement : std::uint8_t { f32, bf16, f16, i32, u8 };
enum class MapSwizzle : std::uint8_t { none, b32, b64, b128 };

/// Bytes of one element of a tensor map.
constexpr unsigned size_of(MapElement e) {
  switch (e) {
    case MapElement::f32:
    case MapElement::i32: return 4;
    case MapElement::bf16:
    case MapElement::f16: return 2;
    case MapElement::u8: return 1;
  }
  return 0;
}

/// A tiled TMA tensor map before encoding. Dimension 0 is innermost and has an implied stride of one element.
/// Strides are in bytes and address arithmetic wraps modulo 2^64 (ragged maps rely on it).
struct TensorMapSpec {
  MapElement element = MapElement::bf16;
  unsigned rank = 2;
  DeviceAddress address = 0;
  std::array<std::uint64_t, 5> extents{};        // elements
  std::array<std::uint64_t, 5> strides{};        // bytes; strides[0] is ignored
  std::array<std::uint32_t, 5> box{};            // elements
  MapSwizzle swizzle = MapSwizzle::none;
};

/// The encoded form, passed by value as a 64-byte aligned kernel parameter.
struct alignas(64) EncodedTensorMap {
  std::array<std::uint64_t, 16> words{};
};

/// One compiled kernel. `cubin` may be empty: then a CUDA device assembles `ptx` with the driver; the simulator runs `ptx`.
struct KernelImage {
  std::string name;                  // entry symbol in the PTX
  std::string ptx;
  std::vector<std::uint8_t> cubin;
  unsigned threads = 0;              // per CTA (reqntid)
  unsigned dynamic_shared_bytes = 0;
  std::array<unsigned, 3> cluster{1, 1, 1};
};

/// One kernel parameter: its bytes, laid out as the .param declares.
using KernelParameter = std::span<const std::byte>;

struct LaunchGeometry {
  std::array<unsigned, 3> grid{1, 1, 1};
  void* stream = nullptr;            // CUstream on a CUDA device, ignored by the simulator
  bool programmatic = false;         // programmatic dependent launch on the previous kernel of the stream
};

/// A variable of a kernel's module in the device's global memory.
struct DeviceVariable {
  DeviceAddress address = 0;
  std::size_t bytes = 0;
};

/// Memory that the host and kernels of the device both read and write, while kernels run, too.
struct MappedMemory {
  void* host = nullptr;
  DeviceAddress device = 0;
};

class LoadedKernel {
 public:
  virtual ~LoadedKernel() = default;
};

/// Errors: tilewright::Error for what a caller can mend (no memory, bad geometry, a kernel fault), with the device's own words.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view kind() const = 0;           // "cuda" or "sim"
  virtual std::string description() const = 0;         // for people: card, driver
  virtual std::string card() const { return {}; }      // the card's name, "NVIDIA H200"; empty where there is none
  /// Streaming multiprocessors: what a persistent kernel sizes its grid by. 132 on an H100 SXM and an H200.
  virtual unsigned multiprocessors() const { return 132; }
  virtual DeviceAddress allocate(std::size_t bytes) = 0;
  virtual void release(DeviceAddress) = 0;
  virtual void copy_to_device(DeviceAddress to, const void* from, std::size_t bytes) = 0;
  virtual void copy_to_host(void* to, DeviceAddress from, std::size_t bytes) = 0;
  /// Zeroed memory, for release_mapped. May be called while a stream is captured. As it stands here: for devices whose addresses are the host's.
  virtual MappedMemory allocate_mapped(std::size_t bytes) {
    const DeviceAddress address = allocate(bytes);
    fill(address, 0, bytes);
    return {reinterpret_cast<void*>(address), address};
  }
  virtual void release_mapped(const MappedMemory& memory) { release(memory.device); }
  virtual void fill(DeviceAddress to, std::uint8_t value, std::size_t bytes) = 0;
  virtual EncodedTensorMap encode(const TensorMapSpec&) = 0;
  /// Moves `map`, encoded from `spec`, to another address: the same as encoding `spec` there.
  virtual void move_map(EncodedTensorMap& map, const TensorMapSpec& spec, DeviceAddress address) {
    TensorMapSpec moved = spec;
    moved.address = address;
    map = encode(moved);
  }
  /// Why kernels of this device cannot use the memory at an address, or an empty text: "is memory of CUDA device 1, expected ...".
  /// What a device does not know is not refused.
  virtual std::string why_not_addressable(DeviceAddress) { return {}; }
  virtual std::unique_ptr<LoadedKernel> load(const KernelImage&) = 0;
  /// A variable of the kernel's module by its name in the PTX. Throws Error where it has none.
  virtual DeviceVariable variable(LoadedKernel&, const std::string& name) {
    throw Error("device " + std::string(kind()) + " cannot look up variables of a kernel, here '" + name + "'");
  }
  virtual void launch(LoadedKernel&, const LaunchGeometry&, std::span<const KernelParameter>) = 0;
  virtual void synchronize() = 0;
};

/// The simulated Hopper (runtime/sim).
std::unique_ptr<Device> make_simulated_device();
/// The CUDA device with this ordinal (runtime/cuda). Throws Error when there is no driver, no GPU or no Hopper.
std::unique_ptr<Device> make_cuda_device(int ordinal = 0);
/// "auto": CUDA where a Hopper is present, else the simulator; "cuda"; "sim".
std::unique_ptr<Device> make_device(std::string_view kind);

}  // namespace tilewright::runtime
