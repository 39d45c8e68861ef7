#include "runtime/sim/matrix_product.h"

#include <bit>

#include "runtime/sim/numeric.h"

#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
#if defined(__has_feature)
#if !__has_feature(address_sanitizer)
#define TILEWRIGHT_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
#else
#define TILEWRIGHT_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
#endif
#ifndef TILEWRIGHT_CLONES
#define TILEWRIGHT_CLONES
#endif

namespace tilewright::runtime::sim {

void widen(MatrixElement e, std::uint32_t word, float* out) {
  switch (e) {
    case MatrixElement::bf16:
      out[0] = std::bit_cast<float>(word << 16);
      out[1] = std::bit_cast<float>(word & 0xffff0000u);
      break;
    case MatrixElement::f16:
      out[0] = half_to_float(static_cast<std::uint16_t>(word));
      out[1] = half_to_float(static_cast<std::uint16_t>(word >> 16));
      break;
    case MatrixElement::tf32: out[0] = truncate_tf32(word); break;
  }
}

// Four rows and sixteen columns at a time stay in registers; b's rows are read once for four rows of a.
TILEWRIGHT_CLONES
void multiply(float* __restrict c, const float* __restrict a, const float* __restrict b, unsigned rows, unsigned n, unsigned k) {
  constexpr unsigned R = 4, N = 16;
  unsigned n0 = 0;
  for (; n0 + N <= n; n0 += N)
    for (unsigned m = 0; m < rows; m += R) {
      float s[R][N] = {};
      for (unsigned kk = 0; kk < k; ++kk) {
        const float* row = b + kk * n + n0;
        for (unsigned r = 0; r < R; ++r) {
          const float x = a[(m + r) * k + kk];
          for (unsigned j = 0; j < N; ++j) s[r][j] += x * row[j];
        }
      }
      for (unsigned r = 0; r < R; ++r)
        for (unsigned j = 0; j < N; ++j) c[(m + r) * n + n0 + j] = s[r][j];
    }
  for (unsigned m = 0; m < rows; ++m)
    for (unsigned j = n0; j < n; ++j) {
      float s = 0.0f;
      for (unsigned kk = 0; kk < k; ++kk) s += a[m * k + kk] * b[kk * n + j];
      c[m * n + j] = s;
    }
}

TILEWRIGHT_CLONES
void add_to_fragment(float* __restrict even, float* __restrict odd, const float* __restrict sums, unsigned n, bool keep) {
  for (unsigned row = 0; row < 8; ++row, sums += n, even += 4, odd += 4)
    for (unsigned q = 0; q < 4; ++q) {
      even[q] = keep ? even[q] + sums[2 * q] : sums[2 * q];
      odd[q] = keep ? odd[q] + sums[2 * q + 1] : sums[2 * q + 1];
    }
}

}  // namespace tilewright::runtime::sim
