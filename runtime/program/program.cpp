// A compiled program, and its launch with arguments.
#include "runtime/program/program.h"

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

std::int64_t integer_of(const ParameterDescription& parameter, const CheckedArguments& arguments, const std::string& who) {
  std::int64_t value = 0;
  std::string name = parameter.scalar;
  if (parameter.value) {
    value = parameter.value->evaluate(arguments.bindings);
    name = parameter.value->text();
  } else {
    const auto* integer = std::get_if<std::int64_t>(&arguments.scalars.at(parameter.scalar));
    if (integer == nullptr)
      throw Error(who + "scalar '" + name + "' given as " +
                  std::to_string(std::get<double>(arguments.scalars.at(name))) + ", expected an integer");
    value = *integer;
  }
  if (parameter.kind == ParameterKind::i32 &&
      (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max()))
    throw Error(who + "'" + name + "' is " + std::to_string(value) + ", expected a value of 32 bits");
  return value;
}

float real_of(const Scalar& scalar) {
  return std::visit([](auto value) { return static_cast<float>(value); }, scalar);
}

std::array<unsigned, 3> grid_of(const Sidecar& sidecar, const Bindings& bindings, const std::string& who) {
  constexpr std::int64_t limits[]{0x7fffffff, 65535, 65535};
  std::array<unsigned, 3> grid{};
  bool empty = false;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const std::int64_t ctas = sidecar.grid[axis].evaluate(bindings);
    if (ctas < 0 || ctas > limits[axis])
      throw Error(who + "a grid of " + std::to_string(ctas) + " CTAs along axis " + std::to_string(axis) + " (" +
                  sidecar.grid[axis].text() + "), expected 0 to " + std::to_string(limits[axis]));
    if (ctas % sidecar.cluster[axis] != 0)
      throw Error(who + "a grid of " + std::to_string(ctas) + " CTAs along axis " + std::to_string(axis) +
                  ", expected a multiple of the cluster's " + std::to_string(sidecar.cluster[axis]));
    grid[axis] = static_cast<unsigned>(ctas);
    empty = empty || ctas == 0;
  }
  return empty ? std::array<unsigned, 3>{} : grid;
}

/// A non-null address for the map of an empty tensor, which is not accessed: that of any other argument.
runtime::DeviceAddress some_address(const CheckedArguments& arguments) {
  for (const auto& [name, argument] : arguments.tensors)
    if (argument.address != 0 && argument.address % 16 == 0) return argument.address;
  return 16;
}

}  // namespace

Program Program::from(std::string_view sidecar, std::string ptx, std::vector<std::uint8_t> cubin) {
  Program program;
  program.sidecar_ = parse_sidecar(sidecar);
  program.json_ = sidecar;
  program.ptx_ = std::move(ptx);
  program.cubin_ = std::move(cubin);
  const std::string& name = program.sidecar_.name;
  bool found = false;
  const std::string entry = ".entry ";
  for (std::size_t at = program.ptx_.find(entry); at != std::string::npos && !found; at = program.ptx_.find(entry, at + 1)) {
    const std::size_t begin = program.ptx_.find_first_not_of(" \t\r\n", at + entry.size());
    const std::size_t end = program.ptx_.find_first_of("( \t\r\n{", begin);
    found = begin != std::string::npos && program.ptx_.substr(begin, end - begin) == name;
  }
  if (!found) throw Error("program '" + name + "': its PTX has no entry of that name");
  return program;
}

runtime::KernelImage Program::image() const {
  runtime::KernelImage image;
  image.name = sidecar_.name;
  image.ptx = ptx_;
  image.cubin = cubin_;
  image.threads = sidecar_.threads;
  image.dynamic_shared_bytes = sidecar_.dynamic_shared_bytes;
  image.cluster = sidecar_.cluster;
  return image;
}

BoundProgram::BoundProgram(const Program& program, runtime::Device& device, const TensorArguments& tensors,
                           const Scalars& scalars) {
  const Sidecar& sidecar = program.sidecar();
  const std::string who = "program '" + sidecar.name + "': ";
  const CheckedArguments arguments = check_arguments(sidecar, tensors, scalars, device.multiprocessors());
  grid_ = grid_of(sidecar, arguments.bindings, who);

  const auto put_word = [&](std::uint64_t word, std::size_t bytes) {
    slots_.push_back({false, words_.size(), bytes});
    words_.push_back(word);
  };
  const auto index_of = [&](const std::string& tensor) {
    return static_cast<std::size_t>(sidecar.tensor(tensor) - sidecar.tensors.data());
  };
  for (const ParameterDescription& parameter : sidecar.parameters) {
    const auto given = arguments.tensors.find(parameter.tensor);
    const bool present = given != arguments.tensors.end();
    switch (parameter.kind) {
      case ParameterKind::tensor_map: {
        slots_.push_back({true, maps_.size(), sizeof(runtime::EncodedTensorMap)});
        maps_.emplace_back();
        specs_.emplace_back();
        if (!present) break;
        slots_.back().tensor = index_of(parameter.tensor);
        const TensorArgument& tensor = given->second;
        const runtime::TensorMapSpec spec =
            make_map(parameter.map, tensor.address != 0 ? tensor.address : some_address(arguments), tensor.shape,
                     tensor.strides, who + "tensor '" + parameter.tensor + "'");
        if (grid_[0] != 0) maps_.back() = device.encode(spec);
        specs_.back() = spec;
        break;
      }
      case ParameterKind::pointer:
        put_word(present ? given->second.address : 0, 8);
        if (present) slots_.back().tensor = index_of(parameter.tensor);
        break;
      case ParameterKind::stride_i64: put_word(word_of(present ? given->second.strides[parameter.axis] : 0), 8); break;
      case ParameterKind::i32:
        put_word(word_of(static_cast<std::int32_t>(integer_of(parameter, arguments, who))), 4);
        break;
      case ParameterKind::i64: put_word(word_of(integer_of(parameter, arguments, who)), 8); break;
      case ParameterKind::f32: put_word(word_of(real_of(arguments.scalars.at(parameter.scalar))), 4); break;
    }
  }
}

void BoundProgram::rebind(runtime::Device& device, std::span<const runtime::DeviceAddress> addresses) {
  for (const Slot& slot : slots_) {
    if (!slot.tensor) continue;
    const runtime::DeviceAddress address = addresses[*slot.tensor];
    if (!slot.is_map) {
      words_[slot.index] = address;
    } else if (address != 0 && address != specs_[slot.index].address) {
      specs_[slot.index].address = address;
      if (grid_[0] != 0) maps_[slot.index] = device.encode(specs_[slot.index]);
    }
  }
}

void BoundProgram::launch(runtime::Device& device, runtime::LoadedKernel& kernel, void* stream, bool programmatic) const {
  if (grid_[0] == 0) return;
  std::vector<runtime::KernelParameter> parameters;
  parameters.reserve(slots_.size());
  for (const Slot& slot : slots_) {
    const void* bytes = slot.is_map ? static_cast<const void*>(&maps_[slot.index]) : &words_[slot.index];
    parameters.emplace_back(static_cast<const std::byte*>(bytes), slot.bytes);
  }
  runtime::LaunchGeometry geometry;
  geometry.grid = grid_;
  geometry.stream = stream;
  geometry.programmatic = programmatic;
  device.launch(kernel, geometry, parameters);
}

void launch(runtime::Device& device, runtime::LoadedKernel& kernel, const Program& program,
            const TensorArguments& tensors, const Scalars& scalars, void* stream, bool programmatic) {
  BoundProgram(program, device, tensors, scalars).launch(device, kernel, stream, programmatic);
}

}  // namespace tilewright::program
