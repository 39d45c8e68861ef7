#include "runtime/ops/operator.h"

namespace tilewright::ops {

Step bind_step(runtime::Device& device, std::shared_ptr<const Loaded> program, const program::TensorArguments& tensors,
          const program::Scalars& scalars, bool programmatic) {
  program::BoundProgram bound(program->built->program, device, tensors, scalars);
  return {std::move(program), std::move(bound), programmatic};
}

void launch_steps(runtime::Device& device, const Steps& steps, void* stream) {
  for (const Step& step : steps) step.bound.launch(device, *step.program->kernel, stream, step.programmatic);
}

void launch_steps_at(runtime::Device& device, const Steps& steps, std::span<const runtime::DeviceAddress> addresses, void* stream) {
  for (const Step& step : steps) step.bound.launch_at(device, *step.program->kernel, addresses, stream, step.programmatic);
}

program::TensorArgument tensor(runtime::DeviceAddress address, std::vector<std::int64_t> shape, std::string element) {
  program::TensorArgument argument;
  argument.address = address;
  argument.shape = std::move(shape);
  argument.element = std::move(element);
  return argument;
}

}  // namespace tilewright::ops
