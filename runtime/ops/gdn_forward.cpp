#include "runtime/ops/gdn_forward.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "kernels/gdn/forward.h"
#include "kernels/gdn/prologue.h"
#include "runtime/ops/gdn_forward_check.h"

namespace tilewright::ops {
namespace {

/// What lies in the workspace: T of each chunk slot and head, and the in-chunk cumulative decay b.
struct Workspace {
  std::int64_t slots;
  std::uint64_t tm, b, bytes;
};

Workspace layout_of(const GdnForwardArguments& a) {
  Workspace w{};
  w.slots = a.tokens() / gdn::kChunk + a.sequences();  // see kernels/gdn/sequences.h
  WorkspaceLayout layout;
  const auto rows = static_cast<std::uint64_t>(w.slots) * static_cast<std::uint64_t>(a.hv) * gdn::kChunk;
  w.tm = layout.add(rows * gdn::kChunk * 2);
  w.b = layout.add(rows * 4);
  w.bytes = layout.bytes();
  return w;
}

/// Names of the kernels' tensors, and their addresses in the same order.
constexpr std::array kTensors{"q", "k", "v", "g", "beta", "cu_seqlens", "initial_state", "o", "final_state", "tm", "b"};

std::array<runtime::DeviceAddress, kTensors.size()> addresses_of(const GdnForwardArguments& a, const Workspace& w) {
  return {a.q, a.k, a.v, a.g, a.beta, a.cu_seqlens, a.initial_state, a.o, a.final_state, a.workspace + w.tm, a.workspace + w.b};
}

/// The call with every address replaced by whether it is given: equal for calls that differ in addresses only.
GdnForwardArguments shape_of(GdnForwardArguments a) {
  for (runtime::DeviceAddress* address : {&a.q, &a.k, &a.v, &a.g, &a.beta, &a.cu_seqlens, &a.initial_state, &a.o, &a.final_state, &a.workspace})
    *address = *address != 0;
  return a;
}

/// Moves a step to the addresses of another call.
void rebind(runtime::Device& device, Step& step, std::span<const runtime::DeviceAddress, kTensors.size()> addresses) {
  std::array<runtime::DeviceAddress, kTensors.size()> ordered{};
  std::size_t count = 0;
  for (const program::TensorDescription& tensor : step.program->built->program.sidecar().tensors) {
    const auto at = std::find(kTensors.begin(), kTensors.end(), std::string_view(tensor.name));
    if (at == kTensors.end()) throw InternalError("gdn_forward: a kernel has a tensor '" + tensor.name + "'");
    ordered.at(count++) = addresses[static_cast<std::size_t>(at - kTensors.begin())];
  }
  step.bound.rebind(device, std::span(ordered).first(count));
}

const char* element_of(gdn::DType dtype) { return dtype == gdn::DType::bf16 ? "bf16" : "f16"; }

std::string key_of(const char* name, gdn::HeadCounts heads, gdn::DType dtype) {
  return std::string(name) + " " + std::to_string(heads.hk) + "x" + std::to_string(heads.hv) + " " + element_of(dtype);
}

gdn::Heads with_widths(gdn::HeadCounts heads) {
  gdn::Heads h;
  h.key_heads = heads.hk;
  h.value_heads = heads.hv;
  return h;
}

}  // namespace

Source gdn_prologue_source(gdn::HeadCounts heads, gdn::DType dtype) {
  return {key_of("gdn_prologue", heads, dtype), [=] {
            const gdn::Heads h = with_widths(heads);
            return dtype == gdn::DType::bf16 ? gdn::prologue<bf16>(h) : gdn::prologue<f16>(h);
          }};
}

Source gdn_forward_source(gdn::HeadCounts heads, gdn::DType dtype, gdn::StateOrder order, gdn::Form form) {
  const char* name = form == gdn::Form::full ? "gdn_forward" : "gdn_forward_split";
  return {key_of(name, heads, dtype) + " " + std::string(gdn::name_of(order)), [=] {
            gdn::ForwardConfig c;
            c.heads = with_widths(heads);
            c.value_columns = gdn::value_columns(form, c.heads.dv);
            c.state_v_first = order == gdn::StateOrder::v_first;
            return dtype == gdn::DType::bf16 ? gdn::forward<bf16>(c) : gdn::forward<f16>(c);
          }};
}

GdnForward::GdnForward(runtime::Device& device, GdnForwardOptions options)
    : options_(std::move(options)), programs_(device, options_.build) {}

std::uint64_t GdnForward::workspace_bytes(const GdnForwardArguments& a) {
  check_gdn_forward_sizes(a);
  return layout_of(a).bytes;
}

gdn::Form GdnForward::form_of(const GdnForwardArguments& a) const {
  return options_.form.value_or(gdn::choose_form(a.sequences(), a.hv));
}

Steps GdnForward::bind_steps(const GdnForwardArguments& a) {
  const Workspace w = layout_of(a);
  Steps steps;
  const std::int64_t N = a.sequences(), T = a.tokens();
  if (N == 0) return steps;  // neither rows nor states

  const gdn::HeadCounts heads{a.hk, a.hv};
  const auto kernels =
      programs_.get({gdn_prologue_source(heads, a.dtype), gdn_forward_source(heads, a.dtype, a.state_order, form_of(a))});
  const std::string half = element_of(a.dtype);
  const std::int64_t words = a.cu_seqlens_is_int64 ? 2 : 1;
  std::int64_t levels = 1, top = 1;  // sequence_of: 32^levels >= N
  while (top * 32 < N) ++levels, top *= 32;

  const auto tm = tensor(a.workspace + w.tm, {w.slots, a.hv, gdn::kChunk, gdn::kChunk}, half);
  const auto b = tensor(a.workspace + w.b, {w.slots, a.hv, gdn::kChunk}, "f32");
  const auto k = tensor(a.k, {T, a.hk, a.dk}, half);
  program::Scalars scalars{{"T", T},
                           {"N", N},
                           {"slots", w.slots},
                           {"CU", a.cu_seqlens != 0 ? (N + 1) * words : std::int64_t{0}},
                           {"cu_words", words},
                           {"length", a.cu_seqlens != 0 ? std::int64_t{0} : a.T}};
  program::TensorArguments prologue{{"k", k},
                                    {"g", tensor(a.g, {T, a.hv}, "f32")},
                                    {"beta", tensor(a.beta, {T, a.hv}, "f32")},
                                    {"tm", tm},
                                    {"b", b}};
  program::TensorArguments forward{{"q", tensor(a.q, {T, a.hk, a.dk}, half)},
                                   {"k", k},
                                   {"v", tensor(a.v, {T, a.hv, a.dv}, half)},
                                   {"tm", tm},
                                   {"b", b},
                                   {"o", tensor(a.o, {T, a.hv, a.dv}, half)}};
  if (a.cu_seqlens != 0) prologue["cu_seqlens"] = forward["cu_seqlens"] = tensor(a.cu_seqlens, {(N + 1) * words}, "i32");
  const bool v_first = a.state_order == gdn::StateOrder::v_first;
  const std::vector<std::int64_t> state{N, a.hv, v_first ? a.dv : a.dk, v_first ? a.dk : a.dv};
  if (a.initial_state != 0) forward["initial_state"] = tensor(a.initial_state, state, "f32");
  if (a.final_state != 0) forward["final_state"] = tensor(a.final_state, state, "f32");

  program::Scalars prologue_scalars = scalars, forward_scalars = scalars;
  prologue_scalars["levels"] = levels;
  prologue_scalars["top"] = top;
  forward_scalars["scale"] = a.scale != 0 ? double{a.scale} : 1 / std::sqrt(double(a.dk));
  steps.push_back(bind_step(programs_.device(), kernels[0], prologue, prologue_scalars));
  // The chain kernel reads only the arguments before it waits for the prologue.
  steps.push_back(bind_step(programs_.device(), kernels[1], forward, forward_scalars, /*programmatic=*/true));
  return steps;
}

std::shared_ptr<const Steps> GdnForward::prepare(const GdnForwardArguments& a) {
  std::shared_ptr<const Steps> steps = calls_.find(a);
  if (!steps) {
    check_gdn_forward(a, workspace_bytes(a));
    const Workspace w = layout_of(a);
    const GdnForwardArguments shape = shape_of(a);
    if (const std::shared_ptr<const Steps> known = shapes_.find(shape)) {
      auto moved = std::make_shared<Steps>(*known);
      const auto addresses = addresses_of(a, w);
      for (Step& step : *moved) rebind(programs_.device(), step, addresses);
      steps = std::move(moved);
    } else {
      steps = std::make_shared<Steps>(bind_steps(a));
      shapes_.put(shape, steps);
    }
    calls_.put(a, steps);
  }
  if (programs_.device().kind() == "sim") check_host_offsets(a);
  return steps;
}

void GdnForward::run(const GdnForwardArguments& arguments, void* stream) {
  launch_steps(programs_.device(), *prepare(arguments), stream);
}

}  // namespace tilewright::ops
