// Uses that no layout serves.
// RUN: tile-opt --tile-infer-layouts --split-input-file --verify-diagnostics %s

tile.kernel "k" params [] {
  // expected-error @+1 {{"a" [64, 48] of 'bf16' is an operand of a product}}
  %a = tile.shared "a" : <64x48xbf16>
  %b = tile.shared "b" : <64x64xbf16>
  tile.role "r" warps 4 {
    %acc = tile.frag : <64x48xf32>
    tile.gemm %acc, %b, %a : <64x48xf32>, !tile.shared<64x64xbf16>, <64x48xbf16>
  }
}

// -----

tile.kernel "k" params [] {
  %a = tile.shared "a" : <64x128xbf16>
  tile.role "r" warps 4 {
    %row = arith.constant 0 : i32
    %col = arith.constant 16 : i32
    %acc = tile.frag : <64x64xf32>
    %v = tile.view %a[%row, %col] : <64x128xbf16> -> <64x64xbf16>
    // expected-error @+1 {{operand "a": its view begins at row 0, column 16; expected a row multiple of 8 and a column multiple of 64}}
    tile.gemm %acc, %v, %v : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
  }
}

// -----

// K is contiguous in both operands: they begin at a k-step, 16 columns or 8 of 32 bits.
tile.kernel "k" params [] {
  %a = tile.shared "a" : <64x128xbf16>
  tile.role "r" warps 4 {
    %row = arith.constant 0 : i32
    %in = arith.constant 16 : i32
    %off = arith.constant 24 : i32
    %acc = tile.frag : <64x64xf32>
    %v = tile.view %a[%row, %in] : <64x128xbf16> -> <64x64xbf16>
    tile.gemm %acc, %v, %v {trans_b} : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
    %w = tile.view %a[%row, %off] : <64x128xbf16> -> <64x64xbf16>
    // expected-error @+1 {{operand "a": its view begins at row 0, column 24; expected a row multiple of 8 and a column multiple of 16}}
    tile.gemm %acc, %v, %w {trans_b} : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
  }
}

// -----

tile.kernel "k" params [] {
  %a = tile.shared "a" : <64x64xf32>
  tile.role "r" warps 4 {
    %row = arith.constant 0 : i32
    %in = arith.constant 8 : i32
    %off = arith.constant 4 : i32
    %acc = tile.frag : <64x64xf32>
    %v = tile.view %a[%row, %in] : <64x64xf32> -> <64x32xf32>
    tile.gemm %acc, %v, %v {trans_b} : <64x64xf32>, !tile.shared<64x32xf32>, <64x32xf32>
    %w = tile.view %a[%row, %off] : <64x64xf32> -> <64x32xf32>
    // expected-error @+1 {{operand "a": its view begins at row 0, column 4; expected a row multiple of 8 and a column multiple of 8}}
    tile.gemm %acc, %w, %v {trans_b} : <64x64xf32>, !tile.shared<64x32xf32>, <64x32xf32>
  }
}

// -----

tile.kernel "k" params [] {
  %a = tile.shared "a" : <64x128xbf16>
  tile.role "r" warps 4 {
    %col = tile.thread
    %acc = tile.frag : <64x64xf32>
    %v = tile.view %a[%col, %col] : <64x128xbf16> -> <64x64xbf16>
    // expected-error @+1 {{operand "a": its view begins at a column known only at run time}}
    tile.gemm %acc, %v, %v : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
  }
}

// -----

tile.kernel "k" params ["x"] {
^bb0(%x: !tile.tensor<32x32xf32>):
  %a = tile.shared "a" {pad = 16 : i32} : <32x32xf32>
  tile.role "r" warps 1 {
    %c = tile.thread
    // expected-error @+1 {{tile "a" has 16 bytes of padding in each row; TMA moves dense rows}}
    tile.tma_store %a -> %x[%c, %c] box [32, 32] : <32x32xf32>, <32x32xf32>
  }
}

// -----

tile.kernel "k" params ["x"] {
^bb0(%x: !tile.tensor<64x32xbf16>):
  %a = tile.shared "a" : <64x128xbf16>
  tile.role "r" warps 1 {
    %c = arith.constant 32 : i32
    %row = arith.constant 0 : i32
    %v = tile.view %a[%row, %c] : <64x128xbf16> -> <64x32xbf16>
    // expected-error @+1 {{tile "a": TMA moves views whose columns are whole panels of 64}}
    tile.tma_store %v -> %x[%row, %row] box [64, 32] : <64x32xbf16>, <64x32xbf16>
  }
}

// -----

tile.kernel "k" params [] {
  %a = tile.shared "a" : <16x36xbf16>
  tile.role "r" warps 1 {
    %f = tile.frag : <16x32xbf16>
    %c0 = arith.constant 0 : i32
    %v = tile.view %a[%c0, %c0] : <16x36xbf16> -> <16x32xbf16>
    // expected-error @+1 {{tile "a": its rows are 72 bytes; matrices of 16-bit elements move in rows of 16 bytes: expected a multiple of 16}}
    tile.load %v -> %f : <16x32xbf16>, <16x32xbf16>
  }
}

// -----

tile.kernel "k" params [] {
  // expected-error @+1 {{"a" [64, 16] of 'f32' is an operand of a product; such a tile has no padding, rows a multiple of 8 and columns a multiple of 32}}
  %a = tile.shared "a" : <64x16xf32>
  tile.role "r" warps 4 {
    %acc = tile.frag : <64x64xf32>
    tile.gemm %acc, %a, %a {trans_b} : <64x64xf32>, !tile.shared<64x16xf32>, <64x16xf32>
  }
}

// -----

tile.kernel "k" params ["y"] {
^bb0(%y: !tile.tensor<64x64xf32>):
  %a = tile.shared "a" {pad = 8 : i32} : <64x64xf32>
  tile.role "r" warps 4 {
    %c0 = arith.constant 0 : i32
    // expected-error @+1 {{tile "a": its rows are 264 bytes; copies without a tensor map move in rows of 16 bytes: expected a multiple of 16}}
    tile.copy_out %a -> %y[%c0, %c0] box [64, 64] : <64x64xf32>, <64x64xf32>
  }
}
