// Asynchronous copies and matrix moves.
// RUN: hopper-opt --convert-hopper-to-llvm %s | FileCheck %s

// CHECK-LABEL: llvm.func @tma
llvm.func @tma(%map: !llvm.ptr, %a: i32, %bar: i32, %x: i32, %y: i32) {
  // CHECK: "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [$1], [$0, {$3}], [$2];", "l,r,r,r,~{memory}"
  hopper.tma_load %map, %a, %bar, %x
  // CHECK: "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [$1], [$0, {$3, $4, $5, $6, $7}], [$2];", "l,r,r,r,r,r,r,r,~{memory}"
  hopper.tma_load %map, %a, %bar, %x, %y, %x, %y, %x
  // CHECK: "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [$0, {$2, $3}], [$1];", "l,r,r,r,~{memory}" %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (!llvm.ptr, i32, i32, i32) -> ()
  hopper.tma_store %map, %a, %x, %y
  // CHECK: "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [$0, {$2, $3}], [$1];", "l,r,r,r,~{memory}"
  hopper.tma_reduce_add %map, %a, %x, %y
  // CHECK: "prefetch.tensormap [$0];", "l,~{memory}"
  hopper.tma_prefetch %map
  llvm.return
}

// CHECK-LABEL: llvm.func @bulk
llvm.func @bulk(%src: !llvm.ptr, %dst: i32, %bytes: i32, %bar: i32, %f: f32) {
  // CHECK: "{\0A.reg .u64 address;\0Acvta.to.global.u64 address, $1;\0Acp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [address], $2, [$3];\0A}", "r,l,r,r,~{memory}"
  hopper.bulk_load %dst, %src, %bytes, %bar
  // CHECK: "cp.async.bulk.commit_group;", "~{memory}"
  hopper.bulk_commit
  // CHECK: "cp.async.bulk.wait_group 1;", "~{memory}"
  hopper.bulk_wait {count = 1 : i32}
  // CHECK: "cp.async.bulk.wait_group.read 0;", "~{memory}"
  hopper.bulk_wait {count = 0 : i32, read}
  // CHECK: cvta.to.global.u64 address, $0;\0Ared.relaxed.gpu.global.add.f32 [address], $1;\0A}", "l,f,~{memory}"
  hopper.red_add %src, %f : f32
  // CHECK: red.relaxed.gpu.global.add.u32 [address], $1;\0A}", "l,r,~{memory}"
  hopper.red_add %src, %bytes : i32
  llvm.return
}

// CHECK-LABEL: llvm.func @matrix_moves
llvm.func @matrix_moves(%a: i32) -> i32 {
  // One result is the instruction's own, several come out of a struct.
  // CHECK: "ldmatrix.sync.aligned.m8n8.x1.shared::cta.b16 {$0}, [$1];", "=r,r,~{memory}" %{{.*}} : (i32) -> i32
  %r = hopper.ldmatrix %a {count = 1 : i32}
  // CHECK: %[[M:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,r,~{memory}" %{{.*}} : (i32) -> !llvm.struct<(i32, i32, i32, i32)>
  // CHECK: llvm.extractvalue %[[M]][0]
  // CHECK: %[[LAST:.*]] = llvm.extractvalue %[[M]][3]
  %m:4 = hopper.ldmatrix %a {count = 4 : i32, trans}
  // CHECK: "stmatrix.sync.aligned.m8n8.x1.shared::cta.b16 [$0], {$1};", "r,r,~{memory}"
  hopper.stmatrix %a, %r
  // CHECK: "stmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 [$0], {$1, $2, $3, $4};", "r,r,r,r,r,~{memory}"
  hopper.stmatrix %a, %m#0, %m#1, %m#2, %m#3 {trans}
  // CHECK: llvm.return %[[LAST]]
  llvm.return %m#3 : i32
}
