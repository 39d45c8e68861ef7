#ifndef TILEWRIGHT_HOPPER_BASE
#define TILEWRIGHT_HOPPER_BASE
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "dialect/hopper/PtxInstruction.td"

def Hopper_Dialect : Dialect {
  let name = "hopper";
  let cppNamespace = "::tilewright::hopper";
  let summary = "Threads, registers, one op about one PTX instruction (sm_90a)";
  let description = [{
    The machine level. Every value is one register of one thread: f32, i32 (also two packed 16-bit numbers), i64
    (matrix descriptors), i1. A shared-memory address is an i32 byte address in the shared window; global memory
    and tensor maps are `!llvm.ptr`. Control flow is scf or cf, arithmetic is arith, plain loads and stores are
    the llvm dialect's; what remains are the instructions of this dialect.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

/// A generic address: of global memory, or of a tensor map.
def Hopper_Pointer : Type<
    CPred<"::llvm::isa<::mlir::LLVM::LLVMPointerType>($_self) && "
          "::llvm::cast<::mlir::LLVM::LLVMPointerType>($_self).getAddressSpace() == 0">,
    "generic pointer (!llvm.ptr)", "::mlir::LLVM::LLVMPointerType">,
  BuildableType<"::mlir::LLVM::LLVMPointerType::get($_builder.getContext())">;
def Hopper_Value : AnyTypeOf<[F32, I32]>;

class Hopper_Op<string mnemonic, list<Trait> traits = []> : Op<Hopper_Dialect, mnemonic, traits>;

/// An op whose PTX depends on attributes or operand counts: getPtx is written in C++.
class Hopper_PtxOp<string mnemonic, list<string> methods = [], list<Trait> traits = []>
    : Hopper_Op<mnemonic, !listconcat([DeclareOpInterfaceMethods<PtxInstruction, methods>], traits)>;

/// An op whose PTX is the same text always.
class Hopper_TextOp<string mnemonic, string text, list<Trait> traits = []>
    : Hopper_PtxOp<mnemonic, [], traits> {
  let extraClassDefinition = [{
    std::string $cppClass::getPtx(const ::tilewright::hopper::PtxOperands &regs) {
      return regs.expand(R"ptx(}] # text # [{)ptx");
    }
  }];
}

/// The same, with side effects but no business with memory.
class Hopper_RegisterTextOp<string mnemonic, string text, list<Trait> traits = []>
    : Hopper_PtxOp<mnemonic, ["ordersMemory"], traits> {
  let extraClassDefinition = [{
    std::string $cppClass::getPtx(const ::tilewright::hopper::PtxOperands &regs) {
      return regs.expand(R"ptx(}] # text # [{)ptx");
    }
    bool $cppClass::ordersMemory() { return false; }
  }];
}
#endif
