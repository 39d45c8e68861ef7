// A compiled program, and its launch with arguments.
#include "runtime/program/program.h"

#include "runtime/program/binding_plan.h"
#include "tilewright/error.h"

namespace tilewright::program {
namespace {

/// Where a launch at other addresses puts its parameters: kept by each thread, so that a launch allocates nothing.
struct Scratch {
  std::vector<runtime::EncodedTensorMap> maps;
  std::vector<std::uint64_t> words;
  std::vector<runtime::KernelParameter> parameters;
};

Scratch& scratch() {
  thread_local Scratch instance;
  return instance;
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

BoundProgram::BoundProgram(const Program& program, runtime::Device& device, const TensorArguments& tensors, const Scalars& scalars) {
  const Sidecar& sidecar = program.sidecar();
  const CheckedArguments arguments = check_arguments(sidecar, tensors, scalars, device.multiprocessors());
  std::vector<std::string_view> tensor_names, scalar_names;
  std::vector<TensorView> views;
  std::vector<Scalar> values;
  for (const TensorDescription& description : sidecar.tensors) {
    tensor_names.push_back(description.name);
    const auto given = arguments.tensors.find(description.name);
    views.push_back(given == arguments.tensors.end() ? TensorView{}
                                                     : TensorView{given->second.address, true, given->second.shape, given->second.strides});
  }
  for (const auto& [name, value] : arguments.scalars) {
    scalar_names.push_back(name);
    values.push_back(value);
  }
  *this = BindingPlan(sidecar, tensor_names, scalar_names).bind(device, views, values);
}

void BoundProgram::launch(runtime::Device& device, runtime::LoadedKernel& kernel, void* stream, bool programmatic) const {
  launch_with(device, kernel, maps_, words_, stream, programmatic);
}

void BoundProgram::launch_at(runtime::Device& device, runtime::LoadedKernel& kernel, std::span<const runtime::DeviceAddress> addresses,
                             void* stream, bool programmatic) const {
  if (grid_[0] == 0) return;
  Scratch& s = scratch();
  s.maps.assign(maps_.begin(), maps_.end());
  s.words.assign(words_.begin(), words_.end());
  for (const Slot& slot : slots_) {
    if (!slot.tensor) continue;
    const runtime::DeviceAddress address = addresses[*slot.tensor];
    if (!slot.is_map) s.words[slot.index] = address;
    else if (address != 0 && address != specs_[slot.index].address) device.move_map(s.maps[slot.index], specs_[slot.index], address);
  }
  launch_with(device, kernel, s.maps, s.words, stream, programmatic);
}

void BoundProgram::launch_with(runtime::Device& device, runtime::LoadedKernel& kernel, const std::vector<runtime::EncodedTensorMap>& maps,
                               const std::vector<std::uint64_t>& words, void* stream, bool programmatic) const {
  if (grid_[0] == 0) return;
  std::vector<runtime::KernelParameter>& parameters = scratch().parameters;
  parameters.clear();
  for (const Slot& slot : slots_) {
    const void* bytes = slot.is_map ? static_cast<const void*>(&maps[slot.index]) : &words[slot.index];
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
