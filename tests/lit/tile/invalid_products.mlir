// What the verifiers of products and of elementwise ops refuse.
// RUN: tile-opt --split-input-file --verify-diagnostics %s

tile.kernel "k" params [] {
  %a = tile.shared "a" : <64x64xbf16>
  %b = tile.shared "b" : <128x64xbf16>
  tile.role "r" warps 4 {
    %acc = tile.frag : <64x64xf32>
    // expected-error @+1 {{A is [64, 64] and B is [128, 64]: the inner extents differ}}
    tile.gemm %acc, %a, %b : <64x64xf32>, !tile.shared<64x64xbf16>, <128x64xbf16>
  }
}

// -----

tile.kernel "k" params [] {
  %a = tile.shared "a" : <64x64xbf16>
  tile.role "r" warps 4 {
    %acc = tile.frag : <64x64xbf16>
    // expected-error @+1 {{the accumulator holds f32, not 'bf16'}}
    tile.gemm %acc, %a, %a : <64x64xbf16>, !tile.shared<64x64xbf16>, <64x64xbf16>
  }
}

// -----

tile.kernel "k" params [] {
  %a = tile.shared "a" : <64x64xf32>
  tile.role "r" warps 4 {
    %acc = tile.frag : <64x64xf32>
    // expected-error @+1 {{B is a plain tile of f32; a tf32 product reads B along K: keep the tile as [N, K] and pass its .t()}}
    tile.gemm %acc, %a, %a : <64x64xf32>, !tile.shared<64x64xf32>, <64x64xf32>
  }
}

// -----

tile.kernel "k" params [] {
  %a = tile.shared "a" : <64x64xbf16>
  tile.role "r" warps 4 {
    %acc = tile.frag : <64x64xf32>
    %f = tile.frag : <64x64xbf16>
    // expected-error @+1 {{a fragment cannot be a transposed A operand}}
    tile.gemm %acc, %f, %a {trans_a} : <64x64xf32>, !tile.frag<64x64xbf16>, <64x64xbf16>
  }
}

// -----

tile.kernel "k" params [] {
  tile.role "r" warps 4 {
    %f = tile.frag : <64x64xf32>
    %g = tile.frag : <64x32xf32>
    // expected-error @+1 {{input [64, 32] cannot be broadcast to [64, 64]}}
    tile.map ins(%g) outs(%f) {
    ^bb0(%r: i32, %c: i32, %x: f32):
      tile.yield %x : f32
    } : (!tile.frag<64x32xf32>) -> !tile.frag<64x64xf32>
  }
}

// -----

tile.kernel "k" params [] {
  tile.role "r" warps 4 {
    %f = tile.frag : <64x64xf32>
    // expected-error @+1 {{the region takes row, column and one value for each input}}
    tile.map ins(%f) outs(%f) {
    ^bb0(%r: i32, %c: i32):
      %x = arith.constant 0.0 : f32
      tile.yield %x : f32
    } : (!tile.frag<64x64xf32>) -> !tile.frag<64x64xf32>
  }
}

// -----

tile.kernel "k" params [] {
  tile.role "r" warps 4 {
    %f = tile.frag : <64x64xf32>
    %v = tile.frag : <1x32xf32>
    // expected-error @+1 {{reduces [64, 64] into [64, 1] or [1, 64], given [1, 32]}}
    tile.reduce "add" %f -> %v : <64x64xf32>, <1x32xf32>
  }
}

// -----

tile.kernel "k" params [] {
  tile.role "r" warps 4 {
    // expected-error @+1 {{a fragment holds f32, bf16 or f16, not 'i32'}}
    %f = tile.frag : <64x64xi32>
  }
}
