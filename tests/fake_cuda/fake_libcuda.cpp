// The exported entry points of libcuda that Tilewright binds, recording instead of running.
#include "fake_libcuda.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <utility>

#include "runtime/cuda/driver_api.h"

using namespace tilewright::cuda;

namespace {
std::mutex mutex;  // guards all below
FakeRecord record;
unsigned elapsed_calls = 0;
std::map<DevicePointer, std::pair<std::size_t, int>> memory;  // bytes and device of each allocation
std::map<void*, void*> contexts_of_modules;
std::uintptr_t next_handle = 0x20000;
thread_local Context current = nullptr;
thread_local int capture_mode = kCaptureGlobal;

int devices() {
  const char* count = std::getenv("FAKE_CUDA_DEVICES");
  return count != nullptr ? std::atoi(count) : 1;
}
constexpr Result kInvalidContext = 201, kCaptureUnsupported = 900;

bool told(const char* what) {
  const char* mode = std::getenv("FAKE_CUDA");
  return mode != nullptr && std::strcmp(mode, what) == 0;
}

template <class Handle>
Result give(Handle* handle) {
  const std::lock_guard lock(mutex);
  ++record.live;
  *handle = reinterpret_cast<Handle>(next_handle += 16);
  return kSuccess;
}

Result take() {
  const std::lock_guard lock(mutex);
  --record.live;
  return kSuccess;
}
}  // namespace

extern "C" {
FakeRecord* fake_record() { return &record; }

Result cuInit(unsigned) { return told("no_gpu") ? kNoDevice : kSuccess; }
Result cuDriverGetVersion(int* version) { return *version = 12080, kSuccess; }
Result cuGetErrorName(Result result, const char** name) {
  switch (result) {
    case kOutOfMemory: *name = "CUDA_ERROR_OUT_OF_MEMORY"; return kSuccess;
    case kNoDevice: *name = "CUDA_ERROR_NO_DEVICE"; return kSuccess;
    case kInvalidPtx: *name = "CUDA_ERROR_INVALID_PTX"; return kSuccess;
    case kIllegalAddress: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; return kSuccess;
    case kLaunchOutOfResources: *name = "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"; return kSuccess;
    case kInvalidContext: *name = "CUDA_ERROR_INVALID_CONTEXT"; return kSuccess;
    case 1: *name = "CUDA_ERROR_INVALID_VALUE"; return kSuccess;
    default: return 1;
  }
}
Result cuGetErrorString(Result, const char** words) { return *words = "words of the driver", kSuccess; }
Result cuDeviceGetCount(int* count) { return *count = told("empty") ? 0 : devices(), kSuccess; }
Result cuDeviceGet(DeviceOrdinal* device, int ordinal) { return *device = ordinal, kSuccess; }
Result cuDeviceGetName(char* name, int size, DeviceOrdinal) {
  std::strncpy(name, told("ampere") ? "NVIDIA A100" : "NVIDIA H200", static_cast<std::size_t>(size));
  return kSuccess;
}
Result cuDeviceGetAttribute(int* value, int attribute, DeviceOrdinal) {
  switch (attribute) {
    case kComputeCapabilityMajor: *value = told("ampere") ? 8 : 9; return kSuccess;
    case kComputeCapabilityMinor: *value = 0; return kSuccess;
    case kMultiprocessorCount: *value = 114; return kSuccess;
    case kMaxSharedPerBlockOptIn: *value = 232448; return kSuccess;
    case kPageableMemoryAccess: *value = told("pageable"); return kSuccess;
    default: return 1;
  }
}
Result cuDevicePrimaryCtxRetain(Context* context, DeviceOrdinal device) {
  give(context);
  *context = static_cast<Context>(fake_context(device));
  return kSuccess;
}
Result cuDevicePrimaryCtxRelease_v2(DeviceOrdinal) { return take(); }
Result cuCtxGetCurrent(Context* context) { return *context = current, kSuccess; }
Result cuCtxGetDevice(int* device) {
  if (current == nullptr) return kInvalidContext;
  for (int i = 0; i < devices(); ++i)
    if (fake_context(i) == current) return *device = i, kSuccess;
  return *device = 0, kSuccess;  // a context of the caller's own
}
Result cuCtxSetCurrent(Context context) { return current = context, kSuccess; }
Result cuCtxSynchronize() {
  const std::lock_guard lock(mutex);
  ++record.synchronisations;
  return told("fault") ? kIllegalAddress : kSuccess;
}
Result cuMemAlloc_v2(DevicePointer* pointer, std::size_t bytes) {
  if (told("full")) return kOutOfMemory;
  int device = 0;
  if (cuCtxGetDevice(&device) != kSuccess) return kInvalidContext;
  const std::lock_guard lock(mutex);
  ++record.live;
  ++record.allocations;
  *pointer = reinterpret_cast<DevicePointer>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  memory[*pointer] = {bytes, device};
  return kSuccess;
}
Result cuMemFree_v2(DevicePointer pointer) {
  {
    const std::lock_guard lock(mutex);
    memory.erase(pointer);
  }
  return std::free(reinterpret_cast<void*>(pointer)), take();
}
Result cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  if (told("full")) return kOutOfMemory;
  if (current == nullptr) return kInvalidContext;
  if (capture_mode != kCaptureRelaxed) return kCaptureUnsupported;  // as if some stream were captured
  const std::lock_guard lock(mutex);
  ++record.live;
  *pointer = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  std::memset(*pointer, 0xff, bytes);
  record.mapped = *pointer;
  return kSuccess;
}
Result cuMemHostGetDevicePointer_v2(DevicePointer* device, void* host, unsigned) { return *device = reinterpret_cast<DevicePointer>(host), kSuccess; }
Result cuMemFreeHost(void* pointer) { return std::free(pointer), take(); }
Result cuPointerGetAttribute(void* value, int attribute, DevicePointer pointer) {
  const std::lock_guard lock(mutex);
  auto found = memory.upper_bound(pointer);
  if (attribute != kPointerDeviceOrdinal || found == memory.begin()) return 1;
  --found;
  if (pointer >= found->first + found->second.first) return 1;
  return *static_cast<int*>(value) = found->second.second, kSuccess;
}
Result cuMemcpyHtoD_v2(DevicePointer to, const void* from, std::size_t bytes) {
  return std::memcpy(reinterpret_cast<void*>(to), from, bytes), kSuccess;
}
Result cuMemcpyDtoH_v2(void* to, DevicePointer from, std::size_t bytes) {
  return std::memcpy(to, reinterpret_cast<const void*>(from), bytes), kSuccess;
}
Result cuMemsetD8_v2(DevicePointer to, unsigned char value, std::size_t bytes) {
  return std::memset(reinterpret_cast<void*>(to), value, bytes), kSuccess;
}
Result cuMemsetD8Async(DevicePointer, unsigned char, std::size_t, Stream) { return ++record.flushes, kSuccess; }
Result cuTensorMapEncodeTiled(void* map, int element, std::uint32_t rank, void* address, const std::uint64_t* extents,
                              const std::uint64_t* strides, const std::uint32_t* box, const std::uint32_t*, int,
                              int swizzle, int promotion, int fill) {
  if (told("bad_map")) return 1;
  const std::lock_guard lock(mutex);
  ++record.encoded_maps;
  std::memset(map, 0x5a, 128);
  auto* words = static_cast<std::uint64_t*>(map);
  words[1] = reinterpret_cast<std::uint64_t>(address);
  words[2] = extents[0] ^ extents[rank - 1] << 20;
  if (told("opaque_map")) words[3] = words[1] >> 4;
  record.extents.assign(extents, extents + rank);
  record.strides.assign(strides, strides + rank - 1);
  record.box.assign(box, box + rank);
  record.element = element;
  record.swizzle = swizzle;
  record.promotion = promotion;
  record.fill = fill;
  return kSuccess;
}
Result cuModuleLoadDataEx(Module* module, const void* image, unsigned count, int* options, void** values) {
  if (told("bad_ptx")) {
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == kJitErrorLog) std::strcpy(static_cast<char*>(values[i]), "line 7; unknown instruction");
    return kInvalidPtx;
  }
  if (current == nullptr) return kInvalidContext;
  if (told("full")) return kOutOfMemory;
  give(module);
  const std::lock_guard lock(mutex);
  record.module = static_cast<const char*>(image);
  ++record.modules;
  contexts_of_modules[*module] = current;
  return kSuccess;
}
Result cuModuleUnload(Module module) {
  {
    const std::lock_guard lock(mutex);
    contexts_of_modules.erase(module);
  }
  return take();
}
Result cuModuleGetFunction(Function* function, Module module, const char*) {
  return *function = reinterpret_cast<Function>(module), kSuccess;  // a module has one function here
}
Result cuModuleGetGlobal_v2(DevicePointer* address, std::size_t* bytes, Module, const char* name) {
  if (std::strcmp(name, "stamps") != 0) return static_cast<Result>(500);   // CUDA_ERROR_NOT_FOUND
  return *address = 0x3000, *bytes = 64, kSuccess;
}
Result cuFuncGetAttribute(int* value, int, Function) { return *value = 0, kSuccess; }
Result cuFuncSetAttribute(Function, int attribute, int value) {
  if (attribute == kFunctionMaxDynamicShared) record.max_dynamic_shared = value;
  return kSuccess;
}
Result cuLaunchKernelEx(const LaunchConfig* config, Function function, void** parameters, void**) {
  if (told("too_big")) return kLaunchOutOfResources;
  const std::lock_guard lock(mutex);
  if (contexts_of_modules[function] != current) return kInvalidContext;
  ++record.launches;
  record.grid = {config->grid[0], config->grid[1], config->grid[2]};
  record.threads = config->block[0] * config->block[1] * config->block[2];
  record.dynamic_shared_bytes = config->dynamic_shared_bytes;
  record.stream = config->stream;
  record.attributes = config->attribute_count;
  record.cluster = {};
  record.programmatic = 0;
  for (unsigned i = 0; i < config->attribute_count; ++i) {
    const LaunchAttribute& attribute = config->attributes[i];
    if (attribute.id == kLaunchClusterDimension)
      record.cluster = {attribute.dimension[0], attribute.dimension[1], attribute.dimension[2]};
    if (attribute.id == kLaunchProgrammaticSerialization) record.programmatic = attribute.flag;
  }
  if (parameters[0] != nullptr) std::memcpy(&record.first_parameter, parameters[0], 4);
  if (record.keep_launches) {
    FakeLaunch& launch = record.all.emplace_back();
    launch.context = current;
    launch.function = function;
    launch.stream = config->stream;
    launch.grid = record.grid;
    launch.cluster = record.cluster;
    launch.programmatic = record.programmatic != 0;
  }
  return kSuccess;
}
Result cuStreamCreate(Stream* stream, unsigned) { return give(stream); }
Result cuStreamDestroy_v2(Stream) { return take(); }
Result cuStreamSynchronize(Stream) {
  const std::lock_guard lock(mutex);
  return ++record.synchronisations, kSuccess;
}
Result cuStreamBeginCapture_v2(Stream, int) { return kSuccess; }
Result cuThreadExchangeStreamCaptureMode(int* mode) { return std::swap(*mode, capture_mode), kSuccess; }
Result cuStreamEndCapture(Stream, Graph* graph) { return give(graph); }
Result cuGraphInstantiateWithFlags(GraphExec* exec, Graph, unsigned long long) { return give(exec); }
Result cuGraphLaunch(GraphExec, Stream) { return ++record.graph_launches, kSuccess; }
Result cuGraphExecDestroy(GraphExec) { return take(); }
Result cuGraphDestroy(Graph) { return take(); }
Result cuEventCreate(Event* event, unsigned) { return give(event); }
Result cuEventDestroy_v2(Event) { return take(); }
Result cuEventRecord(Event, Stream) { return kSuccess; }
Result cuEventSynchronize(Event) { return kSuccess; }
Result cuEventElapsedTime(float* milliseconds, Event, Event) {
  if (const char* named = std::getenv("FAKE_CUDA_TIMES")) {
    static std::ifstream times(named);
    return times >> *milliseconds ? kSuccess : kIllegalAddress;
  }
  constexpr float times[]{9.0f, 1.0f, 4.0f, 2.0f, 3.0f};  // a slow first run, then a median of 2.5
  return *milliseconds = times[elapsed_calls++ % 5], kSuccess;
}
}
