// Contexts, memory, tensor maps, modules and launches over the driver API.
#include "runtime/cuda/cuda_device.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "tilewright/error.h"

namespace tilewright::cuda {
namespace {

using runtime::EncodedTensorMap;
using runtime::KernelImage;
using runtime::KernelParameter;
using runtime::LaunchGeometry;
using runtime::LoadedKernel;
using runtime::MapElement;
using runtime::TensorMapSpec;

class CudaKernel final : public LoadedKernel {
 public:
  CudaKernel(const CudaDevice& device, const KernelImage& image)
      : device(device), name(image.name), threads(image.threads), dynamic_shared_bytes(image.dynamic_shared_bytes),
        cluster(image.cluster) {}
  CudaKernel(const CudaKernel&) = delete;
  CudaKernel& operator=(const CudaKernel&) = delete;
  ~CudaKernel() override {
    if (module == nullptr) return;
    device.api().cuCtxSetCurrent(device.context());
    device.api().cuModuleUnload(module);
  }

  const CudaDevice& device;
  std::string name;
  unsigned threads;
  unsigned dynamic_shared_bytes;
  std::array<unsigned, 3> cluster;
  Module module = nullptr;
  Function function = nullptr;
};

int map_type(MapElement element) {
  switch (element) {
    case MapElement::f32: return kMapFloat32;
    case MapElement::bf16: return kMapBfloat16;
    case MapElement::f16: return kMapFloat16;
    case MapElement::i32: return kMapInt32;
    case MapElement::u8: return kMapUint8;
  }
  throw InternalError("tensor map element out of range");
}

/// The word of an encoded map that holds the map's address and nothing else, found by encoding maps that differ in their addresses
/// only; the layout of the 128 bytes is not documented. -1 where there is no such word.
int find_address_word(CudaDevice& device) {
  TensorMapSpec dense;
  dense.extents = {64, 1000};
  dense.strides = {2, 128};
  dense.box = {64, 8};
  TensorMapSpec ragged = dense;
  ragged.rank = 5;
  ragged.extents = {128, 4, 1u << 30, 0x7fff0000, 0x7fff0000};
  ragged.strides = {2, 256, 1024, 1024, (1ull << 34) - 1024};
  ragged.box = {64, 1, 64, 1, 1};
  ragged.swizzle = runtime::MapSwizzle::b128;
  int found = -1;
  for (TensorMapSpec spec : {dense, ragged}) {
    spec.address = 0x100000;
    const EncodedTensorMap first = device.encode(spec);
    for (const runtime::DeviceAddress address : {0x7fedcba98760ull, 0x123456789a10ull, 0x00000ff0ull}) {
      spec.address = address;
      const EncodedTensorMap map = device.encode(spec);
      for (std::size_t i = 0; i < map.words.size(); ++i) {
        if (map.words[i] == first.words[i]) continue;
        if (map.words[i] != address || (found >= 0 && found != static_cast<int>(i))) return -1;
        found = static_cast<int>(i);
      }
    }
    if (found < 0 || first.words[static_cast<std::size_t>(found)] != 0x100000) return -1;
  }
  return found;
}

std::string list(const auto& values, unsigned count) {
  std::string text = "[";
  for (unsigned i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + std::to_string(values[i]);
  return text + "]";
}

}  // namespace

CudaDevice::CudaDevice(const DriverApi& api, int ordinal) : api_(api) {
  int count = 0;
  api_.check(api_.cuDeviceGetCount(&count), "cuDeviceGetCount");
  if (ordinal < 0 || ordinal >= count)
    throw Error("no CUDA device " + std::to_string(ordinal) + ": the driver lists " + std::to_string(count) +
                (count == 1 ? " device" : " devices") + ", numbered from 0");
  api_.check(api_.cuDeviceGet(&device_, ordinal), "cuDeviceGet");
  std::array<char, 256> name{};
  api_.check(api_.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device_), "cuDeviceGetName");
  name_ = name.data();
  const auto attribute = [&](int which) {
    int value = 0;
    api_.check(api_.cuDeviceGetAttribute(&value, which, device_), "cuDeviceGetAttribute");
    return value;
  };
  const int major = attribute(kComputeCapabilityMajor), minor = attribute(kComputeCapabilityMinor);
  if (major != 9 || minor != 0)
    throw Error("wrong card: " + name_ + " has compute capability " + std::to_string(major) + "." +
                std::to_string(minor) + ", Tilewright's kernels need 9.0 (Hopper: H100, H200, GH200); use --device sim");
  multiprocessors_ = static_cast<unsigned>(attribute(kMultiprocessorCount));
  max_shared_bytes_ = static_cast<unsigned>(attribute(kMaxSharedPerBlockOptIn));
  api_.check(api_.cuDriverGetVersion(&driver_version_), "cuDriverGetVersion");
  pageable_access_ = attribute(kPageableMemoryAccess) != 0;
  api_.check(api_.cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain", name_);
  try {
    address_word_ = find_address_word(*this);
  } catch (const Error&) {
    // Then every move of a map is a call of the driver, which says what is wrong.
  }
}

CudaDevice::~CudaDevice() { api_.cuDevicePrimaryCtxRelease_v2(device_); }

void CudaDevice::make_current() const { api_.check(api_.cuCtxSetCurrent(context_), "cuCtxSetCurrent"); }

std::string CudaDevice::description() const {
  return name_ + ", " + std::to_string(multiprocessors_) + " SMs, driver for CUDA " +
         std::to_string(driver_version_ / 1000) + "." + std::to_string(driver_version_ % 1000 / 10);
}

runtime::DeviceAddress CudaDevice::allocate(std::size_t bytes) {
  make_current();
  DevicePointer pointer = 0;
  api_.check(api_.cuMemAlloc_v2(&pointer, std::max<std::size_t>(bytes, 1)), "cuMemAlloc",
             "asked for " + std::to_string(bytes) + " bytes");
  return pointer;
}

void CudaDevice::release(runtime::DeviceAddress address) {
  if (address == 0) return;
  make_current();
  api_.check(api_.cuMemFree_v2(address), "cuMemFree");
}

void CudaDevice::copy_to_device(runtime::DeviceAddress to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  make_current();
  api_.check(api_.cuMemcpyHtoD_v2(to, from, bytes), "cuMemcpyHtoD", std::to_string(bytes) + " bytes");
}

void CudaDevice::copy_to_host(void* to, runtime::DeviceAddress from, std::size_t bytes) {
  if (bytes == 0) return;
  make_current();
  api_.check(api_.cuMemcpyDtoH_v2(to, from, bytes), "cuMemcpyDtoH", std::to_string(bytes) + " bytes");
}

runtime::MappedMemory CudaDevice::allocate_mapped(std::size_t bytes) {
  make_current();
  runtime::MappedMemory memory;
  // An allocation spoils captures, of other threads too, unless its thread says that it knows what it does.
  int mode = kCaptureRelaxed;
  api_.check(api_.cuThreadExchangeStreamCaptureMode(&mode), "cuThreadExchangeStreamCaptureMode");
  const Result result = api_.cuMemHostAlloc(&memory.host, bytes, kHostAllocPortable | kHostAllocDeviceMap);
  api_.check(api_.cuThreadExchangeStreamCaptureMode(&mode), "cuThreadExchangeStreamCaptureMode");
  api_.check(result, "cuMemHostAlloc", "asked for " + std::to_string(bytes) + " bytes");
  std::memset(memory.host, 0, bytes);
  api_.check(api_.cuMemHostGetDevicePointer_v2(&memory.device, memory.host, 0), "cuMemHostGetDevicePointer");
  return memory;
}

void CudaDevice::release_mapped(const runtime::MappedMemory& memory) {
  if (memory.host == nullptr) return;
  make_current();
  api_.check(api_.cuMemFreeHost(memory.host), "cuMemFreeHost");
}

void CudaDevice::fill(runtime::DeviceAddress to, std::uint8_t value, std::size_t bytes) {
  if (bytes == 0) return;
  make_current();
  api_.check(api_.cuMemsetD8_v2(to, value, bytes), "cuMemsetD8", std::to_string(bytes) + " bytes");
}

EncodedTensorMap CudaDevice::encode(const TensorMapSpec& spec) {
  if (spec.rank < 1 || spec.rank > 5)
    throw Error("tensor map of rank " + std::to_string(spec.rank) + ": expected 1 to 5");
  EncodedTensorMap map;
  const std::array<std::uint32_t, 5> element_strides{1, 1, 1, 1, 1};
  make_current();
  const Result result = api_.cuTensorMapEncodeTiled(
      map.words.data(), map_type(spec.element), spec.rank, reinterpret_cast<void*>(spec.address), spec.extents.data(),
      spec.strides.data() + 1, spec.box.data(), element_strides.data(), /*interleave=*/0,
      static_cast<int>(spec.swizzle), kMapL2Promotion256B, /*oobFill=*/0);
  if (result != kSuccess)
    api_.check(result, "cuTensorMapEncodeTiled",
               "address " + std::to_string(spec.address) + ", extents " + list(spec.extents, spec.rank) +
                   ", byte strides " + list(spec.strides, spec.rank) + ", box " + list(spec.box, spec.rank) +
                   " (innermost first); expected a 16-byte aligned address, strides that are multiples of 16 below "
                   "2^40, extents of 1 to 2^32, box sides of at most 256 and an inner box side no wider than the swizzle");
  return map;
}

void CudaDevice::move_map(EncodedTensorMap& map, const TensorMapSpec& spec, runtime::DeviceAddress address) {
  if (address_word_ >= 0) map.words[static_cast<std::size_t>(address_word_)] = address;
  else Device::move_map(map, spec, address);
}

std::string CudaDevice::why_not_addressable(runtime::DeviceAddress address) {
  make_current();
  int ordinal = -1;
  const Result result = api_.cuPointerGetAttribute(&ordinal, kPointerDeviceOrdinal, address);
  const std::string expected = ", expected memory of CUDA device " + std::to_string(device_);
  if (result != kSuccess) return pageable_access_ ? "" : "is not CUDA memory" + expected;
  return ordinal == device_ ? "" : "is memory of CUDA device " + std::to_string(ordinal) + expected;
}

std::unique_ptr<LoadedKernel> CudaDevice::load(const KernelImage& image) {
  make_current();
  if (image.dynamic_shared_bytes > max_shared_bytes_)
    throw Error("kernel '" + image.name + "' asks for " + std::to_string(image.dynamic_shared_bytes) +
                " bytes of dynamic shared memory, the card offers " + std::to_string(max_shared_bytes_));
  auto kernel = std::make_unique<CudaKernel>(*this, image);
  std::vector<char> errors(1 << 15, '\0'), infos(1 << 13, '\0');
  const auto as_value = [](std::size_t n) { return reinterpret_cast<void*>(n); };
  // Not line info: the PTX compiler of driver 580 writes past a buffer of its own when it is asked for that of some modules.
  std::array<int, 4> options{kJitErrorLog, kJitErrorLogBytes, kJitInfoLog, kJitInfoLogBytes};
  std::array<void*, 4> values{errors.data(), as_value(errors.size() - 1), infos.data(), as_value(infos.size() - 1)};
  const bool assembled = !image.cubin.empty();
  if (!assembled && image.ptx.empty()) throw Error("kernel '" + image.name + "' has neither a cubin nor PTX to load");
  // The PTX is a std::string and ends in the NUL that the driver looks for.
  const void* source = assembled ? static_cast<const void*>(image.cubin.data()) : image.ptx.c_str();
  const Result result = api_.cuModuleLoadDataEx(&kernel->module, source, static_cast<unsigned>(options.size()),
                                                options.data(), values.data());
  if (result != kSuccess) {
    kernel->module = nullptr;
    std::string about = "kernel '" + image.name + "' from " + (assembled ? "cubin" : "PTX");
    if (errors[0] != '\0') about += ", log of the driver:\n" + std::string(errors.data());
    api_.check(result, "cuModuleLoadDataEx", about);
  }
  api_.check(api_.cuModuleGetFunction(&kernel->function, kernel->module, image.name.c_str()), "cuModuleGetFunction",
             "no entry '" + image.name + "' in the module");
  if (image.dynamic_shared_bytes > 0)
    api_.check(api_.cuFuncSetAttribute(kernel->function, kFunctionMaxDynamicShared,
                                       static_cast<int>(image.dynamic_shared_bytes)),
               "cuFuncSetAttribute",
               "dynamic shared memory of kernel '" + image.name + "', " + std::to_string(image.dynamic_shared_bytes) +
                   " of at most " + std::to_string(max_shared_bytes_) + " bytes less its static shared memory");
  if (image.cluster[0] * image.cluster[1] * image.cluster[2] > 8)
    api_.check(api_.cuFuncSetAttribute(kernel->function, kFunctionNonPortableCluster, 1), "cuFuncSetAttribute",
               "cluster of kernel '" + image.name + "'");
  return kernel;
}

runtime::DeviceVariable CudaDevice::variable(LoadedKernel& loaded, const std::string& name) {
  auto* kernel = dynamic_cast<CudaKernel*>(&loaded);
  if (kernel == nullptr) throw Error("variable '" + name + "' of a kernel that was loaded by another device");
  make_current();
  DevicePointer address = 0;
  std::size_t bytes = 0;
  api_.check(api_.cuModuleGetGlobal_v2(&address, &bytes, kernel->module, name.c_str()), "cuModuleGetGlobal",
             "variable '" + name + "' of kernel '" + kernel->name + "'");
  return {address, bytes};
}

void CudaDevice::launch(LoadedKernel& loaded, const LaunchGeometry& geometry,
                        std::span<const KernelParameter> parameters) {
  auto* kernel = dynamic_cast<CudaKernel*>(&loaded);
  if (kernel == nullptr || &kernel->device != this) throw Error("launch on a CUDA device of a kernel that was loaded by another device");
  constexpr std::array<unsigned, 3> limits{0x7fffffffu, 65535u, 65535u};
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (geometry.grid[axis] == 0 || geometry.grid[axis] > limits[axis])
      throw Error("kernel '" + kernel->name + "' launched with grid " + list(geometry.grid, 3) +
                  ": expected 1 to 2147483647 CTAs along x, 1 to 65535 along y and z");
    if (geometry.grid[axis] % kernel->cluster[axis] != 0)
      throw Error("kernel '" + kernel->name + "' launched with grid " + list(geometry.grid, 3) +
                  ": expected multiples of its cluster " + list(kernel->cluster, 3));
  }
  make_current();

  std::array<LaunchAttribute, 2> attributes{};
  LaunchConfig config;
  config.attributes = attributes.data();
  if (kernel->cluster != std::array<unsigned, 3>{1, 1, 1}) {
    LaunchAttribute& attribute = attributes[config.attribute_count++];
    attribute.id = kLaunchClusterDimension;
    std::copy(kernel->cluster.begin(), kernel->cluster.end(), attribute.dimension);
  }
  if (geometry.programmatic) {
    LaunchAttribute& attribute = attributes[config.attribute_count++];
    attribute.id = kLaunchProgrammaticSerialization;
    attribute.flag = 1;
  }
  std::copy(geometry.grid.begin(), geometry.grid.end(), config.grid);
  config.block[0] = kernel->threads;
  config.dynamic_shared_bytes = kernel->dynamic_shared_bytes;
  config.stream = static_cast<Stream>(geometry.stream);

  thread_local std::vector<void*> pointers;
  pointers.clear();
  for (const KernelParameter& parameter : parameters)
    pointers.push_back(const_cast<std::byte*>(parameter.data()));  // the driver reads them only
  const Result result = api_.cuLaunchKernelEx(&config, kernel->function, pointers.data(), nullptr);
  if (result != kSuccess)
    api_.check(result, "cuLaunchKernelEx",
               "kernel '" + kernel->name + "', grid " + list(geometry.grid, 3) + ", " +
                   std::to_string(kernel->threads) + " threads, " + std::to_string(kernel->dynamic_shared_bytes) +
                   " bytes of dynamic shared memory, cluster " + list(kernel->cluster, 3));
}

void CudaDevice::synchronize() {
  make_current();
  api_.check(api_.cuCtxSynchronize(), "cuCtxSynchronize");
}

}  // namespace tilewright::cuda

namespace tilewright::runtime {

std::unique_ptr<Device> make_cuda_device(int ordinal) {
  return std::make_unique<cuda::CudaDevice>(cuda::driver(), ordinal);
}

}  // namespace tilewright::runtime
