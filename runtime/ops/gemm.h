// C = A B^T.
#pragma once
#include <cstdint>

#include "runtime/ops/operator.h"

namespace tilewright::ops {

/// A is [M, K], B is [N, K], C is [M, N], all bf16, contiguous and aligned to 16 bytes.
struct GemmArguments {
  runtime::DeviceAddress a = 0, b = 0, c = 0;
  std::int64_t M = 0, N = 0, K = 0;
  bool operator==(const GemmArguments&) const = default;
};

/// From the plain kernel to the fast one (kernels/gemm/gemm.h).
enum class GemmRung { one_role, two_roles, fast };
Source gemm_source(GemmRung rung);

class Gemm {
 public:
  explicit Gemm(runtime::Device& device, GemmRung rung = GemmRung::fast, BuildOptions options = {});
  /// Enqueues the product; fp32 accumulation. Throws ArgumentError, BuildError, and Error for what the device reports.
  void run(const GemmArguments&, void* stream = nullptr);
  /// The launch of a call.
  Steps prepare(const GemmArguments&);

 private:
  Source source_;
  LoadedPrograms programs_;
  PlanCache<Steps> plans_;
};

}  // namespace tilewright::ops
