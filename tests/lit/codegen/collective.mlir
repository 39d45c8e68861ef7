// Warp-wide instructions are neither merged, nor copied, nor moved into a branch.
// RUN: hopper-translate %s --no-loc | FileCheck %s
// RUN: hopper-translate %s --no-loc --llvm | FileCheck %s --check-prefix=LLVM

// Two branches that begin and end alike keep their own barrier.
// CHECK-LABEL: .entry branches(
// CHECK-COUNT-2: bar.sync 1, 128;
// CHECK-NOT: bar.sync
// LLVM-LABEL: define ptx_kernel void @branches(
// LLVM: call void asm sideeffect "bar.sync 1, 128;", "~{memory}"() #[[ORDERED:[0-9]+]]
llvm.func @branches(%n: i32, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256>} {
  %c0 = arith.constant 0 : i32
  %t = hopper.thread_id
  %c7 = arith.constant 7 : i32
  %w = arith.shrui %t, %c7 : i32
  %u = hopper.uniform %w
  %first = arith.cmpi eq, %u, %c0 : i32
  scf.if %first {
    hopper.named_barrier {id = 1 : i32, threads = 128 : i32}
    llvm.store %n, %out : i32, !llvm.ptr<1>
  } else {
    hopper.named_barrier {id = 1 : i32, threads = 128 : i32}
    llvm.store %t, %out : i32, !llvm.ptr<1>
  }
  llvm.return
}

// A loop of constant length keeps one copy of its body.
// CHECK-LABEL: .entry loop(
// CHECK-COUNT-1: shfl.sync.bfly.b32
// CHECK-NOT: shfl.sync
llvm.func @loop(%x: i32, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%v = %x) -> (i32) : i32 {
    %s = hopper.shuffle %v, %c1 {mode = "xor"} : i32
    %t = arith.addi %s, %v : i32
    scf.yield %t : i32
  }
  llvm.store %r, %out : i32, !llvm.ptr<1>
  llvm.return
}

// A shuffle whose result one branch uses is executed before the branch. So is an mma, which may be removed.
// CHECK-LABEL: .entry sink(
// CHECK: shfl.sync.bfly.b32
// CHECK: mma.sync
// CHECK: bra
// CHECK: st.volatile.global
llvm.func @sink(%x: i32, %f: f32, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %c1 = arith.constant 1 : i32
  %t = hopper.thread_id
  %s = hopper.shuffle %x, %c1 {mode = "xor"} : i32
  %m:4 = hopper.mma %f, %f, %f, %f + %x, %x, %x, %x * %x, %x {shape = "m16n8k16", element = "bf16"}
  %lead = arith.cmpi slt, %t, %c1 : i32
  scf.if %lead {
    llvm.store volatile %s, %out : i32, !llvm.ptr<1>
    llvm.store volatile %m#0, %out : f32, !llvm.ptr<1>
  }
  llvm.return
}

// Mathematics may be shared and removed.
// CHECK-LABEL: .entry pure(
// CHECK-COUNT-1: ex2.approx.ftz.f32
// CHECK-NOT: ex2
// CHECK-NOT: rcp
// CHECK: ret;
// LLVM-LABEL: define ptx_kernel void @pure(
// LLVM: call float asm "ex2.approx.ftz.f32 $0, $1;", "=f,f"(float {{.*}}) #[[PURE:[0-9]+]]
llvm.func @pure(%x: f32, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %a = hopper.exp2 %x
  %b = hopper.exp2 %x
  %unused = hopper.rcp %x
  %s = arith.addf %a, %b : f32
  llvm.store %s, %out : f32, !llvm.ptr<1>
  llvm.return
}

// LLVM-DAG: attributes #[[ORDERED]] = { convergent noduplicate nomerge nounwind }
// LLVM-DAG: attributes #[[PURE]] = { {{.*}}memory(none)
