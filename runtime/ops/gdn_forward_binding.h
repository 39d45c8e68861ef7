// The tables of arguments that gdn_forward binds its kernels from.
#pragma once
#include <array>
#include <string_view>
#include <vector>

#include "runtime/ops/gdn_forward_check.h"
#include "runtime/program/binding_plan.h"

namespace tilewright::ops {

/// Names of the tables' entries.
std::span<const std::string_view> gdn_forward_tensor_names();
std::vector<std::string_view> gdn_forward_scalar_names();

/// The entries of one call.
class GdnForwardTables {
 public:
  GdnForwardTables(const GdnForwardArguments&, const GdnForwardTensors&, const GdnForwardAddresses&, unsigned multiprocessors, gdn::HeadClass);
  const std::vector<program::TensorView>& tensors() const { return views_; }
  const std::vector<program::Scalar>& scalars() const { return scalars_; }
  /// Which tensor of the call each entry of the table of tensors is.
  static GdnTensor tensor_of_entry(std::size_t entry);
  static std::size_t entries();

 private:
  std::array<std::array<std::int64_t, 4>, kGdnTensors> shapes_, strides_;
  std::vector<program::TensorView> views_;
  std::vector<program::Scalar> scalars_;
};

}  // namespace tilewright::ops
