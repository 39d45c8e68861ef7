#ifndef TILEWRIGHT_HOPPER_MATRIX_OPS
#define TILEWRIGHT_HOPPER_MATRIX_OPS
include "dialect/hopper/HopperBase.td"

def Hopper_MatrixDescriptorOp
    : Hopper_TextOp<"matrix_descriptor", "mov.b64 #out, {#0, 0x40000040};", [Pure]> {
  let summary = "wgmma's description of a matrix in shared memory, 128-byte swizzle, 8-row groups 1024 bytes apart";
  let description = [{
    `low` holds bits 0..31: (address >> 4) & 0x3fff, and the leading byte offset >> 4 from bit 16. The upper word is
    fixed: stride byte offset 1024 >> 4 in bits 32..45, swizzle mode 1 (128 bytes) in bits 62..63.
    Source: PTX ISA, "Matrix Descriptor Format". Example: `%d = hopper.matrix_descriptor %low`
  }];
  let arguments = (ins I32:$low);
  let results = (outs I64:$result);
  let assemblyFormat = "$low attr-dict";
}

def Hopper_WgmmaOp : Hopper_PtxOp<"wgmma", ["tiesOperands"], [AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "Asynchronous product of a warpgroup: acc (+)= A * B, m64 x n, f32 accumulators (wgmma.mma_async)";
  let description = [{
    `acc` are n/2 registers, updated in place. `a` is one descriptor (i64) or four i32 registers, `b` a descriptor.
    `scale_d` false clears the accumulators instead of adding to them, `zero` does so always; without either it
    adds. `element` is "bf16", "f16" or "tf32"; `trans_a`, `trans_b` (16-bit elements, operand in shared memory) say
    that the operand is M-major or N-major. A wgmma_fence precedes the first use of the registers; they, and A's
    registers, belong to the product until a wgmma_wait has carried them.
    Example: `%d:4 = hopper.wgmma %acc#0, %acc#1, %acc#2, %acc#3 + %da * %db {n = 8 : i32, element = "bf16"} : i64`
  }];
  let arguments = (ins Variadic<F32>:$acc, Variadic<AnyTypeOf<[I32, I64]>>:$a, I64:$b, Optional<I1>:$scale_d,
                       I32Attr:$n, StrAttr:$element, UnitAttr:$trans_a, UnitAttr:$trans_b, UnitAttr:$zero);
  let results = (outs Variadic<F32>:$result);
  let assemblyFormat = "$acc `+` $a `*` $b (`if` $scale_d^)? attr-dict `:` type($a)";
  let hasVerifier = 1;
  let extraClassDefinition = "bool $cppClass::tiesOperands() { return true; }";
}

def Hopper_WgmmaFenceOp : Hopper_PtxOp<"wgmma_fence", ["tiesOperands"], [InferTypeOpAdaptor]> {
  let summary = "Orders register writes before the wgmmas that follow (wgmma.fence)";
  let description = [{
    The registers that the wgmmas use pass through it, so that no write to them can move below.
    Example: `%r:2 = hopper.wgmma_fence(%a, %b : f32, i32)`
  }];
  let arguments = (ins Variadic<Hopper_Value>:$regs);
  let results = (outs Variadic<Hopper_Value>:$result);
  let assemblyFormat = "(`(` $regs^ `:` type($regs) `)`)? attr-dict";
  let extraClassDefinition = "bool $cppClass::tiesOperands() { return true; }";
}

def Hopper_WgmmaCommitOp : Hopper_TextOp<"wgmma_commit", "wgmma.commit_group.sync.aligned;"> {
  let summary = "Closes a batch: the wgmmas issued since the last one";
  let description = "Example: `hopper.wgmma_commit`";
  let assemblyFormat = "attr-dict";
}

def Hopper_WgmmaWaitOp : Hopper_PtxOp<"wgmma_wait", ["tiesOperands"], [InferTypeOpAdaptor]> {
  let summary = "Waits until at most `pending` of the newest batches are in flight (wgmma.wait_group)";
  let description = [{
    The registers of the batches that are done pass through it, so that no read of them can move above.
    Example: `%r:2 = hopper.wgmma_wait(%a, %b : f32, f32) {pending = 0 : i32}`
  }];
  let arguments = (ins Variadic<Hopper_Value>:$regs, I32Attr:$pending);
  let results = (outs Variadic<Hopper_Value>:$result);
  let assemblyFormat = "(`(` $regs^ `:` type($regs) `)`)? attr-dict";
  let hasVerifier = 1;
  let extraClassDefinition = "bool $cppClass::tiesOperands() { return true; }";
}

def Hopper_MmaOp : Hopper_PtxOp<"mma", [], [Pure, AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "Product of one warp: acc + A * B in registers (mma.sync, row.col, f32 accumulators)";
  let description = [{
    `shape` and `element`: "m16n8k16" with "bf16" or "f16" (a 4 registers, b 2), "m16n8k8" with "tf32" (a 4, b 2),
    "bf16" or "f16" (a 2, b 1). `acc` are 4 registers. All lanes of the warp take part.
    Example: `%d:4 = hopper.mma %c, %c, %c, %c + %a, %a, %a, %a * %b, %b {shape = "m16n8k16", element = "bf16"}`
  }];
  let arguments = (ins Variadic<F32>:$acc, Variadic<I32>:$a, Variadic<I32>:$b, StrAttr:$shape, StrAttr:$element);
  let results = (outs Variadic<F32>:$result);
  let assemblyFormat = "$acc `+` $a `*` $b attr-dict";
  let hasVerifier = 1;
}
#endif
