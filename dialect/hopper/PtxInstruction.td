#ifndef TILEWRIGHT_HOPPER_PTX_INSTRUCTION
#define TILEWRIGHT_HOPPER_PTX_INSTRUCTION
include "mlir/IR/OpBase.td"

def PtxInstruction : OpInterface<"PtxInstruction"> {
  let cppNamespace = "::tilewright::hopper";
  let description = [{
    An op that stands for a piece of PTX. The op alone knows its mnemonic; `convert-hopper-to-llvm` turns every op
    with this interface into one `llvm.inline_asm`. Registers follow from the types of operands and results
    (f32 "f", i32 "r", i64 and pointers "l", i1 "b"). An op that is not Pure has side effects, so it is neither
    removed nor moved across another such op.
  }];
  let methods = [
    InterfaceMethod<"The PTX text; `regs` gives the names of operands and results in it.",
      "std::string", "getPtx", (ins "const ::tilewright::hopper::PtxOperands &":$regs)>,
    InterfaceMethod<
      "Whether result i lives in the register of operand i: the first operands are updated in place.",
      "bool", "tiesOperands", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<
      "Whether loads and stores must stay on their side of the op. An op that has side effects but touches no "
      "memory (a shuffle, a clock) says no.",
      "bool", "ordersMemory", (ins), [{}], [{ return !::mlir::isPure($_op); }]>,
  ];
}
#endif
