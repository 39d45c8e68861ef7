// Stamps leave nothing behind, unless the module is to be traced: then every warp notes stamps and waits, and the sidecar has their names.
// RUN: tile-opt %s | tile-opt | FileCheck %s --check-prefix=FORM
// RUN: tile-opt --tile-to-hopper %s | FileCheck %s --check-prefix=PLAIN
// RUN: sed 's/^module {/module attributes {tilewright.trace} {/' %s | tile-opt --tile-to-hopper | FileCheck %s

// FORM: tile.stamp "add"
// PLAIN-NOT: hopper.trace_base
// PLAIN-NOT: hopper.stamp
// PLAIN-NOT: \22trace\22

// CHECK: tilewright.sidecar = "{
// CHECK-SAME: \22bytes\22: 16400
// CHECK-SAME: \22stamps\22: [\0A      \22all\22,\0A      \22acquire ring\22,\0A      \22add\22,\0A      \22wait ring\22,\0A      \22end\22,\0A      \22other\22\0A    ]
// CHECK: %[[BASE:.*]] = hopper.trace_base {bytes = 16400 : i32}
// CHECK: hopper.stamp {{.*}} {id = 1 : i32}
// CHECK: hopper.stamp {{.*}} {id = 2 : i32}
// CHECK: hopper.mbarrier_wait
// CHECK: hopper.stamp {{.*}} {id = 1 : i32}
// CHECK: hopper.stamp {{.*}} {id = 3 : i32}
// CHECK: hopper.stamp {{.*}} {id = 4 : i32}
// CHECK: hopper.mbarrier_wait
// CHECK: hopper.stamp {{.*}} {id = 3 : i32}
// CHECK: hopper.stamp {{.*}} {id = 5 : i32}
// CHECK: hopper.stamp {{.*}} {id = 6 : i32}
// CHECK: hopper.stamp {{.*}} {id = 5 : i32}
module {
  tile.kernel "k" params [] {
    %a = tile.shared "a" : <8x8xf32>
    %ring = tile.ring "ring" stages 1 from "all" to ["all"] tiles %a : !tile.shared<8x8xf32>
    tile.role "all" warps 1 {
      %s = tile.acquire %ring
      tile.stamp "add"
      tile.commit %ring[%s]
      %t = tile.wait %ring
      tile.release %ring[%t]
    }
    tile.role "other" warps 1 {
    }
  }
}
