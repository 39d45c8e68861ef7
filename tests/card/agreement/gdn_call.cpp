#include "tests/card/agreement/gdn_call.h"

#include <cmath>

#include "kernels/gdn/reference.h"
#include "runtime/cli/guarded_buffer.h"
#include "runtime/ops/gdn_forward.h"
#include "tilewright/half.h"

namespace tilewright::test {
namespace {

/// The inputs as the reference gets them, and g and beta as the kernels do.
struct Problem {
  gdn::Inputs in;
  std::vector<float> g, beta, a_log, dt_bias;
};

Problem problem_of(const GdnCall& call) {
  gdn::InputShape shape;
  shape.lens = call.lens, shape.hk = 2, shape.hv = 4, shape.dk = call.dk, shape.dv = call.dv;
  Problem p{gdn::generate(shape, gdn::Kind::ordinary, 3), {}, {}, {}, {}};
  p.g = p.in.g, p.beta = p.in.beta;
  const auto heads = static_cast<std::size_t>(p.in.hv);
  for (std::size_t h = 0; h < heads; ++h) p.a_log.push_back(-3.0f + static_cast<float>(h) / 2), p.dt_bias.push_back(static_cast<float>(h) / 4 - 0.5f);
  for (std::size_t n = 0; n < p.g.size(); ++n) {
    if (call.gates == GdnCall::Gates::linear) {
      p.g[n] = std::exp(p.in.g[n]);
      p.in.g[n] = static_cast<float>(std::log(double(p.g[n])));
    } else if (call.gates == GdnCall::Gates::raw) {
      p.g[n] = 16 * p.in.g[n] + 1;   // around 0
      p.in.g[n] = static_cast<float>(-std::exp(double(p.a_log[n % heads])) * std::log1p(std::exp(double(p.g[n]) + double(p.dt_bias[n % heads]))));
    }
    if (call.logits) {
      p.beta[n] = static_cast<float>(std::log(double(p.in.beta[n]) / (1 - double(p.in.beta[n]))));
      p.in.beta[n] = static_cast<float>(1 / (1 + std::exp(-double(p.beta[n]))));
    }
  }
  if (call.narrow_states)
    for (float& x : p.in.initial_state) x = float_from_bf16(bf16_from_float(x));
  return p;
}

template <class Value>
cli::GuardedBuffer uploaded(runtime::Device& device, const std::vector<Value>& values) {
  cli::GuardedBuffer buffer(device, values.size() * sizeof(Value));
  buffer.upload(values.data());
  return buffer;
}

}  // namespace

Ran run_gdn_call(const GdnCall& call, const std::string& device_name) {
  const Problem p = problem_of(call);
  const gdn::Inputs& in = p.in;
  const auto device = runtime::make_device(device_name);
  std::vector<std::int32_t> offsets;
  for (const std::int64_t offset : in.offsets()) offsets.push_back(static_cast<std::int32_t>(offset));
  std::vector<std::uint16_t> narrow;
  for (const float x : in.initial_state) narrow.push_back(bf16_from_float(x));
  auto q = uploaded(*device, in.q), k = uploaded(*device, in.k), v = uploaded(*device, in.v), g = uploaded(*device, p.g), beta = uploaded(*device, p.beta),
       a_log = uploaded(*device, p.a_log), dt_bias = uploaded(*device, p.dt_bias), cu = uploaded(*device, offsets),
       initial = call.narrow_states ? uploaded(*device, narrow) : uploaded(*device, in.initial_state);
  cli::GuardedBuffer o(*device, v.bytes()), final_state(*device, initial.bytes());
  o.poison(), final_state.poison();

  const ops::Dtype half = ops::Dtype::bf16, f32 = ops::Dtype::f32, states = call.narrow_states ? half : f32;
  ops::GdnForwardArguments a;
  a.T = in.tokens(), a.N = in.sequences(), a.hk = in.hk, a.hv = in.hv, a.dk = in.dk, a.dv = in.dv, a.scale = in.scale;
  a.q = {q.address(), {}, half}, a.k = {k.address(), {}, half}, a.v = {v.address(), {}, half}, a.o = {o.address(), {}, half};
  a.g = {g.address(), {}, f32}, a.beta = {beta.address(), {}, f32}, a.cu_seqlens = {cu.address(), {}, ops::Dtype::i32};
  a.initial_state = {initial.address(), {}, states}, a.final_state = {final_state.address(), {}, states};
  a.gate_domain = static_cast<gdn::GateDomain>(call.gates);
  if (call.gates == GdnCall::Gates::raw) a.A_log = {a_log.address(), {}, f32}, a.dt_bias = {dt_bias.address(), {}, f32};
  a.beta_domain = call.logits ? gdn::BetaDomain::logit : gdn::BetaDomain::value;
  a.l2norm = call.l2norm;
  a.workspace_bytes = ops::GdnForward::workspace_bytes(a);
  cli::GuardedBuffer workspace(*device, a.workspace_bytes);
  workspace.poison();
  a.workspace = workspace.address();

  ops::GdnForward op(*device, {call.split ? gdn::Form::split : gdn::Form::full, {}});
  Ran ran;
  for (const ops::Step& step : op.prepare(a)) ran.ptx.push_back(step.program->built->stages.ptx);
  op.run(a);
  device->synchronize();
  if (!o.intact() || !final_state.intact() || !workspace.intact()) throw Error("the kernels wrote outside of their outputs on " + device_name);
  ran.outputs = {{"o", "bf16", o.download<std::uint8_t>()}, {"final_state", call.narrow_states ? "bf16" : "f32", final_state.download<std::uint8_t>()}};
  const gdn::Outputs expected = gdn::chunked(in);
  ran.rms = {gdn::rms_ratio(values_of(ran.outputs[0]), expected.o), gdn::rms_ratio(values_of(ran.outputs[1]), expected.final_state)};
  return ran;
}

}  // namespace tilewright::test
