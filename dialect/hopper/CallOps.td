#ifndef TILEWRIGHT_HOPPER_CALL_OPS
#define TILEWRIGHT_HOPPER_CALL_OPS
include "dialect/hopper/HopperBase.td"

def Hopper_FunctionType : Type<CPred<"::llvm::isa<::mlir::FunctionType>($_self)">, "function type", "::mlir::FunctionType">;

def Hopper_CudaFunctionOp : Hopper_Op<"cuda_function"> {
  let summary = "A device function that CUDA C++ text defines";
  let description = [{
    Stands in the module. `symbol` is the name of the PTX function, `function` the expression that names it in the text, which
    begins at the op's location. No PTX of its own: `convert-hopper-to-llvm` drops it; who wants the function in the PTX
    compiles the text with NVRTC and puts the result in front of the kernel. Example:
    `hopper.cuda_function "f0" is "twice" text "float twice(float x) { return 2 * x; }" : (f32) -> f32`
  }];
  let arguments = (ins StrAttr:$symbol, StrAttr:$function, StrAttr:$text, TypeAttrOf<Hopper_FunctionType>:$type);
  let assemblyFormat = "$symbol `is` $function `text` $text attr-dict `:` $type";
}

def Hopper_CallOp : Hopper_PtxOp<"call"> {
  let summary = "Call of a device function: arguments and result through .param space (call.uni)";
  let description = [{
    All threads that are here call the same function, which stands in front of the kernel in the PTX.
    Example: `%y = hopper.call "f0"(%x, %n) : (f32, i32) -> f32`
  }];
  let arguments = (ins StrAttr:$symbol, Variadic<Hopper_Value>:$values);
  let results = (outs Hopper_Value:$result);
  let assemblyFormat = "$symbol `(` $values `)` attr-dict `:` functional-type($values, $result)";
}
#endif
