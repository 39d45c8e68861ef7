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

LogicalResult LdMatrixOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor op,
                                           Types &types) {
  // The parser asks before the attributes have become properties.
  IntegerAttr count = op.getProperties().count;
  if (!count && op.getAttributes())
    count = op.getAttributes().getAs<IntegerAttr>("count");
  if (!count || !llvm::is_contained({1, 2, 4}, count.getInt()))
    return emitOptionalError(loc, "'hopper.ldmatrix' op moves ", count ? count.getInt() : 0,
                             " matrices, expected 1, 2 or 4");
  types.assign(count.getInt(), IntegerType::get(context, 32));
  return success();
}

} // namespace tilewright::hopper
