// Calls of GDN forward that the command has no options for: gates and write strengths in other domains, norms, checkpoints.
#pragma once
#include "tests/card/agreement/compare.h"

namespace tilewright::test {

struct GdnCall {
  enum class Gates { log, linear, raw } gates = Gates::log;
  bool logits = false;        // beta through a sigmoid
  bool l2norm = false;        // q and k normalised by the kernels
  bool narrow_states = false; // states in bf16
  bool split = false;         // the form with 64 columns of V a CTA
  int dk = 128, dv = 128;
  std::vector<std::int64_t> lens{131, 64, 1, 0, 70};
};

/// Outputs o and final_state, and their errors against the fp64 reference, which gets the same gates, q and k in fp64.
Ran run_gdn_call(const GdnCall&, const std::string& device);

}  // namespace tilewright::test
