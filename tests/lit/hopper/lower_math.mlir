// Conversions and mathematics have no side effects: LLVM may merge and remove them.
// RUN: hopper-opt --convert-hopper-to-llvm %s | FileCheck %s

// CHECK-LABEL: llvm.func @math
llvm.func @math(%f: f32, %g: f32, %i: i32) {
  // CHECK-NOT: has_side_effects
  // CHECK: "ex2.approx.ftz.f32 $0, $1;", "=f,f"
  %a = hopper.exp2 %f
  // CHECK: "lg2.approx.ftz.f32 $0, $1;", "=f,f"
  %b = hopper.log2 %f
  // CHECK: "rcp.approx.ftz.f32 $0, $1;", "=f,f"
  %c = hopper.rcp %f
  // CHECK: "rsqrt.approx.ftz.f32 $0, $1;", "=f,f"
  %d = hopper.rsqrt %f
  // CHECK: "sqrt.approx.ftz.f32 $0, $1;", "=f,f"
  %m = hopper.sqrt %f
  // CHECK: "tanh.approx.f32 $0, $1;", "=f,f"
  %n = hopper.tanh %f
  // CHECK: "abs.f32 $0, $1;", "=f,f"
  %o = hopper.abs %f
  // CHECK: "cvt.rmi.f32.f32 $0, $1;", "=f,f"
  %p = hopper.floor %f
  // The first source of cvt is the upper half.
  // CHECK: "cvt.rn.bf16x2.f32 $0, $2, $1;", "=r,f,f" %[[LO:.*]], %[[HI:.*]] : (f32, f32) -> i32
  %e = hopper.pack_bf16 %f, %g
  // CHECK: "cvt.rn.f16x2.f32 $0, $2, $1;", "=r,f,f" %[[LO]], %[[HI]]
  %h = hopper.pack_f16 %f, %g
  // CHECK: "cvt.rn.tf32.f32 $0, $1;", "=r,f"
  %j = hopper.to_tf32 %f
  // CHECK: "fma.rn.bf16x2 $0, $1, $2, $3;", "=r,r,r,r"
  %k = hopper.fma_bf16x2 %i, %i, %i
  // CHECK: "mul.rn.bf16x2 $0, $1, $2;", "=r,r,r"
  %l = hopper.mul_bf16x2 %i, %i
  llvm.return
}
