#ifndef TILEWRIGHT_HOPPER_MATH_OPS
#define TILEWRIGHT_HOPPER_MATH_OPS
include "dialect/hopper/HopperBase.td"

class Hopper_UnaryF32Op<string mnemonic, string text> : Hopper_TextOp<mnemonic, text, [Pure]> {
  let arguments = (ins F32:$x);
  let results = (outs F32:$result);
  let assemblyFormat = "$x attr-dict";
}

def Hopper_Exp2Op : Hopper_UnaryF32Op<"exp2", "ex2.approx.ftz.f32 #out, #0;"> {
  let summary = "2^x, approximate; a subnormal result is 0";
  let description = "Example: `%y = hopper.exp2 %x`";
}
def Hopper_Log2Op : Hopper_UnaryF32Op<"log2", "lg2.approx.ftz.f32 #out, #0;"> {
  let summary = "log2 x, approximate; a subnormal argument counts as 0";
  let description = "Example: `%y = hopper.log2 %x`";
}
def Hopper_RcpOp : Hopper_UnaryF32Op<"rcp", "rcp.approx.ftz.f32 #out, #0;"> {
  let summary = "1/x, approximate; subnormals count as 0";
  let description = "Example: `%y = hopper.rcp %x`";
}
def Hopper_RsqrtOp : Hopper_UnaryF32Op<"rsqrt", "rsqrt.approx.ftz.f32 #out, #0;"> {
  let summary = "1/sqrt(x), approximate; a subnormal argument counts as 0";
  let description = "Example: `%y = hopper.rsqrt %x`";
}
def Hopper_SqrtOp : Hopper_UnaryF32Op<"sqrt", "sqrt.approx.ftz.f32 #out, #0;"> {
  let summary = "Square root, approximate; a subnormal argument counts as 0";
  let description = "Example: `%y = hopper.sqrt %x`";
}
def Hopper_TanhOp : Hopper_UnaryF32Op<"tanh", "tanh.approx.f32 #out, #0;"> {
  let summary = "Hyperbolic tangent, to 2^-11";
  let description = "Example: `%y = hopper.tanh %x`";
}
def Hopper_AbsOp : Hopper_UnaryF32Op<"abs", "abs.f32 #out, #0;"> {
  let summary = "|x|, exact";
  let description = "Example: `%y = hopper.abs %x`";
}
def Hopper_FloorOp : Hopper_UnaryF32Op<"floor", "cvt.rmi.f32.f32 #out, #0;"> {
  let summary = "The largest integer not above x, exact";
  let description = "Example: `%y = hopper.floor %x`";
}

class Hopper_PackOp<string mnemonic, string text> : Hopper_TextOp<mnemonic, text, [Pure]> {
  let arguments = (ins F32:$lo, F32:$hi);
  let results = (outs I32:$result);
  let assemblyFormat = "$lo `,` $hi attr-dict";
}
def Hopper_PackBF16Op : Hopper_PackOp<"pack_bf16", "cvt.rn.bf16x2.f32 #out, #1, #0;"> {
  let summary = "Two bf16 in one register, `lo` in the low half, rounded to nearest even";
  let description = "Example: `%p = hopper.pack_bf16 %lo, %hi`";
}
def Hopper_PackF16Op : Hopper_PackOp<"pack_f16", "cvt.rn.f16x2.f32 #out, #1, #0;"> {
  let summary = "Two f16 in one register, `lo` in the low half, rounded to nearest even";
  let description = "Example: `%p = hopper.pack_f16 %lo, %hi`";
}
def Hopper_ToTF32Op : Hopper_TextOp<"to_tf32", "cvt.rn.tf32.f32 #out, #0;", [Pure]> {
  let summary = "tf32 in a 32-bit register, rounded to nearest even";
  let description = "Example: `%t = hopper.to_tf32 %x`";
  let arguments = (ins F32:$x);
  let results = (outs I32:$result);
  let assemblyFormat = "$x attr-dict";
}

def Hopper_FmaBF16x2Op : Hopper_TextOp<"fma_bf16x2", "fma.rn.bf16x2 #out, #0, #1, #2;", [Pure]> {
  let summary = "a * b + c on two packed bf16, rounded once";
  let description = "Example: `%d = hopper.fma_bf16x2 %a, %b, %c`";
  let arguments = (ins I32:$a, I32:$b, I32:$c);
  let results = (outs I32:$result);
  let assemblyFormat = "$a `,` $b `,` $c attr-dict";
}
def Hopper_MulBF16x2Op : Hopper_TextOp<"mul_bf16x2", "mul.rn.bf16x2 #out, #0, #1;", [Pure]> {
  let summary = "a * b on two packed bf16";
  let description = "Example: `%d = hopper.mul_bf16x2 %a, %b`";
  let arguments = (ins I32:$a, I32:$b);
  let results = (outs I32:$result);
  let assemblyFormat = "$a `,` $b attr-dict";
}
#endif
