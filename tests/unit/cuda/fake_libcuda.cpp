// The exported entry points of libcuda that Tilewright binds, recording instead of running.
#include "fake_libcuda.h"

#include <cstdlib>
#include <cstring>

#include "runtime/cuda/driver_api.h"

using namespace tilewright::cuda;

namespace {
FakeRecord record;
unsigned elapsed_calls = 0;

bool told(const char* what) {
  const char* mode = std::getenv("FAKE_CUDA");
  return mode != nullptr && std::strcmp(mode, what) == 0;
}

template <class Handle>
Result give(Handle* handle) {
  ++record.live;
  *handle = reinterpret_cast<Handle>(std::uintptr_t{0x1000});
  return kSuccess;
}

Result take() {
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
    case 1: *name = "CUDA_ERROR_INVALID_VALUE"; return kSuccess;
    default: return 1;
  }
}
Result cuGetErrorString(Result, const char** words) { return *words = "words of the driver", kSuccess; }
Result cuDeviceGetCount(int* count) { return *count = told("empty") ? 0 : 1, kSuccess; }
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
    default: return 1;
  }
}
Result cuDevicePrimaryCtxRetain(Context* context, DeviceOrdinal) { return give(context); }
Result cuDevicePrimaryCtxRelease_v2(DeviceOrdinal) { return take(); }
Result cuCtxGetCurrent(Context* context) { return *context = nullptr, kSuccess; }
Result cuCtxGetDevice(int* device) { return *device = 0, 201; }  // no context is current
Result cuCtxSetCurrent(Context) { return kSuccess; }
Result cuCtxSynchronize() { return told("fault") ? kIllegalAddress : kSuccess; }
Result cuMemAlloc_v2(DevicePointer* pointer, std::size_t bytes) {
  if (told("full")) return kOutOfMemory;
  ++record.live;
  *pointer = reinterpret_cast<DevicePointer>(std::malloc(bytes));
  return kSuccess;
}
Result cuMemFree_v2(DevicePointer pointer) { return std::free(reinterpret_cast<void*>(pointer)), take(); }
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
Result cuTensorMapEncodeTiled(void* map, int element, std::uint32_t rank, void*, const std::uint64_t* extents,
                              const std::uint64_t* strides, const std::uint32_t* box, const std::uint32_t*, int,
                              int swizzle, int promotion, int fill) {
  if (told("bad_map")) return 1;
  std::memset(map, 0x5a, 128);
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
  record.module = static_cast<const char*>(image);
  return give(module);
}
Result cuModuleUnload(Module) { return take(); }
Result cuModuleGetFunction(Function* function, Module, const char*) {
  return *function = reinterpret_cast<Function>(std::uintptr_t{0x2000}), kSuccess;
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
Result cuLaunchKernelEx(const LaunchConfig* config, Function, void** parameters, void**) {
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
  return kSuccess;
}
Result cuStreamCreate(Stream* stream, unsigned) { return give(stream); }
Result cuStreamDestroy_v2(Stream) { return take(); }
Result cuStreamSynchronize(Stream) { return kSuccess; }
Result cuStreamBeginCapture_v2(Stream, int) { return kSuccess; }
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
  constexpr float times[]{9.0f, 1.0f, 4.0f, 2.0f, 3.0f};  // a slow first run, then a median of 2.5
  return *milliseconds = times[elapsed_calls++ % 5], kSuccess;
}
}
