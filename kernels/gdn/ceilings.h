// The least time that the machine allows for a forward call.
#pragma once
#include <cstdint>
#include <span>

#include "kernels/gdn/config.h"
#include "kernels/gdn/inputs.h"

namespace tilewright::gdn {

/// What an H200 reaches: bytes of a large copy in device memory, read and written, and operations of a large bf16 product.
inline constexpr double kCopyBytesPerSecond = 4.3e12, kProductFlopsPerSecond = 790e12;

/// Milliseconds; no call is faster than the longer of the two.
struct Ceilings {
  double tensor_ms, memory_ms;
};

/// Of a forward call with 16-bit q, k, v and o, fp32 gates, write strengths, initial and final states.
///
/// Memory: every tensor passes once. Tensor cores: per chunk of 64 tokens the products S K, S Q, V K, T W and P V for a value head, Q K^T and
/// K K^T for a key head, which its value heads can share. A sequence's last chunk counts as a whole one. What is left out: the inverse,
/// exponentials, T between the kernels, and that a sequence's chunks follow each other.
inline Ceilings forward_ceilings(std::span<const std::int64_t> lens, HeadCounts heads, int dk = 128, int dv = 128) {
  double tokens = 0, chunks = 0;
  for (const std::int64_t length : lens) {
    tokens += double(length);
    chunks += double((length + kChunk - 1) / kChunk);
  }
  const double K = dk, V = dv, C = kChunk, N = double(lens.size());
  const double flops = 2 * C * chunks * (heads.hv * (3 * K * V + 2 * C * V) + heads.hk * 2 * C * K);
  const double bytes = tokens * (2 * (2 * heads.hk * K + 2 * heads.hv * V) + 4 * 2 * heads.hv) + 4 * 2 * N * heads.hv * K * V;
  return {flops / kProductFlopsPerSecond * 1e3, bytes / kCopyBytesPerSecond * 1e3};
}

}  // namespace tilewright::gdn
