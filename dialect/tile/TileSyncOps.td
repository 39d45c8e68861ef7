#ifndef TILEWRIGHT_DIALECT_TILE_SYNC_OPS
#define TILEWRIGHT_DIALECT_TILE_SYNC_OPS

include "dialect/tile/TileDialect.td"

def Tile_RingOp : Tile_Op<"ring", [HasParent<"KernelOp">]> {
  let summary = "guards `stages` copies of tiles between one producing and some consuming roles";
  let description = [{
    Each stage has a *full* mbarrier (completed by the producer: its arrival and, for tiles that TMA
    writes, their bytes) and an *empty* one (completed when every consumer released the stage).
    Counts come from the roles' sizes, bytes from the tiles that `tile.tma_load` writes. Every role
    keeps running counters of its own, so nested and persistent loops need no arithmetic.
  }];
  let arguments = (ins StrAttr:$sym_name, I32Attr:$stages, StrAttr:$producer, StrArrayAttr:$consumers,
                       Variadic<Tile_SharedType>:$tiles, OptionalAttr<I32Attr>:$offset);
  let results = (outs Tile_RingType:$ring);
  let assemblyFormat = [{
    $sym_name `stages` $stages `from` $producer `to` $consumers (`tiles` $tiles^ `:` type($tiles))? attr-dict
  }];
  let hasVerifier = 1;
}

class Tile_RingStageOp<string mnemonic, string what> : Tile_Op<mnemonic> {
  let summary = what;
  let arguments = (ins Tile_RingType:$ring);
  let results = (outs I32:$stage);
  let assemblyFormat = "$ring attr-dict";
}
class Tile_RingSignalOp<string mnemonic, string what> : Tile_Op<mnemonic> {
  let summary = what;
  let arguments = (ins Tile_RingType:$ring, I32:$stage);
  let assemblyFormat = "$ring `[` $stage `]` attr-dict";
}
def Tile_AcquireOp : Tile_RingStageOp<"acquire", "producer: waits until its next stage is empty; for TMA tiles announces their bytes">;
def Tile_CommitOp : Tile_RingSignalOp<"commit", "producer: its ordinary writes of the stage are done"> {
  let description = [{ Only for rings whose tiles are written by the producer's threads; bytes of TMA complete by themselves. }];
}
def Tile_WaitOp : Tile_RingStageOp<"wait", "consumer: waits until its next stage is full">;
def Tile_ReleaseOp : Tile_RingSignalOp<"release", "consumer: has read the stage for the last time">;

def Tile_AtOp : Tile_Op<"at", [Pure, AllTypesMatch<["tile", "result"]>]> {
  let summary = "one stage of a staged tile";
  let arguments = (ins Tile_SharedType:$tile, I32:$stage);
  let results = (outs Tile_SharedType:$result);
  let assemblyFormat = "$tile `[` $stage `]` attr-dict `:` type($tile)";
}
def Tile_ViewOp : Tile_Op<"view", [Pure]> {
  let summary = "a sub-tile at (row, column)";
  let arguments = (ins Tile_SharedType:$tile, I32:$row, I32:$column);
  let results = (outs Tile_SharedType:$result);
  let assemblyFormat = "$tile `[` $row `,` $column `]` attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_SyncOp : Tile_Op<"sync"> {
  let summary = "rendezvous of all threads of the role (a named barrier, or a warp barrier for one warp)";
  let assemblyFormat = "attr-dict";
}
def Tile_WarpSyncOp : Tile_Op<"warp_sync"> {
  let summary = "rendezvous of the lanes of each warp";
  let assemblyFormat = "attr-dict";
}
def Tile_FenceAsyncOp : Tile_Op<"fence_async"> {
  let summary = "orders this thread's shared-memory writes before later reads by TMA and wgmma";
  let description = [{ Inserted by `tile-insert-fences`; may be written by hand. With `global` it orders writes to global memory before TMA. }];
  let arguments = (ins UnitAttr:$global);
  let assemblyFormat = "attr-dict";
}
def Tile_GridWaitOp : Tile_Op<"grid_wait"> {
  let summary = "waits for the kernels this launch depends on (programmatic dependent launch)";
  let assemblyFormat = "attr-dict";
}
def Tile_GridLaunchOp : Tile_Op<"grid_launch"> {
  let summary = "lets the dependent kernel start";
  let assemblyFormat = "attr-dict";
}

#endif
