#include "runtime/cli/cases.h"

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

HostCase copy_case(const Options& o) {
  HostCase result;
  result.size = shape_of(o, "300");
  const std::int64_t rows = parse_shape(result.size, 1)[0];
  const auto x = normal_values(static_cast<std::size_t>(rows) * 64, o.seed);
  result.tensors = {{"x", "bf16", {rows, 64}, x, {}}, {"y", "bf16", {rows, 64}, {}, widened(x)}};
  return result;
}

}  // namespace tilewright::cli
