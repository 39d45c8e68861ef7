#pragma once
#include <string>
#include <string_view>

#include "mlir/IR/ValueRange.h"

namespace tilewright::hopper {

/// Names of an op's registers inside its PTX text, as LLVM's inline assembly numbers them: results first, then
/// the operands (those tied to a result have a number too, which the text does not use).
class PtxOperands {
public:
  explicit PtxOperands(unsigned results) : results(results) {}

  std::string result(unsigned i) const { return "$" + std::to_string(i); }
  std::string operand(unsigned i) const { return "$" + std::to_string(results + i); }

  /// All results, comma separated.
  std::string resultList() const;
  /// A segment of the operands, comma separated.
  std::string operandList(mlir::OperandRange segment) const;

  /// Replaces `#out` (the result; `#outN` of several), `#N` (operand N) and `#uid` (a number unique to this instance, for labels).
  std::string expand(std::string_view text) const;

private:
  unsigned results;
};

} // namespace tilewright::hopper
