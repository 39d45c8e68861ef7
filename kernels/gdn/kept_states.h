// Initial states of a call whose final states take their place.
//
// Works of a cut chain read its initial state at any time, also when the chain's last work has written the final one. So the prologue copies the rows that
// are read to the workspace, row n for sequence n and zeros where it has none, and the chain kernel reads the copies: nothing that it writes is read in it.
#pragma once
#include "kernels/gdn/operands.h"
#include "kernels/gdn/segment_plan.h"

namespace tilewright::gdn {

class KeptStates {
 public:
  /// Declares kept_from, the pool with its slots, and kept_states, the copies. Rows are lines of 128 bytes, whatever their elements; there is a copy where the
  /// tensors are given.
  KeptStates(Kernel& k, const Dim& N) : KeptStates(k, N, k.dim("kept_pitch")) {}

  /// The share of CTA `cta` of `ctas`; none of a CTA below 0. Called by a warpgroup.
  void copy(Kernel& k, Index cta, Index ctas) const {
    if_(from_.present(), [&] {
      Index parts_of_row = lines_ / kLines, parts = N_ * parts_of_row;
      for_range(select(cta < 0, parts, cta), parts, ctas, [&](Index part) {
        Index n = part / parts_of_row, line = (part - n * parts_of_row) * kLines, row = slots_.at(n);
        auto words = k.frag<f32>({kLines, kKeptWords}, "part of a state");
        fill(words, 0.0);
        if_(row >= 0, [&] { load_global(words, from_, {row, line, 0}, 1, 2); });
        store_global(to_, {n, line, 0}, words, 1, 2);
      });
    });
  }

 private:
  static constexpr int kLines = 64;  // 8 KB at a time

  KeptStates(Kernel& k, const Dim& N, const Dim& lines)
      : from_(k.optional_in<f32>("kept_from", {k.dim("kept_from_rows"), k.dim("kept_from_pitch"), kKeptWords})),
        to_(k.optional_out<f32>("kept_states", {N, lines, kKeptWords})), slots_(k, "kept_slots"), N_(N), lines_(lines) {}

  Tensor<f32> from_, to_;
  Numbering slots_;
  Index N_, lines_;
};

}  // namespace tilewright::gdn
