// Neighbouring columns move together only where the first is known to be even.
// RUN: tile-opt --tile-to-hopper --split-input-file %s | FileCheck %s

// CHECK-LABEL: llvm.func @even
// CHECK: vector<2xf32>
tile.kernel "even" params ["x", "n"] attributes {shapes = [{kind = "tensor", shape = ["64", "64"], role = "in", optional = false}, {kind = "dim"}]} {
^bb0(%x: !tile.tensor<64x64xf32>, %n: i32):
  tile.role "r" warps 4 {
    %f = tile.frag : <64x8xf32>
    %c0 = arith.constant 0 : i32
    %c8 = arith.constant 8 : i32
    %c = arith.muli %n, %c8 : i32
    tile.load_global %x[%c0, %c] -> %f {row_axis = 0 : i32, col_axis = 1 : i32} : <64x64xf32>, <64x8xf32>
  }
}

// -----

// CHECK-LABEL: llvm.func @odd
// CHECK-NOT: vector<2xf32>
// CHECK: llvm.return
tile.kernel "odd" params ["x"] attributes {shapes = [{kind = "tensor", shape = ["64", "64"], role = "in", optional = false}]} {
^bb0(%x: !tile.tensor<64x64xf32>):
  tile.role "r" warps 4 {
    %f = tile.frag : <64x8xf32>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    tile.load_global %x[%c0, %c1] -> %f {row_axis = 0 : i32, col_axis = 1 : i32} : <64x64xf32>, <64x8xf32>
  }
}

// -----

// CHECK-LABEL: llvm.func @unknown
// CHECK-NOT: vector<2xf32>
// CHECK: llvm.return
tile.kernel "unknown" params ["x", "n"] attributes {shapes = [{kind = "tensor", shape = ["64", "64"], role = "in", optional = false}, {kind = "dim"}]} {
^bb0(%x: !tile.tensor<64x64xf32>, %n: i32):
  tile.role "r" warps 4 {
    %f = tile.frag : <64x8xf32>
    %c0 = arith.constant 0 : i32
    tile.load_global %x[%c0, %n] -> %f {row_axis = 0 : i32, col_axis = 1 : i32} : <64x64xf32>, <64x8xf32>
  }
}

// -----

// CHECK-LABEL: llvm.func @padded
// CHECK-NOT: vector<2xf32>
// CHECK: llvm.return
tile.kernel "padded" params [] {
  %t = tile.shared "t" {pad = 4 : i32, layout = "row_major", offset = 0 : i32} : <64x8xf32>
  tile.role "r" warps 4 {
    %f = tile.frag : <64x8xf32>
    tile.load %t -> %f : <64x8xf32>, <64x8xf32>
  }
}
