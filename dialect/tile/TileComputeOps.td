#ifndef TILEWRIGHT_DIALECT_TILE_COMPUTE_OPS
#define TILEWRIGHT_DIALECT_TILE_COMPUTE_OPS

include "dialect/tile/TileDialect.td"

def Tile_GemmOp : Tile_Op<"gemm"> {
  let summary = "starts acc (+)= A B on the tensor cores, asynchronously";
  let description = [{
    `acc` is [M, N] f32, logical A is [M, K] (a shared tile or a fragment), logical B is [K, N] in
    shared memory. `trans_a`, `trans_b`: the tile holds the logical operand's transpose. `zero` ignores the
    old accumulator; the operand `accumulate` decides that at run time.
    *Precondition*: one element type for A and B. bf16 or f16: K a multiple of 16. f32, multiplied as tf32: K a multiple of 8, B's
    tile holds the transpose and A's does not; a fragment is rounded to tf32, of a tile's elements the low 13 bits are ignored.
    N is a multiple of 8, at most 256. A view begins at a row multiple of 8 and at the first column of 128 bytes, or, where K runs along
    the tile's rows, of any 32 bytes. *Effects*: `acc` and a fragment A are in flight until the batch that holds the product
    settles; shared operands are read until then. *Lowering*: K/16 `wgmma`, K/8 for tf32.
  }];
  let arguments = (ins Tile_FragType:$acc, AnyTypeOf<[Tile_SharedType, Tile_FragType]>:$a, Tile_SharedType:$b,
                       Optional<I1>:$accumulate, UnitAttr:$trans_a, UnitAttr:$trans_b, UnitAttr:$zero);
  let assemblyFormat = [{
    $acc `,` $a `,` $b (`accumulate` $accumulate^)? attr-dict `:` type($acc) `,` type($a) `,` type($b)
  }];
  let hasVerifier = 1;
}
def Tile_BatchOp : Tile_Op<"batch"> {
  let summary = "closes the products started since the last batch into a group";
  let results = (outs Tile_BatchType:$batch);
  let assemblyFormat = "attr-dict";
}
def Tile_SettleOp : Tile_Op<"settle"> {
  let summary = "waits until the batch, and all before it, are complete; their accumulators become readable";
  let arguments = (ins Tile_BatchType:$batch);
  let assemblyFormat = "$batch attr-dict";
}
def Tile_SettlePendingOp : Tile_Op<"settle_pending"> {
  let summary = "waits until at most `pending` batches of this role are in flight";
  let description = [{ For loops that keep batches in flight over the back edge; with 0 every accumulator is readable. }];
  let arguments = (ins I32Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
}
def Tile_MmaOp : Tile_Op<"mma"> {
  let summary = "acc += A B within each warp, synchronously";
  let description = [{
    `acc` [16, N] f32 is a fragment of a warp, logical A [16, K] a fragment of a warp or a shared tile, logical B [K, N] a shared
    tile; `trans_a`, `trans_b`: the tile holds the transpose. One element type for A and B: bf16 or f16 (K a multiple of 16), or f32,
    rounded to tf32 (K a multiple of 8); N a multiple of 8. An accumulator, cast to the operands' type, is an A operand without
    moving between lanes. *Lowering*: `mma.sync`, m16n8k16 with B by `ldmatrix`, or m16n8k8 for tf32, where the sum over k is taken
    in the order of the accumulator's registers.
  }];
  let arguments = (ins Tile_FragType:$acc, AnyTypeOf<[Tile_SharedType, Tile_FragType]>:$a, Tile_SharedType:$b, UnitAttr:$trans_a,
                       UnitAttr:$trans_b);
  let assemblyFormat = "$acc `,` $a `,` $b attr-dict `:` type($acc) `,` type($a) `,` type($b)";
  let hasVerifier = 1;
}
def Tile_MapOp : Tile_Op<"map", [SingleBlock, AttrSizedOperandSegments]> {
  let summary = "elementwise over fragments, with row and column index";
  let description = [{
    For every element (r, c) of the outputs' common shape the region gets r, c (i32) and the inputs' elements (f32;
    vectors are broadcast) and yields the outputs' elements, rounded to their types. An input may be an f32 vector in shared memory:
    its elements are read where they are used.

    ```mlir
    tile.map ins(%u, %e) outs(%w) {
    ^bb0(%r: i32, %c: i32, %x: f32, %y: f32):
      %z = arith.mulf %x, %y : f32
      tile.yield %z : f32
    } : (!tile.frag<64x64xf32>, !tile.frag<1x64xf32>) -> (!tile.frag<64x64xbf16>)
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[Tile_FragType, Tile_SharedType]>>:$inputs, Variadic<Tile_FragType>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`ins` `(` $inputs `)` `outs` `(` $outputs `)` $body attr-dict `:` functional-type($inputs, $outputs)";
  let hasVerifier = 1;
}
def Tile_FillOp : Tile_Op<"fill"> {
  let summary = "sets every element of a fragment";
  let arguments = (ins F32:$value, Tile_FragType:$frag);
  let assemblyFormat = "$value `,` $frag attr-dict `:` type($frag)";
}

#endif
