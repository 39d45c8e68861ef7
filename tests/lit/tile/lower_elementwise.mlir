// A map is unrolled over the registers of a lane; a reduction ends with the four lanes that share a row.
// RUN: tile-opt --tile-to-hopper %s | FileCheck %s

// CHECK-LABEL: llvm.func @k()
tile.kernel "k" params [] {
  tile.role "r" warps 4 {
    %half = arith.constant 0.5 : f32
    %x = tile.frag : <64x16xf32>
    %y = tile.frag : <64x16xbf16>
    %v = tile.frag : <64x1xf32>
    tile.fill %half, %x : <64x16xf32>
    // 64 x 16 over 128 threads: 8 elements a lane, packed in pairs.
    // CHECK-COUNT-8: hopper.exp2
    // CHECK-NOT: hopper.exp2
    // CHECK: hopper.pack_bf16
    tile.map ins(%x) outs(%y) {
    ^bb0(%r: i32, %c: i32, %a: f32):
      %e = tile.exp2 %a
      tile.yield %e : f32
    } : (!tile.frag<64x16xf32>) -> !tile.frag<64x16xbf16>
    // Two rows a lane: for each three sums of its own elements, then two exchanges.
    // CHECK: hopper.shuffle {{.*}}xor
    // CHECK: hopper.shuffle {{.*}}xor
    // CHECK: hopper.shuffle {{.*}}xor
    // CHECK: hopper.shuffle {{.*}}xor
    // CHECK-NOT: hopper.shuffle
    tile.reduce "add" %x -> %v : <64x16xf32>, <64x1xf32>
  }
}
