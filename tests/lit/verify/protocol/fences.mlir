// Ordinary writes that TMA and products read are fenced on every path: by the writer before it publishes, or by the reader.
// RUN: tile-opt --tile-verify-protocol --split-input-file --verify-diagnostics=only-expected %s

tile.kernel "legal" params ["y"] {
^bb0(%y: !tile.tensor<64x64xbf16>):
  %a = tile.shared "a" : <64x64xbf16>
  %b = tile.shared "b" {deferred} : <64x64xbf16>
  tile.role "r" warps 4 {
    %c0 = arith.constant 0 : i32
    %thread = tile.thread
    %leader = arith.cmpi eq, %thread, %c0 : i32
    %f = tile.frag : <64x64xbf16>
    tile.store %f -> %a : <64x64xbf16>, <64x64xbf16>
    tile.fence_async
    tile.store %f -> %b : <64x64xbf16>, <64x64xbf16>
    tile.sync
    scf.if %leader {
      tile.tma_store %a -> %y[%c0, %c0] box [64, 64] : <64x64xbf16>, <64x64xbf16>
      tile.fence_async
      tile.tma_store %b -> %y[%c0, %c0] box [64, 64] : <64x64xbf16>, <64x64xbf16>
      tile.store_wait 0
    }
  }
}

// -----

tile.kernel "missing" params ["y"] {
^bb0(%y: !tile.tensor<64x64xbf16>):
  %a = tile.shared "a" : <64x64xbf16>
  tile.role "r" warps 4 {
    %c0 = arith.constant 0 : i32
    %thread = tile.thread
    %leader = arith.cmpi eq, %thread, %c0 : i32
    %f = tile.frag : <64x64xbf16>
    tile.store %f -> %a : <64x64xbf16>, <64x64xbf16>
    tile.sync
    scf.if %leader {
      // expected-error@+1 {{ordinary writes of tile "a" by role "r" reach this copy without a fence for the async proxy; call k.fence_async()}}
      tile.tma_store %a -> %y[%c0, %c0] box [64, 64] : <64x64xbf16>, <64x64xbf16>
      tile.store_wait 0
    }
  }
}

// -----

// One thread's fence does not cover what the others of its warp wrote before they met.
tile.kernel "by_one_thread" params ["y"] {
^bb0(%y: !tile.tensor<64x64xbf16>):
  %a = tile.shared "a" : <64x64xbf16>
  tile.role "r" warps 4 {
    %c0 = arith.constant 0 : i32
    %thread = tile.thread
    %leader = arith.cmpi eq, %thread, %c0 : i32
    %f = tile.frag : <64x64xbf16>
    tile.store %f -> %a : <64x64xbf16>, <64x64xbf16>
    scf.if %leader {
      tile.fence_async
    }
    tile.sync
    scf.if %leader {
      // expected-error@+1 {{without a fence for the async proxy}}
      tile.tma_store %a -> %y[%c0, %c0] box [64, 64] : <64x64xbf16>, <64x64xbf16>
      tile.store_wait 0
    }
  }
}

// -----

// The fence stands on one path only.
tile.kernel "one_path" params ["n"] {
^bb0(%n: i32):
  %a = tile.shared "a" : <64x64xbf16>
  tile.role "r" warps 4 {
    %c0 = arith.constant 0 : i32
    %some = arith.cmpi sgt, %n, %c0 : i32
    %f = tile.frag : <64x64xbf16>
    %acc = tile.frag : <64x64xf32>
    tile.store %f -> %a : <64x64xbf16>, <64x64xbf16>
    scf.if %some {
      tile.fence_async
    }
    tile.sync
    // expected-error@+1 {{reach this product without a fence}}
    tile.gemm %acc, %a, %a {trans_b} : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
    %batch = tile.batch
    tile.settle %batch
  }
}

// -----

// Between roles: the fence comes before the writes.
tile.kernel "moved" params [] {
  %p = tile.shared "p" {stages = 2 : i32} : <64x64xbf16>
  %ring = tile.ring "ring" stages 2 from "make" to ["math"] tiles %p : !tile.shared<64x64xbf16>
  tile.role "make" warps 4 {
    %f = tile.frag : <64x64xbf16>
    %s = tile.acquire %ring
    %at = tile.at %p[%s] : !tile.shared<64x64xbf16>
    tile.fence_async
    tile.store %f -> %at : <64x64xbf16>, <64x64xbf16>
    tile.commit %ring[%s]
  }
  tile.role "math" warps 4 {
    %acc = tile.frag : <64x64xf32>
    %s = tile.wait %ring
    %at = tile.at %p[%s] : !tile.shared<64x64xbf16>
    // expected-error@+1 {{ordinary writes of tile "p" by role "make" reach this product without a fence}}
    tile.gemm %acc, %at, %at {trans_b} : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
    %batch = tile.batch
    tile.settle %batch
    tile.release %ring[%s]
  }
}

// -----

// A tensor that the kernel writes and then loads.
tile.kernel "tensor" params ["w"] {
^bb0(%w: !tile.tensor<8x32xf32>):
  %t = tile.shared "t" : <8x32xf32>
  %ring = tile.ring "ring" stages 1 from "r" to ["r"] tiles %t : !tile.shared<8x32xf32>
  tile.role "r" warps 1 {
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1.0 : f32
    %lane = tile.lane
    tile.write %one -> %w[%c0, %lane] : f32, !tile.tensor<8x32xf32>
    tile.sync
    %s = tile.acquire %ring
    // expected-error@+1 {{ordinary writes of tensor "w" by role "r" reach this copy without a fence for the async proxy; call k.fence_async_global()}}
    tile.tma_load %w[%c0, %c0] -> %t, %ring[%s] box [8, 32] : <8x32xf32>, <8x32xf32>
    %f = tile.wait %ring
    tile.release %ring[%f]
  }
}
