// Barriers with named participants, roles that meet, loops with a condition, atomics and flags.
// RUN: tile-opt --tile-pieces-to-hopper %s | FileCheck %s

// CHECK-LABEL: llvm.func @k(
tile.kernel "k" params ["x", "h"] attributes {shapes = [{kind = "tensor", shape = ["64", "64"], role = "inout", optional = false}, {kind = "tensor", shape = ["64", "64"], role = "inout", optional = false}]} {
^bb0(%x: !tile.tensor<64x64xf32>, %h: !tile.tensor<64x64xbf16>):
  %t = tile.shared "t" : <1x4xi32>
  // One arrival for each of the 4 + 1 warps; the barrier lies behind the tile.
  %b = tile.barrier "b" from ["wide", "one"] to ["other"]
  // CHECK: hopper.mbarrier_init %{{.*}} {count = 5 : i32}
  // CHECK: hopper.cta_barrier
  tile.role "wide" warps 4 {
    // CHECK: hopper.warp_barrier
    // CHECK: hopper.mbarrier_arrive %{{.*}} when %
    tile.arrive %b
    // The first set of roles has the barrier behind those of the roles (1).
    // CHECK: hopper.named_barrier {id = 2 : i32, threads = 160 : i32}
    tile.meet ["other", "wide"]
  }
  tile.role "one" warps 1 attributes {single_thread} {
    // CHECK: hopper.elect
    // CHECK-NOT: hopper.warp_barrier
    // CHECK: hopper.mbarrier_arrive
    tile.arrive %b
  }
  tile.role "other" warps 1 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %f = arith.constant 1.0 : f32
    // The phase turns with every wait.
    // CHECK: %[[PHASE:.*]] = llvm.load
    // CHECK: arith.xori %[[PHASE]]
    // CHECK: hopper.mbarrier_wait %{{.*}}, %[[PHASE]]
    tile.wait_for %b
    // CHECK: hopper.named_barrier_arrive {id = 2 : i32, threads = 160 : i32}
    tile.meet ["wide", "other"] {arrive_only}
    // CHECK: scf.while
    // CHECK: hopper.load_strong %{{.*}} {order = "acquire", scope = "gpu"} : f32
    // CHECK: scf.condition
    // CHECK: hopper.sleep {nanoseconds = 32 : i32}
    scf.while : () -> () {
      %v = tile.load_strong "acquire" "gpu" %x[%c0, %c1] : <64x64xf32> -> f32
      %go = arith.cmpf olt, %v, %f : f32
      scf.condition(%go)
    } do {
      tile.sleep 32
      scf.yield
    }
    // CHECK: hopper.store_strong %{{.*}}, %{{.*}} {order = "release", scope = "sys"} : f32
    tile.store_strong "release" "sys" %f -> %x[%c0, %c0] : f32, <64x64xf32>
    // CHECK: hopper.atomic %{{.*}}, %{{.*}} {kind = "add", order = "relaxed", scope = "gpu"} : !llvm.ptr<1>, f32
    %old = tile.atomic "add" "relaxed" "gpu" %f -> %x[%c0, %c1] : f32, !tile.tensor<64x64xf32>
    // CHECK: hopper.atomic %{{.*}}, %{{.*}} {kind = "exch", order = "relaxed", scope = "cta"} : i32, i32
    %was = tile.atomic "exch" "relaxed" "cta" %c1 -> %t[%c0, %c0] : i32, !tile.shared<1x4xi32>
    // CHECK: hopper.atomic_cas %{{.*}}, %{{.*}}, %{{.*}} {order = "acq_rel", scope = "cta"} : i32, i32
    %cas = tile.atomic_cas "acq_rel" "cta" %c0, %was -> %t[%c0, %c1] : i32, !tile.shared<1x4xi32>
    // CHECK: hopper.reduce %{{.*}}, %{{.*}}, %{{.*}} {kind = "add", order = "relaxed", scope = "gpu"} : !llvm.ptr<1>, f32, f32
    tile.red "add" "relaxed" "gpu" (%old, %f : f32, f32) -> %x[%c0, %c0] : !tile.tensor<64x64xf32>
    // CHECK: hopper.pack_bf16
    // CHECK: hopper.reduce %{{.*}}, %{{.*}} {kind = "add", order = "relaxed", packed = "bf16x2", scope = "gpu"} : !llvm.ptr<1>, i32
    tile.red "add" "relaxed" "gpu" (%old, %f : f32, f32) -> %h[%c0, %c0] : !tile.tensor<64x64xbf16>
    // CHECK: hopper.fence {scope = "gpu"}
    tile.fence "gpu"
    // CHECK: hopper.reduce %{{.*}}, %{{.*}} {kind = "max", order = "release", scope = "cta"} : i32, i32
    tile.red "max" "release" "cta" (%cas : i32) -> %t[%c0, %c0] : !tile.shared<1x4xi32>
  }
}
