// Tiles that have no place.
// RUN: tile-opt --tile-infer-layouts --tile-plan-shared --split-input-file --verify-diagnostics %s

// expected-error @+1 {{"k" needs 262160 bytes of shared memory, a CTA has 232448; use fewer stages or smaller tiles}}
tile.kernel "k" params [] {
  // expected-note @+1 {{"a": 1 x 262144 bytes}}
  %a = tile.shared "a" : <256x512xbf16>
  %ring = tile.ring "ring" stages 1 from "r" to ["r"]
  tile.role "r" warps 1 {
  }
}

// -----

tile.kernel "k" params [] {
  // expected-error @+1 {{"a" has 2 stages but no ring guards it; pass it to k.ring(...)}}
  %a = tile.shared "a" {stages = 2 : i32} : <64x64xbf16>
  tile.role "r" warps 1 {
  }
}

// -----

tile.kernel "k" params [] {
  // expected-error @+1 {{"a" belongs to two rings; a tile has one ring}}
  %a = tile.shared "a" : <64x64xbf16>
  %one = tile.ring "one" stages 1 from "r" to ["r"] tiles %a : !tile.shared<64x64xbf16>
  %two = tile.ring "two" stages 1 from "r" to ["r"] tiles %a : !tile.shared<64x64xbf16>
  tile.role "r" warps 1 {
  }
}
