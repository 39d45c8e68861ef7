// A refutation is a list of (role, line, operation), and says for which trip counts it happens.
// RUN: not tile-opt --tile-verify-protocol --mlir-print-op-on-diagnostic=false %s 2>&1 | FileCheck %s

// CHECK: interleaving.mlir:[[@LINE+17]]:{{.*}}: error: 'tile.tma_load' op role "load" writes tile "t", which role "use" reads; nothing orders the two; release the stage after its last use, not before
// CHECK: interleaving.mlir:[[@LINE+24]]:{{.*}}: note: {{[0-9]+}}. role "use": wait "ring"
// CHECK: interleaving.mlir:[[@LINE+24]]:{{.*}}: note: {{[0-9]+}}. role "use": release "ring"
// CHECK: interleaving.mlir:[[@LINE+12]]:{{.*}}: note: {{[0-9]+}}. role "load": acquire "ring"
// CHECK: interleaving.mlir:[[@LINE+24]]:{{.*}}: note: {{[0-9]+}}. role "use": read of tile "t"
// CHECK: interleaving.mlir:[[@LINE+12]]:{{.*}}: note: {{[0-9]+}}. role "load": tma_load of tile "t"
// CHECK: interleaving.mlir:[[@LINE+11]]:{{.*}}: note: with 6 trips of the loop at {{.*}}interleaving.mlir:[[@LINE+8]]
tile.kernel "k" params ["n", "x"] {
^bb0(%n: i32, %x: !tile.tensor<?x32xf32>):
  %t = tile.shared "t" {stages = 2 : i32} : <1x32xf32>
  %ring = tile.ring "ring" stages 2 from "load" to ["use"] tiles %t : !tile.shared<1x32xf32>
  tile.role "load" warps 1 attributes {single_thread} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %s = tile.acquire %ring
      %at = tile.at %t[%s] : !tile.shared<1x32xf32>
      tile.tma_load %x[%i, %c0] -> %at, %ring[%s] box [1, 32] : <?x32xf32>, <1x32xf32>
    }
  }
  tile.role "use" warps 1 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %lane = tile.lane
    scf.for %i = %c0 to %n step %c1 : i32 {
      %s = tile.wait %ring
      tile.release %ring[%s]
      %at = tile.at %t[%s] : !tile.shared<1x32xf32>
      %v = tile.read %at[%c0, %lane] : !tile.shared<1x32xf32> -> f32
    }
  }
}
