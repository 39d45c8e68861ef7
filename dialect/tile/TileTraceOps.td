#ifndef TILEWRIGHT_DIALECT_TILE_TRACE_OPS
#define TILEWRIGHT_DIALECT_TILE_TRACE_OPS

include "dialect/tile/TileDialect.td"

def Tile_StampOp : Tile_Op<"stamp"> {
  let summary = "a mark on the role's time line: from here on it does what `name` says";
  let description = [{
    In a module with the attribute `tilewright.trace` every warp notes the time; elsewhere the op leaves nothing behind.

    ```mlir
    tile.stamp "softmax"
    ```
  }];
  let arguments = (ins StrAttr:$name);
  let assemblyFormat = "$name attr-dict";
}

#endif
