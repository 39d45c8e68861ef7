// The tables of arguments that gdn_forward binds its kernels from.
#include "runtime/ops/gdn_forward_binding.h"

#include <cmath>

#include "kernels/gdn/segment_plan.h"

namespace tilewright::ops {
namespace {

using enum GdnTensor;

/// All calls, those that keep initial states (kept_states.h), or the others.
enum class In { all, keeping, others };
/// An entry of the table of tensors: given when the tensor is and has the entry's dtype, where there is one of its own, in calls of the entry's kind.
struct Entry {
  std::string_view name;
  GdnTensor tensor;
  int dtype = -1;
  In calls = In::all;
};
constexpr int kF32 = static_cast<int>(Dtype::f32), kBf16 = static_cast<int>(Dtype::bf16), kF16 = static_cast<int>(Dtype::f16);
constexpr std::array kEntries{
    Entry{"q", q}, Entry{"k", k}, Entry{"v", v}, Entry{"o", o}, Entry{"tm", T}, Entry{"b", b}, Entry{"status", status}, Entry{"offset_fault", offset_fault},
    Entry{"gain", gain}, Entry{"plan", plan},    Entry{"sync", sync}, Entry{"ticket", ticket}, Entry{"ready", ready}, Entry{"ends", ends}, Entry{"transitions", transitions},
    Entry{"g", g, kF32}, Entry{"g_bf16", g, kBf16}, Entry{"g_f16", g, kF16},
    Entry{"beta", beta, kF32}, Entry{"beta_bf16", beta, kBf16}, Entry{"beta_f16", beta, kF16},
    Entry{"A_log", A_log, kF32}, Entry{"A_log_bf16", A_log, kBf16}, Entry{"A_log_f16", A_log, kF16},
    Entry{"dt_bias", dt_bias, kF32}, Entry{"dt_bias_bf16", dt_bias, kBf16}, Entry{"dt_bias_f16", dt_bias, kF16},
    Entry{"cu_seqlens", cu_seqlens}, Entry{"prefix_lens", prefix_lens}, Entry{"initial_state", start_state},
    Entry{"read_slots", read_slots, -1, In::others}, Entry{"kept_states", start_state, -1, In::keeping}, Entry{"kept_from", initial_state, -1, In::keeping},
    Entry{"kept_slots", read_slots, -1, In::keeping}, Entry{"final_state", final_state}, Entry{"write_slots", write_slots}, Entry{"checkpoints", checkpoints},
    Entry{"checkpoint_starts", checkpoint_starts}, Entry{"checkpoint_slots", checkpoint_slots}};

using Named = std::pair<std::string_view, program::Scalar>;

std::int64_t words_of(const Tensor& list) { return list.dtype == Dtype::i64 ? 2 : 1; }

/// Every scalar and dimension of the kernels.
std::vector<Named> scalars_of(const GdnForwardArguments& a, const GdnForwardTensors& t, int sms, gdn::HeadClass classes) {
  const std::int64_t N = a.sequences(), H = a.heads(), group = H / std::max(a.hk, 1);
  const GdnForwardCuts cuts = gdn_forward_cuts(a);
  const gdn::PlannerCosts costs = gdn::planner_costs(gdn::costs_of(*a.costs, cuts.form), a.tokens(), N, static_cast<int>(H));
  std::int64_t levels = N > 1 ? 1 : 0, top = 1;  // owner_of: 32^levels >= N
  while (top * 32 < N) ++levels, top *= 32;
  std::vector<Named> s{{"T", a.tokens()},
                       {"N", N},
                       {"slots", a.slots()},
                       {"heads", H},
                       {"hq", std::int64_t{a.query_heads()}},
                       {"hk", std::int64_t{a.hk}},
                       {"hv", std::int64_t{a.hv}},
                       {"group", group},
                       {"packs", (group + 3) / 4},
                       {"query_group", H / std::max(a.query_heads(), 1)},
                       {"key_group", group},
                       {"value_group", H / std::max(a.hv, 1)},
                       {"levels", levels},
                       {"top", top},
                       {"CU", t[cu_seqlens].given ? (N + 1) * words_of(t[cu_seqlens]) : std::int64_t{0}},
                       {"cu_words", words_of(t[cu_seqlens])},
                       {"length", t[cu_seqlens].given ? std::int64_t{0} : a.T},
                       {"scale", a.scale != 0 ? double{a.scale} : 1 / std::sqrt(double(a.dk))},
                       {"gate_domain", std::int64_t{static_cast<int>(a.gate_domain)}},
                       {"beta_domain", std::int64_t{static_cast<int>(a.beta_domain)}},
                       {"beta_scale", a.beta_scale != 0 ? double{a.beta_scale} : 1.0},
                       {"l2norm_eps", a.l2norm_eps != 0 ? double{a.l2norm_eps} : 1e-6},
                       {"units", N * H + cuts.items},
                       {"plan_rows", cuts.items + 1},
                       {"records", cuts.records},
                       {"sync_words", cuts.records + gdn::kReady},
                       {"plan_shift", std::int64_t{costs.shift}},
                       {"plan_state", std::int64_t{costs.state}},
                       {"plan_start", std::int64_t{costs.start}},
                       {"plan_hop", std::int64_t{costs.hop}},
                       {"plan_planning", std::int64_t{costs.planning}},
                       {"plan_slots", std::int64_t{gdn::planner_slots(cuts.form, sms)}},
                       {"plan_items", cuts.items},
                       {"plan_records", cuts.records},
                       {"plan_classes", std::int64_t{static_cast<int>(classes)}},
                       {"cp", std::int64_t{a.cp}},
                       {"checkpoint_chunks", a.checkpoint_every / gdn::kChunk}};
  const auto matrix = [&](std::string_view pitch, std::string_view step, const Tensor& x) {
    const bool vector = x.rank == 1, rows = x.given && !vector && x.shape[0] * x.shape[1] > 1;
    s.emplace_back(pitch, rows ? x.strides[x.shape[1] > 1 ? 1 : 0] : std::int64_t{0});
    s.emplace_back(step, x.given && H > 1 ? x.strides[x.rank - 1] : std::int64_t{0});
  };
  matrix("g_pitch", "g_step", t[g]);
  matrix("beta_pitch", "beta_step", t[beta]);
  matrix("A_log_pitch", "A_log_step", t[A_log]);
  matrix("dt_bias_pitch", "dt_bias_step", t[dt_bias]);
  const auto list = [&](std::string_view size, std::string_view words, const Tensor& x) {
    s.emplace_back(size, x.given ? x.shape[0] * words_of(x) : std::int64_t{0});
    s.emplace_back(words, words_of(x));
  };
  list("prefix_lens_size", "prefix_lens_words", t[prefix_lens]);
  list("read_slots_size", "read_slots_words", t[read_slots]);
  list("kept_slots_size", "kept_slots_words", t[read_slots]);
  list("write_slots_size", "write_slots_words", t[write_slots]);
  list("checkpoint_starts_size", "checkpoint_starts_words", t[checkpoint_starts]);
  list("checkpoint_slots_size", "checkpoint_slots_words", t[checkpoint_slots]);
  const auto rows = [&](std::string_view count, std::string_view pitch, const Tensor& x, bool given, auto unit) {  // unit(x): elements that pitches count in
    s.emplace_back(count, given ? x.shape[0] : std::int64_t{0});
    s.emplace_back(pitch, given && x.shape[0] > 1 ? x.strides[0] / unit(x) : std::int64_t{0});
  };
  const auto width = [](const Tensor& x) { return x.shape[3]; };
  const auto line = [](const Tensor& x) { return std::int64_t{gdn::kKeptWords * 4 / bytes_of(x.dtype)}; };
  rows("initial_state_rows", "initial_state_pitch", t[start_state], t[initial_state].given, width);
  rows("kept_from_rows", "kept_from_pitch", t[initial_state], cuts.kept != 0, line);
  s.emplace_back("kept_pitch", cuts.kept != 0 ? H * a.dk * a.dv / line(t[initial_state]) : std::int64_t{0});
  rows("final_state_rows", "final_state_pitch", t[final_state], t[final_state].given, width);
  rows("checkpoints_rows", "checkpoints_pitch", t[checkpoints], t[checkpoints].given, width);
  return s;
}

constexpr std::array<std::string_view, kEntries.size()> names() {
  std::array<std::string_view, kEntries.size()> result;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = kEntries[i].name;
  return result;
}
constexpr std::array kNames = names();

}  // namespace

std::span<const std::string_view> gdn_forward_tensor_names() { return kNames; }

std::vector<std::string_view> gdn_forward_scalar_names() {
  std::vector<std::string_view> names;
  for (const Named& scalar : scalars_of({}, {}, gdn::kTypicalSms, gdn::HeadClass::chosen)) names.push_back(scalar.first);
  return names;
}

std::size_t GdnForwardTables::entries() { return kEntries.size(); }
GdnTensor GdnForwardTables::tensor_of_entry(std::size_t entry) { return kEntries[entry].tensor; }

GdnForwardTables::GdnForwardTables(const GdnForwardArguments& a, const GdnForwardTensors& t, const GdnForwardAddresses& addresses, unsigned sms,
                                   gdn::HeadClass classes) {
  for (std::size_t i = 0; i < kGdnTensors; ++i) {
    shapes_[i] = t.all[i].shape;
    strides_[i] = t.all[i].strides;
  }
  const std::int64_t H = a.heads(), C = gdn::kChunk;
  strides_[static_cast<std::size_t>(T)] = {H * C * C, C * C, C, 1};
  strides_[static_cast<std::size_t>(b)] = {H * C, C, 1, 0};
  for (auto which = static_cast<std::size_t>(status); which < static_cast<std::size_t>(start_state); ++which) {
    std::int64_t stride = 1;
    for (std::size_t axis = t.all[which].rank; axis-- > 0; stride *= shapes_[which][axis]) strides_[which][axis] = stride;
  }
  // The kernels see the batch's rows as one axis.
  for (const GdnTensor which : {q, k, v, o}) {
    auto &shape = shapes_[static_cast<std::size_t>(which)], &strides = strides_[static_cast<std::size_t>(which)];
    shape = {shape[0] * shape[1], shape[2], shape[3], 0};
    strides = {strides[a.T > 1 ? 1 : 0], strides[2], 1, 0};
  }
  const In kind = gdn_forward_cuts(a).kept != 0 ? In::keeping : In::others;
  for (const Entry& entry : kEntries) {
    const auto i = static_cast<std::size_t>(entry.tensor);
    const bool rows = entry.tensor == q || entry.tensor == k || entry.tensor == v || entry.tensor == o, inner = entry.tensor >= T;
    const bool given = (t.all[i].given || (inner && addresses[i] != 0)) && (entry.dtype < 0 || entry.dtype == static_cast<int>(t.all[i].dtype)) &&
                       (entry.calls == In::all || entry.calls == kind);
    const std::size_t rank = rows ? 3 : t.all[i].rank;
    views_.push_back({addresses[i], given, std::span(shapes_[i]).first(rank), std::span(strides_[i]).first(rank)});
  }
  for (Named& scalar : scalars_of(a, t, static_cast<int>(sms), classes)) scalars_.push_back(std::move(scalar.second));
}

}  // namespace tilewright::ops
