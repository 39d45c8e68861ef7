#include "runtime/ops/gdn_forward_check.h"

#include <algorithm>
#include <cmath>

#include "kernels/gdn/segment_plan.h"

namespace tilewright::ops {
namespace {

const std::string kWho = "gdn_forward: ";
const std::vector<Dtype> kHalf{Dtype::bf16, Dtype::f16}, kFloat{Dtype::f32, Dtype::bf16, Dtype::f16}, kInteger{Dtype::i32, Dtype::i64};
constexpr std::uint64_t kBatchInvariant = 1;  // TILEWRIGHT_GDN_BATCH_INVARIANT
constexpr std::int64_t kMost31 = (std::int64_t{1} << 31) - 1;

[[noreturn]] void refuse(const std::string& what) { throw ArgumentError(kWho + what); }
[[noreturn]] void unsupported(const std::string& what) { throw UnsupportedError(kWho + what); }
std::string text(std::int64_t value) { return std::to_string(value); }

void check_heads(const GdnForwardArguments& a) {
  constexpr int most = 65535;
  const std::pair<const char*, int> counts[]{{"hq", a.query_heads()}, {"hk", a.hk}, {"hv", a.hv}};
  for (const auto& [name, count] : counts)
    if (count < 1 || count > most) refuse(std::string(name) + " is " + text(count) + ", expected 1 to " + text(most) + " heads");
  for (const auto& [name, count] : counts)
    if (a.heads() % count != 0) refuse(std::string(name) + " is " + text(count) + ", expected a divisor of the largest number of heads, " + text(a.heads()));
  const std::pair<const char*, int> widths[]{{"dk", a.dk}, {"dv", a.dv}};
  for (const auto& [name, width] : widths) {
    if (std::find(std::begin(gdn::kHeadWidths), std::end(gdn::kHeadWidths), width) != std::end(gdn::kHeadWidths)) continue;
    std::string expected;
    for (const int known : gdn::kHeadWidths) expected += (expected.empty() ? "" : " or ") + text(known);
    const std::string what = std::string(name) + " is " + text(width) + ", expected " + expected;
    width < 1 ? refuse(what) : unsupported(what + ": heads of another width have no kernel");
  }
}

void check_sizes(const GdnForwardArguments& a) {
  // Byte counts of every tensor stay below 2^63 within these limits.
  constexpr std::int64_t most_tokens = (std::int64_t{1} << 30) - 1;
  if (a.T < 0) refuse("T is " + text(a.T) + ", expected 0 or more");
  if (a.N < 0) refuse("N is " + text(a.N) + ", expected 0 or more");
  if (a.batch < 1) refuse("batch is " + text(a.batch) + ", expected at least 1");
  if (a.cu_seqlens && a.batch != 1) refuse("batch is " + text(a.batch) + " with cu_seqlens, expected 1: packed sequences share one row axis");
  if (!a.cu_seqlens && a.N != 0 && a.N != a.batch) refuse("N is " + text(a.N) + " without cu_seqlens, expected 0 or batch = " + text(a.batch));
  if (a.T > most_tokens / a.batch) refuse("batch x T is " + text(a.batch) + " x " + text(a.T) + " tokens, expected fewer than 2^30");
  if (a.sequences() > most_tokens)
    refuse(std::string(a.cu_seqlens ? "N" : "batch") + " is " + text(a.sequences()) + ", expected fewer than 2^30 sequences");
  if ((a.sequences() + 1) * a.heads() * 2 > kMost31)  // CTAs of the chain, and words of cu_seqlens
    refuse(text(a.sequences()) + " sequences of " + text(a.heads()) + " heads, expected a product below 2^30");
  if (a.slots() * a.hk > kMost31)  // CTAs of the prologue
    refuse(text(a.slots()) + " chunks (batch x T / 64 + sequences) of " + text(a.hk) + " key heads, expected a product below 2^31");
}

void check_numbers(const GdnForwardArguments& a) {
  constexpr std::uint64_t known = 3;  // TILEWRIGHT_GDN_*
  if ((a.flags & ~known) != 0) unsupported("flags is " + std::to_string(a.flags) + ", this library knows the bits of " + std::to_string(known));
  if (!std::isfinite(a.scale)) refuse("scale is " + std::to_string(a.scale) + ", expected a finite number (0: dk^-1/2)");
  const int gate = static_cast<int>(a.gate_domain), beta = static_cast<int>(a.beta_domain);
  if (gate < 0 || gate > 2) refuse("gate_domain is " + text(gate) + ", expected 0 (log), 1 (linear) or 2 (raw)");
  if (beta < 0 || beta > 1) refuse("beta_domain is " + text(beta) + ", expected 0 (value) or 1 (logit)");
  if (!(std::isfinite(a.beta_scale) && a.beta_scale >= 0)) refuse("beta_scale is " + std::to_string(a.beta_scale) + ", expected a positive number (0: 1)");
  if (a.beta_scale != 0 && a.beta_domain != gdn::BetaDomain::logit)
    refuse("beta_scale is " + std::to_string(a.beta_scale) + " with beta_domain 0 (value), expected 0: it belongs to logits");
  if (a.l2norm != 0 && a.l2norm != 1) refuse("l2norm is " + text(a.l2norm) + ", expected 0 or 1");
  if (!(std::isfinite(a.l2norm_eps) && a.l2norm_eps >= 0)) refuse("l2norm_eps is " + std::to_string(a.l2norm_eps) + ", expected a positive number (0: 1e-6)");
  if (a.cp > 1) {
    if (!gdn::can_cut(a.dk, a.dv)) unsupported("cp is " + text(a.cp) + " with dk " + text(a.dk) + " and dv " + text(a.dv) + ": only chains of heads of 128 and 128 are cut, expected 0 or 1");
    if (a.heads() > gdn::kMaxPlannedHeads) unsupported("cp is " + text(a.cp) + " with " + text(a.heads()) + " heads: chains of up to " + text(gdn::kMaxPlannedHeads) + " are cut, expected 0 or 1");
    if ((a.flags & kBatchInvariant) != 0) refuse("cp is " + text(a.cp) + " with the batch-invariant flag, expected 0 or 1: segments depend on the batch");
    if (a.checkpoints && a.prefix_lens) unsupported("cp is " + text(a.cp) + " with checkpoints behind prefixes, for which chains are not cut: expected 0 or 1");
  }
  if (a.cp < 0) refuse("cp is " + text(a.cp) + ", expected 0 (automatic), 1 (off) or a number of segments");
}

/// Fields that make sense together only.
void check_company(const GdnForwardArguments& a) {
  const auto needs = [](const char* name, const Operand& operand, bool allowed, const char* with) {
    if (operand && !allowed) refuse(std::string(name) + " is given, expected NULL without " + with);
  };
  const bool raw = a.gate_domain == gdn::GateDomain::raw, logit = a.beta_domain == gdn::BetaDomain::logit;
  needs("A_log", a.A_log, raw, "the raw gate (gate_domain 2)");
  needs("dt_bias", a.dt_bias, raw, "the raw gate (gate_domain 2)");
  needs("read_slots", a.read_slots, bool(a.initial_state), "initial_state");
  needs("write_slots", a.write_slots, bool(a.final_state), "final_state");
  needs("checkpoint_starts", a.checkpoint_starts, bool(a.checkpoints), "checkpoints");
  needs("checkpoint_slots", a.checkpoint_slots, bool(a.checkpoints), "checkpoints");
  if (a.tokens() > 0 && !a.g && a.gate_domain != gdn::GateDomain::log) refuse("g is NULL with gate_domain " + text(static_cast<int>(a.gate_domain)) + ", expected a gate");
  if (a.tokens() > 0 && !a.beta && logit) refuse("beta is NULL with beta_domain 1 (logit), expected logits");
  if (!a.checkpoints && a.checkpoint_every != 0) refuse("checkpoint_every is " + text(a.checkpoint_every) + ", expected 0 without checkpoints");
  if (a.checkpoints && (a.checkpoint_every < 1 || a.checkpoint_every % gdn::kChunk != 0 || a.checkpoint_every > kMost31))
    refuse("checkpoint_every is " + text(a.checkpoint_every) + ", expected a positive multiple of 64 tokens");
  const std::pair<const char*, std::int64_t> rows[]{{"initial_rows", a.initial_rows}, {"final_rows", a.final_rows},
                                                    {"checkpoint_rows", a.checkpoint_rows}, {"checkpoint_count", a.checkpoint_count}};
  for (const auto& [name, count] : rows)
    if (count < 0 || count > kMost31) refuse(std::string(name) + " is " + text(count) + ", expected 0 to 2^31 - 1");
  const auto enough = [&](const char* name, std::int64_t count, const Operand& state, const Operand& slots) {
    if (state && !slots && count != 0 && count < a.sequences())
      refuse(std::string(name) + " is " + text(count) + " without slots, expected 0 or at least " + text(a.sequences()) + " sequences");
    if (state && slots && count == 0) refuse(std::string(name) + " is 0 with slots, expected the rows of the pool");
  };
  enough("initial_rows", a.initial_rows, a.initial_state, a.read_slots);
  enough("final_rows", a.final_rows, a.final_state, a.write_slots);
}

void same_dtype(const Tensor& t, const Tensor& as) {
  if (t.given && as.given && !t.empty() && t.dtype != as.dtype)
    refuse(std::string(t.name) + ".dtype is " + name_of(t.dtype) + ", expected " + name_of(as.dtype) + " as " + as.name);
}

/// Strides that a kernel takes as 32-bit integers.
void check_32_bits(const Tensor& t, std::int64_t unit) {
  for (unsigned axis = 0; axis < t.rank; ++axis)
    if (t.shape[axis] > 1 && t.strides[axis] / unit > kMost31)
      refuse(std::string(t.name) + ".strides[" + text(axis) + "] is " + text(t.strides[axis]) + ", expected less than 2^31" +
             (unit == 1 ? "" : " x " + text(unit)));
}

/// The heads' axis of gates: a kernel multiplies head and stride in 32 bits.
void check_head_stride(const Tensor& t) {
  const unsigned axis = t.rank - 1;
  if (!t.given || t.shape[axis] <= 1 || t.strides[axis] <= kMost31 / (t.shape[axis] - 1)) return;
  refuse(std::string(t.name) + ".strides[" + text(axis) + "] is " + text(t.strides[axis]) + " for " + text(t.shape[axis]) +
         " heads, expected the last head less than 2^31 elements behind the first");
}

/// Refuses two tensors that share memory, one of them an output. Only the final state may be the initial one.
void check_pair(const Tensor& a, const Tensor& b, const GdnForwardTensors& t) {
  if (!overlap(a, b)) return;
  const Tensor &final = t[GdnTensor::final_state], &initial = t[GdnTensor::initial_state];
  const bool states = (&a == &final && &b == &initial) || (&a == &initial && &b == &final), in_place = states && a.address == b.address;
  if (in_place && same_places(a, b)) return;
  const Tensor &out = a.output ? a : b, &other = a.output ? b : a;
  refuse(std::string(out.name) + " overlaps " + other.name + ", expected memory of its own" + (in_place ? " or the same dtype and strides" : ""));
}

/// Whether there is room for copies of the initial states: for no more chains than a list holds.
bool room_to_keep(const GdnForwardArguments& a) { return a.sequences() * a.heads() <= gdn::kMaxListedChains; }

GdnForwardCuts cuts_of(const GdnForwardArguments& a, bool whole_chains, bool only_split) {
  const gdn::Choice choice = gdn::choose({a.tokens(), a.sequences(), a.heads(), a.dk, a.dv, (a.flags & kBatchInvariant) != 0, whole_chains, bool(a.cu_seqlens), only_split, a.cp}, *a.costs);
  if (!choice.segments) return {choice.form};
  // A chain has no more segments than chunks.
  const std::int64_t chunks = a.slots() * a.heads();
  const int items = a.cp == 0 ? gdn::item_capacity(gdn::planner_slots(choice.form, gdn::kTypicalSms), a.sequences() * a.heads()) : gdn::item_capacity(gdn::kTypicalSms);
  return {choice.form, std::min<std::int64_t>(items, 3 * chunks), std::min<std::int64_t>(gdn::record_capacity(gdn::kTypicalSms), chunks),
          room_to_keep(a) ? a.sequences() : 0};
}

}  // namespace

GdnForwardCuts gdn_forward_cuts(const GdnForwardArguments& a) {
  GdnForwardCuts cuts = cuts_of(a, (a.in_place() && !room_to_keep(a)) || (a.checkpoints && a.prefix_lens), a.l2norm != 0);
  if (!a.in_place()) cuts.kept = 0;
  return cuts;
}

GdnForwardWorkspace gdn_forward_workspace(const GdnForwardArguments& a) {
  GdnForwardWorkspace w;
  WorkspaceLayout layout;
  const auto rows = static_cast<std::uint64_t>(a.slots()) * static_cast<std::uint64_t>(a.heads()) * gdn::kChunk;
  w.T = layout.add(a.save_T ? 0 : rows * gdn::kChunk * 2);
  w.b = layout.add(a.save_b ? 0 : rows * 4);
  w.status = layout.add(a.sequences() != 0 ? 4 : 0);
  const GdnForwardCuts cuts = cuts_of(a, false, false);  // as many as there may be: from sizes only
  const auto records = static_cast<std::uint64_t>(cuts.records), dk = static_cast<std::uint64_t>(a.dk), dv = static_cast<std::uint64_t>(a.dv);
  if (cuts.segments()) {
    w.gain = layout.add(rows / gdn::kChunk * 4);
    w.plan = layout.add(static_cast<std::uint64_t>(cuts.items + 1) * gdn::kPlanWords * 4);
    w.sync = layout.add((records + gdn::kReady) * 4);
  }
  w.ends = layout.add(records * dv * dk * 4);
  w.transitions = layout.add(records * 2 * dk * dk * 2);
  w.kept = layout.add(static_cast<std::uint64_t>(cuts.kept * a.heads()) * dk * dv * 4);
  w.keeps = gdn_forward_cuts(a).kept != 0;
  w.bytes = layout.bytes();
  return w;
}

GdnForwardAddresses gdn_forward_addresses(const GdnForwardArguments& a, const GdnForwardWorkspace& w, runtime::DeviceAddress offset_fault) {
  return {a.q.address, a.k.address, a.v.address, a.g.address, a.beta.address, a.A_log.address, a.dt_bias.address, a.cu_seqlens.address,
          a.prefix_lens.address, a.initial_state.address, a.read_slots.address, a.final_state.address, a.write_slots.address, a.checkpoints.address,
          a.checkpoint_starts.address, a.checkpoint_slots.address, a.o.address, a.save_T ? a.save_T.address : a.workspace + w.T,
          a.save_b ? a.save_b.address : a.workspace + w.b, a.workspace + w.status, offset_fault,
          a.workspace + w.gain, a.workspace + w.plan, a.workspace + w.sync, a.workspace + w.sync + gdn::kTicket * 4,
          a.workspace + w.sync + gdn::kReady * 4,
          a.workspace + w.ends, a.workspace + w.transitions, w.keeps ? a.workspace + w.kept : a.initial_state.address};
}

void check_gdn_forward_sizes(const GdnForwardArguments& a) {
  check_heads(a);
  check_sizes(a);
  check_numbers(a);
}

GdnForwardTensors check_gdn_forward(const GdnForwardArguments& a) {
  check_gdn_forward_sizes(a);
  check_company(a);
  const std::int64_t H = a.heads(), N = a.sequences(), slots = a.slots();
  const bool v_first = a.state_order == gdn::StateOrder::v_first, raw = a.gate_domain == gdn::GateDomain::raw;
  const auto rows_of = [&](std::int64_t rows) { return std::vector<std::int64_t>{rows, H, v_first ? a.dv : a.dk, v_first ? a.dk : a.dv}; };
  const std::int64_t unit = v_first ? a.dk : a.dv;  // kernels/gdn/operands.h: the inner width
  GdnForwardTensors t;
  const auto put = [&](GdnTensor which, const Operand& operand, Expected e) {
    if (e.batched && a.batch == 1) e.batched = false;
    t[which] = tensor_of(kWho, operand, e);
  };
  using enum GdnTensor;
  put(q, a.q, {.name = "q", .shape = {a.batch, a.T, a.query_heads(), a.dk}, .dtypes = kHalf, .layout = Layout::rows, .batched = true});
  put(k, a.k, {.name = "k", .shape = {a.batch, a.T, a.hk, a.dk}, .dtypes = kHalf, .layout = Layout::rows, .batched = true});
  put(v, a.v, {.name = "v", .shape = {a.batch, a.T, a.hv, a.dv}, .dtypes = kHalf, .layout = Layout::rows, .batched = true});
  put(g, a.g, {.name = "g", .shape = {a.batch, a.T, H}, .dtypes = kFloat, .layout = Layout::any, .required = false, .batched = true});
  put(beta, a.beta, {.name = "beta", .shape = {a.batch, a.T, H}, .dtypes = kFloat, .layout = Layout::any, .required = false, .batched = true});
  put(A_log, a.A_log, {.name = "A_log", .shape = {H}, .dtypes = kFloat, .layout = Layout::list, .required = raw});
  put(dt_bias, a.dt_bias, {.name = "dt_bias", .shape = {H}, .dtypes = kFloat, .layout = Layout::list, .required = false});
  put(cu_seqlens, a.cu_seqlens, {.name = "cu_seqlens", .shape = {N + 1}, .dtypes = kInteger, .layout = Layout::list, .required = false});
  put(prefix_lens, a.prefix_lens, {.name = "prefix_lens", .shape = {N}, .dtypes = kInteger, .layout = Layout::list, .required = false});
  put(initial_state, a.initial_state, {.name = "initial_state", .shape = rows_of(a.initial_rows != 0 ? a.initial_rows : N), .dtypes = kFloat,
                                       .layout = Layout::states, .required = false, .unit = unit});
  put(read_slots, a.read_slots, {.name = "read_slots", .shape = {N}, .dtypes = kInteger, .layout = Layout::list, .required = false});
  put(final_state, a.final_state, {.name = "final_state", .shape = rows_of(a.final_rows != 0 ? a.final_rows : N), .dtypes = kFloat,
                                   .layout = Layout::states, .required = false, .output = true, .unit = unit});
  put(write_slots, a.write_slots, {.name = "write_slots", .shape = {N}, .dtypes = kInteger, .layout = Layout::list, .required = false});
  put(checkpoints, a.checkpoints, {.name = "checkpoints", .shape = rows_of(a.checkpoint_rows), .dtypes = kFloat, .layout = Layout::states,
                                   .required = false, .output = true, .unit = unit});
  put(checkpoint_starts, a.checkpoint_starts, {.name = "checkpoint_starts", .shape = {N}, .dtypes = kInteger, .layout = Layout::list, .required = bool(a.checkpoints)});
  put(checkpoint_slots, a.checkpoint_slots, {.name = "checkpoint_slots", .shape = {a.checkpoint_count}, .dtypes = kInteger, .layout = Layout::list, .required = false});
  put(o, a.o, {.name = "o", .shape = {a.batch, a.T, H, a.dv}, .dtypes = kHalf, .layout = Layout::rows, .output = true, .batched = true});
  // What the caller does not save is part of the workspace, which is checked as a whole.
  Operand saved_T = a.save_T, saved_b = a.save_b;
  if (!saved_T) saved_T.dtype = a.q.dtype;
  if (!saved_b) saved_b.dtype = Dtype::f32;
  put(T, saved_T, {.name = "save_T", .shape = {slots, H, gdn::kChunk, gdn::kChunk}, .dtypes = kHalf, .required = false, .output = true});
  put(b, saved_b, {.name = "save_b", .shape = {slots, H, gdn::kChunk}, .dtypes = {Dtype::f32}, .required = false, .output = true});
  put(status, {0, {}, Dtype::i32}, {.name = "status", .shape = {1}, .dtypes = {Dtype::i32}, .required = false, .output = true});
  put(offset_fault, {0, {}, Dtype::i32}, {.name = "offset_fault", .shape = {gdn::kFaultWords}, .dtypes = {Dtype::i32}, .required = false, .output = true});
  // Parts of the workspace only.
  const GdnForwardCuts cuts = gdn_forward_cuts(a);
  Operand f32, half, words;
  f32.dtype = Dtype::f32, half.dtype = a.q.dtype, words.dtype = Dtype::i32;
  const auto part = [&](GdnTensor which, const Operand& operand, const char* name, std::vector<std::int64_t> shape) {
    put(which, operand, {.name = name, .shape = std::move(shape), .dtypes = {operand.dtype}, .required = false});
  };
  part(gain, f32, "gain", {slots, H});
  part(plan, words, "plan", {cuts.items + 1, gdn::kPlanWords});
  part(sync, words, "sync", {cuts.records + gdn::kReady});
  part(ticket, words, "ticket", {1});
  part(ready, words, "ready", {cuts.records});
  part(ends, f32, "ends", {cuts.records, a.dv, a.dk});
  part(transitions, half, "transitions", {cuts.records, 2, a.dk, a.dk});
  t[start_state] = t[initial_state];
  t[start_state].given = false, t[start_state].address = 0;  // not one more argument
  if (cuts.kept != 0) t[start_state].shape[0] = cuts.kept, t[start_state].strides[0] = H * a.dk * a.dv;
  for (const GdnTensor other : {k, v, o, T}) same_dtype(t[other], t[q]);
  if (t[checkpoints].given && t[checkpoints].dtype != Dtype::f32 && t[checkpoints].dtype != a.q.dtype)
    unsupported(std::string("checkpoints.dtype is ") + name_of(t[checkpoints].dtype) + ": kernels write f32 or, as q, " + name_of(a.q.dtype));
  for (const GdnTensor numbers : {g, beta}) check_32_bits(t[numbers], 1), check_head_stride(t[numbers]);
  if (t[checkpoint_slots].given && t[checkpoint_slots].dtype == Dtype::i64 && a.checkpoint_count > kMost31 / 2)
    refuse("checkpoint_count is " + text(a.checkpoint_count) + " of i64, expected less than 2^30");
  for (const GdnTensor states : {initial_state, final_state, checkpoints}) check_32_bits(t[states], unit);
  if (cuts.kept != 0) check_32_bits(t[initial_state], gdn::kKeptWords * 4 / bytes_of(t[initial_state].dtype));
  return t;
}

void check_gdn_forward_addresses(const GdnForwardArguments& a, const GdnForwardTensors& t, const GdnForwardWorkspace& w) {
  for (const Tensor& tensor : t.all) check_alignment(kWho, tensor);
  if (a.workspace_bytes < w.bytes) refuse("workspace_bytes is " + std::to_string(a.workspace_bytes) + ", expected at least " + std::to_string(w.bytes));
  if (a.workspace == 0 && w.bytes != 0) refuse("workspace is NULL, expected " + std::to_string(w.bytes) + " bytes of device memory");
  if (a.workspace % WorkspaceLayout::kAlignment != 0)
    refuse("workspace is at address " + std::to_string(a.workspace) + ", expected " + std::to_string(w.bytes) + " bytes at a multiple of 256");

  Tensor workspace;
  workspace.name = "workspace";
  workspace.address = a.workspace;
  workspace.rank = 1;
  workspace.shape[0] = static_cast<std::int64_t>(w.bytes / 2);
  workspace.strides[0] = 1;
  workspace.given = workspace.output = true;
  std::array<const Tensor*, kGdnTensors + 1> tensors{};
  std::array<std::uint64_t, kGdnTensors + 1> ends{};
  std::size_t count = 0;
  const auto add = [&](const Tensor& tensor) {
    if (!tensor.given || tensor.address == 0) return;
    tensors[count] = &tensor;
    ends[count] = tensor.address + tensor.bytes();
    if (ends[count++] < tensor.address)
      refuse(std::string(tensor.name) + " is at address " + std::to_string(tensor.address) + ", expected " + std::to_string(tensor.bytes()) + " bytes there: they go beyond the last address");
  };
  for (const Tensor& tensor : t.all) add(tensor);
  add(workspace);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const bool apart = tensors[i]->address >= ends[j] || tensors[j]->address >= ends[i];
      if (!apart && (tensors[i]->output || tensors[j]->output)) check_pair(*tensors[i], *tensors[j], t);
    }
}

std::vector<std::pair<runtime::DeviceAddress, std::uint64_t>> gdn_forward_memory(const GdnForwardArguments& a) {
  std::vector<std::pair<runtime::DeviceAddress, std::uint64_t>> memory;
  const GdnForwardTensors tensors = check_gdn_forward(a);
  for (const Tensor& tensor : tensors.all)
    if (tensor.address != 0) memory.emplace_back(tensor.address, tensor.bytes());
  if (a.workspace != 0) memory.emplace_back(a.workspace, std::min(a.workspace_bytes, gdn_forward_workspace(a).bytes));
  return memory;
}

}  // namespace tilewright::ops
