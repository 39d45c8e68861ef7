// Tensor maps of arguments: which extents and strides a TMA descriptor gets.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/program/sidecar.h"

namespace tilewright::program {

/// Extents of the last three dimensions of a ragged map, before the box. Tensors have fewer rows.
inline constexpr std::uint64_t kRaggedRows = std::uint64_t{1} << 30;
inline constexpr std::uint64_t kRaggedBound = 0x7fff0000;

/// The tensor map of one argument. `shape` and `strides` are per axis of the tensor, strides in elements.
///
/// A dense map has one dimension for each entry of description.dims.
///
/// A ragged map reads sequences packed along axis 0 without rows of the neighbours. With s the stride of axis 0 in bytes
/// its dimensions are the inner ones and then (extent, stride) = (2^30, s), (0x7fff0000, s), (0x7fff0000, 2^34 - s).
/// The kernel's coordinates for `row` of a sequence at `offset` with `length` rows are (inner..., 2^30 - length + row,
/// offset + length, 2^30): the address is base + (offset + row) s + 2^30 2^34, which wraps modulo 2^64, and rows at or
/// past `length` exceed the first extent, read as zero and are not written.
///
/// An axis of extent 1 may have any stride; an empty one is encoded with extent 1 and must not be accessed.
/// Throws Error, prefixed with `who`, where the argument breaks a rule of the hardware: inner stride 1, other strides
/// multiples of 16 bytes below 2^40 (ragged: 2^34), a 16-byte aligned address, extents of at most 2^32, fewer than 2^30
/// rows, axes of a merged dimension that follow each other in memory.
runtime::TensorMapSpec make_map(const MapDescription& description, runtime::DeviceAddress address,
                                std::span<const std::int64_t> shape, std::span<const std::int64_t> strides,
                                const std::string& who);

}  // namespace tilewright::program
