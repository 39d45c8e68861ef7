// Small PTX kernels for the tests, on the simulated device and, where there is one, on a card.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/sim/simulator.h"
#include "tests/unit/error_of.h"

namespace tilewright::test {

using runtime::Device;
using runtime::DeviceAddress;

/// The simulated device, and a Hopper where there is one. Made once.
const std::vector<std::shared_ptr<Device>>& devices();
inline Device& simulator() { return *devices().front(); }

/// A module with one kernel `k` (parameters in, out: addresses) around `body`, which ends without ret.
/// `before` goes in front of the kernel, for module variables.
std::string module_text(const std::string& body, unsigned threads = 32, const std::string& before = {});

/// Declares %wa..%wd (64 bits of the lane's inputs), their low halves %a..%d, %fa..%fd (the same as f32), %ha..%hd (b16),
/// %lane, scratch %r<64> %rd<64> %f<64> %fd<32> %h<32> %p<16>, and %out, %wide for the result.
std::string lane_module(const std::string& body);

struct Inputs {
  std::vector<std::uint64_t> a, b, c, d;   // by lane; short ones repeat, empty ones are zero
};

/// Runs `body` on one warp and gives each lane's %wide, or %out when the body does not name %wide.
std::vector<std::uint64_t> run_lanes(Device&, const std::string& body, const Inputs& = {});

/// Runs a module of module_text on `grid` CTAs with `input` bytes and gives `words` words that it wrote.
std::vector<std::uint32_t> run_words(Device&, const std::string& module, unsigned threads, std::size_t words, const std::vector<std::uint32_t>& input = {},
                                     unsigned dynamic_shared = 0, unsigned grid = 1);

std::uint32_t bits(float);
float as_float(std::uint32_t);

/// A test with every device.
class OnEachDevice : public testing::TestWithParam<std::size_t> {
 protected:
  Device& device() const { return *devices()[GetParam()]; }
};
inline std::vector<std::size_t> device_numbers() {
  std::vector<std::size_t> n(devices().size());
  for (std::size_t i = 0; i < n.size(); ++i) n[i] = i;
  return n;
}
#define TILEWRIGHT_ON_EACH_DEVICE(Suite)                                              \
  class Suite : public tilewright::test::OnEachDevice {};                             \
  INSTANTIATE_TEST_SUITE_P(, Suite, testing::ValuesIn(tilewright::test::device_numbers()), \
                           [](const auto& info) { return std::string(tilewright::test::devices()[info.param]->kind()); })

}  // namespace tilewright::test
