// A fragment is one slot of memory for each register, with static addresses only: every slot becomes a register,
// and an accumulator keeps its register around the loop.
// RUN: hopper-translate %s --no-loc | FileCheck %s

// CHECK-LABEL: .entry slots(
// CHECK-NOT: .local
// CHECK-NOT: __local_depot
llvm.func @slots(%low: i32, %n: i32, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  %one = llvm.mlir.constant(1 : i32) : i32
  %a0 = llvm.alloca %one x f32 : (i32) -> !llvm.ptr
  %a1 = llvm.alloca %one x f32 : (i32) -> !llvm.ptr
  %a2 = llvm.alloca %one x f32 : (i32) -> !llvm.ptr
  %a3 = llvm.alloca %one x f32 : (i32) -> !llvm.ptr
  %z = arith.constant 0.0 : f32
  llvm.store %z, %a0 : f32, !llvm.ptr
  llvm.store %z, %a1 : f32, !llvm.ptr
  llvm.store %z, %a2 : f32, !llvm.ptr
  llvm.store %z, %a3 : f32, !llvm.ptr
  %d = hopper.matrix_descriptor %low
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: [[LOOP:\$L__BB0_[0-9]+]]:
  // CHECK-NOT: mov.b32
  // CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {[[A:%r[0-9]+]], [[B:%r[0-9]+]], [[C:%r[0-9]+]], [[D:%r[0-9]+]]}
  // CHECK-NOT: mov.b32
  // CHECK: bra{{.*}}[[LOOP]];
  scf.for %i = %c0 to %n step %c1 : i32 {
    %l0 = llvm.load %a0 : !llvm.ptr -> f32
    %l1 = llvm.load %a1 : !llvm.ptr -> f32
    %l2 = llvm.load %a2 : !llvm.ptr -> f32
    %l3 = llvm.load %a3 : !llvm.ptr -> f32
    %f:4 = hopper.wgmma_fence(%l0, %l1, %l2, %l3 : f32, f32, f32, f32)
    %w:4 = hopper.wgmma %f#0, %f#1, %f#2, %f#3 + %d * %d {n = 8 : i32, element = "bf16"} : i64
    hopper.wgmma_commit
    %r:4 = hopper.wgmma_wait(%w#0, %w#1, %w#2, %w#3 : f32, f32, f32, f32) {pending = 0 : i32}
    llvm.store %r#0, %a0 : f32, !llvm.ptr
    llvm.store %r#1, %a1 : f32, !llvm.ptr
    llvm.store %r#2, %a2 : f32, !llvm.ptr
    llvm.store %r#3, %a3 : f32, !llvm.ptr
  }
  // CHECK: st.global.b32 [{{.*}}], [[D]];
  %v = llvm.load %a3 : !llvm.ptr -> f32
  llvm.store %v, %out : f32, !llvm.ptr<1>
  llvm.return
}
