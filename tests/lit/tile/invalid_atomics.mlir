// Atomics and flags that the machine does not have.
// RUN: tile-opt --split-input-file --verify-diagnostics %s

tile.kernel "k" params ["x"] {
^bb0(%x: !tile.tensor<64xi32>):
  %c = arith.constant 0 : i32
  // expected-error @+1 {{order "release", expected acquire or relaxed}}
  %v = tile.load_strong "release" "gpu" %x[%c] : <64xi32> -> i32
}

// -----

tile.kernel "k" params ["x"] {
^bb0(%x: !tile.tensor<64xi32>):
  %c = arith.constant 0 : i32
  // expected-error @+1 {{scope "grid", expected cta, cluster, gpu or sys}}
  tile.store_strong "release" "grid" %c -> %x[%c] : i32, <64xi32>
}

// -----

tile.kernel "k" params ["x"] {
^bb0(%x: !tile.tensor<64xbf16>):
  %c = arith.constant 0 : i32
  %f = arith.constant 0.0 : f32
  // expected-error @+1 {{the value is 'f32', the element 'bf16'; expected f32, i32 or i64 on both sides}}
  %v = tile.atomic "add" "relaxed" "gpu" %f -> %x[%c] : f32, !tile.tensor<64xbf16>
}

// -----

tile.kernel "k" params ["x"] {
^bb0(%x: !tile.tensor<64xi32>):
  %c = arith.constant 0 : i32
  // expected-error @+1 {{kind "nand", expected add, min, max, and, or, xor or exch}}
  %v = tile.atomic "nand" "relaxed" "gpu" %c -> %x[%c] : i32, !tile.tensor<64xi32>
}

// -----

tile.kernel "k" params ["x"] {
^bb0(%x: !tile.tensor<64xi32>):
  %c = arith.constant 0 : i32
  // expected-error @+1 {{2 values, kind "add" of 'i32': several are added to a tensor of f32 only}}
  tile.red "add" "relaxed" "gpu" (%c, %c : i32, i32) -> %x[%c] : !tile.tensor<64xi32>
}

// -----

// expected-error @+1 {{the list of roles names role "a" twice}}
"tile.meet"() {roles = ["a", "a"]} : () -> ()
