// Gated Delta Net, forward, behind the C interface.
#include "runtime/api/context.h"
#include "runtime/api/handle.h"
#include "runtime/api/sized.h"
#include "runtime/api/status.h"
#include "runtime/ops/gdn_forward_check.h"
#include "runtime/sim/simulator.h"

using namespace tilewright;

namespace {

runtime::DeviceAddress address(const void* pointer) { return reinterpret_cast<runtime::DeviceAddress>(pointer); }

tilewright_gdn_forward_args read(const tilewright_gdn_forward_args* given) {
  return api::read_sized(given, sizeof *given, "gdn_forward: args");
}

ops::GdnForwardArguments arguments_of(const tilewright_gdn_forward_args& a) {
  ops::GdnForwardArguments r;
  r.q = address(a.q);
  r.k = address(a.k);
  r.v = address(a.v);
  r.g = address(a.g);
  r.beta = address(a.beta);
  r.cu_seqlens = address(a.cu_seqlens);
  r.initial_state = address(a.initial_state);
  r.o = address(a.o);
  r.final_state = address(a.final_state);
  r.T = a.T;
  r.N = a.N;
  r.batch = a.batch;
  r.hk = a.hk;
  r.hv = a.hv;
  r.dk = a.dk;
  r.dv = a.dv;
  if (a.dtype != TILEWRIGHT_BF16 && a.dtype != TILEWRIGHT_F16)
    throw ops::ArgumentError("gdn_forward: dtype is " + std::to_string(a.dtype) + ", expected 0 (bf16) or 1 (f16)");
  r.dtype = a.dtype == TILEWRIGHT_BF16 ? gdn::DType::bf16 : gdn::DType::f16;
  r.scale = a.scale;
  r.cu_seqlens_is_int64 = a.cu_seqlens_is_int64 != 0;
  r.state_order = a.state_v_first != 0 ? gdn::StateOrder::v_first : gdn::StateOrder::k_first;
  r.workspace = address(a.workspace);
  r.workspace_bytes = a.workspace_bytes;
  return r;
}

/// The caller's tensors are host memory that the simulated device did not allocate: it is told of them for the call.
void run_simulated(tilewright_handle& handle, const ops::GdnForwardArguments& arguments) {
  ops::check_gdn_forward_sizes(arguments);
  std::vector<runtime::sim::LentMemory::Range> ranges;
  for (const ops::MemoryRegion& region : ops::gdn_forward_regions(arguments))
    if (region.address != 0) ranges.push_back({region.address, region.bytes});
  const runtime::sim::LentMemory lent(*handle.device, std::move(ranges));
  handle.gdn_forward.run(arguments);
}

}  // namespace

tilewright_status tilewright_gdn_forward_workspace(const tilewright_handle* handle, const tilewright_gdn_forward_args* args,
                                                   uint64_t* bytes) {
  return api::guarded(TILEWRIGHT_INTERNAL, [&] {
    if (handle == nullptr) throw ops::ArgumentError("gdn_forward_workspace: handle is NULL");
    if (bytes == nullptr) throw ops::ArgumentError("gdn_forward_workspace: bytes is NULL, expected a place for the result");
    *bytes = ops::GdnForward::workspace_bytes(arguments_of(read(args)));
  });
}

tilewright_status tilewright_gdn_forward(tilewright_handle* handle, const tilewright_gdn_forward_args* args) {
  return api::guarded(TILEWRIGHT_DEVICE_ERROR, [&] {
    if (handle == nullptr) throw ops::ArgumentError("gdn_forward: handle is NULL");
    const tilewright_gdn_forward_args given = read(args);
    const ops::GdnForwardArguments arguments = arguments_of(given);
    if (handle->driver == nullptr) {
      run_simulated(*handle, arguments);
      return;
    }
    const api::ContextScope scope(handle->driver);
    handle->gdn_forward.run(arguments, given.stream);
  });
}
