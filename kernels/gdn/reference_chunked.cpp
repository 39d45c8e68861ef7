// The chunked form of the reference: matrix products of a few tens of rows, blocked for registers.
#include <algorithm>
#include <cmath>

#include "kernels/gdn/problem.h"

namespace tilewright::gdn {

namespace {

constexpr size_t kChunk = 64;

/// C[m, n] += A[m, k] B[k, n], row major with row lengths lda, ldb, ldc. Blocks of 4 x 8 of C stay in registers.
[[gnu::always_inline]] inline void product(size_t m, size_t n, size_t k, const double *a, size_t lda, const double *b,
                                           size_t ldb, double *c, size_t ldc) {
  constexpr size_t rows = 4, cols = 8;
  size_t j = 0;
  for (; j + cols <= n; j += cols) {
    size_t i = 0;
    for (; i + rows <= m; i += rows) {
      double sum[rows][cols];
      for (size_t r = 0; r < rows; ++r)
        for (size_t e = 0; e < cols; ++e)
          sum[r][e] = c[(i + r) * ldc + j + e];
      for (size_t p = 0; p < k; ++p)
        for (size_t r = 0; r < rows; ++r)
          for (size_t e = 0; e < cols; ++e)
            sum[r][e] += a[(i + r) * lda + p] * b[p * ldb + j + e];
      for (size_t r = 0; r < rows; ++r)
        for (size_t e = 0; e < cols; ++e)
          c[(i + r) * ldc + j + e] = sum[r][e];
    }
    for (; i < m; ++i)
      for (size_t p = 0; p < k; ++p)
        for (size_t e = 0; e < cols; ++e)
          c[i * ldc + j + e] += a[i * lda + p] * b[p * ldb + j + e];
  }
  for (size_t i = 0; i < m && j < n; ++i)
    for (size_t p = 0; p < k; ++p)
      for (size_t e = j; e < n; ++e)
        c[i * ldc + e] += a[i * lda + p] * b[p * ldb + e];
}

/// One sequence and value head.
[[gnu::always_inline]] inline void solve_chunks(const Problem &p) {
  const size_t dk = size_t(p.in.dk), dv = size_t(p.in.dv);
  const double scale = p.in.scale;
  std::vector<double> state = p.initial_state();
  std::vector<double> k(kChunk * dk), kt(dk * kChunk), q(kChunk * dk), u(kChunk * dv), qs(kChunk * dv), x(kChunk * dv);
  std::vector<double> kk(kChunk * kChunk), qk(kChunk * kChunk), b(kChunk), beta(kChunk);
  for (std::int64_t first = 0; first < p.length; first += std::int64_t(kChunk)) {
    const size_t n = size_t(std::min<std::int64_t>(std::int64_t(kChunk), p.length - first));
    double sum = 0;
    for (size_t i = 0; i < n; ++i) {
      const std::int64_t t = first + std::int64_t(i);
      p.key(t, &k[i * dk]), p.query(t, &q[i * dk]), p.value(t, &x[i * dv]);
      b[i] = sum += p.g(t);
      beta[i] = p.beta(t);
      for (size_t c = 0; c < dk; ++c)
        kt[c * kChunk + i] = k[i * dk + c];
    }
    for (auto *zero : {&u, &qs, &kk, &qk})
      std::fill(zero->begin(), zero->end(), 0.0);
    product(n, dv, dk, k.data(), dk, state.data(), dv, u.data(), dv);
    product(n, dv, dk, q.data(), dk, state.data(), dv, qs.data(), dv);
    product(n, n, dk, k.data(), dk, kt.data(), kChunk, kk.data(), kChunk);
    product(n, n, dk, q.data(), dk, kt.data(), kChunk, qk.data(), kChunk);
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j) {
        double decay = j <= i ? std::exp(b[i] - b[j]) : 0.0;
        kk[i * kChunk + j] *= j < i ? decay : 0.0;
        qk[i * kChunk + j] *= scale * decay;
      }
    // x: v, then the right-hand side, then (forward substitution) the solution X, row by row.
    for (size_t i = 0; i < n; ++i) {
      const double from_state = std::exp(b[i]);
      for (size_t c = 0; c < dv; ++c)
        x[i * dv + c] -= from_state * u[i * dv + c];
      for (size_t j = 0; j < i; ++j)
        for (size_t c = 0; c < dv; ++c)
          x[i * dv + c] -= kk[i * kChunk + j] * x[j * dv + c];
      for (size_t c = 0; c < dv; ++c)
        x[i * dv + c] *= beta[i];
    }
    for (size_t i = 0; i < n; ++i)
      for (size_t c = 0; c < dv; ++c)
        qs[i * dv + c] *= scale * std::exp(b[i]);
    product(n, dv, n, qk.data(), kChunk, x.data(), dv, qs.data(), dv);
    for (size_t i = 0; i < n; ++i)
      std::copy_n(&qs[i * dv], dv, p.o(first + std::int64_t(i)));
    for (double &s : state)
      s *= std::exp(b[n - 1]);
    for (size_t i = 0; i < n; ++i)
      for (size_t c = 0; c < dv; ++c)
        x[i * dv + c] *= std::exp(b[n - 1] - b[i]);
    product(dk, dv, n, kt.data(), kChunk, x.data(), dv, state.data(), dv);
  }
  p.final_state(state);
}

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void solve_avx2(const Problem &p) { solve_chunks(p); }
#endif
void solve_portable(const Problem &p) { solve_chunks(p); }

} // namespace

Outputs chunked(const Inputs &inputs, int threads) {
  auto solve = solve_portable;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    solve = solve_avx2;
#endif
  return for_each_problem(inputs, threads, solve);
}

} // namespace tilewright::gdn
