// printf, assertions, inline PTX.
// RUN: tile-opt --tile-to-hopper %s | FileCheck %s

// CHECK-DAG: llvm.mlir.global internal constant @tilewright_text0("x = %f\0A\00")
// CHECK-DAG: llvm.func @vprintf(!llvm.ptr, !llvm.ptr) -> i32
// CHECK-DAG: llvm.func @__assertfail(!llvm.ptr, !llvm.ptr, i32, !llvm.ptr, i64)
// CHECK: llvm.func @k(
tile.kernel "k" params ["x"] attributes {shapes = [{kind = "tensor", shape = ["64"], role = "in", optional = false}]} {
^bb0(%x: !tile.tensor<64xf32>):
  tile.role "r" warps 1 {
    %lane = tile.lane
    %c = arith.constant 7 : i32
    %v = tile.read %x[%lane] : !tile.tensor<64xf32> -> f32
    // CHECK: arith.extf %{{.*}} : f32 to f64
    // CHECK: llvm.call @vprintf
    tile.printf "x = %f\0A" %v : f32
    %low = arith.cmpi slt, %lane, %c : i32
    // CHECK: scf.if
    // CHECK: llvm.call @__assertfail
    tile.assert %low, "low"
    // CHECK: hopper.ptx "popc.b32 #out0, #0;"(%{{.*}}) : (i32) -> i32
    %n = tile.ptx "popc.b32 #out0, #0;"(%lane) : (i32) -> i32
  }
}
