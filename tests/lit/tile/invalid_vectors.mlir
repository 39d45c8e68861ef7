// What the verifiers of warp products, fragment views, reductions and scans refuse.
// RUN: tile-opt --split-input-file --verify-diagnostics %s

tile.kernel "k" params [] {
  %b = tile.shared "b" : <32x16xbf16>
  tile.role "r" warps 4 {
    %acc = tile.frag : <16x16xf32>
    %a = tile.frag : <16x16xbf16>
    // expected-error @+1 {{acc [16, 16], A [16, 16], B [32, 16] do not multiply}}
    tile.mma %acc, %a, %b : <16x16xf32>, !tile.frag<16x16xbf16>, <32x16xbf16>
  }
}

// -----

tile.kernel "k" params [] {
  %b = tile.shared "b" : <16x16xbf16>
  tile.role "r" warps 4 {
    %acc = tile.frag : <16x16xf32>
    %a = tile.frag : <16x16xf32>
    // expected-error @+1 {{A holds 'f32' and B holds 'bf16'; both must be bf16, both f16, or both f32 (multiplied as tf32)}}
    tile.mma %acc, %a, %b : <16x16xf32>, !tile.frag<16x16xf32>, <16x16xbf16>
  }
}

// -----

tile.kernel "k" params [] {
  %b = tile.shared "b" : <8x16xf16>
  tile.role "r" warps 4 {
    %acc = tile.frag : <16x16xf32>
    %a = tile.frag : <16x8xf16>
    // expected-error @+1 {{K = 8, N = 16; expected K a multiple of 16 and N of 8}}
    tile.mma %acc, %a, %b : <16x16xf32>, !tile.frag<16x8xf16>, <8x16xf16>
  }
}

// -----

tile.kernel "k" params [] {
  %b = tile.shared "b" : <64x64xbf16>
  tile.role "r" warps 4 {
    %acc = tile.frag : <64x64xf32>
    // expected-error @+1 {{acc has 64 rows and A 64; both have the 16 rows of a warp}}
    tile.mma %acc, %b, %b : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
  }
}

// -----

tile.kernel "k" params [] {
  tile.role "r" warps 4 {
    %f = tile.frag : <64x64xf32>
    // expected-error @+1 {{columns 48 to 80 reach outside of the fragment [64, 64]}}
    %v = tile.frag_view %f 48 : <64x64xf32> -> <64x32xf32>
  }
}

// -----

tile.kernel "k" params [] {
  tile.role "r" warps 4 {
    %f = tile.frag : <64x64xf32>
    // expected-error @+1 {{columns 4 to 20 of a fragment; expected multiples of 8}}
    %v = tile.frag_view %f 4 : <64x64xf32> -> <64x16xf32>
  }
}

// -----

tile.kernel "k" params [] {
  tile.role "r" warps 4 {
    %f = tile.frag : <64x64xf32>
    // expected-error @+1 {{view [32, 16] of fragment [64, 64]: a fragment's view has all its rows}}
    %v = tile.frag_view %f 0 : <64x64xf32> -> <32x16xf32>
  }
}

// -----

tile.kernel "k" params [] {
  tile.role "r" warps 4 {
    %f = tile.frag : <64x64xbf16>
    // expected-error @+1 {{scans f32, given 'bf16'; cast first}}
    tile.scan "add" %f -> %f : <64x64xbf16>, <64x64xbf16>
  }
}

// -----

tile.kernel "k" params [] {
  tile.role "r" warps 4 {
    %v = tile.frag : <1x64xf32>
    // expected-error @+1 {{scans [1, 64] along an axis of one element; expected rows of more than one}}
    tile.scan "add" %v -> %v {down} : <1x64xf32>, <1x64xf32>
  }
}

// -----

tile.kernel "k" params [] {
  tile.role "r" warps 4 {
    %v = tile.frag : <1x64xf32>
    // expected-error @+1 {{kind "mul": expected add, max or min}}
    tile.scan "mul" %v -> %v : <1x64xf32>, <1x64xf32>
  }
}

// -----

tile.kernel "k" params [] {
  tile.role "r" warps 4 {
    %x = arith.constant 1.0 : f32
    // expected-error @+1 {{function "sin": expected sqrt, rsqrt, tanh, abs or floor}}
    %y = tile.math "sin" %x
  }
}

// -----

tile.kernel "k" params [] {
  tile.role "r" warps 4 {
    %x = arith.constant 1.0 : f32
    // expected-error @+1 {{rounds to "fp8": expected bf16, f16 or tf32}}
    %y = tile.round %x to "fp8"
  }
}
