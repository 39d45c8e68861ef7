#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

#include "compiler/passes/hopper/Passes.h"
#include "dialect/hopper/Hopper.h"

using namespace mlir;

namespace tilewright::hopper {

void registerHopperDialects(DialectRegistry &registry) {
  registry.insert<HopperDialect, LLVM::LLVMDialect, NVVM::NVVMDialect, arith::ArithDialect, math::MathDialect,
                  scf::SCFDialect, cf::ControlFlowDialect, func::FuncDialect>();
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  registerConvertFuncToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  registerConvertNVVMToLLVMInterface(registry);
}

void buildHopperToLLVMPipeline(OpPassManager &passes) {
  passes.addPass(createCheckMathPass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertHopperToLLVMPass());
  passes.addPass(createConvertToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
}

void registerHopperPasses() {
  registerPass([] { return createCheckMathPass(); });
  registerPass([] { return createConvertHopperToLLVMPass(); });
  PassPipelineRegistration<> pipeline("hopper-to-llvm", "everything from the hopper level to the llvm dialect",
                                      [](OpPassManager &passes) { buildHopperToLLVMPipeline(passes); });
}

} // namespace tilewright::hopper
