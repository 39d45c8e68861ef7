// Gated Delta Net, forward: the prologue and then the chain kernel.
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>

#include "kernels/gdn/config.h"
#include "kernels/gdn/gate.h"
#include "kernels/gdn/inputs.h"
#include "kernels/gdn/plan.h"
#include "runtime/ops/offset_faults.h"
#include "runtime/ops/operand.h"
#include "runtime/ops/operator.h"

namespace tilewright::ops {

/// One call; the fields of tilewright_gdn_forward_args, which documents them.
struct GdnForwardArguments {
  std::uint64_t flags = 0;
  std::int64_t T = 0, N = 0, batch = 1;
  int hq = 0, hk = 0, hv = 0, dk = 128, dv = 128;
  float scale = 0;
  Operand q, k, v, g, beta;
  gdn::GateDomain gate_domain = gdn::GateDomain::log;
  gdn::BetaDomain beta_domain = gdn::BetaDomain::value;
  float beta_scale = 0;
  int l2norm = 0;
  float l2norm_eps = 0;
  int cp = 0;
  Operand A_log, dt_bias;
  Operand cu_seqlens, prefix_lens;
  Operand initial_state, read_slots, final_state, write_slots;
  std::int64_t initial_rows = 0, final_rows = 0;
  Operand checkpoints, checkpoint_starts, checkpoint_slots;
  std::int64_t checkpoint_rows = 0, checkpoint_count = 0, checkpoint_every = 0;
  gdn::StateOrder state_order = gdn::StateOrder::k_first;
  Operand o, save_T, save_b;
  runtime::DeviceAddress workspace = 0;
  std::uint64_t workspace_bytes = 0;
  const gdn::Costs* costs = &gdn::kShippedCosts;  ///< of the device (gdn_costs.h), for the workspace and the call alike; they live as long as the process

  std::int64_t tokens() const { return batch * T; }
  std::int64_t sequences() const { return cu_seqlens ? N : batch; }
  int query_heads() const { return hq != 0 ? hq : hk; }
  int heads() const { return std::max({query_heads(), hk, hv}); }  ///< that have a state
  bool in_place() const { return initial_state && final_state && initial_state.address == final_state.address; }
  std::int64_t slots() const { return tokens() / gdn::kChunk + sequences(); }  ///< of chunks, see kernels/gdn/sequences.h
};

/// The element type of the reference's inputs.
inline Dtype dtype_of(gdn::DType dtype) { return dtype == gdn::DType::bf16 ? Dtype::bf16 : Dtype::f16; }

/// Everything that the kernels of a call have fixed when they are compiled.
struct GdnForwardKernels {
  Dtype dtype = Dtype::bf16;
  int pack = 4;
  std::int16_t dk = 128, dv = 128;
  gdn::Form form = gdn::Form::full;
  std::int32_t l2norm = 0;  ///< 1: the kernels normalise q and k
  bool state_v_first = false;
  gdn::StateTypes states;
  Element gate = Element::f32, strength = Element::f32;  ///< of g and beta
  std::int16_t checkpoints = 0;                          ///< 1: the chain writes them; 2: counted from prefixes
  std::int32_t segments = 0;                             ///< 1: the prologue plans, and the chain kernel works through the plan
};

/// Kernels of the operator.
Source gdn_prologue_source(const GdnForwardKernels&);
Source gdn_forward_source(const GdnForwardKernels&);
/// Heads of one CTA of the prologue where `group` heads share a key head.
int gdn_prologue_pack(int group);

struct GdnForwardOptions {
  std::optional<gdn::Form> form;  ///< empty: as it suits. Heads that cannot be split have the full one
  BuildOptions build;
  gdn::HeadClass heads = gdn::HeadClass::chosen;  ///< how segments of chains start: one way for all heads is for tests
};

class GdnForward {
 public:
  explicit GdnForward(runtime::Device& device, GdnForwardOptions options = {});
  ~GdnForward();

  /// Bytes of workspace, from sizes and from which of cu_seqlens, save_T and save_b are given. Throws ArgumentError, UnsupportedError.
  static std::uint64_t workspace_bytes(const GdnForwardArguments&);
  /// Enqueues the call on a stream: neither allocates device memory nor synchronises. The first call of a configuration
  /// compiles; the first of a shape binds; others replace addresses. Throws ArgumentError, UnsupportedError, BuildError, and
  /// Error for what the device reports; ArgumentError, too, for bad offsets of an earlier call (see check_offsets), and then enqueues nothing. The
  /// simulated device, which is done when the call returns, reports the call's own.
  void run(const GdnForwardArguments&, void* stream = nullptr);
  /// Throws ArgumentError, once, where a kernel that has run on the stream has met bad offsets. Does not wait for kernels.
  void check_offsets(void* stream = nullptr) { faults_.check(stream, kEarlier); }
  /// The launches of a call, to be timed one by one. Bad offsets are reported as those of a call on the null stream.
  Steps prepare(const GdnForwardArguments&);
  /// The costs of the operator's device. Throws ArgumentError for a file that cannot be used (gdn_costs.h).
  const gdn::Costs& costs();
  /// What the call's kernels have fixed.
  GdnForwardKernels kernels_of(const GdnForwardArguments&) const;

 private:
  struct Bindings;
  struct Plan;
  std::shared_ptr<const Bindings> bindings(const GdnForwardArguments&);
  std::shared_ptr<const Plan> bind(const GdnForwardArguments&);
  static constexpr const char* kEarlier = " of an earlier call on this stream";
  GdnForwardOptions options_;
  LoadedPrograms programs_;
  OffsetFaults faults_;
  KernelTable<GdnForwardKernels, Bindings> bindings_;
  PlanCache<Plan> plans_;
  std::atomic<const gdn::Costs*> costs_{nullptr};
};

}  // namespace tilewright::ops
