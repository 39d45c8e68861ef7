#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

#include "compiler/passes/hopper/Passes.h"
#include "dialect/hopper/Hopper.h"

using namespace mlir;

namespace tilewright::hopper {
namespace {

/// LLVM's inline-assembly constraint of a register of this type.
StringRef registerClass(Type type) {
  if (type.isF32())
    return "f";
  if (type.isInteger(32))
    return "r";
  if (type.isInteger(1))
    return "b";
  return "l"; // i64 or a pointer
}

/// Outputs, inputs (tied ones by the number of their output) and clobbers, in the order LLVM wants them.
std::string constraints(PtxInstruction instruction) {
  Operation *op = instruction.getOperation();
  unsigned tied = instruction.tiesOperands() ? op->getNumResults() : 0;
  std::string text;
  auto add = [&](const Twine &item) { text += (text.empty() ? item : "," + item).str(); };
  for (Type type : op->getResultTypes())
    add("=" + registerClass(type));
  for (auto [i, type] : llvm::enumerate(op->getOperandTypes()))
    if (i < tied)
      add(Twine(i));
    else
      add(registerClass(type));
  if (instruction.ordersMemory())
    add("~{memory}");
  return text;
}

void convertInstruction(PtxInstruction instruction, IRRewriter &rewriter) {
  Operation *op = instruction.getOperation();
  Location loc = op->getLoc();
  unsigned results = op->getNumResults();
  rewriter.setInsertionPoint(op);
  SmallVector<Type> types;
  if (results == 1)
    types.push_back(op->getResult(0).getType());
  if (results > 1)
    types.push_back(LLVM::LLVMStructType::getLiteral(op->getContext(), SmallVector<Type>(op->getResultTypes())));
  std::string text = instruction.getPtx(PtxOperands(results));
  auto assembly = LLVM::InlineAsmOp::create(
      rewriter, loc, types, op->getOperands(), StringRef(text).trim(), constraints(instruction),
      /*has_side_effects=*/!isPure(op), /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(op->getContext(), LLVM::AsmDialect::AD_ATT), /*operand_attrs=*/ArrayAttr());
  SmallVector<Value> values;
  if (results == 1)
    values.push_back(assembly.getResult(0));
  for (unsigned i = 0; results > 1 && i < results; ++i)
    values.push_back(LLVM::ExtractValueOp::create(rewriter, loc, assembly.getResult(0), i));
  rewriter.replaceOp(op, values);
}

/// The extern array that stands for the kernel's dynamic shared memory, declared on first use.
LLVM::GlobalOp dynamicSharedMemory(ModuleOp module) {
  if (auto global = module.lookupSymbol<LLVM::GlobalOp>(kDynamicSharedMemory))
    return global;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  Type type = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
  return LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/false, LLVM::Linkage::External,
                                kDynamicSharedMemory, Attribute(), /*alignment=*/1024, /*addrSpace=*/3);
}

void convertSharedBase(SharedBaseOp op, ModuleOp module, IRRewriter &rewriter) {
  LLVM::GlobalOp global = dynamicSharedMemory(module);
  rewriter.setInsertionPoint(op);
  Value address = LLVM::AddressOfOp::create(rewriter, op.getLoc(), global);
  rewriter.replaceOpWithNewOp<LLVM::PtrToIntOp>(op, rewriter.getI32Type(), address);
}

/// The variable of a traced kernel's time stamps, declared on first use.
void convertTraceBase(TraceBaseOp op, ModuleOp module, IRRewriter &rewriter) {
  auto global = module.lookupSymbol<LLVM::GlobalOp>(kTrace);
  if (!global) {
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    Type type = LLVM::LLVMArrayType::get(builder.getI8Type(), op.getBytes());
    global = LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/false, LLVM::Linkage::External, kTrace,
                                    builder.getZeroAttr(RankedTensorType::get({op.getBytes()}, builder.getI8Type())),
                                    /*alignment=*/16, /*addrSpace=*/1);
  }
  rewriter.setInsertionPoint(op);
  Value address = LLVM::AddressOfOp::create(rewriter, op.getLoc(), global);
  rewriter.replaceOpWithNewOp<LLVM::PtrToIntOp>(op, rewriter.getI64Type(), address);
}

struct ConvertHopperToLLVM : PassWrapper<ConvertHopperToLLVM, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertHopperToLLVM)

  StringRef getArgument() const override { return "convert-hopper-to-llvm"; }
  StringRef getDescription() const override { return "turn hopper ops into inline PTX of the llvm dialect"; }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<LLVM::LLVMDialect>(); }

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa_and_nonnull<HopperDialect>(op->getDialect()))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops) {
      if (auto instruction = dyn_cast<PtxInstruction>(op)) {
        convertInstruction(instruction, rewriter);
      } else if (auto base = dyn_cast<SharedBaseOp>(op)) {
        convertSharedBase(base, getOperation(), rewriter);
      } else if (auto base = dyn_cast<TraceBaseOp>(op)) {
        convertTraceBase(base, getOperation(), rewriter);
      } else if (isa<CudaFunctionOp>(op)) {
        rewriter.eraseOp(op);
      } else {
        op->emitOpError("has no PTX");
        return signalPassFailure();
      }
    }
  }
};

} // namespace

std::unique_ptr<Pass> createConvertHopperToLLVMPass() { return std::make_unique<ConvertHopperToLLVM>(); }

} // namespace tilewright::hopper
