// tilewright run gdn-forward
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>

#include "kernels/gdn/reference.h"
#include "runtime/cli/command.h"
#include "runtime/cli/guarded_buffer.h"
#include "runtime/cli/schedules.h"
#include "runtime/cli/watcher.h"
#include "runtime/ops/gdn_costs.h"
#include "runtime/ops/gdn_forward.h"

namespace tilewright::cli {
namespace {

/// Largest rms ratio against fp64 of o and of the final state. Narrow keys overlap more, see docs/kernels/gdn_forward.md. Roundings of a state that
/// nothing erases add up: for sequences of more than 4096 tokens the bar grows with the root of the longest one's length.
double bar_of(gdn::Kind kind, int dk, std::int64_t longest) {
  const bool hard = kind == gdn::Kind::few_keys || kind == gdn::Kind::same_keys;
  return (hard ? 5.0e-3 : dk < 128 ? 4.5e-3 : 4.0e-3) * std::sqrt(std::max(1.0, double(longest) / 4096));
}

/// `rows` of `row` values with `margin` rows of `filler` before and after.
template <class Value>
std::vector<Value> with_margin(const std::vector<Value>& values, std::size_t row, std::size_t margin, Value filler) {
  std::vector<Value> result(values.size() + 2 * margin * row, filler);
  std::copy(values.begin(), values.end(), result.begin() + std::ptrdiff_t(margin * row));
  return result;
}

template <class Value>
GuardedBuffer uploaded(runtime::Device& device, const std::vector<Value>& values) {
  GuardedBuffer buffer(device, values.size() * sizeof(Value));
  buffer.upload(values.data());
  return buffer;
}

std::vector<std::uint8_t> offset_bytes(const std::vector<std::int64_t>& offsets, std::int64_t margin, bool wide) {
  std::vector<std::uint8_t> bytes;
  for (const std::int64_t offset : offsets)
    for (int i = 0; i < (wide ? 8 : 4); ++i) bytes.push_back(static_cast<std::uint8_t>((offset + margin) >> (8 * i)));
  return bytes;
}

struct Result {
  double rms_o = 0, rms_state = 0, seconds = 0;
  std::size_t unwritten_o = 0, unwritten_state = 0, written_outside = 0;
  bool guards_intact = true, equal_bits = true;
  std::string form, device, description;
  bool passed(double bar) const {
    return rms_o <= bar && rms_state <= bar && unwritten_o == 0 && unwritten_state == 0 && written_outside == 0 && guards_intact && equal_bits;
  }
};

Result execute(const Options& o, const gdn::Inputs& in, bool batched) {
  const auto device = device_of(o);
  const auto margin = static_cast<std::size_t>(o.margin);
  const auto hk = static_cast<std::size_t>(in.hk), hv = static_cast<std::size_t>(in.hv);
  const auto dk = static_cast<std::size_t>(in.dk), dv = static_cast<std::size_t>(in.dv);
  constexpr std::uint16_t half_nan = 0x7fff;
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  GuardedBuffer q = uploaded(*device, with_margin(in.q, hk * dk, margin, half_nan)), k = uploaded(*device, with_margin(in.k, hk * dk, margin, half_nan));
  GuardedBuffer v = uploaded(*device, with_margin(in.v, hv * dv, margin, half_nan));
  GuardedBuffer g = uploaded(*device, with_margin(in.g, hv, margin, nan)), beta = uploaded(*device, with_margin(in.beta, hv, margin, nan));
  GuardedBuffer cu = uploaded(*device, offset_bytes(in.offsets(), o.margin, o.offsets == "int64"));
  GuardedBuffer initial = uploaded(*device, in.initial_state);
  const std::size_t states = in.lens.size() * hv * dk * dv;
  GuardedBuffer out(*device, v.bytes()), final_state(*device, states * 4);

  ops::GdnForwardArguments a;
  const ops::Dtype half = ops::dtype_of(in.dtype), f32 = ops::Dtype::f32;
  a.q = {q.address(), {}, half}, a.k = {k.address(), {}, half}, a.v = {v.address(), {}, half};
  a.g = {g.address(), {}, f32}, a.beta = {beta.address(), {}, f32};
  a.cp = cp_of(o);
  a.costs = &ops::gdn_costs_of(*device).costs;
  a.o = {out.address(), {}, half}, a.final_state = {final_state.address(), {}, f32};
  if (!in.initial_state.empty()) a.initial_state = o.in_place ? a.final_state : ops::Operand{initial.address(), {}, f32};
  a.hk = in.hk, a.hv = in.hv, a.dk = in.dk, a.dv = in.dv, a.scale = in.scale, a.state_order = in.state_order;
  a.N = in.sequences();
  if (batched) {
    a.batch = o.batch;
    a.T = in.lens.front();
  } else {
    a.T = in.tokens() + 2 * o.margin;
    a.cu_seqlens = {cu.address(), {}, o.offsets == "int64" ? ops::Dtype::i64 : ops::Dtype::i32};
  }
  a.workspace_bytes = ops::GdnForward::workspace_bytes(a);
  GuardedBuffer workspace(*device, a.workspace_bytes);
  workspace.poison();
  a.workspace = workspace.address();

  ops::GdnForward op(*device, {form_of(o), build_options_of(o)});
  Result r;
  r.form = gdn::name_of(op.kernels_of(a).form);
  r.device = device->kind();
  r.description = device->description();
  const auto steps = op.prepare(a);  // compiles
  std::vector<std::uint16_t> o_bits;
  std::vector<float> state;
  for (int pass = 0; pass < (o.twice ? 2 : 1); ++pass) {
    out.poison();
    if (o.in_place) final_state.upload(in.initial_state.data());
    else final_state.poison();
    const auto begin = std::chrono::steady_clock::now();
    if (o.watcher) o.watcher->begin(*device, steps);
    op.run(a);
    device->synchronize();
    if (o.watcher) {
      o.watcher->end(*device, steps);
      o.watcher->output("o", out.address() + margin * hv * dv * 2, in.v.size(), in.dtype == gdn::DType::bf16 ? "bf16" : "f16");
      o.watcher->output("final_state", final_state.address(), states, "f32");
    }
    r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    auto new_bits = out.download<std::uint16_t>();
    auto new_state = final_state.download<float>();
    if (pass == 1) r.equal_bits = new_bits == o_bits && std::equal(new_state.begin(), new_state.end(), state.begin());
    o_bits = std::move(new_bits);
    state = std::move(new_state);
  }
  r.guards_intact = out.intact() && final_state.intact() && workspace.intact();
  const std::size_t edge = margin * hv * dv;
  const std::span<const std::uint16_t> inside(o_bits.data() + edge, o_bits.size() - 2 * edge);
  r.unwritten_o = static_cast<std::size_t>(std::count(inside.begin(), inside.end(), std::uint16_t{0xffff}));
  r.written_outside = o_bits.size() - inside.size() -
                      static_cast<std::size_t>(std::count(o_bits.begin(), o_bits.begin() + std::ptrdiff_t(edge), 0xffff) +
                                               std::count(o_bits.end() - std::ptrdiff_t(edge), o_bits.end(), 0xffff));
  r.unwritten_state = static_cast<std::size_t>(
      std::count_if(state.begin(), state.end(), [](float x) { return std::bit_cast<std::uint32_t>(x) == 0xffffffffu; }));
  if (o.check) {
    const gdn::Outputs expected = gdn::chunked(in);
    r.rms_o = gdn::rms_ratio(inside, in.dtype, expected.o);
    r.rms_state = gdn::rms_ratio(state, expected.final_state);
  }
  return r;
}

}  // namespace

int run_gdn_forward(const Options& o, std::ostream& out) {
  if (!o.shapes.empty()) throw UsageError("run: gdn-forward has no --shape, its sizes are --heads and --lens");
  if (o.in_place && o.no_initial_state) throw UsageError("run: --in-place takes an initial state, --no-initial-state has none");
  const gdn::HeadCounts heads = heads_of(o);
  const std::string lens = o.lens.empty() ? "130+64" : o.lens.front();
  gdn::InputShape shape;
  shape.lens = usage([&] { return gdn::parse_lens(lens); });
  const bool batched = o.batch > 1;
  if (batched && (shape.lens.size() != 1 || o.margin != 0))
    throw UsageError("run: --batch takes one length in --lens and no --margin; given '" + lens + "'");
  if (batched) shape.lens.assign(static_cast<std::size_t>(o.batch), shape.lens.front());
  shape.hk = heads.hk, shape.hv = heads.hv, shape.dk = o.dk, shape.dv = o.dv;
  shape.dtype = gdn::parse_dtype(o.dtype);
  shape.state_order = state_order_of(o);
  shape.initial_state = !o.no_initial_state;
  const gdn::Kind kind = gdn::parse_kind(o.kind);
  const Result r = execute(o, gdn::generate(shape, kind, o.seed), batched);
  const double bar = bar_of(kind, shape.dk, *std::max_element(shape.lens.begin(), shape.lens.end()));
  const bool passed = r.passed(bar);

  // JSON has no NaN; null says that a result holds one.
  const auto number = [](double x) { return std::isfinite(x) ? nlohmann::ordered_json(x) : nlohmann::ordered_json(); };
  if (o.json) {
    nlohmann::ordered_json json{{"kernel", "gdn-forward"}, {"heads", o.heads}, {"dk", o.dk}, {"dv", o.dv}, {"lens", lens}, {"batch", o.batch}, {"kind", o.kind},
                                {"dtype", o.dtype}, {"state_order", std::string(gdn::name_of(shape.state_order))}, {"form", r.form},
                                {"device", r.device}, {"description", r.description}, {"seconds", r.seconds}};
    if (o.check) json.update({{"rms_o", number(r.rms_o)}, {"rms_state", number(r.rms_state)}, {"bar", bar}});
    json.update({{"unwritten_o", r.unwritten_o}, {"unwritten_state", r.unwritten_state}, {"written_outside", r.written_outside},
                 {"guards_intact", r.guards_intact}, {"equal_bits", r.equal_bits}, {"pass", passed}});
    out << json.dump(2) << "\n";
  } else {
    out << fmt::format("gdn-forward --heads {}{} --lens {}{} --kind {} --dtype {}, {} form, on {} ({}): {:.3f} s\n", o.heads, widths_of(o), lens,
                       batched ? fmt::format(" --batch {}", o.batch) : "", o.kind, o.dtype, r.form, r.device, r.description, r.seconds);
    if (o.check)
      out << fmt::format("  o      rms {:.2e} against fp64 (bar {:.1e})\n  state  rms {:.2e} against fp64 (bar {:.1e})\n", r.rms_o, bar, r.rms_state, bar);
    out << fmt::format("  unwritten: {} elements of o, {} of the state; written outside: {}; guards {}{}\n", r.unwritten_o, r.unwritten_state,
                       r.written_outside, r.guards_intact ? "intact" : "OVERWRITTEN",
                       o.twice ? (r.equal_bits ? "; two runs bit-equal" : "; two runs DIFFER") : "");
    if (o.check) out << (passed ? "  pass\n" : "  FAIL\n");
  }
  return passed || !o.check ? 0 : 1;
}

}  // namespace tilewright::cli
