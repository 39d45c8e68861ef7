#pragma once
#include <memory>

namespace mlir {
class DialectRegistry;
class OpPassManager;
class Pass;
} // namespace mlir

namespace tilewright::hopper {

/// convert-hopper-to-llvm, on a module.
/// Needs: any module. Does: turns every hopper op into one llvm.inline_asm of its PTX (shared_base into the address
/// of a symbol that it declares). Leaves true: no hopper op remains; everything else is as it was.
std::unique_ptr<mlir::Pass> createConvertHopperToLLVMPass();

/// check-math, on a module.
/// Needs: any module. Does: reports math ops that become no PTX instruction. Leaves true: there is none.
std::unique_ptr<mlir::Pass> createCheckMathPass();

/// Needs: a module of llvm.func kernels that hold scf, cf, arith, math, llvm, nvvm and hopper ops.
/// Does: scf to branches, hopper to inline PTX, the rest to the llvm dialect.
/// Leaves true: only llvm and nvvm ops remain. `passes` runs on a module.
void buildHopperToLLVMPipeline(mlir::OpPassManager &passes);

/// The dialects of a module at the hopper level (hopper, llvm, nvvm, arith, math, scf, cf, func), with the
/// interfaces by which buildHopperToLLVMPipeline lowers them.
void registerHopperDialects(mlir::DialectRegistry &registry);

/// Makes the hopper passes known to pass pipelines by name, and the pipeline as hopper-to-llvm.
void registerHopperPasses();

} // namespace tilewright::hopper
