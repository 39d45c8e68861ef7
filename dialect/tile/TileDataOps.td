#ifndef TILEWRIGHT_DIALECT_TILE_DATA_OPS
#define TILEWRIGHT_DIALECT_TILE_DATA_OPS

include "dialect/tile/TileDialect.td"

def Tile_TmaLoadOp : Tile_Op<"tma_load", [AttrSizedOperandSegments]> {
  let summary = "asynchronous copy of a box of a tensor into one stage of a ring's tile";
  let description = [{
    `coords` has one i32 for each axis of the tensor, `box` the extents (ones are dropped to match the
    tile). With `ragged` operands (first row, number of rows) axis 0 counts from the first row and rows
    past the number read as zero. The bytes complete on the full barrier of the ring's stage. With `multicast` they go to the same place of
    every CTA of the cluster: each CTA brings its part of the tile, and the ring's stage is empty when the consumers of all have released it.
  }];
  let arguments = (ins Tile_TensorType:$tensor, Variadic<I32>:$coords, Variadic<I32>:$ragged,
                       Tile_SharedType:$tile, Tile_RingType:$ring, I32:$stage, DenseI64ArrayAttr:$box, UnitAttr:$multicast);
  let assemblyFormat = [{
    $tensor `[` $coords `]` (`rows` $ragged^)? `->` $tile `,` $ring `[` $stage `]` `box` $box attr-dict `:` type($tensor) `,` type($tile)
  }];
  let hasVerifier = 1;
}
def Tile_TmaStoreOp : Tile_Op<"tma_store", [AttrSizedOperandSegments]> {
  let summary = "asynchronous copy of a tile into a box of a tensor; rows past a ragged end are not written";
  let description = [{
    With `reduce` (`"add"`) the tile's elements are added to the tensor's, each addition indivisible. With `indexed` axis 0 is a slot: where
    its coordinate is negative nothing is stored.
  }];
  let arguments = (ins Tile_SharedType:$tile, Tile_TensorType:$tensor, Variadic<I32>:$coords,
                       Variadic<I32>:$ragged, DenseI64ArrayAttr:$box, OptionalAttr<StrAttr>:$reduce, UnitAttr:$indexed);
  let assemblyFormat = [{
    $tile `->` $tensor `[` $coords `]` (`rows` $ragged^)? `box` $box attr-dict `:` type($tile) `,` type($tensor)
  }];
  let hasVerifier = 1;
}
def Tile_StoreWaitOp : Tile_Op<"store_wait"> {
  let summary = "closes this thread's TMA stores into a group and waits until at most `pending` groups still read (or, with `complete`, write)";
  let arguments = (ins I32Attr:$pending, UnitAttr:$complete);
  let assemblyFormat = "$pending attr-dict";
}

def Tile_LoadOp : Tile_Op<"load"> {
  let summary = "shared tile to fragment; with `transposed` the tile holds the fragment's transpose";
  let arguments = (ins Tile_SharedType:$tile, Tile_FragType:$frag, UnitAttr:$transposed);
  let assemblyFormat = "$tile `->` $frag attr-dict `:` type($tile) `,` type($frag)";
  let hasVerifier = 1;
}
def Tile_StoreOp : Tile_Op<"store"> {
  let summary = "fragment to shared tile; with `transposed` the tile receives the fragment's transpose";
  let arguments = (ins Tile_FragType:$frag, Tile_SharedType:$tile, UnitAttr:$transposed);
  let assemblyFormat = "$frag `->` $tile attr-dict `:` type($frag) `,` type($tile)";
  let hasVerifier = 1;
}
def Tile_LoadGlobalOp : Tile_Op<"load_global"> {
  let summary = "tensor to fragment by ordinary loads: row index added to axis `row_axis`, column index to `col_axis`";
  let arguments = (ins Tile_TensorType:$tensor, Variadic<I32>:$coords, Tile_FragType:$frag, I32Attr:$row_axis, I32Attr:$col_axis);
  let assemblyFormat = "$tensor `[` $coords `]` `->` $frag attr-dict `:` type($tensor) `,` type($frag)";
  let hasVerifier = 1;
}
def Tile_StoreGlobalOp : Tile_Op<"store_global"> {
  let summary = "fragment to tensor by ordinary stores: row index added to axis `row_axis`, column index to `col_axis`";
  let arguments = (ins Tile_FragType:$frag, Tile_TensorType:$tensor, Variadic<I32>:$coords, I32Attr:$row_axis, I32Attr:$col_axis);
  let assemblyFormat = "$frag `->` $tensor `[` $coords `]` attr-dict `:` type($frag) `,` type($tensor)";
  let hasVerifier = 1;
}
def Tile_ReadOp : Tile_Op<"read"> {
  let summary = "one element of a shared tile or tensor; 16-bit floats widen to f32, 64-bit integers stay i64";
  let arguments = (ins AnyTypeOf<[Tile_SharedType, Tile_TensorType]>:$from, Variadic<I32>:$coords);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$from `[` $coords `]` attr-dict `:` type($from) `->` type($value)";
  let hasVerifier = 1;
}
def Tile_WriteOp : Tile_Op<"write"> {
  let summary = "one element of a shared tile or tensor; f32 rounds to 16-bit floats";
  let arguments = (ins AnyType:$value, AnyTypeOf<[Tile_SharedType, Tile_TensorType]>:$to, Variadic<I32>:$coords);
  let assemblyFormat = "$value `->` $to `[` $coords `]` attr-dict `:` type($value) `,` type($to)";
  let hasVerifier = 1;
}
def Tile_ExtentOp : Tile_Op<"extent", [Pure]> {
  let summary = "extent of a tensor's axis, as i32";
  let arguments = (ins Tile_TensorType:$tensor, I32Attr:$axis);
  let results = (outs I32:$value);
  let assemblyFormat = "$tensor $axis attr-dict `:` type($tensor)";
  let hasVerifier = 1;
}
def Tile_IsPresentOp : Tile_Op<"is_present", [Pure]> {
  let summary = "whether an optional tensor was given";
  let arguments = (ins Tile_TensorType:$tensor);
  let results = (outs I1:$value);
  let assemblyFormat = "$tensor attr-dict `:` type($tensor)";
}

#endif
