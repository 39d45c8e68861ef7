// Tensor maps of arguments: which extents and strides a TMA descriptor gets.
#include "runtime/program/tensor_map.h"

#include <algorithm>

#include "tilewright/error.h"

namespace tilewright::program {
namespace {

constexpr std::uint64_t kMaxStride = std::uint64_t{1} << 40;
constexpr std::uint64_t kRaggedSpan = std::uint64_t{1} << 34;  // 2^30 of it is 2^64
constexpr std::uint64_t kMaxExtent = std::uint64_t{1} << 32;

/// The stride of an axis in bytes, checked. One row, or none, has no stride of its own: any that is legal serves.
std::uint64_t byte_stride(std::int64_t stride, std::int64_t extent, unsigned bytes, std::uint64_t limit, unsigned axis,
                          const std::string& who) {
  if (extent <= 1) return 16;
  const auto result = static_cast<std::uint64_t>(stride) * bytes;
  if (stride < 1 || result % 16 != 0 || result >= limit)
    throw Error(who + ": axis " + std::to_string(axis) + " has a stride of " + std::to_string(stride) +
                " elements of " + std::to_string(bytes) + " bytes; TMA expects a positive multiple of 16 bytes below 2^" +
                (limit == kMaxStride ? "40" : "34"));
  return result;
}

}  // namespace

runtime::TensorMapSpec make_map(const MapDescription& description, runtime::DeviceAddress address,
                                std::span<const std::int64_t> shape, std::span<const std::int64_t> strides,
                                const std::string& who) {
  const unsigned bytes = runtime::size_of(description.element);
  if (address % 16 != 0)
    throw Error(who + ": address " + std::to_string(address) + " is not a multiple of 16 bytes, as TMA expects");
  runtime::TensorMapSpec spec;
  spec.element = description.element;
  spec.swizzle = description.swizzle;
  spec.address = address;
  std::copy(description.box.begin(), description.box.end(), spec.box.begin());

  spec.rank = 0;
  const auto add = [&](std::uint64_t extent, std::uint64_t stride) {
    spec.extents[spec.rank] = std::max<std::uint64_t>(extent, 1);
    spec.strides[spec.rank] = stride;
    ++spec.rank;
  };
  for (const std::vector<unsigned>& axes : description.dims) {
    std::int64_t extent = 1;
    for (const unsigned axis : axes) extent *= shape[axis];
    for (std::size_t i = 0; i + 1 < axes.size(); ++i) {
      const unsigned outer = axes[i], inner = axes[i + 1];
      if (shape[outer] > 1 && strides[outer] != shape[inner] * strides[inner])
        throw Error(who + ": axes " + std::to_string(outer) + " and " + std::to_string(inner) +
                    " are one dimension of the tensor map; expected stride " +
                    std::to_string(shape[inner] * strides[inner]) + " of axis " + std::to_string(outer) + ", given " +
                    std::to_string(strides[outer]));
    }
    if (static_cast<std::uint64_t>(extent) > kMaxExtent)
      throw Error(who + ": an extent of " + std::to_string(extent) + " exceeds TMA's 2^32");
    const unsigned axis = axes.back();
    if (spec.rank == 0) {
      if (extent > 1 && strides[axis] != 1)
        throw Error(who + ": the innermost axis " + std::to_string(axis) + " has a stride of " +
                    std::to_string(strides[axis]) + " elements; TMA expects 1, pass a contiguous tensor");
      add(static_cast<std::uint64_t>(extent), bytes);
    } else {
      add(static_cast<std::uint64_t>(extent), byte_stride(strides[axis], extent, bytes, kMaxStride, axis, who));
    }
  }
  if (description.ragged) {
    if (static_cast<std::uint64_t>(shape[0]) >= kRaggedRows)
      throw Error(who + ": " + std::to_string(shape[0]) + " rows, expected fewer than 2^30");
    const std::uint64_t stride = byte_stride(strides[0], shape[0], bytes, kRaggedSpan, 0, who);
    add(kRaggedRows, stride);
    add(kRaggedBound, stride);
    add(kRaggedBound, kRaggedSpan - stride);
  }
  return spec;
}

}  // namespace tilewright::program
