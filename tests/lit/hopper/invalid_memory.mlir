// RUN: hopper-opt --split-input-file --verify-diagnostics %s

llvm.func @f(%p: !llvm.ptr<1>) {
  // expected-error @+1 {{order is "release", expected "acquire" or "relaxed"}}
  %a = hopper.load_strong %p {order = "release", scope = "gpu"} : i32
  llvm.return
}

// -----

llvm.func @f() {
  // expected-error @+1 {{scope is "grid", expected "cta", "cluster", "gpu" or "sys"}}
  hopper.fence {scope = "grid"}
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr<1>, %f: f32) {
  // expected-error @+1 {{kind "max" of f32 has no instruction, expected add}}
  %a = hopper.atomic %p, %f {kind = "max", order = "relaxed", scope = "gpu"} : !llvm.ptr<1>, f32
  llvm.return
}

// -----

llvm.func @f(%s: i32, %f: f32) {
  // expected-error @+1 {{2 values of 'f32': expected f32 added to global memory}}
  hopper.reduce %s, %f, %f {kind = "add", order = "relaxed", scope = "cta"} : i32, f32, f32
  llvm.return
}

// -----

llvm.func @f() {
  // expected-error @+1 {{2000000 nanoseconds, expected at most 1000000}}
  hopper.sleep {nanoseconds = 2000000 : i32}
  llvm.return
}

// -----

llvm.func @f(%map: !llvm.ptr, %s: i32) {
  // expected-error @+1 {{ctas is 0, expected a bit for each of 1 to 16 ranks}}
  hopper.tma_multicast %map, %s, %s, %s {ctas = 0 : i32}
  llvm.return
}

// -----

llvm.func @f(%s: i32) {
  // expected-error @+1 {{scope is "gpu", expected "cta" or "cluster"}}
  hopper.mbarrier_arrive_remote %s {scope = "gpu"}
  llvm.return
}

// -----

llvm.func @f() {
  // expected-error @+1 {{named barrier 16, expected an id in 1..15}}
  hopper.named_barrier_arrive {id = 16 : i32, threads = 64 : i32}
  llvm.return
}
