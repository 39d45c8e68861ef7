// Views are the same registers; a reduction over rows takes three exchanges a column, a scan two for 8 columns of a row.
// RUN: tile-opt --tile-to-hopper %s | FileCheck %s

// CHECK-LABEL: llvm.func @views
tile.kernel "views" params [] {
  %t = tile.shared "t" : <64x64xbf16>
  tile.role "r" warps 4 {
    %zero = arith.constant 0.0 : f32
    %f = tile.frag : <64x32xf32>
    %left = tile.frag_view %f 0 : <64x32xf32> -> <64x16xf32>
    %right = tile.frag_view %f 16 : <64x32xf32> -> <64x16xf32>
    tile.fill %zero, %right : <64x16xf32>
    %c0 = arith.constant 0 : i32
    %b = tile.view %t[%c0, %c0] : <64x64xbf16> -> <16x64xbf16>
    // Registers that ordinary code wrote under another name pass through the fence, and only they.
    // CHECK: %{{.*}}:8 = hopper.wgmma_fence(
    // CHECK: hopper.wgmma {{.*}} {element = "bf16", n = 32 : i32
    %wide = tile.view %t[%c0, %c0] : <64x64xbf16> -> <32x64xbf16>
    tile.gemm %f, %t, %wide {trans_b} : <64x32xf32>, !tile.shared<64x64xbf16>, <32x64xbf16>
    %one = tile.batch
    tile.settle %one
    // CHECK: hopper.wgmma_fence
    // CHECK-COUNT-4: hopper.wgmma {{.*}} {element = "bf16", n = 16 : i32
    tile.gemm %left, %t, %b {trans_b} : <64x16xf32>, !tile.shared<64x64xbf16>, <16x64xbf16>
    %two = tile.batch
    // CHECK: %{{.*}}:8 = hopper.wgmma_wait
    tile.settle %two
  }
}

// CHECK-LABEL: llvm.func @sums
tile.kernel "sums" params [] {
  tile.role "r" warps 4 {
    %half = arith.constant 0.5 : f32
    %f = tile.frag : <64x8xf32>
    %columns = tile.frag : <1x8xf32>
    %v = tile.frag : <1x16xf32>
    tile.fill %half, %f : <64x8xf32>
    tile.fill %half, %v : <1x16xf32>
    // CHECK-COUNT-6: hopper.shuffle {{.*}}xor
    // CHECK-NOT: hopper.shuffle
    // CHECK: arith.minnumf
    tile.reduce "min" %f -> %columns : <64x8xf32>, <1x8xf32>
    // CHECK-COUNT-4: hopper.shuffle {{.*}}xor
    // CHECK-NOT: hopper.shuffle
    tile.scan "add" %v -> %v : <1x16xf32>, <1x16xf32>
  }
}
