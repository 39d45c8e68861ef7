#include "runtime/cli/cases.h"

#include <algorithm>
#include <cmath>

#include "examples/linear_attention.h"
#include "examples/softmax.h"

namespace tilewright::cli {
namespace {

/// Rounding to bf16 alone gives 1.7e-3 on normally distributed results.
constexpr double kRoundingBar = 2.5e-3;

std::string shape_of(const Options& o, const char* fallback) { return o.shapes.empty() ? fallback : o.shapes.front(); }

std::vector<double> widened(const std::vector<float>& values) { return {values.begin(), values.end()}; }

}  // namespace

HostCase gemm_case(const Options& o) {
  HostCase result;
  result.size = shape_of(o, "256x256x128");
  const auto sizes = parse_shape(result.size, 3);
  const auto M = static_cast<std::size_t>(sizes[0]), N = static_cast<std::size_t>(sizes[1]), K = static_cast<std::size_t>(sizes[2]);
  if (N % 8 != 0 || K % 8 != 0) throw UsageError("shape '" + result.size + "': expected N and K that are multiples of 8 (rows of 16 bytes)");
  const auto a = normal_values(M * K, o.seed), b = normal_values(N * K, o.seed + 1);
  std::vector<double> c(M * N);
  for (std::size_t m = 0; m < M; ++m)
    for (std::size_t n = 0; n < N; ++n) {
      double sum = 0;
      for (std::size_t k = 0; k < K; ++k) sum += double(a[m * K + k]) * double(b[n * K + k]);
      c[m * N + n] = sum;
    }
  result.tensors = {{"a", "bf16", {sizes[0], sizes[2]}, a, {}}, {"b", "bf16", {sizes[1], sizes[2]}, b, {}},
                    {"c", "bf16", {sizes[0], sizes[1]}, {}, c}};
  result.bar = kRoundingBar;
  result.flops = 2.0 * double(M) * double(N) * double(K);
  return result;
}

HostCase gemm_gelu_case(const Options& o) {
  HostCase result = gemm_case(o);
  for (double& x : result.tensors[2].expected) x /= 1 + std::exp(-2 * std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x));
  return result;
}

HostCase copy_case(const Options& o) {
  HostCase result;
  result.size = shape_of(o, "300");
  const std::int64_t rows = parse_shape(result.size, 1)[0];
  const auto x = normal_values(static_cast<std::size_t>(rows) * 64, o.seed);
  result.tensors = {{"x", "bf16", {rows, 64}, x, {}}, {"y", "bf16", {rows, 64}, {}, widened(x)}};
  return result;
}

HostCase softmax_case(const Options& o) {
  HostCase result;
  result.size = shape_of(o, "130x200");
  const auto sizes = parse_shape(result.size, 2);
  const std::int64_t most = examples::SoftmaxConfig{}.columns;
  if (sizes[1] % 8 != 0 || sizes[1] > most)
    throw UsageError("shape '" + result.size + "': expected columns that are a multiple of 8, at most " + std::to_string(most));
  const auto M = static_cast<std::size_t>(sizes[0]), N = static_cast<std::size_t>(sizes[1]);
  const auto x = normal_values(M * N, o.seed);
  std::vector<double> y(M * N);
  for (std::size_t row = 0; row < M; ++row) {
    const auto at = x.begin() + std::ptrdiff_t(row * N);
    const double top = *std::max_element(at, at + std::ptrdiff_t(N));
    double sum = 0;
    for (std::size_t i = row * N; i < (row + 1) * N; ++i) sum += y[i] = std::exp(x[i] - top);
    for (std::size_t i = row * N; i < (row + 1) * N; ++i) y[i] /= sum;
  }
  result.tensors = {{"x", "bf16", sizes, x, {}}, {"y", "bf16", sizes, {}, y}};
  result.bar = kRoundingBar;
  return result;
}

HostCase linear_attention_case(const Options& o) {
  HostCase result;
  result.size = shape_of(o, "2x200");
  const auto sizes = parse_shape(result.size, 2);
  const examples::LinearAttentionConfig c;
  const auto B = static_cast<std::size_t>(sizes[0]), T = static_cast<std::size_t>(sizes[1]), H = static_cast<std::size_t>(c.heads);
  const auto dk = static_cast<std::size_t>(c.dk), dv = static_cast<std::size_t>(c.dv);
  const auto q = normal_values(B * T * H * dk, o.seed), k = normal_values(B * T * H * dk, o.seed + 1), v = normal_values(B * T * H * dv, o.seed + 2);
  const double scale = 1.0 / 128;
  std::vector<double> out(v.size());
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t h = 0; h < H; ++h) {
      std::vector<double> S(dk * dv);
      for (std::size_t t = 0; t < T; ++t) {
        const std::size_t at = (b * T + t) * H + h;
        for (std::size_t i = 0; i < dk; ++i)
          for (std::size_t j = 0; j < dv; ++j) {
            S[i * dv + j] += double(k[at * dk + i]) * double(v[at * dv + j]);
            out[at * dv + j] += scale * double(q[at * dk + i]) * S[i * dv + j];
          }
      }
    }
  const std::vector<std::int64_t> keys{sizes[0], sizes[1], c.heads, c.dk}, values{sizes[0], sizes[1], c.heads, c.dv};
  result.tensors = {{"q", "bf16", keys, q, {}}, {"k", "bf16", keys, k, {}}, {"v", "bf16", values, v, {}}, {"o", "bf16", values, {}, out}};
  result.scalars = {{"scale", scale}};
  result.bar = 4.0e-3;  // state, scores and result are rounded to 16 bits
  return result;
}

}  // namespace tilewright::cli
