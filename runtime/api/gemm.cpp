// The matrix product behind the C interface.
#include "runtime/api/context.h"
#include "runtime/api/handle.h"
#include "runtime/api/status.h"
#include "runtime/sim/simulator.h"

using namespace tilewright;

tilewright_status tilewright_gemm_bf16(tilewright_handle* handle, const void* a, const void* b, void* c, int64_t M, int64_t N, int64_t K,
                                       tilewright_stream stream) {
  return api::guarded(TILEWRIGHT_DEVICE_ERROR, [&] {
    if (handle == nullptr) throw ops::ArgumentError("gemm_bf16: handle is NULL");
    const auto address = [](const void* pointer) { return reinterpret_cast<runtime::DeviceAddress>(pointer); };
    const api::ContextScope scope(handle->shared->driver);
    const auto bytes = [](int64_t rows, int64_t columns) { return static_cast<uint64_t>(rows) * static_cast<uint64_t>(columns) * 2; };
    std::vector<runtime::sim::LentMemory::Range> ranges;
    if (handle->shared->driver == nullptr && M > 0 && N > 0 && K > 0)
      ranges = {{address(a), bytes(M, K)}, {address(b), bytes(N, K)}, {address(c), bytes(M, N)}};
    const runtime::sim::LentMemory lent(*handle->shared->device, std::move(ranges));
    handle->shared->gemm.run({address(a), address(b), address(c), M, N, K}, stream);
  });
}
