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

// Writers of deferred tiles do not fence; the first asynchronous reader does, once for all of them.
// CHECK-LABEL: tile.kernel "deferred"
tile.kernel "deferred" params ["w"] {
^bb0(%w: !tile.tensor<64x64xf32>):
  %a = tile.shared "a" {deferred} : <64x64xbf16>
  %b = tile.shared "b" {deferred} : <64x64xbf16>
  %c = tile.shared "c" : <64x64xf32>
  %ring = tile.ring "ring" stages 1 from "copies" to ["math"] tiles %c : !tile.shared<64x64xf32>
  tile.role "write" warps 4 {
    %f = tile.frag : <64x64xbf16>
    // CHECK: tile.store
    // CHECK-NEXT: tile.meet
    tile.store %f -> %a : <64x64xbf16>, <64x64xbf16>
    tile.meet ["write", "math"]
    tile.store %f -> %b : <64x64xbf16>, <64x64xbf16>
    // CHECK: tile.store
    // CHECK-NEXT: tile.meet
    tile.meet ["write", "math"]
  }
  tile.role "math" warps 4 {
    %acc = tile.frag : <64x64xf32>
    // CHECK: tile.role "math"
    // CHECK: tile.meet
    // CHECK-NEXT: tile.meet
    // CHECK-NEXT: tile.fence_async
    // CHECK-NEXT: tile.gemm
    // CHECK-NEXT: tile.gemm
    tile.meet ["write", "math"]
    tile.meet ["write", "math"]
    tile.gemm %acc, %a, %b {trans_b} : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
    tile.gemm %acc, %a, %b : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
    // What the producer's threads copied is fenced by who reads it.
    // CHECK: tile.wait
    // CHECK: tile.fence_async
    // CHECK-NEXT: tile.bulk_store
    %s = tile.wait %ring
    %at = tile.at %c[%s] : <64x64xf32>
    %zero = arith.constant 0 : i32
    tile.bulk_store %at -> %w[%zero, %zero] : <64x64xf32>, <64x64xf32>
    tile.release %ring[%s]
  }
  tile.role "copies" warps 4 {
    %zero = arith.constant 0 : i32
    %v = arith.constant 0.0 : f32
    %s = tile.acquire %ring
    %at = tile.at %c[%s] : <64x64xf32>
    tile.copy_async %w[%zero, %zero] -> %at, %ring[%s] box [64, 64] : <64x64xf32>, <64x64xf32>
    tile.commit %ring[%s]
  }
}

// Ordinary writes to global memory that TMA reads in the same kernel.
// CHECK-LABEL: tile.kernel "global"
tile.kernel "global" params ["w", "v"] {
^bb0(%w: !tile.tensor<64x64xf32>, %v: !tile.tensor<64x64xf32>):
  %c = tile.shared "c" : <64x64xf32>
  %ring = tile.ring "ring" stages 1 from "all" to ["all"] tiles %c : !tile.shared<64x64xf32>
  tile.role "all" warps 4 {
    %zero = arith.constant 0 : i32
    %x = arith.constant 0.0 : f32
    // CHECK: tile.write %{{.*}} -> %arg1
    // CHECK-NEXT: tile.sync
    tile.write %x -> %v[%zero, %zero] : f32, !tile.tensor<64x64xf32>
    tile.sync
    // CHECK: tile.write %{{.*}} -> %arg0
    // CHECK-NEXT: tile.fence_async {global}
    // CHECK-NEXT: tile.store_strong
    tile.write %x -> %w[%zero, %zero] : f32, !tile.tensor<64x64xf32>
    tile.store_strong "release" "gpu" %x -> %v[%zero, %zero] : f32, <64x64xf32>
    %s = tile.acquire %ring
    %at = tile.at %c[%s] : <64x64xf32>
    tile.tma_load %w[%zero, %zero] -> %at, %ring[%s] box [64, 64] : <64x64xf32>, <64x64xf32>
  }
}
