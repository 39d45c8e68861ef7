#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tilewright::target {

/// Limits of a tiled tensor map (CUDA driver API, cuTensorMapEncodeTiled).
inline constexpr int kTmaMaxRank = 5;
inline constexpr int kTmaMaxBoxExtent = 256;
inline constexpr int kTmaInnerGranuleBytes = 16;
inline constexpr std::int64_t kTmaMaxExtent = std::int64_t{1} << 32;
inline constexpr std::int64_t kTmaStrideLimitBytes = std::int64_t{1} << 40;
/// Alignment in bytes of the tensor's address, and of the CUtensorMap itself.
inline constexpr int kTmaAddressAlignment = 16;
inline constexpr int kTmaMapAlignment = 64;
inline constexpr int kTmaMapBytes = 128;

/// A box that TMA copies between global and shared memory in one instruction.
struct TmaBox {
  std::span<const std::int64_t> extents; ///< elements along each dimension, innermost first
  int elementBytes = 0;                  ///< 1, 2, 4 or 8
  int swizzleBytes = 0;                  ///< 0 (none), 32, 64 or 128
};

/// Bytes of shared memory one box fills (what its mbarrier expects).
std::int64_t tmaBoxBytes(const TmaBox &box);

/// What makes the box impossible, in words with the given and the expected value; nothing when it is legal:
/// rank 1..5, each extent in 1..256, the innermost row a multiple of 16 bytes and, when swizzled, at most the
/// swizzle span.
std::optional<std::string> tmaBoxProblem(const TmaBox &box);

/// What is wrong with the global tensor behind a map; nothing when it is legal: address a multiple of 16, extents
/// in 1..2^32, strides of the outer dimensions (`stridesBytes`, one fewer than extents, innermost first) multiples
/// of 16 below 2^40.
std::optional<std::string> tmaTensorProblem(std::uint64_t address, std::span<const std::int64_t> extents,
                                            std::span<const std::int64_t> stridesBytes);

/// Alignment in bytes that a swizzled box needs in shared memory so that its pattern starts at row 0:
/// 8 rows of the span (1024 for 128 bytes), 128 without swizzle.
int tmaSharedAlignment(int swizzleBytes);

} // namespace tilewright::target
