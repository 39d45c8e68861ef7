// The matrix product behind the C interface.
#include "runtime/api/context.h"
#include "runtime/api/handle.h"
#include "runtime/api/status.h"

using namespace tilewright;

tilewright_status tilewright_gemm_bf16(tilewright_handle* handle, const void* a, const void* b, void* c, int64_t M, int64_t N, int64_t K,
                                       tilewright_stream stream) {
  return api::guarded(TILEWRIGHT_DEVICE_ERROR, [&] {
    if (handle == nullptr) throw ops::ArgumentError("gemm_bf16: handle is NULL");
    const auto address = [](const void* pointer) { return reinterpret_cast<runtime::DeviceAddress>(pointer); };
    const api::ContextScope scope(handle->driver);
    handle->gemm.run({address(a), address(b), address(c), M, N, K}, stream);
  });
}
