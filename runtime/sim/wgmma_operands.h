// Where a wgmma has its operands: matrices in shared memory as descriptors give them, and what the decoder left of the instruction.
#pragma once
#include <string>

#include "runtime/sim/machine.h"
#include "runtime/sim/matrix_product.h"

namespace tilewright::runtime::sim {

// Of a wgmma.mma_async: extra 0 n, 1 element, 2 flags, 3 accumulator registers, 4 predicate constant; list: accumulator, A's registers
enum WgmmaFlag : int { a_in_registers = 1, transpose_a = 2, transpose_b = 4, negate_a = 8, negate_b = 16, half_accumulator = 32, constant_scale = 64 };

/// A matrix in shared memory as its descriptor gives it.
struct SharedMatrix {
  static constexpr unsigned chunk = 16;   // bytes that lie together
  std::uint64_t start, leading, stride;
  unsigned span;   // bytes of the swizzle's row, 0 without swizzle

  explicit SharedMatrix(std::uint64_t d)
      : start((d & 0x3fff) << 4), leading((d >> 16 & 0x3fff) << 4), stride((d >> 32 & 0x3fff) << 4) {
    static constexpr unsigned spans[] = {0, 128, 64, 32};
    span = spans[d >> 62];
  }
  std::uint64_t swizzle(std::uint64_t a) const { return span ? a ^ ((a >> 3) & (span - chunk)) : a; }
  /// Address of the 16-byte chunk `part` along k of row `r`, K-major.
  std::uint64_t k_major(unsigned r, unsigned part) const {
    if (span) return swizzle(start + r / 8 * stride + r % 8 * span + part * chunk);
    return start + r / 8 * stride + r % 8 * chunk + part * leading;
  }
  /// Address of the chunk of eight 16-bit elements from `mn` (a multiple of 8) on, at k, MN-major.
  std::uint64_t mn_major(unsigned mn, unsigned k) const {
    if (span) {
      const unsigned row = span / 2;
      return swizzle(start + mn / row * leading + k / 8 * stride + k % 8 * span + mn % row * 2);
    }
    return start + mn / 8 * stride + k / 8 * leading + k % 8 * chunk;
  }
};

/// Calls f(row, k, place) for every 16-byte chunk of a matrix of `rows` rows (m or n) and `k` columns: the place of the element
/// (row, k), from which the others of the chunk follow along the rows (MN-major) or along k. Fault where it lies outside.
template <class F>
void each_chunk(Cta& cta, std::uint64_t descriptor, MatrixElement e, bool mn_major, unsigned rows, unsigned k, const char* what, F&& f) {
  const SharedMatrix matrix(descriptor);
  if (descriptor >> 49 & 7) throw Fault{std::string(what) + ": a descriptor with a base offset; expected tiles that start at a multiple of eight swizzled rows"};
  constexpr unsigned chunk = SharedMatrix::chunk;
  const auto place = [&](std::uint64_t address) {
    return address >= shared_base && address + chunk <= cta.shared.size() ? cta.shared.data() + address : cta.shared_at(address, chunk, chunk, -1, what);
  };
  if (mn_major) {
    for (unsigned kk = 0; kk < k; ++kk)
      for (unsigned r = 0; r < rows; r += 8) f(r, kk, place(matrix.mn_major(r, kk)));
  } else {
    const unsigned per_chunk = e == MatrixElement::tf32 ? 4 : 8;
    for (unsigned r = 0; r < rows; ++r)
      for (unsigned part = 0; part * per_chunk < k; ++part) f(r, part * per_chunk, place(matrix.k_major(r, part)));
  }
}

}  // namespace tilewright::runtime::sim
