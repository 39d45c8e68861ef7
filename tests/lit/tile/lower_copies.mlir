// TMA moves a swizzled tile panel by panel; rows of packed sequences use two more coordinates; fragments move by ldmatrix.
// RUN: tile-opt --tile-pieces-to-hopper %s | FileCheck %s

// CHECK-LABEL: llvm.func @k(
// CHECK-SAME: %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
tile.kernel "k" params ["x", "n"] attributes {shapes = [{kind = "tensor", shape = ["\22n\22", "128"], role = "out", optional = false}, {kind = "dim"}]} {
^bb0(%x: !tile.tensor<?x128xbf16>, %n: i32):
  %a = tile.shared "a" : <64x128xbf16>
  tile.role "r" warps 4 {
    %zero = arith.constant 0 : i32
    // Coordinates innermost first: the second panel begins 64 columns further and one panel (8192 bytes) behind.
    // CHECK: hopper.tma_store %[[DENSE:[a-z0-9]+]], %[[AT:[0-9]+]], %c0_i32, %c0_i32{{$}}
    // CHECK: %[[NEXT:.*]] = arith.addi %[[AT]], %c8192_i32
    // CHECK: hopper.tma_store %[[DENSE]], %[[NEXT]], %c64_i32, %c0_i32{{$}}
    tile.tma_store %a -> %x[%zero, %zero] box [64, 128] : <64x128xbf16>, <?x128xbf16>
    // Row 0 of a sequence of n rows from row n on: (2^30 - n + 0, n + n, 2^30).
    // CHECK: %[[ROW:.*]] = arith.subi %c1073741824_i32, %[[N:.*]] : i32
    // CHECK: %[[END:.*]] = arith.addi %[[N]], %[[N]] : i32
    // CHECK: hopper.tma_store %{{.*}}, %[[AT]], %c0_i32, %[[ROW]], %[[END]], %c1073741824_i32
    tile.tma_store %a -> %x[%zero, %zero] rows %n, %n box [64, 128] : <64x128xbf16>, <?x128xbf16>
    // CHECK: hopper.bulk_commit
    // CHECK-NEXT: hopper.bulk_wait {count = 0 : i32, read}
    tile.store_wait 0

    // 64 x 24 of 16 bits: one block of 16 columns, one of 8.
    %f = tile.frag : <64x24xbf16>
    %v = tile.view %a[%zero, %zero] : <64x128xbf16> -> <64x24xbf16>
    // CHECK: hopper.ldmatrix %{{.*}} {count = 4 : i32}
    // CHECK: hopper.ldmatrix %{{.*}} {count = 2 : i32}
    tile.load %v -> %f : <64x24xbf16>, <64x24xbf16>
    // CHECK: hopper.stmatrix %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {trans}
    %g = tile.frag : <64x16xbf16>
    %cst = arith.constant 0.0 : f32
    tile.fill %cst, %g : <64x16xbf16>
    %w = tile.view %a[%zero, %zero] : <64x128xbf16> -> <16x64xbf16>
    tile.store %g -> %w {transposed} : <64x16xbf16>, <16x64xbf16>
  }
}
