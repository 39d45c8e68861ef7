#include "tests/card/agreement/cases.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "kernels/gdn/inputs.h"
#include "runtime/cli/registry.h"
#include "runtime/cli/watcher.h"
#include "tests/card/agreement/gdn_call.h"
#include "tests/card/agreement/instructions.h"

namespace tilewright::test {
namespace {

/// Takes a copy of every output.
class Capture final : public cli::Watcher {
 public:
  void begin(runtime::Device& device, const ops::Steps& steps) override {
    device_ = &device;
    ran = {};
    for (const ops::Step& step : steps) ran.ptx.push_back(step.program->built->stages.ptx);
  }
  void end(runtime::Device&, const ops::Steps&) override {}
  void output(const std::string& name, runtime::DeviceAddress address, std::size_t elements, const std::string& element) override {
    Captured& c = ran.outputs.emplace_back(Captured{name, element, {}});
    c.bytes.resize(elements * program::element_bytes(element));
    device_->copy_to_host(c.bytes.data(), address, c.bytes.size());
  }
  Ran ran;

 private:
  runtime::Device* device_ = nullptr;
};

// docs/machine_measurements.md: products summed over K by wgmma are at most this times sum |a b| apart on the two devices.
double apart_of_products(std::size_t k) { return 1.4 * std::ceil(double(k) / 16) * 0x1p-23; }

constexpr double kRounding = 0x1p-7;       // two numbers rounded to bf16, by half a unit in the last place, at most 2^-8, each
constexpr double kApproximate = 0x1p-20;   // a few .approx instructions in a row: at most 2 units of 2^-23 each

Bound equal_bits(const cli::Options&, const Ran&, std::size_t) { return {Bound::Kind::equal_bits, {}, 0, 0, "equal bits: it only copies"}; }

/// C = A B^T. `slope`: the largest of the function that is applied to it.
Bound of_gemm(const cli::Options& o, double slope, double relative, std::string words) {
  const cli::HostCase host = cli::find(o.kernel).host_case(o);
  const auto &a = host.tensors[0], &b = host.tensors[1];
  const auto M = static_cast<std::size_t>(a.shape[0]), N = static_cast<std::size_t>(b.shape[0]), K = static_cast<std::size_t>(a.shape[1]);
  Bound bound{Bound::Kind::each_element, std::vector<double>(M * N), relative, 0, std::move(words)};
  for (std::size_t m = 0; m < M; ++m)
    for (std::size_t n = 0; n < N; ++n) {
      double sum = 0;
      for (std::size_t k = 0; k < K; ++k) sum += std::fabs(double(a.values[m * K + k]) * double(b.values[n * K + k]));
      bound.absolute[m * N + n] = slope * apart_of_products(K) * sum;
    }
  return bound;
}

Bound gemm(const cli::Options& o, const Ran&, std::size_t) { return of_gemm(o, 1, kRounding, "1.4 K/16 2^-23 sum|a b|, rounded to bf16"); }
Bound gelu(const cli::Options& o, const Ran&, std::size_t) {
  return of_gemm(o, 1.13, kRounding + kApproximate, "1.13 (the slope of gelu) x 1.4 K/16 2^-23 sum|a b|, .approx, rounded to bf16");
}
Bound softmax(const cli::Options&, const Ran& ran, std::size_t output) {
  return {Bound::Kind::each_element, std::vector<double>(values_of(ran.outputs[output]).size(), 0x1p-133), kRounding + kApproximate, 0, ".approx, rounded to bf16"};
}

// Kernels that round results of products to 16 bits and use them again. What differs in fp32 by d changes a rounding with
// probability p = d / ulp, by one ulp; the error against fp64 comes from the same roundings, each with the variance ulp^2 / 12. So
// the devices are sqrt(12 p) of that error apart. d is at most the bound of a sum over all tokens of a sequence and the head width
// that cancels as random signs do, sum|a b| = sqrt(K) |sum a b|; a unit is at least 2^-8 of the number in bf16, 2^-11 in f16.
// A state in fp32 carries its own difference d, too.
Bound rounded_between(std::size_t width, std::size_t tokens, const std::string& dtype, const Ran& ran, std::size_t output) {
  const std::size_t k = width + tokens;
  const double d = apart_of_products(k) * std::sqrt(double(k)), p = d / (dtype == "bf16" ? 0x1p-8 : 0x1p-11);
  const double error = ran.rms.at(output);
  return {Bound::Kind::rms, {}, 0, std::sqrt(12 * std::min(1.0, p)) * error + d, "sqrt(12 p) of the error against fp64, p = 1.4 K/16 2^-23 sqrt(K) / ulp"};
}

Bound linear_attention(const cli::Options& o, const Ran& ran, std::size_t output) {
  return rounded_between(128, static_cast<std::size_t>(cli::parse_shape(o.shapes.front(), 2)[1]), "bf16", ran, output);
}
Bound gdn_forward(const cli::Options& o, const Ran& ran, std::size_t output) {
  const auto lens = gdn::parse_lens(o.lens.front());
  return rounded_between(static_cast<std::size_t>(o.dk), static_cast<std::size_t>(*std::max_element(lens.begin(), lens.end())), o.dtype, ran, output);
}

/// Runs the command's `run` on a device.
Ran run_on(const cli::Options& given, const std::string& device) {
  Capture capture;
  cli::Options o = given;
  o.device = device;
  o.check = o.json = true;   // for the errors against fp64
  o.watcher = &capture;
  std::ostringstream out;
  if (cli::run(o, out) != 0) throw Error("the run failed its own check: " + out.str());
  const auto json = nlohmann::json::parse(out.str());
  if (json.contains("outputs"))
    for (const auto& output : json.at("outputs")) capture.ran.rms.push_back(output.at("rms"));
  else
    capture.ran.rms = {json.at("rms_o"), json.at("rms_state")};
  return std::move(capture.ran);
}

cli::Options options(const std::string& kernel, const std::string& shape = {}) {
  cli::Options o;
  o.kernel = kernel;
  if (!shape.empty()) o.shapes = {shape};
  return o;
}

Case of_command(std::string name, const cli::Options& o, Bound (*bound)(const cli::Options&, const Ran&, std::size_t)) {
  return {std::move(name), [o](const std::string& device) { return run_on(o, device); }, [o, bound](const Ran& ran, std::size_t output) { return bound(o, ran, output); }};
}

Case of_call(std::string name, const GdnCall& call) {
  const auto longest = static_cast<std::size_t>(*std::max_element(call.lens.begin(), call.lens.end())), width = static_cast<std::size_t>(call.dk);
  return {std::move(name), [call](const std::string& device) { return run_gdn_call(call, device); },
          [longest, width](const Ran& ran, std::size_t output) { return rounded_between(width, longest, "bf16", ran, output); }};
}

void add_gdn(std::vector<Case>& cases) {
  const auto add = [&](const std::string& name, const std::string& heads, const std::string& lens, const std::function<void(cli::Options&)>& set = {}) {
    cli::Options o = options("gdn-forward");
    o.heads = heads, o.lens = {lens};
    if (set) set(o);
    cases.push_back(of_command("gdn-forward " + name, o, gdn_forward));
  };
  for (const char* form : {"full", "split"})
    for (const char* dtype : {"bf16", "f16"})
      add(std::string(form) + " " + dtype, "2x4", "131+64+1+0+70", [&](cli::Options& o) { o.form = form, o.dtype = dtype; });
  for (const char* kind : {"few_keys", "same_keys", "no_decay", "strong_decay"}) add(kind, "2x4", "200+64", [&](cli::Options& o) { o.kind = kind; });
  add("v-first states", "1x3", "130+7", [](cli::Options& o) { o.state_v_first = true; });
  add("no initial state", "2x2", "192", [](cli::Options& o) { o.no_initial_state = true; });
  add("margins of NaN", "1x2", "65+7", [](cli::Options& o) { o.margin = 70; });
  add("batch", "1x4", "100", [](cli::Options& o) { o.batch = 3; });
  add("long", "1x4", "1024");
  for (const auto& [dk, dv, form] : {std::tuple{64, 64, "full"}, {64, 128, "full"}, {64, 128, "split"}, {128, 64, "full"}})
    for (const char* dtype : {"bf16", "f16"})
      add(std::to_string(dk) + " x " + std::to_string(dv) + " " + form + " " + dtype, "2x4", "131+64+1+0+70",
          [&](cli::Options& o) { o.dk = dk, o.dv = dv, o.form = form, o.dtype = dtype, o.state_v_first = dk < dv; });
  add("64 x 64 same_keys", "2x4", "200+64", [](cli::Options& o) { o.dk = o.dv = 64, o.kind = "same_keys"; });
  add("64 x 128 long", "1x4", "1024", [](cli::Options& o) { o.dk = 64; });
  GdnCall raw, linear, normed, narrow;
  raw.gates = GdnCall::Gates::raw, raw.logits = true;
  linear.gates = GdnCall::Gates::linear, linear.split = true;
  normed.l2norm = normed.narrow_states = true;
  narrow = normed, narrow.dk = 64, narrow.dv = 128;
  cases.push_back(of_call("gdn-forward raw gates, logits", raw));
  cases.push_back(of_call("gdn-forward linear gates, split", linear));
  cases.push_back(of_call("gdn-forward l2norm, bf16 states", normed));
  cases.push_back(of_call("gdn-forward 64 x 128 l2norm, bf16 states", narrow));
}

}  // namespace

const std::vector<Case>& agreement_cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> cases{of_command("copy", options("copy", "300"), equal_bits),
                            of_command("gemm", options("gemm", "264x520x392"), gemm),
                            of_command("gemm, one tile", options("gemm", "128x256x64"), gemm),
                            of_command("gemm-two-roles", options("gemm-two-roles", "200x264x136"), gemm),
                            of_command("gemm-one-role", options("gemm-one-role", "200x264x136"), gemm),
                            of_command("gemm-gelu", options("gemm-gelu", "200x264x136"), gelu),
                            of_command("softmax", options("softmax", "130x200"), softmax),
                            of_command("linear-attention", options("linear-attention", "2x200"), linear_attention)};
    add_gdn(cases);
    for (Case& c : instruction_cases()) cases.push_back(std::move(c));
    return cases;
  }();
  return all;
}

bool Agreement::agree() const {
  return problem.empty() && !outputs.empty() && std::all_of(outputs.begin(), outputs.end(), [](const Difference& d) { return d.agree; });
}

Agreement agree(const Case& c, const std::string& first, const std::string& second, const std::function<void(Ran&)>& spoil) {
  Agreement result{c.name, {}, {}};
  try {
    const Ran a = c.run(first);
    Ran b = c.run(second);
    if (spoil) spoil(b);
    if (a.ptx != b.ptx) throw Error("the devices got different PTX");
    if (a.outputs.size() != b.outputs.size()) throw Error("the devices have different outputs");
    for (std::size_t n = 0; n < a.outputs.size(); ++n) result.outputs.push_back(compare(a.outputs[n], b.outputs[n], c.bound(a, n)));
  } catch (const std::exception& error) {
    result.problem = error.what();
  }
  return result;
}

}  // namespace tilewright::test
