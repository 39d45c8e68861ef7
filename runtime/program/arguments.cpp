// What a caller passes to a program, and the checks of it.
#include "runtime/program/arguments.h"

#include <algorithm>
#include <optional>
#include <set>

#include "tilewright/error.h"

namespace tilewright::program {
namespace {

std::string list(const std::vector<std::int64_t>& values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(values[i]);
  return text + "]";
}

std::string list(const std::vector<Expression>& values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : ", ") + values[i].text();
  return text + "]";
}

std::string list(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

bool is_dimension(const Sidecar& sidecar, const std::string& name) {
  return std::find(sidecar.dims.begin(), sidecar.dims.end(), name) != sidecar.dims.end();
}

void collect_names(const Expression& expression, std::set<std::string>& names) {
  if (expression.kind == Expression::Kind::name && expression.name != "sms") names.insert(expression.name);
  for (const Expression& operand : expression.operands) collect_names(operand, names);
}

/// Scalars the program reads: those of parameters and those that expressions name without being dimensions.
std::set<std::string> wanted_scalars(const Sidecar& sidecar) {
  std::set<std::string> names;
  for (const Expression& extent : sidecar.grid) collect_names(extent, names);
  for (const TensorDescription& tensor : sidecar.tensors)
    for (const Expression& extent : tensor.shape) collect_names(extent, names);
  for (const ParameterDescription& parameter : sidecar.parameters) {
    if (parameter.value) collect_names(*parameter.value, names);
    if (!parameter.scalar.empty()) names.insert(parameter.scalar);
  }
  std::erase_if(names, [&](const std::string& name) { return is_dimension(sidecar, name); });
  return names;
}

/// Element type, rank, strides and address of one tensor, without regard to extents' values.
TensorArgument check_form(const TensorDescription& description, TensorArgument given, const std::string& who) {
  if (given.element != description.element)
    throw Error(who + ": given elements " + (given.element.empty() ? "of no type" : given.element) + ", expected " +
                description.element);
  if (given.shape.size() != description.shape.size())
    throw Error(who + ": given shape " + list(given.shape) + ", expected rank " +
                std::to_string(description.shape.size()) + ": " + list(description.shape));
  bool empty = false;
  for (const std::int64_t extent : given.shape) {
    if (extent < 0) throw Error(who + ": given shape " + list(given.shape) + ", expected no negative extent");
    empty = empty || extent == 0;
  }
  if (given.strides.empty()) given.strides = contiguous_strides(given.shape);
  if (given.strides.size() != given.shape.size())
    throw Error(who + ": given " + std::to_string(given.strides.size()) + " strides for " +
                std::to_string(given.shape.size()) + " axes");
  if (given.address == 0 && !empty)
    throw Error(who + ": given a null address, expected device memory of shape " + list(given.shape) +
                " (this tensor is not optional)");
  const unsigned alignment = std::max(description.alignment, element_bytes(description.element));
  if (given.address % alignment != 0)
    throw Error(who + ": given address " + std::to_string(given.address) + ", expected a multiple of " +
                std::to_string(alignment) + " bytes");
  if (description.role != TensorRole::in)
    for (std::size_t axis = 0; axis < given.shape.size(); ++axis)
      if (given.shape[axis] > 1 && given.strides[axis] == 0)
        throw Error(who + ": axis " + std::to_string(axis) + " has stride 0; the program writes this tensor, expected elements of its own");
  return given;
}

/// Ordinary loads and stores of a tensor take strides from its extents, unless the program has them as parameters.
void check_contiguous(const Sidecar& sidecar, const std::string& name, const TensorArgument& given, const std::string& who) {
  const auto parameter = [&](ParameterKind kind, std::optional<unsigned> axis) {
    return std::any_of(sidecar.parameters.begin(), sidecar.parameters.end(), [&](const ParameterDescription& p) {
      return p.kind == kind && p.tensor == name && (!axis || p.axis == *axis);
    });
  };
  if (!parameter(ParameterKind::pointer, std::nullopt)) return;
  const std::vector<std::int64_t> expected = contiguous_strides(given.shape);
  if (std::find(given.shape.begin(), given.shape.end(), 0) != given.shape.end()) return;
  for (std::size_t axis = 0; axis < given.shape.size(); ++axis)
    if (given.shape[axis] > 1 && given.strides[axis] != expected[axis] && !parameter(ParameterKind::stride_i64, static_cast<unsigned>(axis)))
      throw Error(who + ": given strides " + list(given.strides) + ", expected " + list(expected) +
                  ": the program reads or writes elements of it and takes it to be contiguous");
}

void bind_scalars(const Sidecar& sidecar, const Scalars& given, const std::string& program, CheckedArguments& checked) {
  const std::set<std::string> wanted = wanted_scalars(sidecar);
  for (const auto& [name, value] : given) {
    const bool dimension = is_dimension(sidecar, name);
    if (!dimension && !wanted.contains(name)) {
      std::set<std::string> known = wanted;
      known.insert(sidecar.dims.begin(), sidecar.dims.end());
      throw Error(program + "unknown scalar '" + name + "', expected some of: " + list(known));
    }
    const auto* integer = std::get_if<std::int64_t>(&value);
    if (dimension && (integer == nullptr || *integer < 0))
      throw Error(program + "dimension '" + name + "' given as " +
                  (integer != nullptr ? std::to_string(*integer) : std::to_string(std::get<double>(value))) +
                  ", expected an integer of 0 or more");
    if (integer != nullptr) checked.bindings[name] = *integer;
    checked.scalars[name] = value;
  }
  for (const std::string& name : wanted)
    if (!given.contains(name)) throw Error(program + "missing scalar '" + name + "'");
}

}  // namespace

std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * std::max<std::int64_t>(shape[axis], 1);
  return strides;
}

CheckedArguments check_arguments(const Sidecar& sidecar, const TensorArguments& tensors, const Scalars& scalars,
                                 unsigned multiprocessors) {
  const std::string program = "program '" + sidecar.name + "': ";
  CheckedArguments checked;
  for (const auto& [name, argument] : tensors)
    if (sidecar.tensor(name) == nullptr) {
      std::set<std::string> known;
      for (const TensorDescription& tensor : sidecar.tensors) known.insert(tensor.name);
      throw Error(program + "unknown tensor '" + name + "', expected: " + list(known));
    }
  bind_scalars(sidecar, scalars, program, checked);

  std::map<std::string, std::string> origins;  // of dimensions: who bound them
  for (const auto& [name, value] : checked.bindings) origins[name] = "given as a scalar";
  for (const TensorDescription& description : sidecar.tensors) {
    const auto given = tensors.find(description.name);
    const bool absent = given == tensors.end() || (given->second.address == 0 && given->second.shape.empty());
    if (absent && description.optional) continue;
    if (given == tensors.end()) throw Error(program + "missing tensor '" + description.name + "'");
    if (given->second.address == 0 && description.optional &&
        std::find(given->second.shape.begin(), given->second.shape.end(), 0) == given->second.shape.end())
      continue;  // null with a shape: not given either
    const TensorArgument argument =
        check_form(description, given->second, program + "tensor '" + description.name + "'");
    check_contiguous(sidecar, description.name, argument, program + "tensor '" + description.name + "'");
    for (std::size_t axis = 0; axis < description.shape.size(); ++axis) {
      const Expression& extent = description.shape[axis];
      if (extent.kind != Expression::Kind::name || !is_dimension(sidecar, extent.name)) continue;
      if (checked.bindings.emplace(extent.name, argument.shape[axis]).second)
        origins[extent.name] = "from axis " + std::to_string(axis) + " of tensor '" + description.name + "'";
    }
    checked.tensors[description.name] = argument;
  }
  checked.bindings.emplace("sms", multiprocessors);
  for (const std::string& dim : sidecar.dims)
    if (!checked.bindings.contains(dim))
      throw Error(program + "dimension '" + dim + "' has no value: no given tensor has it as an extent, give it as a scalar");

  for (const auto& [name, argument] : checked.tensors) {
    const std::vector<Expression>& shape = sidecar.tensor(name)->shape;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const std::int64_t expected = shape[axis].evaluate(checked.bindings);
      if (argument.shape[axis] == expected) continue;
      const auto origin = origins.find(shape[axis].name);
      const bool constant = shape[axis].kind == Expression::Kind::constant;
      throw Error(program + "tensor '" + name + "': given shape " + list(argument.shape) + ", expected " + list(shape) +
                  " with extent " + std::to_string(expected) + " at axis " + std::to_string(axis) +
                  (constant ? "" : " (" + shape[axis].text() + (origin == origins.end() ? "" : ", " + origin->second) + ")"));
    }
  }
  return checked;
}

}  // namespace tilewright::program
