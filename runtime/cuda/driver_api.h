// The part of the CUDA driver API that Tilewright uses, declared here so that neither the build nor the library
// needs a CUDA installation: libcuda is loaded at run time. Layouts and numbers are those of CUDA 12.0 and newer.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tilewright::cuda {

using Result = int;                 // CUresult
using DeviceOrdinal = int;          // CUdevice
using DevicePointer = std::uint64_t;
using Context = struct ContextTag*;
using Module = struct ModuleTag*;
using Function = struct FunctionTag*;
using Stream = struct StreamTag*;
using Event = struct EventTag*;
using Graph = struct GraphTag*;
using GraphExec = struct GraphExecTag*;

// CUresult
inline constexpr Result kSuccess = 0;
inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kNoDevice = 100;
inline constexpr Result kInvalidDevice = 101;
inline constexpr Result kNoBinaryForGpu = 209;
inline constexpr Result kInvalidPtx = 218;
inline constexpr Result kJitCompilerNotFound = 221;
inline constexpr Result kUnsupportedPtxVersion = 222;
inline constexpr Result kNotFound = 500;
inline constexpr Result kIllegalAddress = 700;
inline constexpr Result kLaunchOutOfResources = 701;
inline constexpr Result kLaunchTimeout = 702;
inline constexpr Result kHardwareStackError = 714;
inline constexpr Result kIllegalInstruction = 715;
inline constexpr Result kMisalignedAddress = 716;
inline constexpr Result kInvalidAddressSpace = 717;
inline constexpr Result kInvalidPc = 718;
inline constexpr Result kLaunchFailed = 719;

// CUdevice_attribute
inline constexpr int kMultiprocessorCount = 16;
inline constexpr int kComputeCapabilityMajor = 75;
inline constexpr int kComputeCapabilityMinor = 76;
inline constexpr int kPageableMemoryAccess = 88;
inline constexpr int kMaxSharedPerBlockOptIn = 97;

// CUpointer_attribute
inline constexpr int kPointerDeviceOrdinal = 9;

// CU_MEMHOSTALLOC_*
inline constexpr unsigned kHostAllocPortable = 1;
inline constexpr unsigned kHostAllocDeviceMap = 2;

// CUfunction_attribute
inline constexpr int kFunctionSharedBytes = 1;
inline constexpr int kFunctionMaxDynamicShared = 8;
inline constexpr int kFunctionNonPortableCluster = 14;

// CUjit_option
inline constexpr int kJitInfoLog = 3;
inline constexpr int kJitInfoLogBytes = 4;
inline constexpr int kJitErrorLog = 5;
inline constexpr int kJitErrorLogBytes = 6;

// CUlaunchAttributeID
inline constexpr int kLaunchClusterDimension = 4;
inline constexpr int kLaunchProgrammaticSerialization = 6;

// CUstreamCaptureMode, CUstream_flags
inline constexpr int kCaptureGlobal = 0;
inline constexpr int kCaptureThreadLocal = 1;
inline constexpr int kCaptureRelaxed = 2;
inline constexpr unsigned kStreamNonBlocking = 1;

// CUtensorMapDataType, CUtensorMapSwizzle, CUtensorMapL2promotion
inline constexpr int kMapUint8 = 0;
inline constexpr int kMapInt32 = 3;
inline constexpr int kMapFloat16 = 6;
inline constexpr int kMapFloat32 = 7;
inline constexpr int kMapBfloat16 = 9;
inline constexpr int kMapL2Promotion256B = 3;

/// CUlaunchAttribute: an id, four bytes of padding and a 64-byte union.
struct LaunchAttribute {
  int id = 0;
  char padding[4] = {};
  union {
    char bytes[64] = {};
    unsigned dimension[3];
    int flag;
  };
};
static_assert(sizeof(LaunchAttribute) == 72 && offsetof(LaunchAttribute, bytes) == 8);

/// CUlaunchConfig.
struct LaunchConfig {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned dynamic_shared_bytes = 0;
  Stream stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};
static_assert(sizeof(LaunchConfig) == 56 && offsetof(LaunchConfig, stream) == 32);

/// Entry points of libcuda, by their exported (versioned) names.
struct DriverApi {
  Result (*cuInit)(unsigned);
  Result (*cuDriverGetVersion)(int*);
  Result (*cuGetErrorName)(Result, const char**);
  Result (*cuGetErrorString)(Result, const char**);
  Result (*cuDeviceGetCount)(int*);
  Result (*cuDeviceGet)(DeviceOrdinal*, int);
  Result (*cuDeviceGetName)(char*, int, DeviceOrdinal);
  Result (*cuDeviceGetAttribute)(int*, int, DeviceOrdinal);
  Result (*cuDevicePrimaryCtxRetain)(Context*, DeviceOrdinal);
  Result (*cuDevicePrimaryCtxRelease_v2)(DeviceOrdinal);
  Result (*cuCtxGetCurrent)(Context*);
  Result (*cuCtxGetDevice)(DeviceOrdinal*);
  Result (*cuCtxSetCurrent)(Context);
  Result (*cuCtxSynchronize)();
  Result (*cuMemAlloc_v2)(DevicePointer*, std::size_t);
  Result (*cuMemFree_v2)(DevicePointer);
  Result (*cuMemHostAlloc)(void**, std::size_t, unsigned);
  Result (*cuMemHostGetDevicePointer_v2)(DevicePointer*, void*, unsigned);
  Result (*cuMemFreeHost)(void*);
  Result (*cuPointerGetAttribute)(void*, int, DevicePointer);
  Result (*cuMemcpyHtoD_v2)(DevicePointer, const void*, std::size_t);
  Result (*cuMemcpyDtoH_v2)(void*, DevicePointer, std::size_t);
  Result (*cuMemsetD8_v2)(DevicePointer, unsigned char, std::size_t);
  Result (*cuMemsetD8Async)(DevicePointer, unsigned char, std::size_t, Stream);
  Result (*cuTensorMapEncodeTiled)(void*, int, std::uint32_t, void*, const std::uint64_t*, const std::uint64_t*,
                                   const std::uint32_t*, const std::uint32_t*, int, int, int, int);
  Result (*cuModuleLoadDataEx)(Module*, const void*, unsigned, int*, void**);
  Result (*cuModuleUnload)(Module);
  Result (*cuModuleGetFunction)(Function*, Module, const char*);
  Result (*cuModuleGetGlobal_v2)(DevicePointer*, std::size_t*, Module, const char*);
  Result (*cuFuncGetAttribute)(int*, int, Function);
  Result (*cuFuncSetAttribute)(Function, int, int);
  Result (*cuLaunchKernelEx)(const LaunchConfig*, Function, void**, void**);
  Result (*cuStreamCreate)(Stream*, unsigned);
  Result (*cuStreamDestroy_v2)(Stream);
  Result (*cuStreamSynchronize)(Stream);
  Result (*cuStreamBeginCapture_v2)(Stream, int);
  Result (*cuStreamEndCapture)(Stream, Graph*);
  Result (*cuThreadExchangeStreamCaptureMode)(int*);
  Result (*cuGraphInstantiateWithFlags)(GraphExec*, Graph, unsigned long long);
  Result (*cuGraphLaunch)(GraphExec, Stream);
  Result (*cuGraphExecDestroy)(GraphExec);
  Result (*cuGraphDestroy)(Graph);
  Result (*cuEventCreate)(Event*, unsigned);
  Result (*cuEventDestroy_v2)(Event);
  Result (*cuEventRecord)(Event, Stream);
  Result (*cuEventSynchronize)(Event);
  Result (*cuEventElapsedTime)(float*, Event, Event);

  /// Throws Error "<call> failed: <name> (<words of the driver>)[: <hint>]" unless the result is success.
  void check(Result, const char* call, const std::string& context = {}) const;
  /// The driver's name of a result, or its number when the driver has none.
  std::string name_of(Result) const;
};

/// The process's driver, loaded and initialised once. TILEWRIGHT_LIBCUDA names another library file than libcuda.so.1.
/// Throws Error when the library is absent or lacks an entry point, and when it reports no GPU.
const DriverApi& driver();

/// Loads the driver from one library file, without the process-wide cache. Same errors as driver().
DriverApi load_driver(const std::string& library);

}  // namespace tilewright::cuda
