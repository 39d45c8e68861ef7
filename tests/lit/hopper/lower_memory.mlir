// Accesses that several threads make at once, atomics, small copies, clusters.
// RUN: hopper-opt --convert-hopper-to-llvm %s | FileCheck %s

// CHECK-LABEL: llvm.func @memory
llvm.func @memory(%p: !llvm.ptr<1>, %s: i32, %i: i32, %l: i64, %f: f32) {
  // CHECK: "ld.acquire.gpu.global.b32 $0, [$1];", "=r,l,~{memory}"
  %a = hopper.load_strong %p {order = "acquire", scope = "gpu"} : i32
  // CHECK: "ld.relaxed.sys.global.b64 $0, [$1];", "=l,l,~{memory}"
  %b = hopper.load_strong %p {order = "relaxed", scope = "sys"} : i64
  // CHECK: "st.release.cluster.global.b32 [$0], $1;", "l,f,~{memory}"
  hopper.store_strong %p, %f {order = "release", scope = "cluster"} : f32
  // CHECK: "fence.acq_rel.gpu;", "~{memory}"
  hopper.fence {scope = "gpu"}
  // CHECK: "fence.proxy.async.global;", "~{memory}"
  hopper.fence_proxy_async_global
  // CHECK: "nanosleep.u32 64;", ""
  hopper.sleep {nanoseconds = 64 : i32}
  // CHECK: "atom.relaxed.gpu.global.add.f32 $0, [$1], $2;", "=f,l,f,~{memory}"
  %c = hopper.atomic %p, %f {kind = "add", order = "relaxed", scope = "gpu"} : !llvm.ptr<1>, f32
  // CHECK: "atom.acq_rel.cta.shared::cta.max.s32 $0, [$1], $2;", "=r,r,r,~{memory}"
  %d = hopper.atomic %s, %i {kind = "max", order = "acq_rel", scope = "cta"} : i32, i32
  // CHECK: "atom.relaxed.gpu.global.add.u64 $0, [$1], $2;"
  %e = hopper.atomic %p, %l {kind = "add", order = "relaxed", scope = "gpu"} : !llvm.ptr<1>, i64
  // CHECK: "atom.acquire.gpu.global.cas.b32 $0, [$1], $2, $3;", "=r,l,r,r,~{memory}"
  %g = hopper.atomic_cas %p, %i, %a {order = "acquire", scope = "gpu"} : !llvm.ptr<1>, i32
  // CHECK: "red.relaxed.gpu.global.add.v2.f32 [$0], {$1, $2};", "l,f,f,~{memory}"
  hopper.reduce %p, %f, %f {kind = "add", order = "relaxed", scope = "gpu"} : !llvm.ptr<1>, f32, f32
  // CHECK: "red.relaxed.gpu.global.add.noftz.bf16x2 [$0], $1;", "l,r,~{memory}"
  hopper.reduce %p, %i {kind = "add", order = "relaxed", scope = "gpu", packed = "bf16x2"} : !llvm.ptr<1>, i32
  // CHECK: "cp.async.cg.shared.global [$0], [$1], 16, $2;", "r,l,r,~{memory}"
  hopper.cp_async %s, %p, %i
  // CHECK: "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [$0];"
  hopper.cp_async_arrive %s
  // CHECK: "cp.async.commit_group;"
  hopper.cp_async_commit
  // CHECK: "cp.async.wait_group 1;"
  hopper.cp_async_wait {count = 1 : i32}
  // CHECK: "cp.async.bulk.global.shared::cta.bulk_group [$1], [$0], $2;"
  hopper.bulk_store %s, %p, %i
  // CHECK: "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];"
  hopper.bulk_fetch %s, %p, %i, %s
  // CHECK: "add.u32 $0, $2, 1; mov.b32 $1, $3;", "=r,=f,r,f,~{memory}"
  %h:2 = hopper.ptx "add.u32 #out0, #0, 1; mov.b32 #out1, #1;" (%i, %f) : (i32, f32) -> (i32, f32)
  llvm.return
}

// CHECK-LABEL: llvm.func @clusters
llvm.func @clusters(%map: !llvm.ptr, %s: i32, %i: i32, %f: f32) {
  // CHECK: "bar.arrive 3, 96;"
  hopper.named_barrier_arrive {id = 3 : i32, threads = 96 : i32}
  // CHECK: llvm.inline_asm asm_dialect = att "mov.u32 $0, %cluster_ctarank;", "=r"
  %r = hopper.cluster_rank
  // CHECK: "mov.u32 $0, %clusterid.y;", "=r"
  %c = hopper.cluster_id {dim = 1 : i32}
  // CHECK: "barrier.cluster.arrive.release;", "~{memory}"
  hopper.cluster_arrive
  // CHECK: "barrier.cluster.wait.acquire;", "~{memory}"
  hopper.cluster_wait
  // CHECK: "mapa.shared::cluster.u32 $0, $1, $2;"
  %t = hopper.map_shared %s, %r
  // CHECK: "ld.shared::cluster.b32 $0, [$1];", "=f,r,~{memory}"
  %v = hopper.load_remote %t : f32
  // CHECK: "st.shared::cluster.b32 [$0], $1;", "r,f,~{memory}"
  hopper.store_remote %t, %v : f32
  // CHECK: "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [$0];"
  hopper.mbarrier_arrive_remote %t {scope = "cluster"}
  // CHECK: "@$1 mbarrier.arrive.release.cta.shared::cluster.b64 _, [$0];"
  %first = llvm.icmp "eq" %i, %s : i32
  hopper.mbarrier_arrive_remote %t when %first {scope = "cta"}
  // CHECK: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [$0], $1;
  hopper.mbarrier_wait_cluster %s, %i
  // CHECK: mov.b16 ctas, 3;\0Acp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [$1], [$0, {$3, $4}], [$2], ctas;
  hopper.tma_multicast %map, %s, %s, %i, %i {ctas = 3 : i32}
  // CHECK-NOT: hopper.
  llvm.return
}
