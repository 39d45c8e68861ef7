// Accumulators that the first product clears need no value before: an unwritten slot costs no instruction.
// RUN: hopper-translate %s --no-loc | FileCheck %s

// CHECK-LABEL: .entry cleared(
// CHECK-NOT: mov.b32
// CHECK: wgmma.mma_async
// CHECK-NOT: mov.b32
// CHECK: ret;
llvm.func @cleared(%low: i32, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  %one = llvm.mlir.constant(1 : i32) : i32
  %a = llvm.alloca %one x f32 : (i32) -> !llvm.ptr
  %b = llvm.alloca %one x f32 : (i32) -> !llvm.ptr
  %c = llvm.alloca %one x f32 : (i32) -> !llvm.ptr
  %e = llvm.alloca %one x f32 : (i32) -> !llvm.ptr
  %d = hopper.matrix_descriptor %low
  %l0 = llvm.load %a : !llvm.ptr -> f32
  %l1 = llvm.load %b : !llvm.ptr -> f32
  %l2 = llvm.load %c : !llvm.ptr -> f32
  %l3 = llvm.load %e : !llvm.ptr -> f32
  hopper.wgmma_fence
  %w:4 = hopper.wgmma %l0, %l1, %l2, %l3 + %d * %d {n = 8 : i32, element = "bf16", zero} : i64
  hopper.wgmma_commit
  %r:4 = hopper.wgmma_wait(%w#0, %w#1, %w#2, %w#3 : f32, f32, f32, f32) {pending = 0 : i32}
  llvm.store %r#0, %out : f32, !llvm.ptr<1>
  llvm.return
}
