// Matrix products: accumulators are updated in place, so they are tied operands.
// RUN: hopper-opt --convert-hopper-to-llvm %s | FileCheck %s

// CHECK-LABEL: llvm.func @wgmma
llvm.func @wgmma(%i: i32, %f: f32, %p: i1) -> f32 {
  // CHECK: %[[D:.*]] = llvm.inline_asm asm_dialect = att "mov.b64 $0, {$1, 0x40000040};", "=l,r"
  %d = hopper.matrix_descriptor %i
  // CHECK: "wgmma.fence.sync.aligned;", "=f,=r,0,1,~{memory}" %{{.*}}, %{{.*}} : (f32, i32) -> !llvm.struct<(f32, i32)>
  %r:2 = hopper.wgmma_fence(%f, %i : f32, i32)
  // CHECK: "wgmma.fence.sync.aligned;", "~{memory}"
  hopper.wgmma_fence

  // A and B from shared memory, both transpositions, a run-time clear.
  // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, $8, $9, $10, 1, 1, 1, 1;", "=f,=f,=f,=f,0,1,2,3,l,l,b,~{memory}"
  %w:4 = hopper.wgmma %f, %f, %f, %f + %d * %d if %p {n = 8 : i32, element = "bf16", trans_a, trans_b} : i64
  // Without scale_d it adds; with zero it clears.
  // CHECK: "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, $8, $9, 1, 1, 1, 0, 0;", "=f,=f,=f,=f,0,1,2,3,l,l,~{memory}"
  %v:4 = hopper.wgmma %w#0, %w#1, %w#2, %w#3 + %d * %d {n = 8 : i32, element = "f16"} : i64
  // CHECK: {$0, $1, $2, $3}, $8, $9, 0, 1, 1, 0, 1;"
  %x:4 = hopper.wgmma %f, %f, %f, %f + %d * %d {n = 8 : i32, element = "bf16", trans_b, zero} : i64
  // A from registers: one transposition only, B's.
  // CHECK: "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, {$8, $9, $10, $11}, $12, 1, 1, 1, 1;", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,l,~{memory}"
  %y:4 = hopper.wgmma %f, %f, %f, %f + %i, %i, %i, %i * %d {n = 8 : i32, element = "bf16", trans_b} : i32, i32, i32, i32
  // tf32 knows no transposition at all, and half the depth.
  // CHECK: "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {$0, $1, $2, $3}, $8, $9, $10, 1, 1;", "=f,=f,=f,=f,0,1,2,3,l,l,b,~{memory}"
  %z:4 = hopper.wgmma %f, %f, %f, %f + %d * %d if %p {n = 8 : i32, element = "tf32"} : i64

  // CHECK: "wgmma.commit_group.sync.aligned;", "~{memory}"
  hopper.wgmma_commit
  // CHECK: %[[S:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "wgmma.wait_group.sync.aligned 1;", "=f,0,~{memory}" %{{.*}} : (f32) -> f32
  %s = hopper.wgmma_wait(%w#0 : f32) {pending = 1 : i32}
  // CHECK: llvm.return %[[S]]
  llvm.return %s : f32
}

// CHECK-LABEL: llvm.func @mma
llvm.func @mma(%c: f32, %a: i32) {
  // CHECK: llvm.inline_asm asm_dialect = att "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {$0, $1, $2, $3}, {$8, $9, $10, $11}, {$12, $13}, {$4, $5, $6, $7};", "=f,=f,=f,=f,f,f,f,f,r,r,r,r,r,r"
  %d:4 = hopper.mma %c, %c, %c, %c + %a, %a, %a, %a * %a, %a {shape = "m16n8k16", element = "bf16"}
  // CHECK: "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {$0, $1, $2, $3}, {$8, $9, $10, $11}, {$12, $13}, {$4, $5, $6, $7};"
  %e:4 = hopper.mma %c, %c, %c, %c + %a, %a, %a, %a * %a, %a {shape = "m16n8k8", element = "tf32"}
  // CHECK: "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$8, $9}, {$10}, {$4, $5, $6, $7};"
  %f:4 = hopper.mma %c, %c, %c, %c + %a, %a * %a {shape = "m16n8k8", element = "f16"}
  llvm.return
}
