// The error of wgmma with fp32 accumulators: max over elements of |result - fp64| / (2^-23 sum_k |a b|), on the card and on the
// simulated Hopper, and of the difference between the two in the same unit.
#include <cmath>

#include "benchmarks/machine/bench.h"
#include "kernels/gdn/parallel.h"
#include "tilewright/half.h"

namespace tilewright::machine {
namespace {

constexpr int kM = 64, kN = 128, kK = 64;

/// c[M, N] f32 = a[M, K] b[N, K]^T: the accumulators as they are.
template <Half T>
Program product(int N) {
  return kernel("product", [N](Kernel& k) {
    Dim M = k.dim("M"), K = k.dim("K");
    auto A = k.in<T>("a", {M, K}), B = k.in<T>("b", {N, K});
    auto C = k.out<f32>("c", {M, N});
    auto [n, m, unused] = k.grid(N / kN, ceil_div(M, kM));
    auto a = k.staged<T>("a_tile", 1, {kM, kK}), b = k.staged<T>("b_tile", 1, {kN, kK});
    Role all = k.role("all", warpgroups(1));
    Ring ring = k.ring("ab", 1, all, {all}, a, b);
    all([&] {
      auto acc = k.frag<f32>({kM, kN}, "acc");
      fill(acc, 0.0);
      for_(ceil_div(K.index(), kK), [&](Index i) {
        Stage s = ring.acquire();
        ring.tma_load(s, a, A.tile({m * kM, i * kK}, {kM, kK}));
        ring.tma_load(s, b, B.tile({n * kN, i * kK}, {kN, kK}));
        s = ring.wait();
        gemm_add(acc, a[s], b[s].t());
        settle(k.batch());
        ring.release(s);
      });
      store_global(C, {m * kM, n * kN}, acc, 0, 1);
    });
  });
}

/// Families of inputs. Of `positive` every rounding goes the same way; of `wide` the magnitudes span 2^-12 .. 2^12.
enum class Family { bell, positive, wide };
const char* name_of(Family f) { return f == Family::bell ? "bell" : f == Family::positive ? "positive" : "wide"; }

float draw(Family family, const Random& random, std::uint64_t i) {
  if (family == Family::positive) return float(random.uniform(i));
  const float x = random.bell(i);
  return family == Family::bell ? x : std::ldexp(x, int(random.bits(~i) % 25) - 12);
}

struct Problem {
  std::int64_t M, N, K;
  bool bf;
  std::vector<std::uint16_t> a, b;
  std::vector<double> exact, magnitude;  // [M, N]: the product, and that of the absolute values
};

Problem make_problem(std::int64_t M, std::int64_t N, std::int64_t K, bool bf, Family family, std::uint64_t seed) {
  Problem p{M, N, K, bf, {}, {}, {}, {}};
  auto fill = [&](std::vector<std::uint16_t>& bits, std::vector<double>& values, std::int64_t count, std::uint64_t stream) {
    bits.resize(std::size_t(count));
    values.resize(std::size_t(count));
    for (std::size_t i = 0; i < bits.size(); ++i) {
      const float x = draw(family, Random{stream}, i);
      bits[i] = bf ? bf16_from_float(x) : f16_from_float(x);
      values[i] = bf ? float_from_bf16(bits[i]) : float_from_f16(bits[i]);
    }
  };
  std::vector<double> a, b;
  fill(p.a, a, M * K, seed);
  fill(p.b, b, N * K, seed + 1);
  p.exact.resize(std::size_t(M * N));
  p.magnitude.resize(std::size_t(M * N));
  gdn::parallel_for(M, 0, [&](std::int64_t m) {
    for (std::int64_t n = 0; n < N; ++n) {
      double sum = 0, magnitude = 0;
      for (std::int64_t k = 0; k < K; ++k) {
        const double x = a[std::size_t(m * K + k)] * b[std::size_t(n * K + k)];  // exact
        sum += x;
        magnitude += std::abs(x);
      }
      p.exact[std::size_t(m * N + n)] = sum;
      p.magnitude[std::size_t(m * N + n)] = magnitude;
    }
  });
  return p;
}

std::vector<float> multiply(ops::LoadedPrograms& programs, const Problem& p) {
  runtime::Device& device = programs.device();
  const int N = int(p.N);
  const auto loaded = p.bf ? load(programs, "product bf16", [=] { return product<bf16>(N); }) : load(programs, "product f16", [=] { return product<f16>(N); });
  const Buffer a(device, p.a), b(device, p.b);
  Buffer c(device, p.exact.size() * 4);
  c.poison();
  const char* element = p.bf ? "bf16" : "f16";
  program::launch(device, *loaded->kernel, loaded->built->program,
                  {{"a", ops::tensor(a.address(), {p.M, p.K}, element)}, {"b", ops::tensor(b.address(), {p.N, p.K}, element)}, {"c", ops::tensor(c.address(), {p.M, p.N}, "f32")}});
  device.synchronize();
  return c.host<float>();
}

/// Largest and root mean square of `difference(i)` in units of 2^-23 sum |a b|.
template <class F>
Json in_units(const Problem& p, F&& difference) {
  double largest = 0, squares = 0;
  for (std::size_t i = 0; i < p.exact.size(); ++i) {
    const double c = std::abs(difference(i)) / (0x1p-23 * p.magnitude[i]);
    if (std::isnan(c)) return {{"max", "NaN"}, {"rms", "NaN"}};
    largest = std::max(largest, c);
    squares += c * c;
  }
  return {{"max", largest}, {"rms", std::sqrt(squares / double(p.exact.size()))}};
}

}  // namespace

Json tensor_core_error(Setup& setup) {
  const std::int64_t side = setup.small ? 128 : 256;
  bool passed = true;
  Json rows = Json::array();
  std::uint64_t seed = setup.seed;
  for (const bool bf : {true, false})
    for (Family family : {Family::bell, Family::positive, Family::wide})
      for (std::int64_t K : {64, 128, 256, 512, 1024, 2048, 4096}) {
        if (setup.small && K > 256) continue;
        const Problem p = make_problem(side, side, K, bf, family, seed += 2);
        const auto card = multiply(setup.target_programs, p), simulated = multiply(setup.simulator_programs, p);
        std::size_t equal = 0;
        for (std::size_t i = 0; i < card.size(); ++i) equal += std::bit_cast<std::uint32_t>(card[i]) == std::bit_cast<std::uint32_t>(simulated[i]);
        Json row{{"dtype", bf ? "bf16" : "f16"}, {"family", name_of(family)}, {"K", K},
                 {"card", in_units(p, [&](std::size_t i) { return card[i] - p.exact[i]; })},
                 {"simulator", in_units(p, [&](std::size_t i) { return simulated[i] - p.exact[i]; })},
                 {"card_minus_simulator", in_units(p, [&](std::size_t i) { return double(card[i]) - double(simulated[i]); })},
                 {"card_mean_signed", 0.0}, {"bit_equal", double(equal) / double(card.size())}};
        double bias = 0;
        for (std::size_t i = 0; i < card.size(); ++i) bias += (card[i] - p.exact[i]) / (0x1p-23 * p.magnitude[i]);
        row["card_mean_signed"] = bias / double(card.size());
        // Right to fp32 accumulation in steps of 16 with truncation; a wrong product is off by far more.
        for (const char* who : {"card", "simulator"}) passed = passed && row[who]["max"].is_number() && row[who]["max"].get<double>() <= 4 + double(K) / 16;
        rows.push_back(row);
      }
  return {{"pass", passed}, {"unit", "2^-23 sum |a b|"}, {"M", side}, {"N", side}, {"rows", rows}};
}

}  // namespace tilewright::machine
