#include "runtime/sim/matrix_product.h"

#include <cstring>

namespace tilewright::runtime::sim {
namespace {

using Four = float __attribute__((vector_size(16)));
using Eight = float __attribute__((vector_size(32)));

#define TILEWRIGHT_INTO_CALLER inline __attribute__((always_inline))

// R rows and sixteen columns at a time stay in registers; b's rows are read once for R rows of a.
template <unsigned R>
TILEWRIGHT_INTO_CALLER void product(float* __restrict c, const float* __restrict a, const float* __restrict b, unsigned rows, unsigned n, unsigned k) {
  constexpr unsigned N = 16;
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

TILEWRIGHT_INTO_CALLER void add(std::byte* registers, const std::int32_t* places, const float* sums, unsigned n, bool keep) {
  for (unsigned r = 0; r < n / 2; r += 2) {   // two registers: the even and the odd ones of eight columns
    float* even = reinterpret_cast<float*>(registers + places[r]);
    float* odd = reinterpret_cast<float*>(registers + places[r + 1]);
    const float* s = sums + 8 * (r / 2 % 2) * n + 8 * (r / 4);
    for (unsigned row = 0; row < 8; ++row, s += n, even += 4, odd += 4) {
      Eight x;
      std::memcpy(&x, s, sizeof x);
      Four of_even = __builtin_shufflevector(x, x, 0, 2, 4, 6), of_odd = __builtin_shufflevector(x, x, 1, 3, 5, 7), before[2];
      if (keep) {
        std::memcpy(&before[0], even, sizeof before[0]);
        std::memcpy(&before[1], odd, sizeof before[1]);
        of_even += before[0];
        of_odd += before[1];
      }
      std::memcpy(even, &of_even, sizeof of_even);
      std::memcpy(odd, &of_odd, sizeof of_odd);
    }
  }
}

// The same for processors with wider vectors, chosen when the program starts.
struct Functions {
  void (*product)(float*, const float*, const float*, unsigned, unsigned, unsigned);
  void (*add)(std::byte*, const std::int32_t*, const float*, unsigned, bool);
};

void product_plain(float* c, const float* a, const float* b, unsigned rows, unsigned n, unsigned k) { product<4>(c, a, b, rows, n, k); }
void add_plain(std::byte* registers, const std::int32_t* places, const float* sums, unsigned n, bool keep) { add(registers, places, sums, n, keep); }

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void product_256(float* c, const float* a, const float* b, unsigned rows, unsigned n, unsigned k) {
  product<4>(c, a, b, rows, n, k);
}
__attribute__((target("avx2,fma"))) void add_256(std::byte* registers, const std::int32_t* places, const float* sums, unsigned n, bool keep) {
  add(registers, places, sums, n, keep);
}
__attribute__((target("avx512f,avx512vl,avx2,fma"))) void product_512(float* c, const float* a, const float* b, unsigned rows, unsigned n, unsigned k) {
  product<8>(c, a, b, rows, n, k);
}

Functions choose() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return {product_plain, add_plain};
  return {__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") ? product_512 : product_256, add_256};
}
#else
Functions choose() { return {product_plain, add_plain}; }
#endif

const Functions functions = choose();

}  // namespace

void multiply(float* c, const float* a, const float* b, unsigned rows, unsigned n, unsigned k) { functions.product(c, a, b, rows, n, k); }

void add_to_fragment(std::byte* registers, const std::int32_t* places, const float* sums, unsigned n, bool keep) {
  functions.add(registers, places, sums, n, keep);
}

}  // namespace tilewright::runtime::sim
