#include "dialect/hopper/Hopper.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "dialect/hopper/HopperDialect.cpp.inc"
#include "dialect/hopper/PtxInstruction.cpp.inc"
#define GET_OP_CLASSES
#include "dialect/hopper/HopperOps.cpp.inc"

using namespace mlir;

namespace tilewright::hopper {

void HopperDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialect/hopper/HopperOps.cpp.inc"
      >();
}

using Types = SmallVectorImpl<Type>;

LogicalResult WgmmaOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor op, Types &types) {
  llvm::append_range(types, op.getAcc().getTypes());
  return success();
}

LogicalResult WgmmaFenceOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor op, Types &types) {
  llvm::append_range(types, op.getRegs().getTypes());
  return success();
}

LogicalResult WgmmaWaitOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor op, Types &types) {
  llvm::append_range(types, op.getRegs().getTypes());
  return success();
}

LogicalResult MmaOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor op, Types &types) {
  llvm::append_range(types, op.getAcc().getTypes());
  return success();
}

LogicalResult LdMatrixOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor op, Types &types) {
  types.assign(op.getCount(), IntegerType::get(context, 32));
  return success();
}

} // namespace tilewright::hopper
