// RUN: tile-opt %s -split-input-file -verify-diagnostics

tile.kernel "wide" params [] {
  // expected-error @+1 {{arguments and results are f32 or i32}}
  %f = tile.cuda_function "f" text "" : (i64) -> f32
}

// -----

tile.kernel "nothing" params [] {
  // expected-error @+1 {{a function has one result}}
  %f = tile.cuda_function "f" text "" : (f32) -> ()
}

// -----

tile.kernel "arity" params [] {
  %f = tile.cuda_function "f" text "" : (f32, f32) -> f32
  tile.role "all" warps 1 {
    %t = tile.thread
    // expected-error @+1 {{the function is '(f32, f32) -> f32', called as '(i32) -> f32'}}
    %y = tile.call %f(%t) : (f32, f32) -> f32, (i32) -> f32
  }
}
