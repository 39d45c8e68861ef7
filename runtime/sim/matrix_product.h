// The arithmetic of the tensor cores. Products of bf16, f16 and tf32 operands are exact in fp32; the products of one instruction
// are summed in fp32 in the order of k, starting from zero, and the sum is added to the accumulator with one rounding.
// The card sums in another order and truncates, so results agree within c * 2^-23 * sum |a b|, not bit for bit.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

#include "runtime/sim/numeric.h"

namespace tilewright::runtime::sim {

enum class MatrixElement : std::uint8_t { bf16, f16, tf32 };

/// One 32-bit word of a fragment or row as floats: two for 16-bit elements (low half first), one for tf32.
inline void widen(MatrixElement e, std::uint32_t word, float* out) {
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

/// c[m][n] = sum over k of a[m][k] * b[k][n]; all row-major and dense, overwritten. rows <= 64, n <= 256, k <= 16.
void multiply(float* c, const float* a, const float* b, unsigned rows, unsigned n, unsigned k);

/// The accumulator of a warp, 16 rows of n columns: register r of `places`, given by its byte offset from `registers`, holds of lane l
/// the element of row l / 4 + 8 (r / 2 % 2) and column 8 (r / 4) + 2 (l % 4) + r % 2. It becomes, or with `keep` has added, the
/// sums, which are dense.
void add_to_fragment(std::byte* registers, const std::int32_t* places, const float* sums, unsigned n, bool keep);

}  // namespace tilewright::runtime::sim
