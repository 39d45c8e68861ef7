// Rules that need the whole kernel.
// RUN: tile-opt --tile-verify-structure --split-input-file --verify-diagnostics %s

// expected-error @+1 {{"k" has no role; a kernel runs at least one}}
tile.kernel "k" params [] {
}

// -----

tile.kernel "k" params [] {
  // expected-note @+1 {{the first body}}
  tile.role "r" warps 1 {
  }
  // expected-error @+1 {{"r" is defined twice; each role has one body}}
  tile.role "r" warps 1 {
  }
}

// -----

tile.kernel "k" params [] {
  // expected-error @+1 {{"ring": its consumer "missing" has no body in this kernel}}
  %ring = tile.ring "ring" stages 1 from "r" to ["missing"]
  tile.role "r" warps 1 {
    %s = tile.acquire %ring
    tile.commit %ring[%s]
  }
}

// -----

tile.kernel "k" params [] {
  // expected-error @+1 {{"ring": its consumer "b" never releases a stage, so the producer would starve}}
  %ring = tile.ring "ring" stages 1 from "a" to ["b"]
  tile.role "a" warps 1 {
    %s = tile.acquire %ring
    tile.commit %ring[%s]
  }
  tile.role "b" warps 1 {
    %s = tile.wait %ring
  }
}

// -----

tile.kernel "k" params [] {
  %ring = tile.ring "ring" stages 1 from "a" to ["b"]
  tile.role "a" warps 1 {
    %s = tile.acquire %ring
    tile.commit %ring[%s]
    // expected-error @+1 {{role "a" is not a consumer of ring "ring"}}
    %t = tile.wait %ring
  }
  tile.role "b" warps 1 {
    %s = tile.wait %ring
    tile.release %ring[%s]
  }
}

// -----

tile.kernel "k" params ["y"] {
^bb0(%y: !tile.tensor<32xi32>):
  tile.role "a" warps 1 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %f = tile.frag : <16x16xf32>
    // expected-error @+1 {{a fragment of 64 rows in role "a" of 1 warps; expected 16}}
    %g = tile.frag : <64x16xf32>
  }
}
