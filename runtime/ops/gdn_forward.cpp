#include "runtime/ops/gdn_forward.h"

#include <algorithm>
#include <array>

#include "kernels/gdn/forward.h"
#include "kernels/gdn/prologue.h"
#include "runtime/ops/gdn_costs.h"
#include "runtime/ops/gdn_forward_binding.h"

namespace tilewright::ops {
namespace {

constexpr std::uint64_t kCheckPointers = 2;  // TILEWRIGHT_GDN_CHECK_POINTERS

/// The words that make calls alike.
Shape shape_of(const GdnForwardArguments& a) {
  Shape s;
  for (const Operand* operand : {&a.q, &a.k, &a.v, &a.g, &a.beta, &a.A_log, &a.dt_bias, &a.cu_seqlens, &a.prefix_lens, &a.initial_state,
                                 &a.read_slots, &a.final_state, &a.write_slots, &a.checkpoints, &a.checkpoint_starts, &a.checkpoint_slots,
                                 &a.o, &a.save_T, &a.save_b}) {
    s.add(static_cast<std::int64_t>(operand->dtype) * 2 + (*operand ? 1 : 0));
    if (!*operand) continue;
    for (const std::int64_t stride : operand->strides) s.add(stride);
  }
  for (const std::int64_t number : {a.T, a.N, a.batch, a.initial_rows, a.final_rows, a.checkpoint_rows, a.checkpoint_count, a.checkpoint_every,
                                    static_cast<std::int64_t>(a.flags), static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(a.costs))})
    s.add(number);
  for (const int number : {a.hq, a.hk, a.hv, a.dk, a.dv, static_cast<int>(a.gate_domain), static_cast<int>(a.beta_domain), a.l2norm, a.cp,
                           static_cast<int>(a.state_order), static_cast<int>(a.in_place())})
    s.add(std::int64_t{number});
  for (const float number : {a.scale, a.beta_scale, a.l2norm_eps}) s.add(number);
  return s;
}

Element element_of(Dtype dtype) { return dtype == Dtype::bf16 ? Element::bf16 : dtype == Dtype::f16 ? Element::f16 : Element::f32; }
const char* name_of(Element e) { return e == Element::bf16 ? "bf16" : e == Element::f16 ? "f16" : "f32"; }

/// The part of a key that says how wide heads are, where they are not 128.
std::string width(const char* name, int columns) { return columns == 128 ? "" : std::string(" ") + name + std::to_string(columns); }

/// Asks the device whether its kernels can use the tensors' memory.
void check_places(runtime::Device& device, const GdnForwardTensors& tensors) {
  for (const Tensor& tensor : tensors.all) {
    if (!tensor.given || tensor.address == 0) continue;
    const std::string why = device.why_not_addressable(tensor.address);
    if (!why.empty()) throw ArgumentError(std::string("gdn_forward: ") + tensor.name + " " + why);
  }
}

}  // namespace

int gdn_prologue_pack(int group) { return std::clamp(group, 1, 4); }

Source gdn_prologue_source(const GdnForwardKernels& c) {
  return {std::string("gdn_prologue ") + name_of(c.dtype) + width("dk", c.dk) + " pack" + std::to_string(c.pack) + " g " + name_of(c.gate) + " beta " + name_of(c.strength) +
              (c.l2norm != 0 ? " l2norm" : "") + (c.segments != 0 ? " planner" : ""),
          [c] {
            const gdn::PrologueConfig config{.dk = c.dk, .pack = c.pack, .l2norm = c.l2norm != 0, .planner = c.segments != 0, .gate = c.gate, .strength = c.strength};
            return c.dtype == Dtype::bf16 ? gdn::prologue<bf16>(config) : gdn::prologue<f16>(config);
          }};
}

Source gdn_forward_source(const GdnForwardKernels& c) {
  std::string key = std::string(c.form == gdn::Form::full ? "gdn_forward " : "gdn_forward_split ") + name_of(c.dtype);
  key += width("dk", c.dk) + width("dv", c.dv);
  key += c.state_v_first ? " v_first" : " k_first";
  key += std::string(" states ") + name_of(c.states.initial) + " " + name_of(c.states.final);
  if (c.checkpoints != 0) key += std::string(c.checkpoints == 2 ? " prefixes" : "") + " checkpoints " + name_of(c.states.checkpoint);
  if (c.l2norm != 0) key += " l2norm";
  if (c.segments != 0) key += " segments";
  return {key, [c] {
            gdn::ForwardConfig config;
            config.dk = c.dk, config.dv = c.dv;
            config.value_columns = gdn::value_columns(c.form, c.dv);
            config.state_v_first = c.state_v_first;
            config.states = c.states;
            config.checkpoints = c.checkpoints != 0, config.prefixes = c.checkpoints == 2;
            config.l2norm = c.l2norm != 0;
            config.segments = c.segments != 0;
            return c.dtype == Dtype::bf16 ? gdn::forward<bf16>(config) : gdn::forward<f16>(config);
          }};
}

/// The kernels of a configuration, loaded, and where their parameters come from.
struct GdnForward::Bindings {
  std::shared_ptr<const Loaded> prologue, chain;
  program::BindingPlan prologue_plan, chain_plan;
};

/// A shape of calls: its launches, and its tensors for the checks of addresses.
struct GdnForward::Plan {
  Steps steps;
  GdnForwardTensors tensors;
  GdnForwardWorkspace workspace;
};

GdnForward::GdnForward(runtime::Device& device, GdnForwardOptions options)
    : options_(std::move(options)), programs_(device, options_.build), faults_(device) {}
GdnForward::~GdnForward() = default;

std::uint64_t GdnForward::workspace_bytes(const GdnForwardArguments& a) {
  check_gdn_forward_sizes(a);
  return gdn_forward_workspace(a).bytes;
}

const gdn::Costs& GdnForward::costs() {
  const gdn::Costs* known = costs_.load(std::memory_order_acquire);
  if (known == nullptr) costs_.store(known = &gdn_costs_of(programs_.device()).costs, std::memory_order_release);
  return *known;
}

GdnForwardKernels GdnForward::kernels_of(const GdnForwardArguments& a) const {
  GdnForwardKernels c;
  c.dtype = a.q.dtype;
  c.pack = gdn_prologue_pack(a.heads() / a.hk);
  c.dk = static_cast<std::int16_t>(a.dk), c.dv = static_cast<std::int16_t>(a.dv);
  const GdnForwardCuts cuts = gdn_forward_cuts(a);
  c.form = gdn::can_split(a.dv) ? options_.form.value_or(cuts.form) : gdn::Form::full;
  c.segments = cuts.segments() ? 1 : 0;
  c.checkpoints = !a.checkpoints ? 0 : a.prefix_lens ? 2 : 1;
  c.l2norm = a.l2norm;
  c.gate = a.g ? element_of(a.g.dtype) : Element::f32;
  c.strength = a.beta ? element_of(a.beta.dtype) : Element::f32;
  // What is absent follows what is there, so that it needs no kernel of its own.
  const Operand* const states[]{&a.final_state, &a.initial_state, &a.checkpoints};
  const auto some = std::find_if(std::begin(states), std::end(states), [](const Operand* s) { return bool(*s); });
  if (some == std::end(states)) return c;
  const auto type = [&](const Operand& s) { return element_of(s ? s.dtype : (*some)->dtype); };
  c.states = {type(a.initial_state), type(a.final_state), c.checkpoints != 0 ? type(a.checkpoints) : Element::f32};
  c.state_v_first = a.state_order == gdn::StateOrder::v_first;
  return c;
}

std::shared_ptr<const GdnForward::Bindings> GdnForward::bindings(const GdnForwardArguments& a) {
  const GdnForwardKernels c = kernels_of(a);
  return bindings_.get(c, [&] {
    const Kernels kernels = programs_.get({gdn_prologue_source(c), gdn_forward_source(c)});
    const auto plan = [](const Loaded& kernel) {
      return program::BindingPlan(kernel.built->program.sidecar(), gdn_forward_tensor_names(), gdn_forward_scalar_names());
    };
    return Bindings{kernels[0], kernels[1], plan(*kernels[0]), plan(*kernels[1])};
  });
}

std::shared_ptr<const GdnForward::Plan> GdnForward::bind(const GdnForwardArguments& a) {
  auto plan = std::make_shared<Plan>();
  plan->tensors = check_gdn_forward(a);
  plan->workspace = gdn_forward_workspace(a);
  check_gdn_forward_addresses(a, plan->tensors, plan->workspace);
  if (a.sequences() == 0) return plan;  // neither rows nor states
  const auto set = bindings(a);
  runtime::Device& device = programs_.device();
  const GdnForwardTables tables(a, plan->tensors, gdn_forward_addresses(a, plan->workspace, faults_.address(nullptr)), device.multiprocessors(), options_.heads);
  plan->steps.push_back({set->prologue, set->prologue_plan.bind(device, tables.tensors(), tables.scalars())});
  // The chain kernel reads only the arguments before it waits for the prologue.
  plan->steps.push_back({set->chain, set->chain_plan.bind(device, tables.tensors(), tables.scalars()), /*programmatic=*/true});
  return plan;
}

Steps GdnForward::prepare(const GdnForwardArguments& a) { return bind(a)->steps; }

void GdnForward::run(const GdnForwardArguments& a, void* stream) {
  check_offsets(stream);
  runtime::Device& device = programs_.device();
  const bool simulated = device.kind() == "sim";
  const Shape shape = shape_of(a);
  std::shared_ptr<const Plan> plan = plans_.find(shape);
  const bool first = !plan;
  if (first) plan = bind(a);
  const auto addresses = gdn_forward_addresses(a, plan->workspace, faults_.address(stream));
  GdnForwardTensors tensors = plan->tensors;
  for (std::size_t i = 0; i < kGdnTensors; ++i)
    if (tensors.all[i].given) tensors.all[i].address = addresses[i];
  if (!first) check_gdn_forward_addresses(a, tensors, plan->workspace);
  if (first || (a.flags & kCheckPointers) != 0) check_places(device, tensors);
  if (first) plans_.put(shape, plan);
  if (simulated) check_gdn_forward_lists(a, tensors);
  std::array<runtime::DeviceAddress, 48> table{};
  for (std::size_t i = 0; i < GdnForwardTables::entries(); ++i)
    table.at(i) = addresses[static_cast<std::size_t>(GdnForwardTables::tensor_of_entry(i))];
  launch_steps_at(device, plan->steps, table, stream);
  if (simulated) faults_.check(stream, "");
}

}  // namespace tilewright::ops
