#ifndef TILEWRIGHT_DIALECT_TILE_DEBUG_OPS
#define TILEWRIGHT_DIALECT_TILE_DEBUG_OPS

include "dialect/tile/TileDialect.td"

def Tile_PrintfOp : Tile_Op<"printf"> {
  let summary = "prints a line for each thread that gets here (C's format: %d %u %x of i32, %lld %llu %llx of i64, %f %e %g of f32)";
  let description = [{ *Lowering*: a call of `vprintf`. The call costs registers and a stack, and serialises products. }];
  let arguments = (ins StrAttr:$format, Variadic<AnyTypeOf<[F32, I32, I64]>>:$values);
  let assemblyFormat = "$format ($values^ `:` type($values))? attr-dict";
  let hasVerifier = 1;
}
def Tile_AssertOp : Tile_Op<"assert"> {
  let summary = "ends the kernel with an error, with `message` and the author's line, where the condition does not hold";
  let description = [{ *Lowering*: a call of `__assertfail` behind a branch. }];
  let arguments = (ins I1:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict";
}
def Tile_PtxOp : Tile_Op<"ptx"> {
  let summary = "PTX text: `#0`, `#1` are the inputs, `#out0`, `#out1` the results, `#uid` a number unique to the place (for labels)";
  let arguments = (ins StrAttr:$text, Variadic<AnyTypeOf<[F32, I32, I64, I1]>>:$inputs);
  let results = (outs Variadic<AnyTypeOf<[F32, I32, I64, I1]>>:$outputs);
  let assemblyFormat = "$text `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
  let hasVerifier = 1;
}

#endif
