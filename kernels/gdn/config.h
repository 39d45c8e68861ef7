// Configuration of the GDN kernels: what is fixed when they are compiled.
#pragma once

namespace tilewright::gdn {

/// Tokens of a chunk.
inline constexpr int kChunk = 64;

/// Heads and widths. Query and key heads are shared by value_heads / key_heads value heads each.
struct Heads {
  int key_heads = 16, value_heads = 64;
  int dk = 128, dv = 128;
  int group() const { return value_heads / key_heads; }
};

/// The forward kernel.
struct ForwardConfig {
  Heads heads;
  int value_columns = 128;     ///< columns of V (rows of S^T) of one CTA: 128, or 64 where chains are few
  bool state_v_first = false;  ///< states are [N, Hv, V, K] instead of [N, Hv, K, V]
  int stages = 3;
};

}  // namespace tilewright::gdn
