// A call of gdn_forward with its memory, for measurements.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/gdn/inputs.h"
#include "runtime/cli/guarded_buffer.h"
#include "runtime/ops/gdn_forward.h"

namespace tilewright::cli {

/// Device memory of `bytes`, filled by repeating `values`.
template <class Value>
GuardedBuffer repeated(runtime::Device& device, std::size_t bytes, const std::vector<Value>& values) {
  GuardedBuffer buffer(device, bytes);
  for (std::size_t at = 0; at < bytes; at += values.size() * sizeof(Value))
    device.copy_to_device(buffer.address() + at, values.data(), std::min(bytes - at, values.size() * sizeof(Value)));
  return buffer;
}

/// `arguments` are those of packed sequences of `lens`, with states in and out, but for costs, cp and the workspace. The first 1024 tokens of `inputs` are
/// repeated to the full length: times do not depend on values.
class GdnBenchCall {
 public:
  GdnBenchCall(runtime::Device&, const std::vector<std::int64_t>& lens, const gdn::Inputs& inputs);
  static constexpr std::int64_t kTokens = 1024;

  /// Gives the call its workspace; after this sizes, cp and costs stay.
  void allocate_workspace();
  ops::GdnForwardArguments arguments;

 private:
  runtime::Device& device_;
  std::vector<GuardedBuffer> buffers_;
};

}  // namespace tilewright::cli
