// A compiled program, and its launch with arguments.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/program/arguments.h"
#include "runtime/program/sidecar.h"

namespace tilewright::program {

/// What the compiler leaves of one kernel: sidecar, PTX, and the cubin where there was a ptxas.
class Program {
 public:
  /// Throws Error when the sidecar is malformed or the PTX has no entry of its name.
  static Program from(std::string_view sidecar, std::string ptx, std::vector<std::uint8_t> cubin = {});

  const std::string& name() const { return sidecar_.name; }
  const Sidecar& sidecar() const { return sidecar_; }
  const std::string& sidecar_json() const { return json_; }
  const std::string& ptx() const { return ptx_; }
  const std::vector<std::uint8_t>& cubin() const { return cubin_; }
  /// For Device::load.
  runtime::KernelImage image() const;

 private:
  Sidecar sidecar_;
  std::string json_, ptx_;
  std::vector<std::uint8_t> cubin_;
};

/// A program with its arguments checked and packed: launched as often as wanted while the memory lives. It refers to
/// nothing but that memory, and may be copied and moved.
class BoundProgram {
 public:
  /// Checks the arguments (see check_arguments), evaluates the grid, encodes the tensor maps and packs the parameters.
  /// The name "sms" in expressions stands for the device's multiprocessors. Absent optional tensors are passed as a null
  /// pointer, a map of zeros or a stride of 0. Throws Error naming the argument and what was expected.
  BoundProgram(const Program&, runtime::Device&, const TensorArguments&, const Scalars& = {});

  /// CTAs along x, y and z. All zero where one is: then launch() does nothing.
  const std::array<unsigned, 3>& grid() const { return grid_; }
  /// Enqueues the kernel, which must come from Program::image() of the same program and device.
  void launch(runtime::Device&, runtime::LoadedKernel&, void* stream = nullptr, bool programmatic = false) const;
  /// The same with every given tensor elsewhere, in the order of the table it was bound from (Sidecar::tensors, or that of a
  /// BindingPlan); shapes and scalars stay. Entries of absent tensors are ignored. The addresses keep the alignment that the
  /// first ones had: the caller sees to it. Allocates nothing.
  void launch_at(runtime::Device&, runtime::LoadedKernel&, std::span<const runtime::DeviceAddress> addresses, void* stream = nullptr,
                 bool programmatic = false) const;

 private:
  friend class BindingPlan;
  BoundProgram() = default;
  void launch_with(runtime::Device&, runtime::LoadedKernel&, const std::vector<runtime::EncodedTensorMap>& maps,
                   const std::vector<std::uint64_t>& words, void* stream, bool programmatic) const;

  struct Slot {
    bool is_map;
    std::size_t index;  // into maps_ or words_
    std::size_t bytes;
    std::optional<std::size_t> tensor = std::nullopt;  // the given tensor whose address it holds, in the caller's table
  };
  std::array<unsigned, 3> grid_{0, 0, 0};
  std::vector<Slot> slots_;
  std::vector<runtime::EncodedTensorMap> maps_;
  std::vector<runtime::TensorMapSpec> specs_;  // of maps_
  std::vector<std::uint64_t> words_;
};

/// Binds and launches once.
void launch(runtime::Device&, runtime::LoadedKernel&, const Program&, const TensorArguments&, const Scalars& = {},
            void* stream = nullptr, bool programmatic = false);

}  // namespace tilewright::program
