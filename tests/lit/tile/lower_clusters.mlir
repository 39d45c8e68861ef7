// Clusters: everybody meets at the beginning and the end, stages are emptied and filled across CTAs.
// RUN: tile-opt --tile-pieces-to-hopper %s | FileCheck %s

// CHECK-LABEL: llvm.func @k(
// CHECK-SAME: nvvm.cluster_dim = array<i32: 2, 1, 1>
tile.kernel "k" params ["x"] attributes {cluster = array<i32: 2, 1, 1>, shapes = [{kind = "tensor", shape = ["64", "64"], role = "in", optional = false}]} {
^bb0(%x: !tile.tensor<64x64xbf16>):
  %a = tile.shared "a" {stages = 2 : i32} : <64x64xbf16>
  %w = tile.shared "w" : <1x32xf32>
  %ring = tile.ring "ring" stages 2 from "make" to ["use"] tiles %a : !tile.shared<64x64xbf16>
  %b = tile.barrier "b" from ["use"] to ["make"] {cluster}
  // Full: one announcement. Empty: the consumer's 4 warps of both CTAs. The barrier by hand likewise.
  // CHECK: hopper.mbarrier_init %{{.*}} {count = 1 : i32}
  // CHECK: hopper.mbarrier_init %{{.*}} {count = 8 : i32}
  // CHECK: hopper.mbarrier_init %{{.*}} {count = 1 : i32}
  // CHECK: hopper.mbarrier_init %{{.*}} {count = 8 : i32}
  // CHECK: hopper.mbarrier_init %{{.*}} {count = 8 : i32}
  // CHECK-NOT: hopper.cta_barrier
  // CHECK: hopper.cluster_arrive
  // CHECK-NEXT: hopper.cluster_wait
  tile.role "use" warps 4 {
    // CHECK: hopper.mbarrier_wait %
    %s = tile.wait %ring
    // Lane r arrives in CTA r.
    // CHECK: hopper.warp_barrier
    // CHECK: arith.cmpi ult
    // CHECK: hopper.map_shared
    // CHECK: hopper.mbarrier_arrive_remote {{.*}} when {{.*}} {scope = "cta"}
    tile.release %ring[%s]
    // CHECK: hopper.mbarrier_arrive_remote {{.*}} {scope = "cluster"}
    tile.arrive %b
  }
  tile.role "make" warps 1 attributes {single_thread} {
    // CHECK: hopper.mbarrier_wait_cluster
    // Both halves, from whichever CTA.
    // CHECK: hopper.mbarrier_expect %{{.*}} {bytes = 8192 : i32}
    %s = tile.acquire %ring
    %at = tile.at %a[%s] : <64x64xbf16>
    %zero = arith.constant 0 : i32
    %half = arith.constant 32 : i32
    // CHECK: hopper.cluster_id {dim = 0 : i32}
    %cluster = tile.cluster_index 0
    // CHECK: %[[RANK:.*]] = hopper.cluster_rank
    %rank = tile.cluster_rank
    %row = arith.muli %rank, %half : i32
    %part = tile.view %at[%row, %zero] : <64x64xbf16> -> <32x64xbf16>
    // CHECK: hopper.tma_multicast {{.*}} {ctas = 3 : i32}
    tile.tma_load %x[%row, %zero] -> %part, %ring[%s] box [32, 64] {multicast} : <64x64xbf16>, <32x64xbf16>
    // CHECK: hopper.mbarrier_wait_cluster
    tile.wait_for %b
    // CHECK: hopper.map_shared %{{.*}}, %[[RANK]]
    // CHECK: hopper.load_remote
    %v = tile.remote_read %w[%zero, %half] of %rank : <1x32xf32> -> f32
    // CHECK: hopper.store_remote
    tile.remote_write %v -> %w[%zero, %zero] of %cluster : f32, <1x32xf32>
  }
  // CHECK: hopper.cluster_arrive
  // CHECK-NEXT: hopper.cluster_wait
  // CHECK-NEXT: llvm.return
}
