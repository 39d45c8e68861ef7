// Gated Delta Net, forward: the prologue and then the chain kernel.
#pragma once
#include <cstdint>
#include <optional>

#include "kernels/gdn/config.h"
#include "kernels/gdn/inputs.h"
#include "kernels/gdn/plan.h"
#include "runtime/ops/operator.h"

namespace tilewright::ops {

/// One call. Tensors are contiguous, in device memory, aligned to 16 bytes. With cu_seqlens: packed sequences, batch = 1, T
/// rows, N sequences. Without: `batch` sequences of T tokens each, N = 0 or batch.
struct GdnForwardArguments {
  runtime::DeviceAddress q = 0, k = 0;           ///< [batch, T, hk, dk], dtype
  runtime::DeviceAddress v = 0;                  ///< [batch, T, hv, dv], dtype
  runtime::DeviceAddress g = 0, beta = 0;        ///< [batch, T, hv], f32
  runtime::DeviceAddress cu_seqlens = 0;         ///< [N + 1], int32 or int64; 0: none
  runtime::DeviceAddress initial_state = 0;      ///< [N, hv, dk, dv] ([N, hv, dv, dk] with v_first), f32; 0: zeros
  runtime::DeviceAddress o = 0;                  ///< out: [batch, T, hv, dv], dtype
  runtime::DeviceAddress final_state = 0;        ///< out: as initial_state, which it may be; 0: not wanted
  std::int64_t T = 0, N = 0, batch = 1;
  int hk = 0, hv = 0, dk = 128, dv = 128;
  gdn::DType dtype = gdn::DType::bf16;
  float scale = 0;                               ///< 0: dk^-1/2
  bool cu_seqlens_is_int64 = false;
  gdn::StateOrder state_order = gdn::StateOrder::k_first;
  runtime::DeviceAddress workspace = 0;          ///< aligned to 256 bytes
  std::uint64_t workspace_bytes = 0;

  std::int64_t tokens() const { return batch * T; }
  std::int64_t sequences() const { return cu_seqlens != 0 ? N : batch; }
  bool operator==(const GdnForwardArguments&) const = default;
};

/// Kernels of the operator.
Source gdn_prologue_source(gdn::HeadCounts heads, gdn::DType dtype);
Source gdn_forward_source(gdn::HeadCounts heads, gdn::DType dtype, gdn::StateOrder order, gdn::Form form);

struct GdnForwardOptions {
  std::optional<gdn::Form> form;  ///< empty: choose_form
  BuildOptions build;
};

class GdnForward {
 public:
  explicit GdnForward(runtime::Device& device, GdnForwardOptions options = {});

  /// Bytes of workspace, from sizes, dtype and whether there are offsets. Throws ArgumentError, UnsupportedError.
  static std::uint64_t workspace_bytes(const GdnForwardArguments&);
  /// Enqueues the call on a stream: neither allocates device memory nor synchronises. The first call of a configuration
  /// compiles. Throws ArgumentError, UnsupportedError, BuildError, and Error for what the device reports.
  void run(const GdnForwardArguments&, void* stream = nullptr);
  /// The launches of a call, to be timed one by one.
  std::shared_ptr<const Steps> prepare(const GdnForwardArguments&);
  /// The form that a call takes.
  gdn::Form form_of(const GdnForwardArguments&) const;

 private:
  Steps bind_steps(const GdnForwardArguments&);
  GdnForwardOptions options_;
  LoadedPrograms programs_;
  CallCache<GdnForwardArguments> calls_;
  CallCache<GdnForwardArguments> shapes_;  // by sizes alone: steps whose addresses are to be replaced
};

}  // namespace tilewright::ops
