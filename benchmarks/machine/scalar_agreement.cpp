// Whether scalar code gives the same bits on the card and on the simulated Hopper: approximate functions, rounded fp32
// arithmetic, conversions to 16 bits one by one and in pairs.
#include <cmath>

#include "benchmarks/machine/bench.h"
#include "tilewright/half.h"

namespace tilewright::machine {
namespace {

constexpr int kThreads = 128;

/// One result of each operation a thread.
Program functions() {
  return kernel("functions", [](Kernel& k) {
    Dim n = k.dim("n");
    auto x = k.in<f32>("x", {n}), z = k.in<f32>("z", {n});
    auto e = k.out<f32>("exp2", {n}), l = k.out<f32>("log2", {n}), r = k.out<f32>("rcp", {n});
    auto add = k.out<f32>("add", {n}), mul = k.out<f32>("mul", {n}), least = k.out<f32>("min", {n});
    auto b = k.out<bf16>("bf16", {n});
    auto h = k.out<f16>("f16", {n});
    auto [cta, unused1, unused2] = k.grid(ceil_div(n, kThreads));
    Role all = k.role("all", warps(kThreads / 32));
    all([&] {
      Index i = cta * kThreads + k.thread();
      Real a = x.read({i}), c = z.read({i});
      e.write({i}, exp2(a));
      l.write({i}, log2(a));
      r.write({i}, reciprocal(a));
      add.write({i}, a + c);
      mul.write({i}, a * c);
      least.write({i}, min(a, c));
      b.write({i}, a);
      h.write({i}, a);
    });
  });
}

/// y[M, 64] = x rounded to T, two elements at a time.
template <Half T>
Program packed() {
  return kernel("packed", [](Kernel& k) {
    Dim M = k.dim("M");
    auto x = k.in<f32>("x", {M, 64});
    auto y = k.out<T>("y", {M, 64});
    auto [m, unused1, unused2] = k.grid(ceil_div(M, 64));
    Role all = k.role("all", warpgroups(1));
    all([&] {
      auto f = k.frag<f32>({64, 64}, "x");
      load_global(f, x, {m * 64, 0}, 0, 1);
      store_global(y, {m * 64, 0}, cast<T>(f), 0, 1);
    });
  });
}

/// Numbers of every kind: special ones, the range where 2^x is finite, halves between 16-bit numbers, any bits.
std::vector<float> sweep(std::size_t count, std::uint64_t seed) {
  std::vector<float> out(count);
  const Random random{seed};
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random.bits(i);
    switch (i % 4) {
      case 0:
      case 1: out[i] = float(-150 + 280 * random.uniform(~i)); break;
      case 2: out[i] = std::bit_cast<float>(std::uint32_t(bits) & 0xfffff000u); break;
      default: out[i] = std::bit_cast<float>(std::uint32_t(bits)); break;
    }
  }
  const float special[] = {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, -126.0f, -127.0f, -149.0f, -150.0f, 127.0f, 128.0f, 127.99999f, 0x1p-126f, 0x1p-149f,
                           0x1.fffffep-127f, 65504.0f, 65519.996f, 65520.0f, 0x1p-24f, 0x1p-25f, 0x1.000002p-25f, 0x1.fffffep127f, 0x1.fep127f, 0x1.ffp127f};
  std::copy(std::begin(special), std::end(special), out.begin());
  return out;
}

using Results = std::map<std::string, std::vector<std::uint32_t>>;

Results evaluate(ops::LoadedPrograms& programs, const std::vector<float>& x, const std::vector<float>& z) {
  runtime::Device& device = programs.device();
  const auto n = std::int64_t(x.size());
  const Buffer in(device, x), second(device, z);
  Results results;
  program::TensorArguments tensors{{"x", ops::tensor(in.address(), {n}, "f32")}, {"z", ops::tensor(second.address(), {n}, "f32")}};
  std::map<std::string, std::unique_ptr<Buffer>> out;
  for (const char* name : {"exp2", "log2", "rcp", "add", "mul", "min", "bf16", "f16"}) {
    const std::string element = name == std::string("bf16") || name == std::string("f16") ? name : "f32";
    out[name] = std::make_unique<Buffer>(device, std::size_t(n) * (element == "f32" ? 4 : 2));
    out[name]->poison();
    tensors[name] = ops::tensor(out[name]->address(), {n}, element);
  }
  const auto loaded = load(programs, "functions", functions);
  program::launch(device, *loaded->kernel, loaded->built->program, tensors, {{"n", n}});
  for (const bool bf : {true, false}) {
    auto pair = std::make_unique<Buffer>(device, std::size_t(n) * 2);
    pair->poison();
    const auto kernel = bf ? load(programs, "packed bf16", packed<bf16>) : load(programs, "packed f16", packed<f16>);
    program::launch(device, *kernel->kernel, kernel->built->program,
                    {{"x", ops::tensor(in.address(), {n / 64, 64}, "f32")}, {"y", ops::tensor(pair->address(), {n / 64, 64}, bf ? "bf16" : "f16")}});
    out[bf ? "bf16x2" : "f16x2"] = std::move(pair);
  }
  device.synchronize();
  for (const auto& [name, buffer] : out) {
    if (buffer->bytes() == x.size() * 4) results[name] = buffer->host<std::uint32_t>();
    else {
      const auto halves = buffer->host<std::uint16_t>();
      results[name].assign(halves.begin(), halves.end());
    }
  }
  return results;
}

/// Floats in order as integers, so that neighbours differ by one; both zeros are 0.
std::int64_t rank(std::uint32_t bits) {
  const auto magnitude = std::int64_t(bits & 0x7fffffffu);
  return bits >> 31 ? -magnitude : magnitude;
}
bool is_nan(std::uint32_t bits) { return (bits & 0x7fffffffu) > 0x7f800000u; }

/// The card beside the simulator; `exact` in fp64, rounded to fp32 with subnormal numbers as zero.
Json approximate(const std::vector<float>& x, const std::vector<std::uint32_t>& card, const std::vector<std::uint32_t>& simulated, double (*exact)(double)) {
  std::int64_t apart = 0, card_off = 0, simulator_off = 0;
  std::size_t equal = 0, class_differs = 0;
  float worst_at = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    equal += card[i] == simulated[i];
    if (is_nan(card[i]) || is_nan(simulated[i])) {
      class_differs += is_nan(card[i]) != is_nan(simulated[i]);
      continue;
    }
    const std::int64_t d = std::abs(rank(card[i]) - rank(simulated[i]));
    if (d > apart) apart = d, worst_at = x[i];
    float right = float(exact(x[i]));
    if (std::abs(right) < 0x1p-126f) right = 0;
    if (!std::isnormal(x[i]) || !std::isnormal(right)) continue;
    const std::int64_t r = rank(std::bit_cast<std::uint32_t>(right));
    card_off = std::max(card_off, std::abs(rank(card[i]) - r));
    simulator_off = std::max(simulator_off, std::abs(rank(simulated[i]) - r));
  }
  return {{"inputs", x.size()}, {"bit_equal", double(equal) / double(x.size())}, {"nan_differs", class_differs}, {"ulp_apart_max", apart},
          {"ulp_apart_at", std::isfinite(worst_at) ? Json(worst_at) : Json("not finite")}, {"card_ulp_max", card_off}, {"simulator_ulp_max", simulator_off}};
}

}  // namespace

Json scalar_agreement(Setup& setup) {
  const std::size_t count = setup.small ? 1 << 13 : 1 << 20;
  const auto x = sweep(count, setup.seed), z = sweep(count, setup.seed + 77);
  Results card = evaluate(setup.target_programs, x, z), simulated = evaluate(setup.simulator_programs, x, z);
  Json report{{"pass", true}};
  bool passed = true;
  report["exp2"] = approximate(x, card["exp2"], simulated["exp2"], [](double v) { return std::exp2(v); });
  report["log2"] = approximate(x, card["log2"], simulated["log2"], [](double v) { return std::log2(v); });
  report["rcp"] = approximate(x, card["rcp"], simulated["rcp"], [](double v) { return 1 / v; });
  // PTX's bounds: two units in the last place and one.
  passed = passed && report["exp2"]["card_ulp_max"] <= 2 && report["exp2"]["simulator_ulp_max"] <= 2 && report["rcp"]["card_ulp_max"] <= 1 && report["rcp"]["simulator_ulp_max"] <= 1;
  for (const char* name : {"add", "mul", "min", "bf16", "f16", "bf16x2", "f16x2"}) {
    const auto &a = card[name], &b = simulated[name];
    std::size_t different = 0, not_host = 0, first = count;
    for (std::size_t i = 0; i < count; ++i) {
      if (a[i] != b[i] && different++ == 0) first = i;
      if (std::isnan(x[i])) continue;  // the host keeps the payload of a NaN
      if (std::string(name).starts_with("bf16")) not_host += a[i] != bf16_from_float(x[i]);
      else if (std::string(name).starts_with("f16")) not_host += a[i] != f16_from_float(x[i]);
    }
    report[name] = {{"inputs", count}, {"different", different}};
    if (std::string(name).find("f16") != std::string::npos) report[name]["differs_from_host_rounding"] = not_host;
    if (first < count) report[name]["first"] = {{"x", std::bit_cast<std::uint32_t>(x[first])}, {"z", std::bit_cast<std::uint32_t>(z[first])}, {"card", a[first]}, {"simulator", b[first]}};
    passed = passed && different + not_host == 0;
  }
  report["pass"] = passed;
  return report;
}

}  // namespace tilewright::machine
