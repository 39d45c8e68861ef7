// Views of fragments, reductions, scans and scalar functions, as they are printed and read back.
// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: tile.kernel "vectors"
tile.kernel "vectors" params [] {
  %t = tile.shared "t" : <16x32xbf16>
  tile.role "math" warps 4 {
    %f = tile.frag : <64x128xf32>
    %columns = tile.frag : <1x128xf32>
    %rows = tile.frag : <64x1xf32>
    // CHECK: %[[VIEW:.*]] = tile.frag_view %{{.*}} 32 : <64x128xf32> -> <64x16xf32>
    %view = tile.frag_view %f 32 : <64x128xf32> -> <64x16xf32>
    // CHECK: tile.frag_view %{{.*}} 8 : <1x128xf32> -> <1x8xf32>
    %part = tile.frag_view %columns 8 : <1x128xf32> -> <1x8xf32>
    // CHECK: tile.reduce "min" %{{.*}} -> %{{.*}} : <64x128xf32>, <1x128xf32>
    tile.reduce "min" %f -> %columns : <64x128xf32>, <1x128xf32>
    // CHECK: tile.scan "add" %{{.*}} -> %{{.*}} : <1x128xf32>, <1x128xf32>
    tile.scan "add" %columns -> %columns : <1x128xf32>, <1x128xf32>
    // CHECK: tile.scan "max" %[[VIEW]] -> %[[VIEW]] {down, exclusive, reverse} : <64x16xf32>, <64x16xf32>
    tile.scan "max" %view -> %view {down, exclusive, reverse} : <64x16xf32>, <64x16xf32>
    %x = arith.constant 2.0 : f32
    // CHECK: tile.math "rsqrt" %{{.*}}
    %r = tile.math "rsqrt" %x
    // CHECK: tile.round %{{.*}} to "bf16"
    %b = tile.round %r to "bf16"
    %acc = tile.frag : <16x16xf32>
    // CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} {trans_b} : <16x16xf32>, !tile.shared<16x32xbf16>, <16x32xbf16>
    tile.mma %acc, %t, %t {trans_b} : <16x16xf32>, !tile.shared<16x32xbf16>, <16x32xbf16>
  }
}
