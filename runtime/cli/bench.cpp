// tilewright bench
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <ostream>

#include "kernels/gdn/ceilings.h"
#include "runtime/cli/gdn_bench_call.h"
#include "runtime/cli/host_case.h"
#include "runtime/cli/registry.h"
#include "runtime/cuda/timing.h"
#include "runtime/ops/gdn_costs.h"
#include "runtime/ops/gemm.h"

namespace tilewright::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Median microseconds of the host per call, without waiting for the device.
template <class Call>
double host_microseconds(runtime::Device& device, Call&& call) {
  std::vector<double> times;
  for (int i = 0; i < 60; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  device.synchronize();
  std::nth_element(times.begin(), times.begin() + 30, times.end());
  return times[30];
}

/// Times of all steps together and of each by itself.
Json time_steps(runtime::Device& device, const ops::Steps& steps, double flops) {
  cuda::TimingOptions timing;
  timing.graph = true;
  Json row;
  const double total = cuda::time_launches_ms(device, [&](void* stream) { ops::launch_steps(device, steps, stream); }, timing);
  row["ms"] = total;
  row["tflops"] = flops / total * 1e-9;
  for (const ops::Step& step : steps) {
    const double ms = cuda::time_launches_ms(
        device, [&](void* stream) { step.bound.launch(device, *step.program->kernel, stream); }, timing);
    row["kernels"].push_back({{"name", step.program->built->program.name()}, {"ms", ms}});
  }
  return row;
}

/// Floating-point operations of the matrix products of a forward call, by chunks of 64 rows as the kernels do them.
double forward_flops(const std::vector<std::int64_t>& lens, gdn::HeadCounts heads, double dk, double dv) {
  double chunks = 0;
  for (const std::int64_t length : lens) chunks += double((length + gdn::kChunk - 1) / gdn::kChunk);
  constexpr double C = gdn::kChunk;
  const double per_value_head = 3 * C * dk * dv + C * C * (2 * dv + dk);  // S K, S Q, V K; T W, P V, Q K
  return 2 * chunks * (heads.hv * per_value_head + heads.hk * C * C * dk);
}

std::vector<std::int64_t> lens_of(const std::string& text) {
  auto lens = usage([&] { return gdn::parse_lens(text); });
  if (std::all_of(lens.begin(), lens.end(), [](std::int64_t length) { return length == 0; })) throw UsageError("bench: --lens '" + text + "' has no tokens");
  return lens;
}

Json ceilings_of(const Options& o, const std::string& lens_text) {
  const gdn::Ceilings least = gdn::forward_ceilings(lens_of(lens_text), heads_of(o));
  return {{"tensor_ms", least.tensor_ms}, {"memory_ms", least.memory_ms}};
}
/// What the machine allows, and how near the row's time comes to it.
void add_shares(Json& row, const Json& ceilings) {
  const double ms = row["ms"].get<double>();
  row["ceilings"] = ceilings;
  row["share"] = {{"tensor", ceilings["tensor_ms"].get<double>() / ms}, {"memory", ceilings["memory_ms"].get<double>() / ms}};
}

Json bench_gdn_forward(runtime::Device& device, const Options& o, const std::string& lens_text) {
  const gdn::HeadCounts heads = heads_of(o);
  const auto lens = lens_of(lens_text);
  gdn::InputShape shape;
  std::int64_t tokens = 0;
  for (const std::int64_t length : lens) tokens += length;
  shape.lens = {std::min(tokens, GdnBenchCall::kTokens)};
  shape.hk = heads.hk, shape.hv = heads.hv, shape.dk = o.dk, shape.dv = o.dv;
  shape.dtype = gdn::parse_dtype(o.dtype);
  shape.state_order = state_order_of(o);
  const gdn::Inputs in = gdn::generate(shape, gdn::Kind::ordinary, 0);
  GdnBenchCall call(device, lens, in);
  ops::GdnForwardArguments& a = call.arguments;
  a.cp = cp_of(o), a.costs = &ops::gdn_costs_of(device).costs;
  if (o.in_place) a.final_state = a.initial_state;
  call.allocate_workspace();

  ops::GdnForward op(device, {form_of(o), build_options_of(o)});
  const auto begin = std::chrono::steady_clock::now();
  const auto steps = op.prepare(a);
  const double compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  Json row{{"kernel", "gdn-forward"}, {"heads", o.heads}, {"dk", o.dk}, {"dv", o.dv}, {"lens", lens_text}, {"dtype", o.dtype}, {"form", gdn::name_of(op.kernels_of(a).form)},
           {"first_call_seconds", compile_seconds}};
  if (o.in_place) row["in_place"] = true;
  row.update(time_steps(device, steps, forward_flops(lens, heads, o.dk, o.dv)));
  add_shares(row, ceilings_of(o, lens_text));
  row["host_us"] = host_microseconds(device, [&] { op.run(a); });
  return row;
}

Json bench_gemm(runtime::Device& device, const Options& o, ops::GemmRung rung, const std::string& text) {
  const auto sizes = parse_shape(text, 3);
  const std::int64_t M = sizes[0], N = sizes[1], K = sizes[2];
  const std::vector<float> values = normal_values(1 << 20, 0);
  std::vector<std::uint16_t> bits(values.size());
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = gdn::encode(values[i], gdn::DType::bf16);
  const GuardedBuffer A = repeated(device, std::size_t(M * K) * 2, bits), B = repeated(device, std::size_t(N * K) * 2, bits);
  const GuardedBuffer C(device, std::size_t(M * N) * 2);
  ops::Gemm op(device, rung, build_options_of(o));
  const ops::GemmArguments a{A.address(), B.address(), C.address(), M, N, K};
  Json row{{"kernel", o.kernel}, {"shape", text}};
  row.update(time_steps(device, op.prepare(a), 2.0 * double(M) * double(N) * double(K)));
  row["host_us"] = host_microseconds(device, [&] { op.run(a); });
  return row;
}

/// The ceilings of every --lens, without a device.
int print_ceilings(const Options& o, std::ostream& out) {
  Json rows = Json::array();
  for (const std::string& size : o.lens) rows.push_back({{"heads", o.heads}, {"lens", size}, {"ceilings", ceilings_of(o, size)}});
  if (o.json) {
    out << Json{{"rows", rows}}.dump(2) << "\n";
    return 0;
  }
  for (const Json& row : rows)
    out << fmt::format("gdn-forward {} {:<18} tensor cores {:.4f} ms, memory {:.4f} ms on an H200\n", o.heads, row["lens"].get<std::string>(),
                       row["ceilings"]["tensor_ms"].get<double>(), row["ceilings"]["memory_ms"].get<double>());
  return 0;
}

ops::GemmRung rung_of(const std::string& name) {
  if (name == "gemm") return ops::GemmRung::fast;
  return name == "gemm-two-roles" ? ops::GemmRung::two_roles : ops::GemmRung::one_role;
}

}  // namespace

std::unique_ptr<runtime::Device> card_for(const char* subcommand) {
  try {
    return runtime::make_device("cuda");
  } catch (const Error& error) {
    throw Error(std::string(subcommand) + " needs a card, the simulated device has no times: " + error.what());
  }
}

int bench(const Options& o, std::ostream& out) {
  const Entry& entry = find(o.kernel);
  const bool forward = entry.name == "gdn-forward", product = entry.name.starts_with("gemm");
  if (!forward && !product) throw UsageError("bench: '" + o.kernel + "' is an example, expected gdn-forward or a gemm");
  if (forward != o.shapes.empty() || product != o.lens.empty())
    throw UsageError(forward ? "bench: gdn-forward takes --lens, like --lens 8192x4" : "bench: a gemm takes --shape, like --shape 8192x8192x8192");
  if ((forward ? o.lens : o.shapes).empty()) throw UsageError(forward ? "bench: --lens is missing" : "bench: --shape is missing");
  for (const auto& [option, given] : {std::pair{"--ceilings", o.ceilings}, {"--in-place", o.in_place}})
    if (given && !forward) throw UsageError(std::string("bench: ") + option + " is an option of gdn-forward");
  if (o.ceilings) return print_ceilings(o, out);
  if (o.device == "sim") throw UsageError("bench: times of the simulated device say nothing of the card; expected --device cuda");
  const auto device = card_for("bench");

  Json rows = Json::array();
  if (!o.json) out << device->description() << "\n";
  for (const std::string& size : forward ? o.lens : o.shapes) {
    const Json row = forward ? bench_gdn_forward(*device, o, size) : bench_gemm(*device, o, rung_of(entry.name), size);
    rows.push_back(row);
    if (o.json) continue;
    out << fmt::format("{} {} {:<18} {:>9.4f} ms {:>7.1f} TFLOP/s, ", entry.name, forward ? o.heads + widths_of(o) : "", size, row["ms"].get<double>(),
                       row["tflops"].get<double>());
    if (forward)
      out << fmt::format("{:.0f} % of the tensor and {:.0f} % of the memory ceiling, ", 100 * row["share"]["tensor"].get<double>(),
                         100 * row["share"]["memory"].get<double>());
    out << fmt::format("host {:.1f} us a call:", row["host_us"].get<double>());
    for (const Json& kernel : row["kernels"]) out << fmt::format(" {} {:.4f}", kernel["name"].get<std::string>(), kernel["ms"].get<double>());
    out << "\n" << std::flush;
  }
  if (o.json) out << Json{{"description", device->description()}, {"rows", rows}}.dump(2) << "\n";
  return 0;
}

}  // namespace tilewright::cli
