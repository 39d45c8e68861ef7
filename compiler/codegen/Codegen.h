#pragma once
/// From the llvm dialect to PTX text: translation, LLVM's optimiser, its NVPTX backend.
#include <string>

#include "mlir/IR/BuiltinOps.h"

namespace tilewright::codegen {

struct CodegenOptions {
  int optLevel = 3;                ///< LLVM's -O level, 0..3
  bool debugLocations = true;      ///< file locations of the MLIR become .loc lines of the PTX
  std::string cpu = "sm_90a";      ///< the machine, as LLVM names it
  std::string features = "+ptx87"; ///< PTX ISA 8.7, which CUDA 12.8 and newer assemble
};

/// Milliseconds of each part of emitPtx.
struct CodegenTimes {
  double translate = 0, optimise = 0, emit = 0;
};

/// The llvm and nvvm dialects with what translates them to LLVM IR.
void registerCodegenDialects(mlir::DialectRegistry &registry);

/// Translates a module of llvm and nvvm ops (which it changes only by debug scopes) to LLVM IR, optimises it and
/// returns PTX. `llvmIr`, when given, gets the optimised LLVM IR, `times` the times. Fails with a diagnostic at the module where LLVM
/// reports an error. No optimisation duplicates inline PTX or moves it into control flow that it was not in.
mlir::FailureOr<std::string> emitPtx(mlir::ModuleOp module, const CodegenOptions &options = {},
                                     std::string *llvmIr = nullptr, CodegenTimes *times = nullptr);

} // namespace tilewright::codegen
