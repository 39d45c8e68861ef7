// Loads libcuda and words its errors.
#include "runtime/cuda/driver_api.h"

#include <dlfcn.h>

#include <cstdlib>

#include "tilewright/error.h"

namespace tilewright::cuda {
namespace {

/// What a person can do about a result; empty where the name says it all.
const char* hint(Result result) {
  switch (result) {
    case kOutOfMemory:
      return "the card's memory is full: free other allocations (nvidia-smi lists who holds it) or use a smaller size";
    case kNoBinaryForGpu:
      return "the kernel was compiled for sm_90a and runs on Hopper only";
    case kUnsupportedPtxVersion:
      return "the driver is older than the PTX: install driver 570 or newer, or let ptxas make a cubin (TILEWRIGHT_PTXAS)";
    case kJitCompilerNotFound:
      return "the driver's libnvidia-ptxjitcompiler.so.1 is missing: install it, or set TILEWRIGHT_PTXAS to a ptxas";
    case kInvalidPtx:
      return "the driver's assembler refused the PTX; its log is below";
    case kLaunchOutOfResources:
      return "the kernel asks for more registers, threads or shared memory than an SM has";
    case kIllegalAddress:
    case kHardwareStackError:
    case kIllegalInstruction:
    case kMisalignedAddress:
    case kInvalidAddressSpace:
    case kInvalidPc:
    case kLaunchFailed:
      return "a kernel launched earlier faulted and the context is lost: run the same program with --device sim, or "
             "under compute-sanitizer, to see where";
    case kLaunchTimeout:
      return "a kernel ran too long and was stopped; --device sim reports deadlocks";
    default:
      return "";
  }
}

template <class F>
void bind(void* library, const std::string& file, F& slot, const char* symbol) {
  void* address = dlsym(library, symbol);
  if (address == nullptr)
    throw Error("CUDA driver library " + file + " has no " + symbol +
                ": it is older than CUDA 12.0; install NVIDIA driver 525 or newer");
  slot = reinterpret_cast<F>(address);
}

}  // namespace

std::string DriverApi::name_of(Result result) const {
  const char* name = nullptr;
  if (cuGetErrorName(result, &name) == kSuccess && name != nullptr) return name;
  return "error " + std::to_string(result);
}

void DriverApi::check(Result result, const char* call, const std::string& context) const {
  if (result == kSuccess) return;
  std::string message = std::string(call) + " failed: " + name_of(result);
  const char* words = nullptr;
  if (cuGetErrorString(result, &words) == kSuccess && words != nullptr) message += " (" + std::string(words) + ")";
  if (!context.empty()) message += ", " + context;
  if (*hint(result) != '\0') message += "; " + std::string(hint(result));
  throw Error(message);
}

DriverApi load_driver(const std::string& library) {
  // The handle is never closed: the driver keeps threads of its own.
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    throw Error("no CUDA driver: " + std::string(why != nullptr ? why : library) +
                "; install the NVIDIA driver, set TILEWRIGHT_LIBCUDA to its libcuda.so.1, or use --device sim");
  }
  DriverApi api{};
#define TILEWRIGHT_BIND(symbol) bind(handle, library, api.symbol, #symbol)
  TILEWRIGHT_BIND(cuInit);
  TILEWRIGHT_BIND(cuDriverGetVersion);
  TILEWRIGHT_BIND(cuGetErrorName);
  TILEWRIGHT_BIND(cuGetErrorString);
  TILEWRIGHT_BIND(cuDeviceGetCount);
  TILEWRIGHT_BIND(cuDeviceGet);
  TILEWRIGHT_BIND(cuDeviceGetName);
  TILEWRIGHT_BIND(cuDeviceGetAttribute);
  TILEWRIGHT_BIND(cuDevicePrimaryCtxRetain);
  TILEWRIGHT_BIND(cuDevicePrimaryCtxRelease_v2);
  TILEWRIGHT_BIND(cuCtxGetCurrent);
  TILEWRIGHT_BIND(cuCtxGetDevice);
  TILEWRIGHT_BIND(cuCtxSetCurrent);
  TILEWRIGHT_BIND(cuCtxSynchronize);
  TILEWRIGHT_BIND(cuMemAlloc_v2);
  TILEWRIGHT_BIND(cuMemFree_v2);
  TILEWRIGHT_BIND(cuMemHostAlloc);
  TILEWRIGHT_BIND(cuMemHostGetDevicePointer_v2);
  TILEWRIGHT_BIND(cuMemFreeHost);
  TILEWRIGHT_BIND(cuPointerGetAttribute);
  TILEWRIGHT_BIND(cuMemcpyHtoD_v2);
  TILEWRIGHT_BIND(cuMemcpyDtoH_v2);
  TILEWRIGHT_BIND(cuMemsetD8_v2);
  TILEWRIGHT_BIND(cuMemsetD8Async);
  TILEWRIGHT_BIND(cuTensorMapEncodeTiled);
  TILEWRIGHT_BIND(cuModuleLoadDataEx);
  TILEWRIGHT_BIND(cuModuleUnload);
  TILEWRIGHT_BIND(cuModuleGetFunction);
  TILEWRIGHT_BIND(cuModuleGetGlobal_v2);
  TILEWRIGHT_BIND(cuFuncGetAttribute);
  TILEWRIGHT_BIND(cuFuncSetAttribute);
  TILEWRIGHT_BIND(cuLaunchKernelEx);
  TILEWRIGHT_BIND(cuStreamCreate);
  TILEWRIGHT_BIND(cuStreamDestroy_v2);
  TILEWRIGHT_BIND(cuStreamSynchronize);
  TILEWRIGHT_BIND(cuStreamBeginCapture_v2);
  TILEWRIGHT_BIND(cuStreamEndCapture);
  TILEWRIGHT_BIND(cuThreadExchangeStreamCaptureMode);
  TILEWRIGHT_BIND(cuGraphInstantiateWithFlags);
  TILEWRIGHT_BIND(cuGraphLaunch);
  TILEWRIGHT_BIND(cuGraphExecDestroy);
  TILEWRIGHT_BIND(cuGraphDestroy);
  TILEWRIGHT_BIND(cuEventCreate);
  TILEWRIGHT_BIND(cuEventDestroy_v2);
  TILEWRIGHT_BIND(cuEventRecord);
  TILEWRIGHT_BIND(cuEventSynchronize);
  TILEWRIGHT_BIND(cuEventElapsedTime);
#undef TILEWRIGHT_BIND

  const Result initialised = api.cuInit(0);
  if (initialised == kNoDevice)
    throw Error("no GPU: the CUDA driver is installed but cuInit reports " + api.name_of(initialised) +
                "; check nvidia-smi and CUDA_VISIBLE_DEVICES, or use --device sim");
  api.check(initialised, "cuInit");
  int count = 0;
  api.check(api.cuDeviceGetCount(&count), "cuDeviceGetCount");
  if (count == 0)
    throw Error("no GPU: the CUDA driver lists no device; check nvidia-smi and CUDA_VISIBLE_DEVICES, or use --device sim");
  return api;
}

const DriverApi& driver() {
  // A failed initialisation throws and is tried again by the next call.
  static const DriverApi api = [] {
    const char* other = std::getenv("TILEWRIGHT_LIBCUDA");
    return load_driver(other != nullptr && *other != '\0' ? other : "libcuda.so.1");
  }();
  return api;
}

}  // namespace tilewright::cuda
