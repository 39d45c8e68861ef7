// What a caller passes to a program, and the checks of it.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/program/sidecar.h"

namespace tilewright::program {

/// A tensor in device memory. Address 0 stands for an optional tensor that is not given.
struct TensorArgument {
  runtime::DeviceAddress address = 0;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  // elements; empty: contiguous, last axis innermost
  std::string element;                // as in the sidecar: "bf16"
};

using Scalar = std::variant<std::int64_t, double>;
using TensorArguments = std::map<std::string, TensorArgument>;
using Scalars = std::map<std::string, Scalar>;

/// Strides of a contiguous tensor, elements.
std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& shape);

/// Arguments that passed every check: strides are filled in, dimensions and integer scalars have values.
struct CheckedArguments {
  TensorArguments tensors;            // given ones only: an absent optional tensor has no entry
  Scalars scalars;
  Bindings bindings;
};

/// Checks arguments against a sidecar and binds its dimensions: first from scalars of the dimension's name, then from the
/// first tensor that has it as an extent. Throws Error naming program, argument, what was given and expected: unknown or
/// missing names, element types, ranks, extents, strides, addresses, dimensions without a value. `multiprocessors` is the
/// value of "sms" in expressions.
CheckedArguments check_arguments(const Sidecar&, const TensorArguments&, const Scalars&, unsigned multiprocessors);

}  // namespace tilewright::program
