// The description that a compiled program leaves beside its PTX: what a launch needs, and what people read.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/program/expression.h"

namespace tilewright::program {

enum class ParameterKind { tensor_map, pointer, i32, i64, f32, stride_i64 };

struct MapDescription {
  runtime::MapElement element = runtime::MapElement::bf16;
  runtime::MapSwizzle swizzle = runtime::MapSwizzle::none;
  std::vector<std::uint32_t> box;           // elements, innermost first
  /// Axes of the tensor for each dimension of the map, innermost dimension first. Axes of one dimension are merged and
  /// stand outermost first. Default: every axis by itself, in reverse. A ragged map lists no axis 0.
  std::vector<std::vector<unsigned>> dims;
  bool ragged = false;                      // see ragged_map in tensor_map.h
};

/// One kernel parameter, in the order of the .param list.
struct ParameterDescription {
  ParameterKind kind = ParameterKind::pointer;
  std::string tensor;                       // tensor_map, pointer, stride_i64
  unsigned axis = 0;                        // stride_i64: the stride of this axis in elements
  MapDescription map;                       // tensor_map
  std::string scalar;                       // i32, i64, f32: a scalar the caller gives
  std::optional<Expression> value;          // i32, i64: a dimension or an expression instead of a scalar
};

enum class TensorRole { in, out, inout };

struct TensorDescription {
  std::string name;
  std::string element;                      // "bf16", "f16", "f32", "i32", "i64", ...
  std::vector<Expression> shape;
  TensorRole role = TensorRole::in;
  bool optional = false;                    // may be null: the kernel looks
  unsigned alignment = 0;                   // bytes; 0: that of an element
};

struct RoleDescription {
  std::string name;
  unsigned first_warp = 0, warps = 0, registers = 0;
};

struct Sidecar {
  std::string name;                         // entry symbol
  unsigned threads = 0;
  unsigned dynamic_shared_bytes = 0;
  std::array<unsigned, 3> cluster{1, 1, 1};
  std::array<Expression, 3> grid;
  std::vector<std::string> dims;            // run-time extents
  std::vector<ParameterDescription> parameters;
  std::vector<TensorDescription> tensors;
  std::vector<RoleDescription> roles;

  const TensorDescription* tensor(std::string_view name) const;
};

/// Reads a sidecar. Keys that it does not know (barriers, shared memory map, author's lines) are for other readers.
/// Throws Error naming the key: not JSON, a missing or mistyped key, a parameter of an unknown tensor, a box that does
/// not fit its map.
Sidecar parse_sidecar(std::string_view json);

/// Bytes of one element by name, e.g. 2 for "bf16". Throws Error for an unknown name.
unsigned element_bytes(std::string_view element);

}  // namespace tilewright::program
