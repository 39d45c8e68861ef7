// Kernels on a device, behind the C interface.
#include <cstddef>

#include "runtime/api/context.h"
#include "runtime/api/handle.h"
#include "runtime/api/kernel.h"
#include "runtime/api/read.h"
#include "runtime/api/status.h"
#include "runtime/ops/simulator_names.h"
#include "runtime/sim/simulator.h"

using namespace tilewright;

namespace {

std::string element_of(const tilewright_argument& a) {
  switch (a.dtype) {
    case TILEWRIGHT_BF16: return "bf16";
    case TILEWRIGHT_F16: return "f16";
    case TILEWRIGHT_F32: return "f32";
    case TILEWRIGHT_I32: return "i32";
    case TILEWRIGHT_I64: return "i64";
    default:
      throw ops::ArgumentError("launch: argument '" + std::string(a.name) + "': dtype is " + std::to_string(a.dtype) +
                               ", expected a tilewright_dtype, 0 to 4");
  }
}

program::TensorArgument tensor_of(const tilewright_argument& a) {
  program::TensorArgument tensor;
  tensor.address = reinterpret_cast<runtime::DeviceAddress>(a.data);
  tensor.element = element_of(a);
  tensor.shape.assign(a.shape, a.shape + a.rank);
  if (std::any_of(a.strides, a.strides + a.rank, [](int64_t s) { return s != 0; })) tensor.strides.assign(a.strides, a.strides + a.rank);
  return tensor;
}

struct Given {
  program::TensorArguments tensors;
  program::Scalars scalars;
};

Given read(const tilewright_function& function, const tilewright_argument* arguments, uint64_t count) {
  if (arguments == nullptr && count > 0) throw ops::ArgumentError("launch: arguments is NULL, but count is " + std::to_string(count));
  const auto& sidecar = function.built->program.sidecar();
  Given given;
  for (uint64_t i = 0; i < count; ++i) {
    // Elements lie as far apart as the caller's header made them.
    const auto* at = reinterpret_cast<const std::byte*>(arguments) + i * arguments->size;
    const std::string who = "launch: argument " + std::to_string(i);
    const auto a = api::read(reinterpret_cast<const tilewright_argument*>(at), who.c_str(), "tilewright_argument");
    if (a.name == nullptr) throw ops::ArgumentError(who + ": name is NULL");
    if (a.rank > TILEWRIGHT_MAX_RANK)
      throw ops::ArgumentError(who + " ('" + a.name + "'): rank is " + std::to_string(a.rank) + ", expected at most " +
                               std::to_string(TILEWRIGHT_MAX_RANK));
    const std::string name = a.name;
    if (given.tensors.contains(name) || given.scalars.contains(name)) throw ops::ArgumentError(who + ": '" + name + "' is given twice");
    if (sidecar.tensor(name) != nullptr) {
      if (a.data != nullptr) given.tensors.emplace(name, tensor_of(a));
    } else if (const bool real = std::any_of(sidecar.parameters.begin(), sidecar.parameters.end(),
                                             [&](const program::ParameterDescription& p) {
                                               return p.scalar == name && p.kind == program::ParameterKind::f32;
                                             });
               real) {
      given.scalars.emplace(name, a.real);
    } else if (a.data != nullptr) {
      given.tensors.emplace(name, tensor_of(a));  // no tensor of that name: refused with the names that there are
    } else {
      given.scalars.emplace(name, a.integer);
    }
  }
  return given;
}

/// Bytes from a tensor's address to the end of its last element.
uint64_t span_of(const program::TensorArgument& t) {
  const auto strides = t.strides.empty() ? program::contiguous_strides(t.shape) : t.strides;
  int64_t last = 0;
  for (std::size_t axis = 0; axis < t.shape.size(); ++axis) {
    if (t.shape[axis] <= 0) return 0;
    last += (t.shape[axis] - 1) * strides[axis];
  }
  return last < 0 ? 0 : (static_cast<uint64_t>(last) + 1) * program::element_bytes(t.element);
}

/// On a simulated device the caller's tensors are host memory that it did not allocate: it is told of them for the call.
std::vector<runtime::sim::LentMemory::Range> ranges_of(const api::SharedDevice& shared, const program::TensorArguments& tensors) {
  std::vector<runtime::sim::LentMemory::Range> ranges;
  if (shared.driver != nullptr) return ranges;
  for (const auto& [name, tensor] : tensors)
    if (const uint64_t bytes = span_of(tensor); bytes > 0) ranges.push_back({tensor.address, bytes});
  return ranges;
}

}  // namespace

tilewright_status tilewright_load(tilewright_handle* handle, const tilewright_kernel* kernel, tilewright_function** out) {
  return api::guarded(TILEWRIGHT_DEVICE_ERROR, [&] {
    if (handle == nullptr) throw ops::ArgumentError("load: handle is NULL");
    if (kernel == nullptr) throw ops::ArgumentError("load: kernel is NULL");
    if (out == nullptr) throw ops::ArgumentError("load: out is NULL, expected a place for the function");
    *out = nullptr;
    const api::ContextScope scope(handle->shared->driver);
    *out = new tilewright_function{handle->shared, kernel->built, handle->shared->device->load(kernel->built->program.image())};
    ops::name_for_reports(*handle->shared->device, kernel->built->program);
  });
}

void tilewright_function_destroy(tilewright_function* function) {
  if (function == nullptr) return;
  api::guarded(TILEWRIGHT_DEVICE_ERROR, [&] {
    const auto shared = function->shared;  // outlives the kernel, and the scope that it needs
    const api::ContextScope scope(shared->driver);
    delete function;
  });
}

tilewright_status tilewright_launch(tilewright_function* function, const tilewright_argument* arguments, uint64_t count,
                                    tilewright_stream stream, int32_t programmatic) {
  return api::guarded(TILEWRIGHT_DEVICE_ERROR, [&] {
    if (function == nullptr) throw ops::ArgumentError("launch: function is NULL");
    const Given given = read(*function, arguments, count);
    const api::SharedDevice& shared = *function->shared;
    const auto bound = [&] {
      try {
        return program::BoundProgram(function->built->program, *shared.device, given.tensors, given.scalars);
      } catch (const Error& error) {
        throw ops::ArgumentError(error.what());
      }
    };
    const api::ContextScope scope(shared.driver);
    const program::BoundProgram ready = bound();
    const runtime::sim::LentMemory lent(*shared.device, ranges_of(shared, given.tensors));
    ready.launch(*shared.device, *function->kernel, stream, programmatic != 0);
  });
}
