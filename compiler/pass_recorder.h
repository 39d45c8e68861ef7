// What each pass did: how long it took, and the module after it.
#pragma once
#include <chrono>
#include <vector>

#include "compiler/compile.h"
#include "mlir/Pass/PassInstrumentation.h"

namespace tilewright {

/// Appends a record for every pass that ends. Printing is not counted.
class PassRecorder : public mlir::PassInstrumentation {
 public:
  explicit PassRecorder(std::vector<compiler::PassRecord>& records) : records_(records) {}
  void runBeforePass(mlir::Pass*, mlir::Operation*) override;
  void runAfterPass(mlir::Pass*, mlir::Operation*) override;

 private:
  std::vector<compiler::PassRecord>& records_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace tilewright
