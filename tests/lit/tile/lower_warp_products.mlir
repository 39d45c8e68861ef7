// Products of one warp: B by ldmatrix, A from registers as they are or by ldmatrix too; tf32 by ordinary loads.
// RUN: tile-opt --tile-to-hopper %s | FileCheck %s

// CHECK-LABEL: llvm.func @half
tile.kernel "half" params [] {
  %kn = tile.shared "kn" {pad = 16 : i32} : <32x24xbf16>
  %nk = tile.shared "nk" : <24x64xbf16>
  tile.role "r" warps 1 {
    %zero = arith.constant 0.0 : f32
    %acc = tile.frag : <16x24xf32>
    %a = tile.frag : <16x32xbf16>
    tile.fill %zero, %acc : <16x24xf32>
    tile.fill %zero, %a : <16x32xbf16>
    // B as [K, N]: transposed on the way; 16 columns and then 8 for each k-step.
    // CHECK: hopper.ldmatrix %{{.*}} {count = 4 : i32, trans}
    // CHECK-COUNT-2: hopper.mma {{.*}} {element = "bf16", shape = "m16n8k16"}
    // CHECK: hopper.ldmatrix %{{.*}} {count = 2 : i32, offset = 32 : i32, trans}
    // CHECK-COUNT-1: hopper.mma
    // CHECK: hopper.ldmatrix %{{.*}} {count = 4 : i32, offset = 1024 : i32, trans}
    tile.mma %acc, %a, %kn : <16x24xf32>, !tile.frag<16x32xbf16>, <32x24xbf16>
    // B as [N, K] in a swizzled tile, A of the tile itself: the second k-step is one exclusive-or away.
    // CHECK: hopper.ldmatrix %{{.*}} {count = 4 : i32}
    // CHECK: hopper.ldmatrix
    // CHECK: hopper.ldmatrix
    // CHECK: hopper.ldmatrix
    // CHECK: hopper.ldmatrix %{{.*}} {count = 4 : i32}
    // CHECK: hopper.ldmatrix %{{.*}} {count = 2 : i32, offset = 2048 : i32}
    %c0 = arith.constant 0 : i32
    %rows = tile.view %nk[%c0, %c0] : <24x64xbf16> -> <16x64xbf16>
    tile.mma %acc, %rows, %nk {trans_b} : <16x24xf32>, !tile.shared<16x64xbf16>, <24x64xbf16>
  }
}

// CHECK-LABEL: llvm.func @tf32
tile.kernel "tf32" params [] {
  %nk = tile.shared "nk" {pad = 16 : i32} : <8x16xf32>
  tile.role "r" warps 1 {
    %zero = arith.constant 0.0 : f32
    %acc = tile.frag : <16x8xf32>
    %a = tile.frag : <16x16xf32>
    tile.fill %zero, %acc : <16x8xf32>
    tile.fill %zero, %a : <16x16xf32>
    // CHECK-COUNT-6: hopper.to_tf32
    // CHECK: hopper.mma {{.*}} {element = "tf32", shape = "m16n8k8"}
    // CHECK-COUNT-6: hopper.to_tf32
    // CHECK: hopper.mma {{.*}} {element = "tf32", shape = "m16n8k8"}
    tile.mma %acc, %a, %nk {trans_b} : <16x8xf32>, !tile.frag<16x16xf32>, <8x16xf32>
  }
}
