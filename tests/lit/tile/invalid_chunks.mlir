// Copies without a tensor map that no thread could make.
// RUN: tile-opt --tile-verify-structure --tile-infer-layouts --split-input-file --verify-diagnostics %s

tile.kernel "k" params ["x"] {
^bb0(%x: !tile.tensor<64x64xbf16>):
  %t = tile.shared "t" : <8x64xbf16>
  tile.role "r" warps 1 {
    %c = arith.constant 4 : i32
    // expected-error @+1 {{the box begins 8 bytes into a row; expected a multiple of 16}}
    tile.copy_in %x[%c, %c] -> %t box [8, 64] : <64x64xbf16>, <8x64xbf16>
  }
}

// -----

tile.kernel "k" params ["x"] {
^bb0(%x: !tile.tensor<64x12xbf16>):
  %t = tile.shared "t" : <8x8xbf16>
  tile.role "r" warps 1 {
    %c = arith.constant 0 : i32
    // expected-error @+1 {{the tensor's last axis is 24 bytes; expected a multiple of 16 bytes known at build time}}
    tile.copy_out %t -> %x[%c, %c] box [8, 8] : <8x8xbf16>, <64x12xbf16>
  }
}

// -----

tile.kernel "k" params ["x"] {
^bb0(%x: !tile.tensor<64x64xbf16>):
  // expected-error @+1 {{"t" has padded rows and is moved by a bulk copy, which takes rows one after the other; use TMA}}
  %t = tile.shared "t" {pad = 16 : i32} : <8x64xbf16>
  tile.role "r" warps 1 {
    %c = arith.constant 0 : i32
    tile.bulk_store %t -> %x[%c, %c] : <8x64xbf16>, <64x64xbf16>
  }
}

// -----

tile.kernel "k" params ["x"] {
^bb0(%x: !tile.tensor<64x64xbf16>):
  %t = tile.shared "t" : <8x64xbf16>
  tile.role "r" warps 1 {
    %c = arith.constant 0 : i32
    // expected-error @+1 {{reduce "mul", expected add}}
    tile.tma_store %t -> %x[%c, %c] box [8, 64] {reduce = "mul"} : <8x64xbf16>, <64x64xbf16>
  }
}

// -----

tile.kernel "k" params ["x"] {
^bb0(%x: !tile.tensor<64x64xbf16>):
  %t = tile.shared "t" : <8x64xf32>
  tile.role "r" warps 1 {
    %c = arith.constant 0 : i32
    // expected-error @+1 {{tensor holds 'bf16', tile holds 'f32'}}
    tile.copy_in %x[%c, %c] -> %t box [8, 64] : <64x64xbf16>, <8x64xf32>
  }
}
