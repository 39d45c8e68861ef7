// With fences by hand the pass inserts none and says where one is missing.
// RUN: tile-opt --tile-insert-fences --split-input-file --verify-diagnostics %s

tile.kernel "k" params ["y"] attributes {manual_fences} {
^bb0(%y: !tile.tensor<64x64xbf16>):
  %a = tile.shared "a" : <64x64xbf16>
  tile.role "r" warps 4 {
    %c = arith.constant 0 : i32
    %f = tile.frag : <64x64xbf16>
    tile.store %f -> %a : <64x64xbf16>, <64x64xbf16>
    tile.fence_async
    tile.sync
    tile.store %f -> %a : <64x64xbf16>, <64x64xbf16>
    // expected-error @+1 {{ordinary writes of tile "a", which TMA or a product reads, reach this without a fence; call k.fence_async() before it}}
    tile.sync
    tile.tma_store %a -> %y[%c, %c] box [64, 64] : <64x64xbf16>, <64x64xbf16>
  }
}
