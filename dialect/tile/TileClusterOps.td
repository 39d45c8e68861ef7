#ifndef TILEWRIGHT_DIALECT_TILE_CLUSTER_OPS
#define TILEWRIGHT_DIALECT_TILE_CLUSTER_OPS

include "dialect/tile/TileDialect.td"

// For kernels with the attribute `cluster` (three extents in CTAs). CTAs of a cluster run at the same time; a rank counts x first.

def Tile_ClusterRankOp : Tile_Op<"cluster_rank", [Pure]> {
  let summary = "rank of this CTA in its cluster";
  let results = (outs I32:$value);
  let assemblyFormat = "attr-dict";
}
def Tile_ClusterIndexOp : Tile_Op<"cluster_index", [Pure]> {
  let summary = "index of this CTA's cluster along a grid dimension: the same in all its CTAs";
  let arguments = (ins I32Attr:$dim);
  let results = (outs I32:$value);
  let assemblyFormat = "$dim attr-dict";
}
def Tile_ClusterArriveOp : Tile_Op<"cluster_arrive"> {
  let summary = "arrives at the barrier of all threads of the cluster; cluster_wait follows";
  let assemblyFormat = "attr-dict";
}
def Tile_ClusterWaitOp : Tile_Op<"cluster_wait"> {
  let summary = "waits until all threads of the cluster have arrived";
  let assemblyFormat = "attr-dict";
}
def Tile_RemoteReadOp : Tile_Op<"remote_read"> {
  let summary = "one element (f32 or i32) of a tile in the shared memory of the cluster's CTA `rank`";
  let arguments = (ins Tile_SharedType:$tile, I32:$row, I32:$column, I32:$rank);
  let results = (outs AnyTypeOf<[F32, I32]>:$value);
  let assemblyFormat = "$tile `[` $row `,` $column `]` `of` $rank attr-dict `:` type($tile) `->` type($value)";
  let hasVerifier = 1;
}
def Tile_RemoteWriteOp : Tile_Op<"remote_write"> {
  let summary = "writes one element (f32 or i32) of a tile in the shared memory of the cluster's CTA `rank`";
  let arguments = (ins AnyTypeOf<[F32, I32]>:$value, Tile_SharedType:$tile, I32:$row, I32:$column, I32:$rank);
  let assemblyFormat = "$value `->` $tile `[` $row `,` $column `]` `of` $rank attr-dict `:` type($value) `,` type($tile)";
  let hasVerifier = 1;
}

#endif
