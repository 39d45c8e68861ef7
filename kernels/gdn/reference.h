#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/gdn/inputs.h"

/// The Gated Delta Net in fp64 on the CPU: what every kernel is checked against.
namespace tilewright::gdn {

/// Results of a forward call.
struct Outputs {
  std::vector<double> o;           ///< [T, Hv, dv]
  std::vector<double> final_state; ///< [N, Hv, dk, dv], in the state order of the inputs
};

/// Token recurrence, the definition of the operator. For each sequence and value head, with state S (dk x dv):
///   S <- exp(g_t) S
///   S <- S + beta_t k_t (v_t - S^T k_t)^T
///   o_t = scale S^T q_t
/// A sequence of length 0 leaves its state unchanged. Sequences and heads are shared among `threads` threads (0 = all
/// of the machine); the result does not depend on how many. Throws tilewright::Error when the inputs do not fit
/// together.
Outputs recurrence(const Inputs &inputs, int threads = 0);

/// The same by chunks of 64 tokens, several times as fast; equal to the recurrence up to fp64 rounding. For a chunk
/// with inclusive cumulative decay b and D_ij = exp(b_i - b_j) for i >= j, else 0:
///   (I + diag(beta) strictlower(D o K K^T)) X = diag(beta) (V - diag(e^b) K S)
///   O = scale (diag(e^b) Q S + (D o Q K^T) X)
///   S <- e^(b_C) S + K^T diag(e^(b_C - b)) X
/// Differences of b are formed before the exponential and never exceed 0 for g <= 0.
Outputs chunked(const Inputs &inputs, int threads = 0);

/// Root mean square of (result - expected) over that of expected: 0 is perfect. NaN where either holds a NaN.
/// Both empty gives 0. Throws tilewright::Error when the sizes differ.
double rms_ratio(std::span<const double> result, std::span<const double> expected);
double rms_ratio(std::span<const float> result, std::span<const double> expected);
/// The result as bits of `dtype`.
double rms_ratio(std::span<const std::uint16_t> result, DType dtype, std::span<const double> expected);

} // namespace tilewright::gdn
