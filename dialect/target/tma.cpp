#include "dialect/target/tma.h"

namespace tilewright::target {

using std::to_string;

std::int64_t tmaBoxBytes(const TmaBox &box) {
  std::int64_t bytes = box.elementBytes;
  for (std::int64_t extent : box.extents)
    bytes *= extent;
  return bytes;
}

std::optional<std::string> tmaBoxProblem(const TmaBox &box) {
  std::size_t rank = box.extents.size();
  if (rank < 1 || rank > kTmaMaxRank)
    return "TMA box of rank " + to_string(rank) + ", expected 1..5";
  if (box.elementBytes != 1 && box.elementBytes != 2 && box.elementBytes != 4 && box.elementBytes != 8)
    return "TMA element of " + to_string(box.elementBytes) + " bytes, expected 1, 2, 4 or 8";
  if (box.swizzleBytes != 0 && box.swizzleBytes != 32 && box.swizzleBytes != 64 && box.swizzleBytes != 128)
    return "TMA swizzle of " + to_string(box.swizzleBytes) + " bytes, expected 0, 32, 64 or 128";
  for (std::size_t i = 0; i < rank; ++i)
    if (box.extents[i] < 1 || box.extents[i] > kTmaMaxBoxExtent)
      return "TMA box extent " + to_string(box.extents[i]) + " along dimension " + to_string(i) +
             " (innermost is 0), expected 1..256; split the tile into several boxes";
  std::int64_t inner = box.extents[0] * box.elementBytes;
  if (inner % kTmaInnerGranuleBytes != 0)
    return "TMA box row of " + to_string(inner) + " bytes, expected a multiple of 16";
  if (box.swizzleBytes != 0 && inner > box.swizzleBytes)
    return "TMA box row of " + to_string(inner) + " bytes is longer than the " + to_string(box.swizzleBytes) +
           "-byte swizzle span; split it along the innermost dimension";
  return std::nullopt;
}

std::optional<std::string> tmaTensorProblem(std::uint64_t address, std::span<const std::int64_t> extents,
                                            std::span<const std::int64_t> stridesBytes) {
  std::size_t rank = extents.size();
  if (rank < 1 || rank > kTmaMaxRank)
    return "TMA tensor of rank " + to_string(rank) + ", expected 1..5";
  if (stridesBytes.size() + 1 != rank)
    return "TMA tensor of rank " + to_string(rank) + " with " + to_string(stridesBytes.size()) + " strides, expected " +
           to_string(rank - 1) + " (the innermost is one element)";
  if (address % kTmaAddressAlignment != 0)
    return "TMA tensor at an address " + to_string(address % kTmaAddressAlignment) +
           " bytes past a multiple of 16, expected a multiple of 16";
  for (std::size_t i = 0; i < rank; ++i)
    if (extents[i] < 1 || extents[i] > kTmaMaxExtent)
      return "TMA tensor extent " + to_string(extents[i]) + " along dimension " + to_string(i) +
             " (innermost is 0), expected 1..2^32";
  for (std::size_t i = 0; i + 1 < rank; ++i)
    if (stridesBytes[i] < 0 || stridesBytes[i] % kTmaInnerGranuleBytes != 0 || stridesBytes[i] >= kTmaStrideLimitBytes)
      return "TMA tensor stride of " + to_string(stridesBytes[i]) + " bytes along dimension " + to_string(i + 1) +
             " (innermost is 0), expected a multiple of 16 below 2^40";
  return std::nullopt;
}

int tmaSharedAlignment(int swizzleBytes) { return swizzleBytes == 0 ? 128 : 8 * swizzleBytes; }

} // namespace tilewright::target
