// Two devices' results of one output, and how far apart they may be.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tilewright::test {

/// What a kernel left in one output.
struct Captured {
  std::string name, element;          // element as in a sidecar: f32, bf16, f16
  std::vector<std::uint8_t> bytes;
};

/// What a run left behind.
struct Ran {
  std::vector<Captured> outputs;
  std::vector<std::string> ptx;       // of its kernels, in the order of their launches
  std::vector<double> rms;            // of each output against fp64
};

struct Bound {
  enum class Kind { equal_bits, each_element, rms };
  Kind kind = Kind::equal_bits;
  /// each_element: largest difference of element n is absolute[n] + relative * |element n|.
  std::vector<double> absolute;
  double relative = 0;
  /// rms: largest root mean square of the differences over that of the values.
  double rms = 0;
  std::string words;                  // where it comes from
};

struct Difference {
  std::string output, bound;
  std::size_t elements = 0, different = 0;   // different: other bits
  double largest = 0, rms = 0;               // absolute; relative to the rms of the first device's values
  double used = 0;                           // the part of the bound that is used, 1 = all; infinite where nothing is allowed
  bool agree = false;
};

std::vector<double> values_of(const Captured&);
/// A NaN agrees with a NaN of the same bits only.
Difference compare(const Captured& first, const Captured& second, const Bound&);

}  // namespace tilewright::test
