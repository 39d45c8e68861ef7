// Gated Delta Net, forward, behind the C interface.
#include <cstddef>

#include "runtime/api/context.h"
#include "runtime/api/handle.h"
#include "runtime/api/read.h"
#include "runtime/api/status.h"
#include "runtime/ops/gdn_forward_check.h"
#include "runtime/sim/simulator.h"

using namespace tilewright;

namespace {

const std::string kWho = "gdn_forward: ";

ops::Operand operand(const char* name, const tilewright_operand& given) {
  if (given.reserved != 0) throw ops::ArgumentError(kWho + name + ".reserved is " + std::to_string(given.reserved) + ", expected 0");
  ops::Operand result;
  result.address = reinterpret_cast<runtime::DeviceAddress>(given.data);
  if (result.address == 0) return result;  // not given: its other fields are not read
  std::copy(std::begin(given.strides), std::end(given.strides), result.strides.begin());
  result.dtype = static_cast<ops::Dtype>(given.dtype);
  return result;
}

ops::GdnForwardArguments arguments_of(const tilewright_handle& handle, const tilewright_gdn_forward_args& a) {
  ops::GdnForwardArguments r;
  r.costs = &handle.shared->gdn_forward.costs();
  r.flags = a.flags;
  r.T = a.T, r.N = a.N, r.batch = a.batch;
  r.hq = a.hq, r.hk = a.hk, r.hv = a.hv, r.dk = a.dk, r.dv = a.dv;
  r.scale = a.scale;
  r.q = operand("q", a.q), r.k = operand("k", a.k), r.v = operand("v", a.v);
  r.g = operand("g", a.g), r.beta = operand("beta", a.beta);
  r.gate_domain = static_cast<gdn::GateDomain>(a.gate_domain);
  r.beta_domain = static_cast<gdn::BetaDomain>(a.beta_domain);
  r.beta_scale = a.beta_scale;
  r.l2norm = a.l2norm, r.l2norm_eps = a.l2norm_eps;
  r.cp = a.cp;
  r.A_log = operand("A_log", a.A_log), r.dt_bias = operand("dt_bias", a.dt_bias);
  r.cu_seqlens = operand("cu_seqlens", a.cu_seqlens), r.prefix_lens = operand("prefix_lens", a.prefix_lens);
  r.initial_state = operand("initial_state", a.initial_state), r.read_slots = operand("read_slots", a.read_slots);
  r.final_state = operand("final_state", a.final_state), r.write_slots = operand("write_slots", a.write_slots);
  r.initial_rows = a.initial_rows, r.final_rows = a.final_rows;
  r.checkpoints = operand("checkpoints", a.checkpoints);
  r.checkpoint_starts = operand("checkpoint_starts", a.checkpoint_starts), r.checkpoint_slots = operand("checkpoint_slots", a.checkpoint_slots);
  r.checkpoint_rows = a.checkpoint_rows, r.checkpoint_count = a.checkpoint_count, r.checkpoint_every = a.checkpoint_every;
  if (a.state_v_first != 0 && a.state_v_first != 1)
    throw ops::ArgumentError(kWho + "state_v_first is " + std::to_string(a.state_v_first) + ", expected 0 or 1");
  r.state_order = a.state_v_first != 0 ? gdn::StateOrder::v_first : gdn::StateOrder::k_first;
  if (a.reserved != 0) throw ops::ArgumentError(kWho + "reserved is " + std::to_string(a.reserved) + ", expected 0");
  r.o = operand("o", a.o), r.save_T = operand("save_T", a.save_T), r.save_b = operand("save_b", a.save_b);
  r.workspace = reinterpret_cast<runtime::DeviceAddress>(a.workspace);
  r.workspace_bytes = a.workspace_bytes;
  return r;
}

tilewright_gdn_forward_args read(const tilewright_gdn_forward_args* given) { return api::read(given, "gdn_forward", "tilewright_gdn_forward_args"); }

/// The caller's tensors are host memory that the simulated device did not allocate: it is told of them for the call.
void run_simulated(tilewright_handle& handle, const ops::GdnForwardArguments& arguments) {
  std::vector<runtime::sim::LentMemory::Range> ranges;
  for (const auto& [address, bytes] : ops::gdn_forward_memory(arguments)) ranges.push_back({address, bytes});
  const runtime::sim::LentMemory lent(*handle.shared->device, std::move(ranges));
  handle.shared->gdn_forward.run(arguments);
}

}  // namespace

tilewright_status tilewright_gdn_forward_workspace(const tilewright_handle* handle, const tilewright_gdn_forward_args* args,
                                                   uint64_t* bytes) {
  return api::guarded(TILEWRIGHT_INTERNAL, [&] {
    if (handle == nullptr) throw ops::ArgumentError("gdn_forward_workspace: handle is NULL");
    if (bytes == nullptr) throw ops::ArgumentError("gdn_forward_workspace: bytes is NULL, expected a place for the result");
    *bytes = ops::GdnForward::workspace_bytes(arguments_of(*handle, read(args)));
  });
}

tilewright_status tilewright_gdn_forward_check(tilewright_handle* handle, tilewright_stream stream) {
  return api::guarded(TILEWRIGHT_INTERNAL, [&] {
    if (handle == nullptr) throw ops::ArgumentError("gdn_forward_check: handle is NULL");
    handle->shared->gdn_forward.check_offsets(stream);
  });
}

tilewright_status tilewright_gdn_forward(tilewright_handle* handle, const tilewright_gdn_forward_args* args) {
  return api::guarded(TILEWRIGHT_DEVICE_ERROR, [&] {
    if (handle == nullptr) throw ops::ArgumentError("gdn_forward: handle is NULL");
    const tilewright_gdn_forward_args given = read(args);
    const ops::GdnForwardArguments arguments = arguments_of(*handle, given);
    if (handle->shared->driver == nullptr) {
      run_simulated(*handle, arguments);
      return;
    }
    const api::ContextScope scope(handle->shared->driver);
    handle->shared->gdn_forward.run(arguments, given.stream);
  });
}
