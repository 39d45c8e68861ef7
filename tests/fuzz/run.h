// One program: recorded, compiled, run on a device, and compared with what its tile IR means.
#pragma once
#include <functional>
#include <string>

#include "runtime/device/device.h"
#include "tests/fuzz/model.h"

namespace tilewright::fuzz {

struct Outcome {
  /// ok, or a finding: refused (the generator has it for right), accepted (the generator has it for wrong), undefined (the evaluator
  /// stops), device (the device stops), mismatch, memory (outside of the outputs), internal; from isolation: crash, hang.
  std::string kind = "ok";
  std::string message;
  double milliseconds[3] = {0, 0, 0};  // compile, device, evaluation
  bool finding() const { return kind != "ok"; }
};

/// Changes the PTX on its way to the device: how a test plants a miscompilation.
using Plant = std::function<void(std::string& ptx)>;

Outcome run(const Program& program, runtime::Device& device, const Plant& plant = {});

}  // namespace tilewright::fuzz
