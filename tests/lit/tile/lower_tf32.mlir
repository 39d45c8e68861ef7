// A product of f32 operands: K/8 wgmma of tf32. A fragment is rounded and exchanged within the four lanes of a row.
// RUN: tile-opt --tile-to-hopper %s | FileCheck %s

// CHECK-LABEL: llvm.func @k
tile.kernel "k" params [] {
  %a = tile.shared "a" : <64x64xf32>
  %b = tile.shared "b" : <32x64xf32>
  %c = tile.shared "c" : <32x32xf32>
  tile.role "math" warps 4 {
    %acc = tile.frag : <64x32xf32>
    %f = tile.frag : <64x32xf32>
    %zero = arith.constant 0.0 : f32
    tile.fill %zero, %f : <64x32xf32>
    // CHECK-COUNT-8: hopper.wgmma {{.*}}element = "tf32"{{.*}}n = 32 : i32
    tile.gemm %acc, %a, %b {trans_b, zero} : <64x32xf32>, !tile.shared<64x64xf32>, <32x64xf32>
    %one = tile.batch
    tile.settle %one
    // 16 registers of A, each an exchange.
    // CHECK-COUNT-16: hopper.shuffle {{.*}} {mode = "idx"} : i32
    // CHECK-NOT: hopper.shuffle
    // CHECK: hopper.wgmma_fence(
    // CHECK-COUNT-4: hopper.wgmma {{.*}}element = "tf32"{{.*}} : i32, i32, i32, i32
    tile.gemm %acc, %f, %c {trans_b} : <64x32xf32>, !tile.frag<64x32xf32>, <32x32xf32>
    %two = tile.batch
    // A's registers pass through the wait with the accumulator's.
    // CHECK: %{{.*}}:32 = hopper.wgmma_wait
    tile.settle %two
  }
}
