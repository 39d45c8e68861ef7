// Special registers, warp exchanges and register budgets become one instruction each. What only reads a constant
// of the thread has no side effects; what involves the warp has.
// RUN: hopper-opt --convert-hopper-to-llvm %s | FileCheck %s

// CHECK: llvm.mlir.global external @tilewright_dyn_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// CHECK-LABEL: llvm.func @registers
llvm.func @registers() {
  // CHECK: llvm.inline_asm asm_dialect = att "mov.u32 $0, %tid.x;", "=r" : () -> i32
  %t = hopper.thread_id
  // CHECK: llvm.inline_asm asm_dialect = att "mov.u32 $0, %ctaid.x;", "=r" : () -> i32
  %x = hopper.cta_id {dim = 0 : i32}
  // CHECK: "mov.u32 $0, %ctaid.z;", "=r"
  %z = hopper.cta_id {dim = 2 : i32}
  // CHECK: "mov.u32 $0, %nctaid.y;", "=r"
  %n = hopper.grid_dim {dim = 1 : i32}
  // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "mov.u32 $0, %clock;", "=r"
  %c = hopper.clock
  // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "mov.u64 $0, %globaltimer;", "=l" : () -> i64
  %g = hopper.globaltimer
  // CHECK: %[[SYMBOL:.*]] = llvm.mlir.addressof @tilewright_dyn_smem : !llvm.ptr<3>
  // CHECK: llvm.ptrtoint %[[SYMBOL]] : !llvm.ptr<3> to i32
  %s = hopper.shared_base
  // A second use refers to the same symbol.
  // CHECK: llvm.mlir.addressof @tilewright_dyn_smem
  %s2 = hopper.shared_base
  llvm.return
}

// CHECK-LABEL: llvm.func @warp
llvm.func @warp(%i: i32, %f: f32) {
  // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "elect.sync _|$0, 0xffffffff;", "=b" : () -> i1
  %e = hopper.elect
  // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "shfl.sync.idx.b32 $0, $1, 0, 31, 0xffffffff;", "=r,r" %{{.*}}
  %u = hopper.uniform %i
  // CHECK: "shfl.sync.bfly.b32 $0, $1, $2, 31, 0xffffffff;", "=f,f,r" %{{.*}}, %{{.*}} : (f32, i32) -> f32
  %a = hopper.shuffle %f, %i {mode = "xor"} : f32
  // CHECK: "shfl.sync.idx.b32 $0, $1, $2, 31, 0xffffffff;", "=r,r,r"
  %b = hopper.shuffle %i, %i {mode = "idx"} : i32
  // CHECK: "shfl.sync.down.b32 $0, $1, $2, 31, 0xffffffff;", "=f,f,r"
  %c = hopper.shuffle %f, %i {mode = "down"} : f32
  // The clamp of up is lane 0, not lane 31.
  // CHECK: "shfl.sync.up.b32 $0, $1, $2, 0, 0xffffffff;", "=f,f,r"
  %d = hopper.shuffle %f, %i {mode = "up"} : f32
  // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "bar.warp.sync 0xffffffff;", "~{memory}"
  hopper.warp_barrier
  llvm.return
}

// CHECK-LABEL: llvm.func @grid
llvm.func @grid() {
  // CHECK: "setmaxnreg.dec.sync.aligned.u32 40;", ""
  hopper.setmaxnreg {count = 40 : i32}
  // CHECK: "setmaxnreg.inc.sync.aligned.u32 232;", ""
  hopper.setmaxnreg {count = 232 : i32, increase}
  // CHECK: "griddepcontrol.wait;", "~{memory}"
  hopper.grid_wait
  // CHECK: "griddepcontrol.launch_dependents;", "~{memory}"
  hopper.grid_launch
  // CHECK: "trap;", "~{memory}"
  hopper.trap
  // CHECK-NOT: hopper.
  llvm.return
}
