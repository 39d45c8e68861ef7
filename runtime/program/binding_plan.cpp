// The names of a program's arguments, looked up once.
#include "runtime/program/binding_plan.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "runtime/program/tensor_map.h"
#include "tilewright/error.h"

namespace tilewright::program {
namespace {

/// Bytes of a value at the start of a 64-bit word.
template <class Value>
std::uint64_t word_of(Value value) {
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  return word;
}

std::int64_t integer_of(const Scalar& scalar, const std::string& who, const std::string& name) {
  const auto* integer = std::get_if<std::int64_t>(&scalar);
  if (integer == nullptr)
    throw Error(who + "scalar '" + name + "' given as " + std::to_string(std::get<double>(scalar)) + ", expected an integer");
  return *integer;
}

std::int64_t of_32_bits(std::int64_t value, const std::string& who, const ParameterDescription& parameter) {
  if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max())
    throw Error(who + "'" + (parameter.value ? parameter.value->text() : parameter.scalar) + "' is " + std::to_string(value) +
                ", expected a value of 32 bits");
  return value;
}

float real_of(const Scalar& scalar) {
  return std::visit([](auto value) { return static_cast<float>(value); }, scalar);
}

std::array<unsigned, 3> grid_of(const std::array<Expression, 3>& extents, const std::array<unsigned, 3>& cluster,
                                std::span<const std::int64_t> values, const std::string& who) {
  constexpr std::int64_t limits[]{0x7fffffff, 65535, 65535};
  std::array<unsigned, 3> grid{};
  bool empty = false;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const std::int64_t ctas = extents[axis].evaluate_placed(values);
    if (ctas < 0 || ctas > limits[axis])
      throw Error(who + "a grid of " + std::to_string(ctas) + " CTAs along axis " + std::to_string(axis) + " (" +
                  extents[axis].text() + "), expected 0 to " + std::to_string(limits[axis]));
    if (ctas % cluster[axis] != 0)
      throw Error(who + "a grid of " + std::to_string(ctas) + " CTAs along axis " + std::to_string(axis) +
                  ", expected a multiple of the cluster's " + std::to_string(cluster[axis]));
    grid[axis] = static_cast<unsigned>(ctas);
    empty = empty || ctas == 0;
  }
  return empty ? std::array<unsigned, 3>{} : grid;
}

/// A non-null address for the map of an empty tensor, which is not accessed: that of any other argument.
runtime::DeviceAddress some_address(std::span<const TensorView> tensors) {
  for (const TensorView& tensor : tensors)
    if (tensor.given && tensor.address != 0 && tensor.address % 16 == 0) return tensor.address;
  return 16;
}

std::size_t index_of(std::span<const std::string_view> names, const std::string& name, std::size_t none) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? none : static_cast<std::size_t>(found - names.begin());
}

}  // namespace

BindingPlan::BindingPlan(const Sidecar& sidecar, std::span<const std::string_view> tensors, std::span<const std::string_view> scalars)
    : who_("program '" + sidecar.name + "': "), grid_(sidecar.grid), cluster_(sidecar.cluster), descriptions_(sidecar.tensors),
      scalar_names_(scalars.begin(), scalars.end()) {
  for (const TensorDescription& description : descriptions_) {
    places_.push_back(index_of(tensors, description.name, kNone));
    if (places_.back() == kNone) throw Error(who_ + "missing tensor '" + description.name + "'");
  }
  const auto place = [this](const std::string& name) { return place_of(name); };
  for (Expression& extent : grid_) extent.set_places(place);
  for (const ParameterDescription& description : sidecar.parameters) {
    Parameter parameter{description};
    if (!description.tensor.empty()) parameter.tensor = places_[static_cast<std::size_t>(sidecar.tensor(description.tensor) - sidecar.tensors.data())];
    if (!description.scalar.empty()) {
      parameter.scalar = index_of(scalars, description.scalar, kNone);
      if (parameter.scalar == kNone) throw Error(who_ + "missing scalar '" + description.scalar + "'");
    }
    if (parameter.description.value) parameter.description.value->set_places(place);
    parameters_.push_back(std::move(parameter));
  }
  scalar_names_.clear();  // they may not outlive the constructor
}

std::size_t BindingPlan::place_of(const std::string& name) {
  for (std::size_t i = 0; i < sources_.size(); ++i)
    if (sources_[i].name == name) return i;
  Source source{name, index_of(scalar_names_, name, kNone), {}, name == "sms"};
  for (std::size_t i = 0; i < descriptions_.size(); ++i)
    for (unsigned axis = 0; axis < descriptions_[i].shape.size(); ++axis) {
      const Expression& extent = descriptions_[i].shape[axis];
      if (extent.kind == Expression::Kind::name && extent.name == name) source.axes.push_back({places_[i], axis});
    }
  if (source.scalar == kNone && source.axes.empty() && !source.sms) throw Error(who_ + "missing scalar '" + name + "'");
  sources_.push_back(std::move(source));
  return sources_.size() - 1;
}

BoundProgram BindingPlan::bind(runtime::Device& device, std::span<const TensorView> tensors, std::span<const Scalar> scalars) const {
  std::vector<std::int64_t> values;
  values.reserve(sources_.size());
  for (const Source& source : sources_) {
    if (source.scalar != kNone) {
      values.push_back(integer_of(scalars[source.scalar], who_, source.name));
      continue;
    }
    const auto axis = std::find_if(source.axes.begin(), source.axes.end(), [&](const auto& at) { return tensors[at.tensor].given; });
    if (axis == source.axes.end() && !source.sms) throw Error(who_ + "dimension '" + source.name + "' has no value");
    values.push_back(axis != source.axes.end() ? tensors[axis->tensor].shape[axis->axis] : device.multiprocessors());
  }

  BoundProgram bound;
  bound.grid_ = grid_of(grid_, cluster_, values, who_);
  bound.slots_.reserve(parameters_.size());
  bound.words_.reserve(parameters_.size());
  const auto put_word = [&](std::uint64_t word, std::size_t bytes) {
    bound.slots_.push_back({false, bound.words_.size(), bytes});
    bound.words_.push_back(word);
  };
  for (const Parameter& parameter : parameters_) {
    const ParameterDescription& description = parameter.description;
    const TensorView* tensor = parameter.tensor == kNone || !tensors[parameter.tensor].given ? nullptr : &tensors[parameter.tensor];
    switch (description.kind) {
      case ParameterKind::tensor_map: {
        bound.slots_.push_back({true, bound.maps_.size(), sizeof(runtime::EncodedTensorMap)});
        bound.maps_.emplace_back();
        bound.specs_.emplace_back();
        if (tensor == nullptr) break;
        bound.slots_.back().tensor = parameter.tensor;
        bound.specs_.back() = make_map(description.map, tensor->address != 0 ? tensor->address : some_address(tensors), tensor->shape,
                                       tensor->strides, who_ + "tensor '" + description.tensor + "'");
        if (bound.grid_[0] != 0) bound.maps_.back() = device.encode(bound.specs_.back());
        break;
      }
      case ParameterKind::pointer:
        put_word(tensor != nullptr ? tensor->address : 0, 8);
        if (tensor != nullptr) bound.slots_.back().tensor = parameter.tensor;
        break;
      case ParameterKind::stride_i64: put_word(word_of(tensor != nullptr ? tensor->strides[description.axis] : std::int64_t{0}), 8); break;
      case ParameterKind::i32:
      case ParameterKind::i64: {
        const std::int64_t value = description.value ? description.value->evaluate_placed(values)
                                                     : integer_of(scalars[parameter.scalar], who_, description.scalar);
        if (description.kind == ParameterKind::i64) put_word(word_of(value), 8);
        else put_word(word_of(static_cast<std::int32_t>(of_32_bits(value, who_, description))), 4);
        break;
      }
      case ParameterKind::f32: put_word(word_of(real_of(scalars[parameter.scalar])), 4); break;
    }
  }
  return bound;
}

}  // namespace tilewright::program
