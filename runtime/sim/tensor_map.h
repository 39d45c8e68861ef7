// The simulator's encoding of tensor maps in the 128 bytes of a kernel parameter, and the copies they describe.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "runtime/device/device.h"

namespace tilewright::runtime::sim {

struct Cta;

/// Encodes a map. Error names the rule of the driver that the specification breaks: rank 1-5, address and strides multiples of
/// 16 bytes, extents 1 to 2^32, strides below 2^40, box 1 to 256 elements a dimension, inner box a multiple of 16 bytes and at
/// most the swizzle's span.
EncodedTensorMap encode_tensor_map(const TensorMapSpec&);

/// Decodes; Fault when the bytes are not a map of this simulator.
TensorMapSpec decode_tensor_map(const std::byte* bytes, int lane);

/// Bytes of a whole box: what a load counts at its mbarrier, elements outside the tensor included.
std::uint32_t box_bytes(const TensorMapSpec&);

enum class Reduction : std::uint8_t { none, add, min, max, bit_and, bit_or, bit_xor };

/// A row of a box: its shared address before the swizzle, the global address of its first element, and which of its elements lie
/// inside the tensor.
struct BoxRow {
  std::uint64_t shared = 0, global = 0;
  std::int64_t first = 0, last = 0;
};
void each_box_row(const TensorMapSpec&, const std::array<std::int32_t, 5>& at, std::uint64_t shared, const std::function<void(const BoxRow&)>&);

/// Global to shared: elements outside the tensor become zero. Address arithmetic wraps modulo 2^64.
void load_box(Cta&, const TensorMapSpec&, const std::array<std::int32_t, 5>& at, std::uint64_t shared, int lane);
/// Shared to global, or reduced into it: elements outside the tensor are left out.
void store_box(Cta&, const TensorMapSpec&, const std::array<std::int32_t, 5>& at, std::uint64_t shared, Reduction, int lane);
/// to[n] = to[n] op from[n] for `bytes` bytes of elements.
void reduce_elements(std::byte* to, const std::byte* from, std::size_t bytes, MapElement, Reduction, int lane);

}  // namespace tilewright::runtime::sim
