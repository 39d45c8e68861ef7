// What the verifiers of special registers, warps, register budgets and barriers refuse, and how they say so.
// RUN: hopper-opt --split-input-file --verify-diagnostics %s

llvm.func @f() {
  // expected-error @+1 {{dim is 3, expected 0, 1 or 2}}
  %c = hopper.cta_id {dim = 3 : i32}
  llvm.return
}

// -----

llvm.func @f() {
  // expected-error @+1 {{dim is 7, expected 0, 1 or 2}}
  %c = hopper.grid_dim {dim = 7 : i32}
  llvm.return
}

// -----

llvm.func @f(%i: i32) {
  // expected-error @+1 {{mode is "rotate", expected "idx", "xor", "up" or "down"}}
  %c = hopper.shuffle %i, %i {mode = "rotate"} : i32
  llvm.return
}

// -----

llvm.func @f() {
  // expected-error @+1 {{register budget 100, expected a multiple of 8 in 24..256}}
  hopper.setmaxnreg {count = 100 : i32}
  llvm.return
}

// -----

llvm.func @f() {
  // expected-error @+1 {{register budget 16, expected a multiple of 8 in 24..256}}
  hopper.setmaxnreg {count = 16 : i32}
  llvm.return
}

// -----

llvm.func @f() {
  // expected-error @+1 {{named barrier 0, expected an id in 1..15}}
  hopper.named_barrier {id = 0 : i32, threads = 128 : i32}
  llvm.return
}

// -----

llvm.func @f() {
  // expected-error @+1 {{named barrier 16, expected an id in 1..15}}
  hopper.named_barrier {id = 16 : i32, threads = 128 : i32}
  llvm.return
}

// -----

llvm.func @f() {
  // expected-error @+1 {{named barrier of 100 threads, expected a multiple of 32}}
  hopper.named_barrier {id = 1 : i32, threads = 100 : i32}
  llvm.return
}

// -----

llvm.func @f(%a: i32) {
  // expected-error @+1 {{count is 0, expected 1 to 1048575}}
  hopper.mbarrier_init %a {count = 0 : i32}
  llvm.return
}

// -----

llvm.func @f(%a: i32) {
  // expected-error @+1 {{bytes is 1048576, expected 1 to 1048575}}
  hopper.mbarrier_expect %a {bytes = 1048576 : i32}
  llvm.return
}
