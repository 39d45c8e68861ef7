#ifndef TILEWRIGHT_DIALECT_TILE_BARRIER_OPS
#define TILEWRIGHT_DIALECT_TILE_BARRIER_OPS

include "dialect/tile/TileDialect.td"

def Tile_BarrierType : TypeDef<Tile_Dialect, "Barrier"> {
  let mnemonic = "barrier";
  let summary = "an mbarrier with named participants";
}

def Tile_BarrierOp : Tile_Op<"barrier", [HasParent<"KernelOp">]> {
  let summary = "an mbarrier whose phases complete when every role in `arrivers` has arrived";
  let description = [{
    Counts come from the roles' sizes, one arrival a warp. Each role in `waiters` keeps a running phase of its own: its n-th wait is
    for the n-th phase. *Precondition*: every waiter sees every phase before the next but one completes. With `cluster` every CTA of the cluster has one, and
    each arrival counts in all of them. *Lowering*: `mbarrier`.

    ```mlir
    tile.kernel "k" params [] {
      %b = tile.barrier "p_ready" from ["make"] to ["use"]
      tile.role "make" warps 4 { tile.arrive %b }
      tile.role "use" warps 1 { tile.wait_for %b }
    }
    ```
  }];
  let arguments = (ins StrAttr:$sym_name, StrArrayAttr:$arrivers, StrArrayAttr:$waiters, OptionalAttr<I32Attr>:$offset, UnitAttr:$cluster);
  let results = (outs Tile_BarrierType:$barrier);
  let assemblyFormat = "$sym_name `from` $arrivers `to` $waiters attr-dict";
  let hasVerifier = 1;
}
def Tile_ArriveOp : Tile_Op<"arrive"> {
  let summary = "every warp of the role arrives; orders what its threads did before";
  let arguments = (ins Tile_BarrierType:$barrier);
  let assemblyFormat = "$barrier attr-dict";
}
def Tile_WaitForOp : Tile_Op<"wait_for"> {
  let summary = "waits for the barrier's next phase, as this role counts";
  let arguments = (ins Tile_BarrierType:$barrier);
  let assemblyFormat = "$barrier attr-dict";
}

def Tile_MeetOp : Tile_Op<"meet"> {
  let summary = "rendezvous of all threads of several roles (a named barrier); with `arrive_only` this role does not wait";
  let description = [{
    Each set of roles has a barrier of its own. Every role of the set comes equally often. *Lowering*: `bar.sync`, `bar.arrive`.
  }];
  let arguments = (ins StrArrayAttr:$roles, UnitAttr:$arrive_only);
  let assemblyFormat = "$roles attr-dict";
  let hasVerifier = 1;
}

#endif
