// The ops of MemoryOps.td and ClusterOps.td, in each of their forms, are PTX that both assemblers take.
// RUN: hopper-translate %s -O1 > %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx
// RUN: %ptxas12 -arch=sm_90a %t.ptx -o %t.12.cubin
// RUN: %ptxas13 -arch=sm_90a %t.ptx -o %t.13.cubin

// CHECK: .entry memory(
llvm.func @memory(%p: !llvm.ptr<1>, %s: i32, %i: i32, %l: i64, %f: f32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  %a = hopper.load_strong %p {order = "acquire", scope = "gpu"} : i32
  %b = hopper.load_strong %p {order = "relaxed", scope = "sys"} : i64
  %c = hopper.load_strong %p {order = "acquire", scope = "cta"} : f32
  hopper.store_strong %p, %c {order = "release", scope = "cluster"} : f32
  hopper.store_strong %p, %a {order = "release", scope = "gpu"} : i32
  hopper.store_strong %p, %b {order = "relaxed", scope = "gpu"} : i64
  hopper.fence {scope = "gpu"}
  hopper.fence {scope = "sys"}
  hopper.fence_proxy_async_global
  hopper.sleep {nanoseconds = 64 : i32}
  %d = hopper.atomic %p, %f {kind = "add", order = "relaxed", scope = "gpu"} : !llvm.ptr<1>, f32
  %e = hopper.atomic %s, %i {kind = "max", order = "acq_rel", scope = "cta"} : i32, i32
  %g = hopper.atomic %p, %l {kind = "min", order = "release", scope = "gpu"} : !llvm.ptr<1>, i64
  %h = hopper.atomic %p, %l {kind = "add", order = "acquire", scope = "sys"} : !llvm.ptr<1>, i64
  %j = hopper.atomic %s, %i {kind = "and", order = "relaxed", scope = "cta"} : i32, i32
  %k = hopper.atomic %p, %l {kind = "exch", order = "relaxed", scope = "gpu"} : !llvm.ptr<1>, i64
  %m = hopper.atomic %s, %f {kind = "add", order = "relaxed", scope = "cta"} : i32, f32
  %n = hopper.atomic_cas %p, %i, %a {order = "acquire", scope = "gpu"} : !llvm.ptr<1>, i32
  %o = hopper.atomic_cas %s, %l, %b {order = "relaxed", scope = "cta"} : i32, i64
  hopper.reduce %p, %f {kind = "add", order = "release", scope = "gpu"} : !llvm.ptr<1>, f32
  hopper.reduce %p, %f, %f {kind = "add", order = "relaxed", scope = "gpu"} : !llvm.ptr<1>, f32, f32
  hopper.reduce %p, %f, %f, %f, %f {kind = "add", order = "relaxed", scope = "gpu"} : !llvm.ptr<1>, f32, f32, f32, f32
  hopper.reduce %p, %i {kind = "add", order = "relaxed", scope = "gpu", packed = "bf16x2"} : !llvm.ptr<1>, i32
  hopper.reduce %p, %i {kind = "add", order = "relaxed", scope = "gpu", packed = "f16x2"} : !llvm.ptr<1>, i32
  hopper.reduce %s, %i {kind = "xor", order = "relaxed", scope = "cta"} : i32, i32
  hopper.cp_async %s, %p, %i
  hopper.cp_async_arrive %s
  hopper.cp_async_commit
  hopper.cp_async_wait {count = 0 : i32}
  hopper.bulk_store %s, %p, %i
  hopper.bulk_fetch %s, %p, %i, %s
  %q:2 = hopper.ptx "add.u32 #out0, #0, 1; mov.b32 #out1, #1;" (%i, %f) : (i32, f32) -> (i32, f32)
  hopper.store_strong %p, %q#0 {order = "relaxed", scope = "gpu"} : i32
  hopper.store_strong %p, %q#1 {order = "relaxed", scope = "gpu"} : f32
  llvm.return
}

// CHECK: .entry clusters(
llvm.func @clusters(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, %p: !llvm.ptr<1>, %s: i32, %i: i32)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
  // CHECK: .reqnctapercluster 2
  hopper.named_barrier_arrive {id = 3 : i32, threads = 96 : i32}
  %r = hopper.cluster_rank
  hopper.cluster_arrive
  hopper.cluster_wait
  %t = hopper.map_shared %s, %r
  %v = hopper.load_remote %t : f32
  hopper.store_remote %t, %v : f32
  %w = hopper.load_remote %t : i32
  hopper.store_remote %t, %w : i32
  hopper.mbarrier_arrive_remote %t {scope = "cluster"}
  %first = llvm.icmp "eq" %i, %s : i32
  hopper.mbarrier_arrive_remote %t when %first {scope = "cta"}
  %c = hopper.cluster_id {dim = 2 : i32}
  hopper.mbarrier_wait_cluster %s, %i
  hopper.tma_multicast %map, %s, %s, %i {ctas = 3 : i32}
  hopper.tma_multicast %map, %s, %s, %i, %i {ctas = 255 : i32}
  hopper.tma_multicast %map, %s, %s, %i, %i, %i, %i, %i {ctas = 2 : i32}
  llvm.return
}
