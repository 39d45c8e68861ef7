// A ring becomes full and empty barriers whose counts are derived, and a running stage and phase in each role.
// RUN: tile-opt --tile-to-hopper %s | FileCheck %s

// CHECK-LABEL: llvm.func @k(
tile.kernel "k" params ["x"] attributes {shapes = [{kind = "tensor", shape = ["64", "64"], role = "in", optional = false}]} {
^bb0(%x: !tile.tensor<64x64xbf16>):
  %a = tile.shared "a" {stages = 2 : i32} : <64x64xbf16>
  %b = tile.shared "b" {stages = 2 : i32} : <1x64xf32>
  %ring = tile.ring "ring" stages 2 from "make" to ["use", "watch"] tiles %a, %b : !tile.shared<64x64xbf16>, !tile.shared<1x64xf32>
  // The producer's thread announces the bytes and its 4 warps commit: 5. The consumers release with 4 warps and 1: 5.
  // CHECK: scf.if
  // CHECK: hopper.mbarrier_init %{{.*}} {count = 5 : i32}
  // CHECK: hopper.mbarrier_init %{{.*}} {count = 5 : i32}
  // CHECK: hopper.mbarrier_init %{{.*}} {count = 5 : i32}
  // CHECK: hopper.mbarrier_init %{{.*}} {count = 5 : i32}
  // CHECK-NOT: hopper.mbarrier_init
  // CHECK: hopper.fence_mbarrier_init
  // CHECK: hopper.cta_barrier

  tile.role "make" warps 4 {
    // The stage's barriers: empty[s] is waited for, full[s] expects one stage of "a".
    // CHECK: hopper.mbarrier_wait
    // CHECK: scf.if
    // CHECK: hopper.mbarrier_expect %{{.*}} {bytes = 8192 : i32}
    %s = tile.acquire %ring
    %at = tile.at %a[%s] : <64x64xbf16>
    %zero = arith.constant 0 : i32
    // CHECK: scf.if
    // CHECK: hopper.tma_load
    tile.tma_load %x[%zero, %zero] -> %at, %ring[%s] box [64, 64] : <64x64xbf16>, <64x64xbf16>
    // Every warp arrives once, when all its lanes are done.
    // CHECK: hopper.warp_barrier
    // CHECK: hopper.mbarrier_arrive %{{.*}} when %
    tile.commit %ring[%s]
  }
  tile.role "use" warps 4 {
    // CHECK: hopper.mbarrier_wait
    %s = tile.wait %ring
    // CHECK: hopper.warp_barrier
    // CHECK: hopper.mbarrier_arrive
    tile.release %ring[%s]
  }
  tile.role "watch" warps 1 attributes {single_thread} {
    // CHECK: hopper.elect
    // CHECK: hopper.mbarrier_wait
    %s = tile.wait %ring
    // A single thread needs no rendezvous.
    // CHECK-NOT: hopper.warp_barrier
    // CHECK: hopper.mbarrier_arrive
    tile.release %ring[%s]
  }
}
