#ifndef TILEWRIGHT_DIALECT_TILE_COPY_OPS
#define TILEWRIGHT_DIALECT_TILE_COPY_OPS

include "dialect/tile/TileDialect.td"

// Copies between tensors and tiles without a tensor map. The first three share the work of a box among the role's threads, 16 bytes at a
// time; boxes, ragged rows and what lies outside the tensor are as in tma_load.

def Tile_CopyAsyncOp : Tile_Op<"copy_async", [AttrSizedOperandSegments]> {
  let summary = "copy of a box of a tensor into one stage of a ring's tile by the producer's threads, asynchronously";
  let description = [{
    The stage is full when the copies of every thread have landed and the producer has committed.
    *Precondition*: rows are multiples of 16 bytes. *Lowering*: `cp.async` with zero-fill, `cp.async.mbarrier.arrive.noinc` in the commit.
  }];
  let arguments = (ins Tile_TensorType:$tensor, Variadic<I32>:$coords, Variadic<I32>:$ragged,
                       Tile_SharedType:$tile, Tile_RingType:$ring, I32:$stage, DenseI64ArrayAttr:$box);
  let assemblyFormat = [{
    $tensor `[` $coords `]` (`rows` $ragged^)? `->` $tile `,` $ring `[` $stage `]` `box` $box attr-dict `:` type($tensor) `,` type($tile)
  }];
  let hasVerifier = 1;
}
def Tile_CopyInOp : Tile_Op<"copy_in", [AttrSizedOperandSegments]> {
  let summary = "copy of a box of a tensor into a tile by the role's threads, with ordinary 16-byte loads and stores";
  let arguments = (ins Tile_TensorType:$tensor, Variadic<I32>:$coords, Variadic<I32>:$ragged, Tile_SharedType:$tile, DenseI64ArrayAttr:$box);
  let assemblyFormat = [{
    $tensor `[` $coords `]` (`rows` $ragged^)? `->` $tile `box` $box attr-dict `:` type($tensor) `,` type($tile)
  }];
  let hasVerifier = 1;
}
def Tile_CopyOutOp : Tile_Op<"copy_out", [AttrSizedOperandSegments]> {
  let summary = "copy of a tile into a box of a tensor by the role's threads, with ordinary 16-byte loads and stores";
  let arguments = (ins Tile_SharedType:$tile, Tile_TensorType:$tensor, Variadic<I32>:$coords, Variadic<I32>:$ragged, DenseI64ArrayAttr:$box);
  let assemblyFormat = [{
    $tile `->` $tensor `[` $coords `]` (`rows` $ragged^)? `box` $box attr-dict `:` type($tile) `,` type($tensor)
  }];
  let hasVerifier = 1;
}
def Tile_BulkLoadOp : Tile_Op<"bulk_load"> {
  let summary = "asynchronous copy of as many elements as the tile has, contiguous in the tensor, into one stage of a ring's tile";
  let description = [{
    Bytes complete on the ring's full barrier. Nothing is checked against the tensor's extents.
    *Precondition*: a row-major tile without padding of a multiple of 16 bytes. *Lowering*: `cp.async.bulk`.
  }];
  let arguments = (ins Tile_TensorType:$tensor, Variadic<I32>:$coords, Tile_SharedType:$tile, Tile_RingType:$ring, I32:$stage);
  let assemblyFormat = "$tensor `[` $coords `]` `->` $tile `,` $ring `[` $stage `]` attr-dict `:` type($tensor) `,` type($tile)";
  let hasVerifier = 1;
}
def Tile_BulkStoreOp : Tile_Op<"bulk_store"> {
  let summary = "asynchronous copy of a tile into contiguous elements of a tensor, by one thread; store_wait follows";
  let arguments = (ins Tile_SharedType:$tile, Tile_TensorType:$tensor, Variadic<I32>:$coords);
  let assemblyFormat = "$tile `->` $tensor `[` $coords `]` attr-dict `:` type($tile) `,` type($tensor)";
  let hasVerifier = 1;
}

#endif
