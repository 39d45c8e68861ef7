// Arithmetic that the author puts between issue and settle stays there: the tensor cores work meanwhile.
// What uses the result comes after the wait, because the wait carries the registers.
// RUN: hopper-translate %s --no-loc | FileCheck %s

// CHECK-LABEL: .entry overlap(
llvm.func @overlap(%low: i32, %x: f32, %y: f32, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  %d = hopper.matrix_descriptor %low
  %zero = arith.constant 0.0 : f32
  hopper.wgmma_fence
  // CHECK: wgmma.mma_async
  %p:4 = hopper.wgmma %zero, %zero, %zero, %zero + %d * %d {n = 8 : i32, element = "bf16", zero} : i64
  // CHECK: wgmma.commit_group
  hopper.wgmma_commit
  // CHECK-DAG: ex2.approx.ftz.f32
  // CHECK-DAG: fma.rn.f32
  // CHECK-DAG: cvt.rn.bf16x2.f32
  %e = hopper.exp2 %x
  %m = arith.mulf %e, %y fastmath<contract> : f32
  %s = arith.addf %m, %x fastmath<contract> : f32
  %h = hopper.pack_bf16 %s, %e
  // CHECK-NEXT: // end inline asm
  // CHECK-NEXT: // begin inline asm
  // CHECK-NEXT: wgmma.wait_group.sync.aligned 0;
  %r:4 = hopper.wgmma_wait(%p#0, %p#1, %p#2, %p#3 : f32, f32, f32, f32) {pending = 0 : i32}
  // CHECK: add.rn.f32
  // CHECK: st.global
  %q = arith.addf %r#0, %r#1 : f32
  %hf = llvm.bitcast %h : i32 to f32
  %z = arith.mulf %q, %hf : f32
  llvm.store %z, %out : f32, !llvm.ptr<1>
  llvm.return
}
