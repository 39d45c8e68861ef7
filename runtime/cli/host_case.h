// One run of a single kernel: inputs, expected outputs, and how near they must be.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/ops/operator.h"
#include "runtime/program/arguments.h"

namespace tilewright::cli {

class Watcher;

struct HostTensor {
  std::string name, element;        ///< element as in a sidecar: bf16, f16, f32
  std::vector<std::int64_t> shape;
  std::vector<float> values;        ///< of an input; rounded to the element
  std::vector<double> expected;     ///< of an output, which has no values
};

struct HostCase {
  std::string size;                 ///< for people: "512x512x320"
  std::vector<HostTensor> tensors;
  program::Scalars scalars;
  double bar = 0;                   ///< largest rms ratio of an output against what is expected
  double flops = 0;                 ///< of one run; 0 where the rate says nothing
};

/// What a run showed of one output.
struct OutputResult {
  std::string name;
  double rms = 0;
  std::size_t unwritten = 0;        ///< elements that still hold the poison
  bool guards_intact = true;
  bool passed = false;
};

/// Uploads, launches once and compares every output; with `twice` the second run must give the same bits.
std::vector<OutputResult> run_case(runtime::Device&, const ops::Source&, const ops::BuildOptions&, const HostCase&, bool twice,
                                   Watcher* watcher = nullptr);

/// `count` values of N(0,1), rounded to bf16; the same seed gives the same values.
std::vector<float> normal_values(std::size_t count, std::uint64_t seed);

}  // namespace tilewright::cli
