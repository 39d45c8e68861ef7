// K/16 wgmma for a product, one fence before it, one group for a batch, and a wait that carries the accumulator.
// RUN: tile-opt --tile-to-hopper %s | FileCheck %s

// CHECK-LABEL: llvm.func @k()
tile.kernel "k" params [] {
  %a = tile.shared "a" : <64x64xbf16>
  %b = tile.shared "b" : <128x64xf16>
  tile.role "math" warps 4 {
    %zero = arith.constant 0.0 : f32
    %acc = tile.frag : <64x64xf32>
    %h = tile.frag : <64x64xf16>
    %other = tile.frag : <64x128xf32>
    // CHECK: hopper.wgmma_fence
    // The first step of a product with `zero` ignores the accumulator; the others add.
    // CHECK: hopper.wgmma {{.*}}element = "bf16"{{.*}}n = 64 : i32{{.*}}zero
    // CHECK-COUNT-3: hopper.wgmma {{.*}}element = "bf16"{{.*}}n = 64 : i32
    tile.gemm %acc, %a, %a {trans_b, zero} : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
    // CHECK: hopper.wgmma_commit
    %one = tile.batch
    // Registers that ordinary code wrote since the last fence need another.
    tile.fill %zero, %h : <64x64xf16>
    // CHECK: hopper.wgmma_fence
    // CHECK-COUNT-4: hopper.wgmma {{.*}}element = "f16"{{.*}}n = 128 : i32
    tile.gemm %other, %h, %b {trans_b} : <64x128xf32>, !tile.frag<64x64xf16>, <128x64xf16>
    // CHECK: hopper.wgmma_commit
    %two = tile.batch
    // CHECK: hopper.wgmma_wait{{.*}}{pending = 1 : i32}
    tile.settle %one
    // CHECK: hopper.wgmma_wait{{.*}}{pending = 0 : i32}
    tile.settle %two
  }
}
