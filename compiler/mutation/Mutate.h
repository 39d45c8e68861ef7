// Plants one mistake in a kernel on its way through the pipeline.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "compiler/compile.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tilewright::mutation {

using Stage = compiler::Mutation::Stage;
/// What happens to a module where mutations of a stage are made.
using Hook = std::function<mlir::LogicalResult(Stage, mlir::ModuleOp)>;

/// Every mutation that a module at this stage offers, in program order.
std::vector<compiler::Mutation> list(Stage stage, mlir::ModuleOp module);
/// Makes the mutation when it is one of this stage. Fails with a diagnostic when the module does not offer it.
mlir::LogicalResult plant(const compiler::Mutation& mutation, Stage stage, mlir::ModuleOp module);

/// Needs: tile kernels with all fences, or functions over the hopper dialect. Does: calls the hook. Leaves true: tile kernels are
/// marked, so that a second tile-insert-fences checks them and inserts nothing.
std::unique_ptr<mlir::Pass> mutate(Stage stage, Hook hook);

}  // namespace tilewright::mutation
