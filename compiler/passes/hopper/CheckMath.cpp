#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include "compiler/passes/hopper/Passes.h"

using namespace mlir;

namespace tilewright::hopper {
namespace {

/// LLVM ends the process when it meets a function that the machine has no instruction for, so that is found here.
struct CheckMath : PassWrapper<CheckMath, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckMath)

  StringRef getArgument() const override { return "check-math"; }
  StringRef getDescription() const override { return "refuse math functions that the machine has no instruction for"; }

  void runOnOperation() override {
    WalkResult result = getOperation().walk([](Operation *op) {
      if (!isa_and_nonnull<math::MathDialect>(op->getDialect()))
        return WalkResult::advance();
      if (isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::CountLeadingZerosOp,
              math::CountTrailingZerosOp, math::CtPopOp, math::Exp2Op, math::FloorOp, math::FmaOp, math::RoundEvenOp,
              math::RoundOp, math::RsqrtOp, math::SqrtOp, math::TruncOp>(op))
        return WalkResult::advance();
      op->emitOpError("has no instruction on the machine; build it from hopper.exp2, hopper.log2, hopper.rcp and "
                      "arithmetic");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> createCheckMathPass() { return std::make_unique<CheckMath>(); }

} // namespace tilewright::hopper
