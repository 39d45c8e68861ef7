// The ops that move and compute tiles, as they are printed and read back.
// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: tile.kernel "every" params ["x", "n", "y"]
tile.kernel "every" params ["x", "n", "y"] attributes {grid = ["[\22ceildiv\22,\22n\22,64]", "1", "1"]} {
^bb0(%x: !tile.tensor<?x2x64xbf16>, %n: i32, %y: !tile.tensor<64x64xf32>):
  // CHECK: %[[A:.*]] = tile.shared "a" {stages = 2 : i32} : <64x64xbf16>
  %a = tile.shared "a" {stages = 2 : i32} : <64x64xbf16>
  // CHECK: %[[F:.*]] = tile.shared "f" {layout = "row_major", offset = 0 : i32, overlay = "a", pad = 16 : i32} : <32x32xf32>
  %f = tile.shared "f" {layout = "row_major", offset = 0 : i32, overlay = "a", pad = 16 : i32} : <32x32xf32>
  // CHECK: %[[RING:.*]] = tile.ring "ring" stages 2 from "load" to ["math"] tiles %[[A]] : !tile.shared<64x64xbf16>
  %ring = tile.ring "ring" stages 2 from "load" to ["math"] tiles %a : !tile.shared<64x64xbf16>
  // CHECK: tile.ring "bare" stages 1 from "math" to ["load"]{{$}}
  %bare = tile.ring "bare" stages 1 from "math" to ["load"]
  // CHECK: tile.block_index 0
  %block = tile.block_index 0
  // CHECK: tile.extent %{{.*}} 1 : <?x2x64xbf16>
  %heads = tile.extent %x 1 : <?x2x64xbf16>
  // CHECK: tile.is_present %{{.*}} : <?x2x64xbf16>
  %given = tile.is_present %x : <?x2x64xbf16>

  // CHECK: tile.role "load" warps 1 attributes {registers = 24 : i32, single_thread}
  tile.role "load" warps 1 attributes {registers = 24 : i32, single_thread} {
    // CHECK: tile.grid_wait
    tile.grid_wait
    // CHECK: %[[S:.*]] = tile.acquire %[[RING]]
    %s = tile.acquire %ring
    // CHECK: %[[AT:.*]] = tile.at %[[A]][%[[S]]] : <64x64xbf16>
    %at = tile.at %a[%s] : <64x64xbf16>
    // CHECK: tile.tma_load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] rows %{{.*}}, %{{.*}} -> %[[AT]], %[[RING]][%[[S]]] box [64, 1, 64] : <?x2x64xbf16>, <64x64xbf16>
    tile.tma_load %x[%n, %s, %n] rows %n, %n -> %at, %ring[%s] box [64, 1, 64] : <?x2x64xbf16>, <64x64xbf16>
    // CHECK: tile.tma_store %[[AT]] -> %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] box [64, 1, 64] : <64x64xbf16>, <?x2x64xbf16>
    tile.tma_store %at -> %x[%n, %s, %n] box [64, 1, 64] : <64x64xbf16>, <?x2x64xbf16>
    // CHECK: tile.store_wait 1
    tile.store_wait 1
    // CHECK: tile.store_wait 0 {complete}
    tile.store_wait 0 {complete}
    // CHECK: tile.commit %[[RING]][%[[S]]]
    tile.commit %ring[%s]
  }
  // CHECK: tile.role "math" warps 4 {
  tile.role "math" warps 4 {
    %c0 = arith.constant 0 : i32
    %zero = arith.constant 0.0 : f32
    %yes = arith.constant true
    // CHECK: %[[ACC:.*]] = tile.frag {sym_name = "acc"} : <64x64xf32>
    %acc = tile.frag {sym_name = "acc"} : <64x64xf32>
    %h = tile.frag : <64x64xbf16>
    %v = tile.frag : <64x1xf32>
    %w = tile.frag : <16x32xf32>
    // CHECK: tile.fill %{{.*}}, %[[ACC]] : <64x64xf32>
    tile.fill %zero, %acc : <64x64xf32>
    // CHECK: tile.wait %[[RING]]
    %s = tile.wait %ring
    %at = tile.at %a[%s] : <64x64xbf16>
    // CHECK: tile.gemm %[[ACC]], %{{.*}}, %{{.*}} {trans_a, trans_b, zero} : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
    tile.gemm %acc, %at, %at {trans_a, trans_b, zero} : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
    // CHECK: tile.gemm %[[ACC]], %{{.*}}, %{{.*}} accumulate %{{.*}} : <64x64xf32>, !tile.frag<64x64xbf16>, <64x64xbf16>
    tile.gemm %acc, %h, %at accumulate %yes : <64x64xf32>, !tile.frag<64x64xbf16>, <64x64xbf16>
    // CHECK: %[[B:.*]] = tile.batch
    %b = tile.batch
    // CHECK: tile.settle_pending 1
    tile.settle_pending 1
    // CHECK: tile.settle %[[B]]
    tile.settle %b
    // CHECK: tile.release %[[RING]][
    tile.release %ring[%s]
    // CHECK: tile.load %{{.*}} -> %{{.*}} {transposed} : <64x64xbf16>, <64x64xbf16>
    tile.load %at -> %h {transposed} : <64x64xbf16>, <64x64xbf16>
    // CHECK: tile.store %{{.*}} -> %{{.*}} : <64x64xbf16>, <64x64xbf16>
    tile.store %h -> %at : <64x64xbf16>, <64x64xbf16>
    // CHECK: tile.load_global %{{.*}}[%{{.*}}, %{{.*}}] -> %[[ACC]] {col_axis = 0 : i32, row_axis = 1 : i32} : <64x64xf32>, <64x64xf32>
    tile.load_global %y[%c0, %c0] -> %acc {row_axis = 1 : i32, col_axis = 0 : i32} : <64x64xf32>, <64x64xf32>
    // CHECK: tile.store_global %[[ACC]] -> %{{.*}}[%{{.*}}, %{{.*}}] {col_axis = 1 : i32, row_axis = 0 : i32} : <64x64xf32>, <64x64xf32>
    tile.store_global %acc -> %y[%c0, %c0] {row_axis = 0 : i32, col_axis = 1 : i32} : <64x64xf32>, <64x64xf32>
    // CHECK: tile.reduce "max" %[[ACC]] -> %{{.*}} : <64x64xf32>, <64x1xf32>
    tile.reduce "max" %acc -> %v : <64x64xf32>, <64x1xf32>
    // CHECK: tile.view %{{.*}}[%{{.*}}, %{{.*}}] : <32x32xf32> -> <32x16xf32>
    %view = tile.view %f[%c0, %c0] : <32x32xf32> -> <32x16xf32>
    %product = tile.frag : <16x16xf32>
    // CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} : <16x16xf32>, !tile.frag<16x32xf32>, <32x16xf32>
    tile.mma %product, %w, %view : <16x16xf32>, !tile.frag<16x32xf32>, <32x16xf32>
    // CHECK: tile.map ins(%[[ACC]], %{{.*}}) outs(%{{.*}}) {
    // CHECK-NEXT: ^bb0(%{{.*}}: i32, %{{.*}}: i32, %{{.*}}: f32, %{{.*}}: f32):
    tile.map ins(%acc, %v) outs(%h) {
    ^bb0(%r: i32, %c: i32, %p: f32, %q: f32):
      // CHECK: tile.exp2
      %e = tile.exp2 %p
      // CHECK: tile.log2
      %l = tile.log2 %e
      // CHECK: tile.rcp
      %i = tile.rcp %l
      // CHECK: tile.yield %{{.*}} : f32
      tile.yield %i : f32
      // CHECK-NEXT: } : (!tile.frag<64x64xf32>, !tile.frag<64x1xf32>) -> !tile.frag<64x64xbf16>
    } : (!tile.frag<64x64xf32>, !tile.frag<64x1xf32>) -> !tile.frag<64x64xbf16>
    // CHECK: tile.read %{{.*}}[%{{.*}}, %{{.*}}] : !tile.shared<32x32xf32> -> f32
    %e = tile.read %f[%c0, %c0] : !tile.shared<32x32xf32> -> f32
    // CHECK: tile.write %{{.*}} -> %{{.*}}[%{{.*}}, %{{.*}}] : f32, !tile.tensor<64x64xf32>
    tile.write %e -> %y[%c0, %c0] : f32, !tile.tensor<64x64xf32>
  }
}
