// RUN: tile-opt --split-input-file --verify-diagnostics %s

%c = arith.constant 0 : i32
// expected-error @+1 {{value 1 is 'i32', its conversion %f; expected %d, %u or %x}}
tile.printf "%f" %c : i32

// -----

%c = arith.constant 0 : i64
// expected-error @+1 {{value 1 is 'i64', its conversion %d; expected %lld, %llu or %llx}}
tile.printf "%d" %c : i64

// -----

%c = arith.constant 0 : i32
// expected-error @+1 {{#0 is not in the text}}
%d = tile.ptx "mov.u32 #out0, 1;"(%c) : (i32) -> i32

// -----

%c = arith.constant 0 : i32
// expected-error @+1 {{1 { and 0 } in the text}}
%d = tile.ptx "{ mov.u32 #out0, #0;"(%c) : (i32) -> i32

// -----

%c = arith.constant 0 : i32
// expected-error @+1 {{after # stands neither a number, out nor uid}}
%d = tile.ptx "mov.u32 #out0, #x;"(%c) : (i32) -> i32
