// Tensors of a call as callers give them, checked against what an operator expects.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/device/device.h"

namespace tilewright::ops {

/// Element types of operands: the same numbers as tilewright_dtype.
enum class Dtype : std::int32_t { bf16 = 0, f16 = 1, f32 = 2, i32 = 3, i64 = 4 };

unsigned bytes_of(Dtype);
/// "bf16", ...; as sidecars name elements.
const char* name_of(Dtype);

/// One tensor of a call: address 0 where it is not given. All strides 0: contiguous.
struct Operand {
  runtime::DeviceAddress address = 0;
  std::array<std::int64_t, 4> strides{};  // elements, outermost axis first
  Dtype dtype = Dtype::bf16;
  bool operator==(const Operand&) const = default;
  explicit operator bool() const { return address != 0; }
};

/// What an operator expects of an operand's strides.
enum class Layout {
  contiguous,
  list,      ///< contiguous, and single elements are read
  rows,      ///< what TMA reads: the last axis contiguous, the others multiples of 16 bytes
  any,       ///< single elements are read
  states,    ///< all but axis 0 contiguous, axis 0 a multiple of `unit` elements
};

/// An operand with its shape: what binding, checks of overlap and simulated devices need.
struct Tensor {
  const char* name = "";
  runtime::DeviceAddress address = 0;
  Dtype dtype = Dtype::bf16;
  unsigned rank = 0;
  std::array<std::int64_t, 4> shape{}, strides{};
  bool given = false, output = false;
  unsigned alignment = 16;  ///< bytes

  bool empty() const;
  /// Bytes from the first element to the end of the last one; 0 where there is none.
  std::uint64_t bytes() const;
};

/// How the operand of one field may look.
struct Expected {
  const char* name;
  std::vector<std::int64_t> shape;
  std::vector<Dtype> dtypes;
  Layout layout = Layout::contiguous;
  bool required = true, output = false;
  std::int64_t unit = 1;     ///< of Layout::states
  bool batched = false;      ///< axis 0 is a batch whose rows follow those of axis 1: strides[0] = shape[1] strides[1]
};

/// The operand as a tensor. Throws ArgumentError (or UnsupportedError where only a kernel is missing) that begins with `who` and names
/// field, given and expected: not given but required, dtype, strides.
Tensor tensor_of(const std::string& who, const Operand& operand, const Expected& expected);

/// Throws ArgumentError where an address is not a multiple of the tensor's alignment.
void check_alignment(const std::string& who, const Tensor&);
/// Whether every index that both tensors have is the same element of the same type.
bool same_places(const Tensor&, const Tensor&);
/// Whether two tensors share a byte. Rows of one pitch that lie beside each other do not.
bool overlap(const Tensor&, const Tensor&);

}  // namespace tilewright::ops
