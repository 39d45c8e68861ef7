// Ordinary writes are fenced before TMA or wgmma read them, on every path, once.
// RUN: tile-opt --tile-insert-fences %s | FileCheck %s

tile.kernel "k" params ["y"] {
^bb0(%y: !tile.tensor<64x64xbf16>):
  %a = tile.shared "a" : <64x64xbf16>
  %plain = tile.shared "plain" : <64x64xbf16>
  %p = tile.shared "p" : <64x64xbf16>
  %ring = tile.ring "ring" stages 1 from "product" to ["loop"] tiles %p : !tile.shared<64x64xbf16>

  // CHECK-LABEL: tile.role "stored"
  tile.role "stored" warps 4 {
    %c = arith.constant 0 : i32
    %f = tile.frag : <64x64xbf16>
    // CHECK: tile.store
    // CHECK-NEXT: tile.fence_async
    // CHECK-NEXT: tile.sync
    // CHECK-NEXT: tile.tma_store
    tile.store %f -> %a : <64x64xbf16>, <64x64xbf16>
    tile.sync
    tile.tma_store %a -> %y[%c, %c] box [64, 64] : <64x64xbf16>, <64x64xbf16>
    // Nobody reads this tile asynchronously.
    // CHECK: tile.store
    // CHECK-NEXT: tile.sync
    tile.store %f -> %plain : <64x64xbf16>, <64x64xbf16>
    tile.sync
  }

  // CHECK-LABEL: tile.role "product"
  tile.role "product" warps 4 {
    %f = tile.frag : <64x64xbf16>
    %acc = tile.frag : <64x64xf32>
    // CHECK: tile.acquire
    %s = tile.acquire %ring
    // CHECK-NEXT: tile.store
    // CHECK-NEXT: tile.fence_async
    // CHECK-NEXT: tile.commit
    tile.store %f -> %p : <64x64xbf16>, <64x64xbf16>
    tile.commit %ring[%s]
    // One that is already there is enough.
    // CHECK: tile.store
    // CHECK-NEXT: tile.fence_async
    // CHECK-NEXT: tile.gemm
    tile.store %f -> %a : <64x64xbf16>, <64x64xbf16>
    tile.fence_async
    tile.gemm %acc, %a, %p : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
  }

  // CHECK-LABEL: tile.role "loop"
  tile.role "loop" warps 4 {
    %c0 = arith.constant 0 : i32
    %c4 = arith.constant 4 : i32
    %c1 = arith.constant 1 : i32
    %yes = arith.constant true
    %f = tile.frag : <64x64xbf16>
    // The write of the last round reaches the barrier of the next one.
    // CHECK: scf.for
    // CHECK-NEXT: tile.fence_async
    // CHECK-NEXT: tile.sync
    scf.for %i = %c0 to %c4 step %c1 : i32 {
      tile.sync
      scf.if %yes {
        tile.store %f -> %a : <64x64xbf16>, <64x64xbf16>
      }
    }
    // CHECK: tile.fence_async
    // CHECK-NEXT: tile.sync
    tile.sync
    // CHECK-NEXT: tile.sync
    tile.sync
  }
}
