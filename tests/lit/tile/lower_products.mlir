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
    tile.fill %zero, %other : <64x128xf32>
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

// A fence is for the products behind it, too, as long as ordinary code leaves their registers alone. One in a branch is for that
// branch only.
// CHECK-LABEL: llvm.func @fences()
tile.kernel "fences" params [] {
  %a = tile.shared "a" : <64x64xbf16>
  tile.role "math" warps 4 {
    %zero = arith.constant 0.0 : f32
    %c256 = arith.constant 256 : i32
    %thread = tile.thread
    %first = arith.cmpi slt, %thread, %c256 : i32
    %x = tile.frag : <64x64xf32>
    %y = tile.frag : <64x64xf32>
    %z = tile.frag : <64x64xf32>
    tile.fill %zero, %x : <64x64xf32>
    tile.fill %zero, %y : <64x64xf32>
    tile.fill %zero, %z : <64x64xf32>
    // CHECK: %{{[0-9]+}}:64 = hopper.wgmma_fence
    // CHECK-COUNT-4: hopper.wgmma %
    tile.gemm %x, %a, %a {trans_b} : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
    // CHECK-NOT: hopper.wgmma_fence
    // CHECK-COUNT-4: hopper.wgmma %
    tile.gemm %y, %a, %a {trans_b} : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
    %both = tile.batch
    tile.settle %both
    tile.fill %zero, %z : <64x64xf32>
    // CHECK: scf.if
    // CHECK: %{{[0-9]+}}:32 = hopper.wgmma_fence
    // CHECK: else
    // CHECK: %{{[0-9]+}}:32 = hopper.wgmma_fence
    scf.if %first {
      tile.gemm %z, %a, %a {trans_b} : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
      %then = tile.batch
      tile.settle %then
    } else {
      tile.gemm %z, %a, %a {trans_b} : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
      %otherwise = tile.batch
      tile.settle %otherwise
    }
  }
}
