// Layouts follow from what a tile holds and how it is used.
// RUN: tile-opt --tile-infer-layouts %s | FileCheck %s

tile.kernel "k" params ["x"] {
^bb0(%x: !tile.tensor<64x64xbf16>):
  // 16-bit tiles of whole panels are swizzled, for wgmma, TMA and ldmatrix alike.
  // CHECK: tile.shared "product" {layout = "swizzle128"}
  %a = tile.shared "product" : <64x128xbf16>
  // CHECK: tile.shared "unused" {layout = "swizzle128"}
  %b = tile.shared "unused" : <8x64xf16>
  // Not these: 32-bit elements, part of a panel, rows of no whole pattern, padding, a layout given by hand.
  // CHECK: tile.shared "single" {layout = "row_major"}
  %c = tile.shared "single" : <64x64xf32>
  // CHECK: tile.shared "narrow" {layout = "row_major"}
  %d = tile.shared "narrow" : <64x48xbf16>
  // CHECK: tile.shared "short" {layout = "row_major"}
  %e = tile.shared "short" : <4x64xbf16>
  // CHECK: tile.shared "padded" {layout = "row_major", pad = 16 : i32}
  %f = tile.shared "padded" {pad = 16 : i32} : <64x64xbf16>
  // CHECK: tile.shared "given" {layout = "row_major"}
  %g = tile.shared "given" {layout = "row_major"} : <64x64xbf16>
  tile.role "r" warps 4 {
    %zero = arith.constant 0 : i32
    %col = arith.constant 64 : i32
    %acc = tile.frag : <64x64xf32>
    %left = tile.view %a[%zero, %zero] : <64x128xbf16> -> <64x64xbf16>
    %right = tile.view %a[%zero, %col] : <64x128xbf16> -> <64x64xbf16>
    tile.gemm %acc, %left, %right : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
    tile.tma_store %right -> %x[%zero, %zero] box [64, 64] : <64x64xbf16>, <64x64xbf16>
  }
}
