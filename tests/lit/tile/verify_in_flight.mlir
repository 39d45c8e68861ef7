// Nothing touches what a product in flight uses.
// RUN: tile-opt --tile-verify-in-flight --split-input-file --verify-diagnostics %s

// Legal: accumulating again, reading an operand, reading after the batch has settled, one batch over the back edge.
tile.kernel "legal" params [] {
  %a = tile.shared "a" : <64x64xbf16>
  tile.role "r" warps 4 {
    %c0 = arith.constant 0 : i32
    %c4 = arith.constant 4 : i32
    %c1 = arith.constant 1 : i32
    %acc = tile.frag : <64x64xf32>
    %other = tile.frag : <64x64xf32>
    %f = tile.frag : <64x64xbf16>
    scf.for %i = %c0 to %c4 step %c1 : i32 {
      tile.gemm %acc, %f, %a : <64x64xf32>, !tile.frag<64x64xbf16>, <64x64xbf16>
      tile.gemm %acc, %f, %a : <64x64xf32>, !tile.frag<64x64xbf16>, <64x64xbf16>
      %first = tile.batch
      tile.store %f -> %a : <64x64xbf16>, <64x64xbf16>
      tile.settle_pending 1
    }
    tile.settle_pending 0
    tile.gemm %acc, %a, %a : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
    %one = tile.batch
    tile.gemm %other, %a, %a : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
    %two = tile.batch
    tile.settle %one
    tile.map ins(%acc) outs(%f) {
    ^bb0(%r: i32, %c: i32, %x: f32):
      tile.yield %x : f32
    } : (!tile.frag<64x64xf32>) -> !tile.frag<64x64xbf16>
    tile.settle %two
  }
}

// -----

tile.kernel "second" params [] {
  %a = tile.shared "a" : <64x64xbf16>
  tile.role "r" warps 4 {
    %v = tile.frag : <64x1xf32>
    %acc = tile.frag {sym_name = "acc"} : <64x64xf32>
    %other = tile.frag {sym_name = "other"} : <64x64xf32>
    tile.gemm %acc, %a, %a : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
    %one = tile.batch
    // expected-note @+1 {{the product}}
    tile.gemm %other, %a, %a : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
    %two = tile.batch
    tile.settle %one
    tile.reduce "add" %acc -> %v : <64x64xf32>, <64x1xf32>
    // expected-error @+1 {{reads the accumulator fragment "other" while a product is in flight; settle the product's batch first}}
    tile.reduce "add" %other -> %v : <64x64xf32>, <64x1xf32>
  }
}

// -----

tile.kernel "columns" params [] {
  %a = tile.shared "a" : <64x64xbf16>
  tile.role "r" warps 4 {
    %acc = tile.frag {sym_name = "acc"} : <64x64xf32>
    %left = tile.frag_view %acc 0 : <64x64xf32> -> <64x32xf32>
    %right = tile.frag_view %acc 32 : <64x64xf32> -> <64x32xf32>
    %middle = tile.frag_view %acc 16 : <64x64xf32> -> <64x32xf32>
    %c0 = arith.constant 0 : i32
    %b = tile.view %a[%c0, %c0] : <64x64xbf16> -> <32x64xbf16>
    tile.gemm %left, %a, %b {trans_b} : <64x32xf32>, !tile.shared<64x64xbf16>, <32x64xbf16>
    tile.gemm %right, %a, %b {trans_b} : <64x32xf32>, !tile.shared<64x64xbf16>, <32x64xbf16>
    tile.gemm %left, %a, %b {trans_b} : <64x32xf32>, !tile.shared<64x64xbf16>, <32x64xbf16>
    %one = tile.batch
    tile.settle_pending 0
    // expected-note @+1 {{the product}}
    tile.gemm %right, %a, %b {trans_b} : <64x32xf32>, !tile.shared<64x64xbf16>, <32x64xbf16>
    // expected-error @+1 {{accumulates in another shape or other columns into the accumulator fragment "acc" while a product is in flight; settle the product's batch first}}
    tile.gemm %middle, %a, %b {trans_b} : <64x32xf32>, !tile.shared<64x64xbf16>, <32x64xbf16>
  }
}

// -----

tile.kernel "branch" params [] {
  %a = tile.shared "a" : <64x64xbf16>
  tile.role "r" warps 4 {
    %yes = arith.constant true
    %zero = arith.constant 0.0 : f32
    %acc = tile.frag : <64x64xf32>
    scf.if %yes {
      // expected-note @+1 {{the product}}
      tile.gemm %acc, %a, %a : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
      %b = tile.batch
    }
    // expected-error @+1 {{writes the accumulator fragment while a product is in flight}}
    tile.fill %zero, %acc : <64x64xf32>
  }
}

// -----

tile.kernel "stage" params [] {
  %a = tile.shared "a" {stages = 2 : i32} : <64x64xbf16>
  %ring = tile.ring "ring" stages 2 from "r" to ["r"] tiles %a : !tile.shared<64x64xbf16>
  tile.role "r" warps 4 {
    %acc = tile.frag : <64x64xf32>
    %s = tile.wait %ring
    %at = tile.at %a[%s] : <64x64xbf16>
    // expected-note @+1 {{the product}}
    tile.gemm %acc, %at, %at : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
    %b = tile.batch
    // expected-error @+1 {{releases a stage of ring "ring" while a product is in flight}}
    tile.release %ring[%s]
  }
}

// -----

// A view is a part of its fragment; another part may be used meanwhile.
tile.kernel "views" params [] {
  %a = tile.shared "a" : <64x64xbf16>
  tile.role "r" warps 4 {
    %zero = arith.constant 0.0 : f32
    %f = tile.frag {sym_name = "f"} : <64x128xf32>
    %left = tile.frag_view %f 0 : <64x128xf32> -> <64x64xf32>
    %right = tile.frag_view %f 64 : <64x128xf32> -> <64x64xf32>
    %middle = tile.frag_view %f 32 : <64x128xf32> -> <64x64xf32>
    // expected-note @+1 {{the product}}
    tile.gemm %left, %a, %a {zero} : <64x64xf32>, !tile.shared<64x64xbf16>, <64x64xbf16>
    %b = tile.batch
    tile.fill %zero, %right : <64x64xf32>
    // expected-error @+1 {{writes the accumulator fragment "f" while a product is in flight}}
    tile.fill %zero, %middle : <64x64xf32>
    tile.settle %b
  }
}
