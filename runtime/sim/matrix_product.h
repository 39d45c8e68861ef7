// The arithmetic of the tensor cores. Products of bf16, f16 and tf32 operands are exact in fp32; the products of one instruction
// are summed in fp32 in the order of k, starting from zero, and the sum is added to the accumulator with one rounding.
// The card sums in another order and truncates, so results agree within c * 2^-23 * sum |a b|, not bit for bit.
#pragma once
#include <cstdint>

namespace tilewright::runtime::sim {

enum class MatrixElement : std::uint8_t { bf16, f16, tf32 };

/// One 32-bit word of a fragment or row as floats: two for 16-bit elements (low half first), one for tf32.
void widen(MatrixElement, std::uint32_t word, float* out);

/// c[m][n] = sum over k of a[m][k] * b[k][n]; all row-major and dense, overwritten. rows <= 64, n <= 256, k <= 16.
void multiply(float* c, const float* a, const float* b, unsigned rows, unsigned n, unsigned k);

/// Two registers of a warp's accumulator, which hold the even and the odd ones of eight columns in eight rows: lane l those of row
/// l / 4 at 2 (l % 4). They become, or with `keep` have added, the sums at `sums`, whose rows are n apart.
void add_to_fragment(float* even, float* odd, const float* sums, unsigned n, bool keep);

}  // namespace tilewright::runtime::sim
