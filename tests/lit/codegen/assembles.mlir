// Every op of the hopper dialect, in each of its forms, is PTX that both assemblers take.
// RUN: hopper-translate %s -O1 > %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx
// RUN: %ptxas12 -arch=sm_90a %t.ptx -o %t.12.cubin
// RUN: %ptxas13 -arch=sm_90a %t.ptx -o %t.13.cubin

// CHECK: .version 8.7
// CHECK: .target sm_90a

// CHECK: .entry registers(
llvm.func @registers(%out: !llvm.ptr<1>, %wide: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  %r0 = hopper.thread_id
  llvm.store volatile %r0, %out : i32, !llvm.ptr<1>
  %r1 = hopper.cta_id {dim = 0 : i32}
  llvm.store volatile %r1, %out : i32, !llvm.ptr<1>
  %r2 = hopper.cta_id {dim = 1 : i32}
  llvm.store volatile %r2, %out : i32, !llvm.ptr<1>
  %r3 = hopper.cta_id {dim = 2 : i32}
  llvm.store volatile %r3, %out : i32, !llvm.ptr<1>
  %r4 = hopper.grid_dim {dim = 0 : i32}
  llvm.store volatile %r4, %out : i32, !llvm.ptr<1>
  %r5 = hopper.grid_dim {dim = 1 : i32}
  llvm.store volatile %r5, %out : i32, !llvm.ptr<1>
  %r6 = hopper.grid_dim {dim = 2 : i32}
  llvm.store volatile %r6, %out : i32, !llvm.ptr<1>
  %r7 = hopper.clock
  llvm.store volatile %r7, %out : i32, !llvm.ptr<1>
  %r8 = hopper.shared_base
  llvm.store volatile %r8, %out : i32, !llvm.ptr<1>
  %ns = hopper.globaltimer
  llvm.store volatile %ns, %wide : i64, !llvm.ptr<1>
  %lead = hopper.elect
  scf.if %lead {
    llvm.store volatile %r0, %out : i32, !llvm.ptr<1>
  }
  %u = hopper.uniform %r0
  llvm.store volatile %u, %out : i32, !llvm.ptr<1>
  %c1 = arith.constant 1 : i32
  %f = arith.sitofp %r0 : i32 to f32
  %iidx = hopper.shuffle %r0, %c1 {mode = "idx"} : i32
  llvm.store volatile %iidx, %out : i32, !llvm.ptr<1>
  %fidx = hopper.shuffle %f, %c1 {mode = "idx"} : f32
  llvm.store volatile %fidx, %out : f32, !llvm.ptr<1>
  %ixor = hopper.shuffle %r0, %c1 {mode = "xor"} : i32
  llvm.store volatile %ixor, %out : i32, !llvm.ptr<1>
  %fxor = hopper.shuffle %f, %c1 {mode = "xor"} : f32
  llvm.store volatile %fxor, %out : f32, !llvm.ptr<1>
  %iup = hopper.shuffle %r0, %c1 {mode = "up"} : i32
  llvm.store volatile %iup, %out : i32, !llvm.ptr<1>
  %fup = hopper.shuffle %f, %c1 {mode = "up"} : f32
  llvm.store volatile %fup, %out : f32, !llvm.ptr<1>
  %idown = hopper.shuffle %r0, %c1 {mode = "down"} : i32
  llvm.store volatile %idown, %out : i32, !llvm.ptr<1>
  %fdown = hopper.shuffle %f, %c1 {mode = "down"} : f32
  llvm.store volatile %fdown, %out : f32, !llvm.ptr<1>
  hopper.warp_barrier
  hopper.setmaxnreg {count = 40 : i32}
  hopper.setmaxnreg {count = 232 : i32, increase}
  hopper.grid_wait
  hopper.grid_launch
  %stop = arith.cmpi eq, %u, %c1 : i32
  scf.if %stop {
    hopper.trap
  }
  llvm.return
}

// CHECK: .entry barriers(
llvm.func @barriers(%addr: i32, %bytes: i32, %parity: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  hopper.mbarrier_init %addr {count = 1048575 : i32}
  hopper.fence_mbarrier_init
  hopper.fence_proxy_async
  hopper.cta_barrier
  hopper.named_barrier {id = 15 : i32, threads = 96 : i32}
  hopper.mbarrier_arrive %addr
  %first = llvm.icmp "eq" %bytes, %parity : i32
  hopper.mbarrier_arrive %addr when %first
  hopper.mbarrier_expect %addr {bytes = 16384 : i32}
  hopper.mbarrier_expect_dyn %addr, %bytes
  hopper.mbarrier_wait %addr, %parity
  hopper.mbarrier_wait %addr, %parity
  llvm.return
}

// CHECK: .entry copies(
llvm.func @copies(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant},
                  %p: !llvm.ptr, %a: i32, %bar: i32, %x: i32, %f: f32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  hopper.tma_prefetch %map
  hopper.tma_load %map, %a, %bar, %x
  hopper.tma_store %map, %a, %x
  hopper.tma_reduce_add %map, %a, %x
  hopper.tma_load %map, %a, %bar, %x, %x
  hopper.tma_store %map, %a, %x, %x
  hopper.tma_reduce_add %map, %a, %x, %x
  hopper.tma_load %map, %a, %bar, %x, %x, %x
  hopper.tma_store %map, %a, %x, %x, %x
  hopper.tma_reduce_add %map, %a, %x, %x, %x
  hopper.tma_load %map, %a, %bar, %x, %x, %x, %x
  hopper.tma_store %map, %a, %x, %x, %x, %x
  hopper.tma_reduce_add %map, %a, %x, %x, %x, %x
  hopper.tma_load %map, %a, %bar, %x, %x, %x, %x, %x
  hopper.tma_store %map, %a, %x, %x, %x, %x, %x
  hopper.tma_reduce_add %map, %a, %x, %x, %x, %x, %x
  hopper.bulk_load %a, %p, %x, %bar
  hopper.bulk_commit
  hopper.bulk_wait {count = 7 : i32}
  hopper.bulk_wait {count = 0 : i32, read}
  hopper.red_add %p, %f : f32
  hopper.red_add %p, %x : i32
  %m1:1 = hopper.ldmatrix %a {count = 1 : i32}
  hopper.stmatrix %a, %m1#0
  %m1t:1 = hopper.ldmatrix %a {count = 1 : i32, trans}
  hopper.stmatrix %a, %m1t#0 {trans}
  %m2:2 = hopper.ldmatrix %a {count = 2 : i32}
  hopper.stmatrix %a, %m2#0, %m2#1
  %m2t:2 = hopper.ldmatrix %a {count = 2 : i32, trans}
  hopper.stmatrix %a, %m2t#0, %m2t#1 {trans}
  %m4:4 = hopper.ldmatrix %a {count = 4 : i32}
  hopper.stmatrix %a, %m4#0, %m4#1, %m4#2, %m4#3
  %m4t:4 = hopper.ldmatrix %a {count = 4 : i32, trans}
  hopper.stmatrix %a, %m4t#0, %m4t#1, %m4t#2, %m4t#3 {trans}
  llvm.return
}

// CHECK: .entry products(
llvm.func @products(%low: i32, %a: i32, %p: i1, %f: f32, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  %d = hopper.matrix_descriptor %low
  hopper.wgmma_fence
  %s0:5 = hopper.wgmma_fence(%f, %f, %f, %f, %a : f32, f32, f32, f32, i32)
  %s1:4 = hopper.wgmma %s0#0, %s0#1, %s0#2, %s0#3 + %d * %d {n = 8 : i32, element = "bf16"} : i64
  %s2:4 = hopper.wgmma %s1#0, %s1#1, %s1#2, %s1#3 + %d * %d {n = 8 : i32, element = "bf16", trans_b} : i64
  %s3:4 = hopper.wgmma %s2#0, %s2#1, %s2#2, %s2#3 + %d * %d {n = 8 : i32, element = "bf16", trans_a} : i64
  %s4:4 = hopper.wgmma %s3#0, %s3#1, %s3#2, %s3#3 + %d * %d {n = 8 : i32, element = "bf16", trans_a, trans_b} : i64
  %s5:4 = hopper.wgmma %s4#0, %s4#1, %s4#2, %s4#3 + %a, %a, %a, %a * %d {n = 8 : i32, element = "bf16"} : i32, i32, i32, i32
  %s6:4 = hopper.wgmma %s5#0, %s5#1, %s5#2, %s5#3 + %a, %a, %a, %a * %d {n = 8 : i32, element = "bf16", trans_b} : i32, i32, i32, i32
  %s7:4 = hopper.wgmma %s6#0, %s6#1, %s6#2, %s6#3 + %d * %d {n = 8 : i32, element = "f16"} : i64
  %s8:4 = hopper.wgmma %s7#0, %s7#1, %s7#2, %s7#3 + %d * %d {n = 8 : i32, element = "f16", trans_b} : i64
  %s9:4 = hopper.wgmma %s8#0, %s8#1, %s8#2, %s8#3 + %d * %d {n = 8 : i32, element = "f16", trans_a} : i64
  %s10:4 = hopper.wgmma %s9#0, %s9#1, %s9#2, %s9#3 + %d * %d {n = 8 : i32, element = "f16", trans_a, trans_b} : i64
  %s11:4 = hopper.wgmma %s10#0, %s10#1, %s10#2, %s10#3 + %a, %a, %a, %a * %d {n = 8 : i32, element = "f16"} : i32, i32, i32, i32
  %s12:4 = hopper.wgmma %s11#0, %s11#1, %s11#2, %s11#3 + %a, %a, %a, %a * %d {n = 8 : i32, element = "f16", trans_b} : i32, i32, i32, i32
  %s13:4 = hopper.wgmma %s12#0, %s12#1, %s12#2, %s12#3 + %d * %d {n = 8 : i32, element = "tf32"} : i64
  %s14:4 = hopper.wgmma %s13#0, %s13#1, %s13#2, %s13#3 + %a, %a, %a, %a * %d {n = 8 : i32, element = "tf32"} : i32, i32, i32, i32
  %s15:4 = hopper.wgmma %s14#0, %s14#1, %s14#2, %s14#3 + %d * %d {n = 8 : i32, element = "bf16", zero} : i64
  %s16:4 = hopper.wgmma %s15#0, %s15#1, %s15#2, %s15#3 + %d * %d if %p {n = 8 : i32, element = "tf32"} : i64
  %s17:4 = hopper.wgmma %s16#0, %s16#1, %s16#2, %s16#3 + %a, %a, %a, %a * %d if %p {n = 8 : i32, element = "f16", trans_b} : i32, i32, i32, i32
  hopper.wgmma_commit
  hopper.wgmma_wait {pending = 7 : i32}
  %r:4 = hopper.wgmma_wait(%s17#0, %s17#1, %s17#2, %s17#3 : f32, f32, f32, f32) {pending = 0 : i32}
  llvm.store volatile %r#0, %out : f32, !llvm.ptr<1>
  llvm.store volatile %r#1, %out : f32, !llvm.ptr<1>
  llvm.store volatile %r#2, %out : f32, !llvm.ptr<1>
  llvm.store volatile %r#3, %out : f32, !llvm.ptr<1>
  %m0:4 = hopper.mma %r#0, %r#1, %r#2, %r#3 + %a, %a, %a, %a * %a, %a {shape = "m16n8k16", element = "bf16"}
  llvm.store volatile %m0#0, %out : f32, !llvm.ptr<1>
  %m1:4 = hopper.mma %r#0, %r#1, %r#2, %r#3 + %a, %a, %a, %a * %a, %a {shape = "m16n8k16", element = "f16"}
  llvm.store volatile %m1#0, %out : f32, !llvm.ptr<1>
  %m2:4 = hopper.mma %r#0, %r#1, %r#2, %r#3 + %a, %a * %a {shape = "m16n8k8", element = "bf16"}
  llvm.store volatile %m2#0, %out : f32, !llvm.ptr<1>
  %m3:4 = hopper.mma %r#0, %r#1, %r#2, %r#3 + %a, %a * %a {shape = "m16n8k8", element = "f16"}
  llvm.store volatile %m3#0, %out : f32, !llvm.ptr<1>
  %m4:4 = hopper.mma %r#0, %r#1, %r#2, %r#3 + %a, %a, %a, %a * %a, %a {shape = "m16n8k8", element = "tf32"}
  llvm.store volatile %m4#0, %out : f32, !llvm.ptr<1>
  llvm.return
}

// CHECK: .entry mathematics(
llvm.func @mathematics(%x: f32, %y: f32, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  %exp2 = hopper.exp2 %x
  llvm.store volatile %exp2, %out : f32, !llvm.ptr<1>
  %log2 = hopper.log2 %x
  llvm.store volatile %log2, %out : f32, !llvm.ptr<1>
  %rcp = hopper.rcp %x
  llvm.store volatile %rcp, %out : f32, !llvm.ptr<1>
  %rsqrt = hopper.rsqrt %x
  llvm.store volatile %rsqrt, %out : f32, !llvm.ptr<1>
  %sqrt = hopper.sqrt %x
  llvm.store volatile %sqrt, %out : f32, !llvm.ptr<1>
  %tanh = hopper.tanh %x
  llvm.store volatile %tanh, %out : f32, !llvm.ptr<1>
  %abs = hopper.abs %x
  llvm.store volatile %abs, %out : f32, !llvm.ptr<1>
  %floor = hopper.floor %x
  llvm.store volatile %floor, %out : f32, !llvm.ptr<1>
  %pack_bf16 = hopper.pack_bf16 %x, %y
  llvm.store volatile %pack_bf16, %out : i32, !llvm.ptr<1>
  %pack_f16 = hopper.pack_f16 %x, %y
  llvm.store volatile %pack_f16, %out : i32, !llvm.ptr<1>
  %tf32 = hopper.to_tf32 %x
  llvm.store volatile %tf32, %out : i32, !llvm.ptr<1>
  %fma = hopper.fma_bf16x2 %pack_bf16, %pack_f16, %tf32
  llvm.store volatile %fma, %out : i32, !llvm.ptr<1>
  %mul = hopper.mul_bf16x2 %pack_bf16, %tf32
  llvm.store volatile %mul, %out : i32, !llvm.ptr<1>
  llvm.return
}
