// CUDA functions and their calls.
#include "compiler/passes/lowering/Lowering.h"

using namespace mlir;

namespace tilewright::lowering {

/// The module gets the text; the symbol tells functions of one kernel apart.
void Lowering::declare_cuda_function(tile::CudaFunctionOp op) {
  std::string symbol = "tilewright_cuda_" + std::to_string(functions_.size()) + "_";
  for (char c : op.getFunction()) symbol += llvm::isAlnum(c) ? c : '_';
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPoint(func_);
  hopper::CudaFunctionOp::create(b_, loc_, symbol, op.getFunction(), op.getText(), cast<FunctionType>(op.getHandle().getType()));
  functions_[op.getHandle().getAsOpaquePointer()] = symbol;
}

void Lowering::emit_call(tile::CallOp op) {
  map_.map(op.getResult(), hopper::CallOp::create(b_, loc_, op.getResult().getType(), functions_.at(op.getFunction().getAsOpaquePointer()), mapped(op.getValues())));
}

}  // namespace tilewright::lowering
