#ifndef TILEWRIGHT_DIALECT_TILE_CALL_OPS
#define TILEWRIGHT_DIALECT_TILE_CALL_OPS

include "dialect/tile/TileDialect.td"

def Tile_Function : Type<CPred<"::llvm::isa<::mlir::FunctionType>($_self)">, "function", "::mlir::FunctionType">;

def Tile_CudaFunctionOp : Tile_Op<"cuda_function", [HasParent<"KernelOp">]> {
  let summary = "a device function of the author's CUDA C++ text";
  let description = [{
    `function` names it as an expression of the text's scope ("gelu", "act::scaled<2>"); the text begins at the op's location. Its
    arguments and its result are f32 (float) or i32 (int). *Lowering*: NVRTC compiles the text; its PTX becomes a part of the kernel's.

    ```mlir
    %f = tile.cuda_function "twice" text "float twice(float x) { return 2 * x; }" : (f32) -> f32
    ```
  }];
  let arguments = (ins StrAttr:$function, StrAttr:$text);
  let results = (outs Tile_Function:$handle);
  let assemblyFormat = "$function `text` $text attr-dict `:` type($handle)";
  let hasVerifier = 1;
}
def Tile_CallOp : Tile_Op<"call"> {
  let summary = "each thread calls a device function";
  let description = [{
    *Precondition*: values as the function's type says. *Effects*: those of the function; calls keep their order.
    *Lowering*: `hopper.call`, in the registers of the thread.
  }];
  let arguments = (ins Tile_Function:$function, Variadic<AnyTypeOf<[F32, I32]>>:$values);
  let results = (outs AnyTypeOf<[F32, I32]>:$result);
  let assemblyFormat = "$function `(` $values `)` attr-dict `:` type($function) `,` functional-type($values, $result)";
  let hasVerifier = 1;
}

#endif
