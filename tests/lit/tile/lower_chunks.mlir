// Copies without a tensor map: chunks of 16 bytes shared among threads, bulk copies, slots and additions.
// RUN: tile-opt --tile-pieces-to-hopper %s | FileCheck %s

// CHECK-LABEL: llvm.func @k(
tile.kernel "k" params ["n", "x", "y"] attributes {shapes = [{kind = "dim"}, {kind = "tensor", shape = ["\22n\22", "64"], role = "in", optional = false}, {kind = "tensor", shape = ["4", "64", "64"], role = "inout", optional = false}]} {
^bb0(%n: i32, %x: !tile.tensor<?x64xf32>, %y: !tile.tensor<4x64x64xf32>):
  %a = tile.shared "a" {stages = 2 : i32} : <6x32xf32>
  %b = tile.shared "b" {stages = 2 : i32} : <1x64xf32>
  %t = tile.shared "t" : <64x64xf32>
  %ring = tile.ring "ring" stages 2 from "make" to ["use"] tiles %a, %b : !tile.shared<6x32xf32>, !tile.shared<1x64xf32>
  // Full: one announcement of bytes, a commit of the warp, and the copies of its 32 threads.
  // CHECK: hopper.mbarrier_init %{{.*}} {count = 34 : i32}
  tile.role "use" warps 4 {
    %c0 = arith.constant 0 : i32
    %s = tile.wait %ring
    tile.release %ring[%s]
    // Whole boxes inside a tensor of known extents are not checked.
    // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
    tile.copy_in %y[%c0, %c0, %c0] -> %t box [1, 64, 64] : <4x64x64xf32>, <64x64xf32>
    tile.sync
    // CHECK: hopper.fence_proxy_async
    // CHECK: hopper.named_barrier
    // CHECK: arith.cmpi sge
    // CHECK: scf.if
    // CHECK: hopper.tma_reduce_add
    tile.tma_store %t -> %y[%s, %c0, %c0] box [1, 64, 64] {indexed, reduce = "add"} : <64x64xf32>, <4x64x64xf32>
    // CHECK: hopper.bulk_store
    tile.bulk_store %t -> %y[%c0, %c0, %c0] : <64x64xf32>, <4x64x64xf32>
  }
  tile.role "make" warps 1 {
    // 6 rows of 8 chunks: 32 and then 16 threads.
    %c0 = arith.constant 0 : i32
    // CHECK: hopper.mbarrier_expect %{{.*}} {bytes = 256 : i32}
    %s = tile.acquire %ring
    %as = tile.at %a[%s] : <6x32xf32>
    %bs = tile.at %b[%s] : <1x64xf32>
    // CHECK: arith.cmpi ult, %{{.*}}, %arg0
    // CHECK: hopper.cp_async
    // CHECK: scf.if
    // CHECK: hopper.cp_async
    // CHECK-NOT: hopper.cp_async
    tile.copy_async %x[%c0, %c0] -> %as, %ring[%s] box [6, 32] : <?x64xf32>, <6x32xf32>
    // CHECK: hopper.bulk_fetch
    tile.bulk_load %y[%c0, %c0, %c0] -> %bs, %ring[%s] : <4x64x64xf32>, <1x64xf32>
    // CHECK: hopper.cp_async_arrive
    // CHECK: hopper.mbarrier_arrive
    tile.commit %ring[%s]
  }
}
