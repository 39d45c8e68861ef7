// What the verifiers of matrix products refuse, and how they say so.
// RUN: hopper-opt --split-input-file --verify-diagnostics %s

llvm.func @f(%f: f32, %i: i32, %d: i64, %p: i1) {
  // expected-error @+1 {{n is 12, expected a multiple of 8 in 8..256}}
  %w:4 = hopper.wgmma %f, %f, %f, %f + %d * %d {n = 12 : i32, element = "bf16"} : i64
  llvm.return
}

// -----

llvm.func @f(%f: f32, %i: i32, %d: i64, %p: i1) {
  // expected-error @+1 {{n is 264, expected a multiple of 8 in 8..256}}
  %w:4 = hopper.wgmma %f, %f, %f, %f + %d * %d {n = 264 : i32, element = "bf16"} : i64
  llvm.return
}

// -----

llvm.func @f(%f: f32, %i: i32, %d: i64, %p: i1) {
  // expected-error @+1 {{has 4 accumulator registers, expected 8 for n = 16}}
  %w:4 = hopper.wgmma %f, %f, %f, %f + %d * %d {n = 16 : i32, element = "bf16"} : i64
  llvm.return
}

// -----

llvm.func @f(%f: f32, %i: i32, %d: i64, %p: i1) {
  // expected-error @+1 {{element is "fp8", expected "bf16", "f16" or "tf32"}}
  %w:4 = hopper.wgmma %f, %f, %f, %f + %d * %d {n = 8 : i32, element = "fp8"} : i64
  llvm.return
}

// -----

llvm.func @f(%f: f32, %i: i32, %d: i64, %p: i1) {
  // expected-error @+1 {{a transposed operand needs a 16-bit element type, got tf32}}
  %w:4 = hopper.wgmma %f, %f, %f, %f + %d * %d {n = 8 : i32, element = "tf32", trans_b} : i64
  llvm.return
}

// -----

llvm.func @f(%f: f32, %i: i32, %d: i64, %p: i1) {
  // expected-error @+1 {{operand A comes from registers and cannot be transposed}}
  %w:4 = hopper.wgmma %f, %f, %f, %f + %i, %i, %i, %i * %d {n = 8 : i32, element = "f16", trans_a} : i32, i32, i32, i32
  llvm.return
}

// -----

llvm.func @f(%f: f32, %i: i32, %d: i64, %p: i1) {
  // expected-error @+1 {{operand A has 2 values, expected one i64 descriptor or 4 i32 registers}}
  %w:4 = hopper.wgmma %f, %f, %f, %f + %i, %i * %d {n = 8 : i32, element = "f16"} : i32, i32
  llvm.return
}

// -----

llvm.func @f(%f: f32, %i: i32, %d: i64, %p: i1) {
  // expected-error @+1 {{has both scale_d and zero, expected one of them}}
  %w:4 = hopper.wgmma %f, %f, %f, %f + %d * %d if %p {n = 8 : i32, element = "f16", zero} : i64
  llvm.return
}

// -----

llvm.func @f(%f: f32) {
  // expected-error @+1 {{pending is 9, expected 0 to 7}}
  %w = hopper.wgmma_wait(%f : f32) {pending = 9 : i32}
  llvm.return
}

// -----

llvm.func @f(%f: f32, %i: i32) {
  // expected-error @+1 {{shape "m16n8k16" of element "tf32", expected m16n8k16 of bf16 or f16, or m16n8k8 of bf16, f16 or tf32}}
  %m:4 = hopper.mma %f, %f, %f, %f + %i, %i, %i, %i * %i, %i {shape = "m16n8k16", element = "tf32"}
  llvm.return
}

// -----

llvm.func @f(%f: f32, %i: i32) {
  // expected-error @+1 {{has 4 + 2 * 2 registers, expected 4 + 4 * 2}}
  %m:4 = hopper.mma %f, %f, %f, %f + %i, %i * %i, %i {shape = "m16n8k8", element = "tf32"}
  llvm.return
}
