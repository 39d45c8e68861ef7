#ifndef TILEWRIGHT_DIALECT_TILE_ATOMIC_OPS
#define TILEWRIGHT_DIALECT_TILE_ATOMIC_OPS

include "dialect/tile/TileDialect.td"

// `order` and `scope` are PTX's: relaxed, acquire, release, acq_rel; cta, cluster, gpu, sys.

def Tile_LoadStrongOp : Tile_Op<"load_strong"> {
  let summary = "one element of a tensor that other threads may write at the same time (`order`: acquire, relaxed)";
  let arguments = (ins Tile_TensorType:$tensor, Variadic<I32>:$coords, StrAttr:$order, StrAttr:$scope);
  let results = (outs AnyTypeOf<[F32, I32, I64]>:$value);
  let assemblyFormat = "$order $scope $tensor `[` $coords `]` attr-dict `:` type($tensor) `->` type($value)";
  let hasVerifier = 1;
}
def Tile_StoreStrongOp : Tile_Op<"store_strong"> {
  let summary = "one element of a tensor that other threads may read at the same time (`order`: release, relaxed)";
  let arguments = (ins AnyTypeOf<[F32, I32, I64]>:$value, Tile_TensorType:$tensor, Variadic<I32>:$coords, StrAttr:$order, StrAttr:$scope);
  let assemblyFormat = "$order $scope $value `->` $tensor `[` $coords `]` attr-dict `:` type($value) `,` type($tensor)";
  let hasVerifier = 1;
}
def Tile_AtomicOp : Tile_Op<"atomic", [AllTypesMatch<["value", "old"]>]> {
  let summary = "combines a value with one element of a tensor or tile indivisibly and gives what was there";
  let description = [{ `kind`: add, min, max, and, or, xor, exch; f32 only add. *Lowering*: `atom`. }];
  let arguments = (ins StrAttr:$kind, AnyTypeOf<[F32, I32, I64]>:$value, AnyTypeOf<[Tile_SharedType, Tile_TensorType]>:$to, Variadic<I32>:$coords,
                       StrAttr:$order, StrAttr:$scope);
  let results = (outs AnyTypeOf<[F32, I32, I64]>:$old);
  let assemblyFormat = "$kind $order $scope $value `->` $to `[` $coords `]` attr-dict `:` type($value) `,` type($to)";
  let hasVerifier = 1;
}
def Tile_AtomicCasOp : Tile_Op<"atomic_cas", [AllTypesMatch<["compare", "value", "old"]>]> {
  let summary = "replaces one element by `value` where it equals `compare`, indivisibly; gives what was there";
  let arguments = (ins AnyTypeOf<[I32, I64]>:$compare, AnyTypeOf<[I32, I64]>:$value, AnyTypeOf<[Tile_SharedType, Tile_TensorType]>:$to,
                       Variadic<I32>:$coords, StrAttr:$order, StrAttr:$scope);
  let results = (outs AnyTypeOf<[I32, I64]>:$old);
  let assemblyFormat = "$order $scope $compare `,` $value `->` $to `[` $coords `]` attr-dict `:` type($value) `,` type($to)";
  let hasVerifier = 1;
}
def Tile_RedOp : Tile_Op<"red", [AttrSizedOperandSegments]> {
  let summary = "combines values with neighbouring elements indivisibly, without reading them back";
  let description = [{
    One value for any `kind` but exch; 2 or 4 f32, or 2 for a tensor of bf16 or f16 (always 2 there), are added to elements side by side
    along the last axis, the first at a multiple of their number. *Lowering*: `red`, with a vector where there are several.
  }];
  let arguments = (ins StrAttr:$kind, Variadic<AnyTypeOf<[F32, I32, I64]>>:$values, AnyTypeOf<[Tile_SharedType, Tile_TensorType]>:$to,
                       Variadic<I32>:$coords, StrAttr:$order, StrAttr:$scope);
  let assemblyFormat = "$kind $order $scope `(` $values `:` type($values) `)` `->` $to `[` $coords `]` attr-dict `:` type($to)";
  let hasVerifier = 1;
}
def Tile_FenceOp : Tile_Op<"fence"> {
  let summary = "orders this thread's accesses before it against those after it, as seen in `scope`";
  let arguments = (ins StrAttr:$scope);
  let assemblyFormat = "$scope attr-dict";
  let hasVerifier = 1;
}
def Tile_SleepOp : Tile_Op<"sleep"> {
  let summary = "leaves the execution units to other warps for about `nanoseconds`, at most 1000000";
  let arguments = (ins I32Attr:$nanoseconds);
  let assemblyFormat = "$nanoseconds attr-dict";
  let hasVerifier = 1;
}

#endif
