// Turns MLIR diagnostics into the text of a CompileError.
#pragma once
#include <string>

#include "mlir/IR/Diagnostics.h"

namespace tilewright {

/// Collects errors while it lives: "file:line: error: message".
class DiagnosticCollector {
 public:
  explicit DiagnosticCollector(mlir::MLIRContext* context);
  std::string text() const { return text_; }
  bool empty() const { return text_.empty(); }

 private:
  mlir::ScopedDiagnosticHandler handler_;
  std::string text_;
};

}  // namespace tilewright
