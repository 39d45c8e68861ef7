// Roles become branches on the warp's index; whole warpgroups come first, single warps share one behind them.
// RUN: tile-opt --tile-to-hopper %s | FileCheck %s

// CHECK-LABEL: llvm.func @k()
// CHECK-SAME: nvvm.reqntid = array<i32: 384>
tile.kernel "k" params [] {
  %ring = tile.ring "ring" stages 1 from "load" to ["math"]
  // CHECK: %[[WARP:.*]] = hopper.uniform
  // "load" stands first but runs on warp 8.
  tile.role "load" warps 1 attributes {registers = 40 : i32, single_thread} {
    %s = tile.acquire %ring
    tile.commit %ring[%s]
  }
  // CHECK: arith.cmpi slt, %[[WARP]], %c8_i32
  // CHECK-NEXT: scf.if
  // CHECK: hopper.setmaxnreg {count = 232 : i32, increase}
  // CHECK: hopper.named_barrier {id = 1 : i32, threads = 256 : i32}
  tile.role "math" warps 8 attributes {registers = 232 : i32} {
    %s = tile.wait %ring
    tile.sync
    tile.release %ring[%s]
  }
  // CHECK: } else {
  // CHECK: hopper.setmaxnreg {count = 40 : i32}
  // CHECK: arith.cmpi slt, %[[WARP]], %c9_i32
  // CHECK-NEXT: scf.if
  // CHECK: %[[ONE:.*]] = hopper.elect
  // CHECK-NEXT: scf.if %[[ONE]]
  // CHECK: hopper.mbarrier_wait
  // CHECK: hopper.mbarrier_arrive
}
