#include "runtime/cli/gdn_bench_call.h"

#include <numeric>

namespace tilewright::cli {

GdnBenchCall::GdnBenchCall(runtime::Device& device, const std::vector<std::int64_t>& lens, const gdn::Inputs& in) : device_(device) {
  const std::int64_t tokens = std::accumulate(lens.begin(), lens.end(), std::int64_t{0});
  const auto T = static_cast<std::size_t>(tokens), hk = static_cast<std::size_t>(in.hk), hv = static_cast<std::size_t>(in.hv);
  const auto dk = static_cast<std::size_t>(in.dk), dv = static_cast<std::size_t>(in.dv), states = lens.size() * hv * dk * dv;
  std::vector<std::int32_t> offsets{0};
  for (const std::int64_t length : lens) offsets.push_back(offsets.back() + static_cast<std::int32_t>(length));
  ops::GdnForwardArguments& a = arguments;
  const ops::Dtype half = ops::dtype_of(in.dtype), f32 = ops::Dtype::f32;
  const auto own = [&](GuardedBuffer&& buffer) { return buffers_.emplace_back(std::move(buffer)).address(); };
  a.q = {own(repeated(device, T * hk * dk * 2, in.q)), {}, half}, a.k = {own(repeated(device, T * hk * dk * 2, in.k)), {}, half};
  a.v = {own(repeated(device, T * hv * dv * 2, in.v)), {}, half}, a.o = {own(GuardedBuffer(device, T * hv * dv * 2)), {}, half};
  a.g = {own(repeated(device, T * hv * 4, in.g)), {}, f32}, a.beta = {own(repeated(device, T * hv * 4, in.beta)), {}, f32};
  a.cu_seqlens = {own(repeated(device, offsets.size() * 4, offsets)), {}, ops::Dtype::i32};
  a.initial_state = {own(repeated(device, states * 4, in.initial_state)), {}, f32}, a.final_state = {own(GuardedBuffer(device, states * 4)), {}, f32};
  a.T = tokens, a.N = static_cast<std::int64_t>(lens.size()), a.hk = in.hk, a.hv = in.hv, a.dk = in.dk, a.dv = in.dv;
  a.state_order = in.state_order;
}

void GdnBenchCall::allocate_workspace() {
  arguments.workspace_bytes = ops::GdnForward::workspace_bytes(arguments);
  buffers_.emplace_back(device_, arguments.workspace_bytes);
  arguments.workspace = buffers_.back().address();
}

}  // namespace tilewright::cli
