// What the verifiers of copies, tiles and kernels refuse.
// RUN: tile-opt --split-input-file --verify-diagnostics %s

tile.kernel "k" params ["x"] {
^bb0(%x: !tile.tensor<64x64xbf16>):
  %a = tile.shared "a" : <32x64xbf16>
  %ring = tile.ring "ring" stages 1 from "r" to ["r"] tiles %a : !tile.shared<32x64xbf16>
  tile.role "r" warps 1 {
    %s = tile.acquire %ring
    // expected-error @+1 {{box [64, 64] does not match the tile [32, 64]}}
    tile.tma_load %x[%s, %s] -> %a, %ring[%s] box [64, 64] : <64x64xbf16>, <32x64xbf16>
  }
}

// -----

tile.kernel "k" params ["x"] {
^bb0(%x: !tile.tensor<64x64xbf16>):
  %a = tile.shared "a" : <64x64xf16>
  tile.role "r" warps 1 {
    %s = tile.thread
    // expected-error @+1 {{tensor holds 'bf16', tile holds 'f16'}}
    tile.tma_store %a -> %x[%s, %s] box [64, 64] : <64x64xf16>, <64x64xbf16>
  }
}

// -----

tile.kernel "k" params ["x"] {
^bb0(%x: !tile.tensor<64x64xbf16>):
  %a = tile.shared "a" : <64x64xbf16>
  tile.role "r" warps 1 {
    %s = tile.thread
    // expected-error @+1 {{ragged rows need the first row and the number of rows}}
    tile.tma_store %a -> %x[%s, %s] rows %s box [64, 64] : <64x64xbf16>, <64x64xbf16>
  }
}

// -----

tile.kernel "k" params [] {
  %a = tile.shared "a" : <64x64xbf16>
  tile.role "r" warps 1 {
    %c = arith.constant 32 : i32
    // expected-error @+1 {{view [64, 64] from row 32 on reaches outside of the tile [64, 64]}}
    %v = tile.view %a[%c, %c] : <64x64xbf16> -> <64x64xbf16>
  }
}

// -----

tile.kernel "k" params [] {
  %a = tile.shared "a" {stages = 3 : i32} : <64x64xbf16>
  // expected-error @+1 {{tile "a" has 3 stages, the ring has 2}}
  %ring = tile.ring "ring" stages 2 from "r" to ["r"] tiles %a : !tile.shared<64x64xbf16>
}

// -----

// expected-error @+1 {{1 parameter names for 0 parameters}}
tile.kernel "k" params ["x"] {
}

// -----

tile.kernel "k" params [] {
  // expected-error @+1 {{6 warps: a role has one warp or whole warpgroups of 4}}
  tile.role "r" warps 6 {
  }
}

// -----

tile.kernel "k" params [] {
  // expected-error @+1 {{a role of a single thread has one warp}}
  tile.role "r" warps 4 attributes {single_thread} {
  }
}

// -----

tile.kernel "k" params ["x"] {
^bb0(%x: !tile.tensor<64x?xf32>):
  tile.role "r" warps 4 {
    %f = tile.frag : <64x64xf32>
    %c = tile.thread
    // expected-error @+1 {{axis 1 of the tensor is known only at launch}}
    tile.load_global %x[%c, %c] -> %f {row_axis = 0 : i32, col_axis = 1 : i32} : <64x?xf32>, <64x64xf32>
  }
}

// -----

tile.kernel "k" params ["x"] {
^bb0(%x: !tile.tensor<64x64xf32>):
  // expected-error @+1 {{axis 2 of a tensor of rank 2}}
  %e = tile.extent %x 2 : <64x64xf32>
}

// -----

tile.kernel "k" params ["x"] {
^bb0(%x: !tile.tensor<64x64xbf16>):
  %a = tile.shared "a" : <64x64xbf16>
  %ring = tile.ring "ring" stages 1 from "r" to ["r"] tiles %a : !tile.shared<64x64xbf16>
  tile.role "r" warps 1 {
    %s = tile.acquire %ring
    %c = arith.constant -4 : i32
    // expected-error @+1 {{the box begins -8 bytes into a row; TMA needs a multiple of 16}}
    tile.tma_load %x[%s, %c] -> %a, %ring[%s] box [64, 64] : <64x64xbf16>, <64x64xbf16>
  }
}

// -----

tile.kernel "k" params ["x"] {
^bb0(%x: !tile.tensor<64x64xbf16>):
  %a = tile.shared "a" : <64x64xbf16>
  tile.role "r" warps 1 {
    %s = tile.thread
    %c = arith.constant 1 : i32
    // expected-error @+1 {{the box begins 2 bytes into a row; TMA needs a multiple of 16}}
    tile.tma_store %a -> %x[%s, %c] box [64, 64] : <64x64xbf16>, <64x64xbf16>
  }
}
