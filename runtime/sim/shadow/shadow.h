// Shadow precision: every floating-point operation of a launch is also done in fp64, on operands that were never rounded, so that
// one can tell how much accuracy each instruction lost and how much it was given.
#pragma once
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/sim/observer.h"
#include "runtime/sim/shadow/shadow_memory.h"

namespace tilewright::runtime::sim {

/// What became of the results of some instructions. Errors are root mean squares over all results, relative to that of the
/// results themselves; of operands, relative to that of the operands.
struct Accuracy {
  std::uint64_t results = 0;
  std::uint64_t not_finite = 0;     // results left out, as they or their shadows are infinite or NaN
  double result_error = 0;          // against fp64 throughout
  double operand_error = 0;         // the same of the least accurate operand
  double introduced = 0;            // against fp64 on the operands as they are: the instruction's own rounding
};

/// The instructions of one opcode that a role executes for one line of the author.
struct ShadowLine {
  std::string kernel, role, source, opcode;   // source: "forward.h:251", with folders as the PTX has them
  unsigned ptx_line = 0;            // the first one
  unsigned instructions = 0;
  Accuracy accuracy;
  /// Accuracy that is gone behind this line and was there before it.
  double lost() const { return accuracy.result_error - accuracy.operand_error; }
};

/// An array in global memory against its shadow.
struct ShadowedArray {
  std::uint64_t elements = 0;
  std::uint64_t without_shadow = 0; // exact: constants, copies of inputs, or bits that integer instructions made
  double rms_error = 0;             // relative to the root mean square of the shadow
  double largest_error = 0;         // absolute
};

class Shadow final : public Instrument {
 public:
  std::unique_ptr<Observer> observe(const Launch&) override;
  void finish(const Launch&, Observer&) override;
  bool one_thread() const override { return true; }   // all CTAs share the shadow of global memory

  /// Lines whose results are less accurate than their operands, the worst first.
  std::vector<ShadowLine> lines() const;
  /// `element`: f32, bf16 or f16. Throws Error for another.
  ShadowedArray compare(DeviceAddress array, std::uint64_t elements, std::string_view element);

  /// Sums over the results of one instruction, or of several.
  struct Sums {
    std::uint64_t results = 0, not_finite = 0;
    double result2 = 0, error2 = 0, introduced2 = 0;
    double operand2[3] = {}, operand_error2[3] = {};
    void add(const Sums&);
  };

 private:
  struct Line {
    ShadowLine line;
    Sums sums;
  };
  mutable std::mutex mutex_;
  ShadowMemory memory_;
  std::map<std::array<std::string, 4>, Line> lines_;   // by kernel, role, source, opcode
};

}  // namespace tilewright::runtime::sim
