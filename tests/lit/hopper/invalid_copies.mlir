// What the verifiers of copies and matrix moves refuse, and how they say so.
// RUN: hopper-opt --split-input-file --verify-diagnostics %s

llvm.func @f(%m: !llvm.ptr, %a: i32) {
  // expected-error @+1 {{has 6 coordinates, expected 1 to 5}}
  hopper.tma_load %m, %a, %a, %a, %a, %a, %a, %a, %a
  llvm.return
}

// -----

llvm.func @f(%m: !llvm.ptr, %a: i32) {
  // expected-error @+1 {{has 6 coordinates, expected 1 to 5}}
  hopper.tma_store %m, %a, %a, %a, %a, %a, %a, %a
  llvm.return
}

// -----

llvm.func @f(%m: !llvm.ptr, %a: i32) {
  // expected-error @+1 {{has 0 coordinates, expected 1 to 5}}
  "hopper.tma_reduce_add"(%m, %a) : (!llvm.ptr, i32) -> ()
  llvm.return
}

// -----

llvm.func @f(%m: !llvm.ptr<1>) {
  // expected-error @+1 {{generic pointer}}
  "hopper.tma_prefetch"(%m) : (!llvm.ptr<1>) -> ()
  llvm.return
}

// -----

llvm.func @f() {
  // expected-error @+1 {{count is 8, expected 0 to 7}}
  hopper.bulk_wait {count = 8 : i32}
  llvm.return
}

// -----

llvm.func @f(%a: i32) {
  // expected-error @+1 {{moves 3 matrices, expected 1, 2 or 4}}
  %r:3 = hopper.ldmatrix %a {count = 3 : i32}
  llvm.return
}

// -----

llvm.func @f(%a: i32) {
  // expected-error @+1 {{has 1 results, count is 2}}
  %r = "hopper.ldmatrix"(%a) {count = 2 : i32} : (i32) -> i32
  llvm.return
}

// -----

llvm.func @f(%a: i32) {
  // expected-error @+1 {{moves 3 matrices, expected 1, 2 or 4}}
  hopper.stmatrix %a, %a, %a, %a
  llvm.return
}
