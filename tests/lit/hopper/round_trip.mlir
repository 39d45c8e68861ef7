// Every op of the dialect prints what it parses, in the pretty and in the generic form.
// RUN: hopper-opt %s | hopper-opt | FileCheck %s
// RUN: hopper-opt --mlir-print-op-generic %s | hopper-opt | FileCheck %s

// CHECK-LABEL: llvm.func @control
llvm.func @control(%i: i32, %f: f32) {
  // CHECK: hopper.thread_id
  %t = hopper.thread_id
  // CHECK: hopper.cta_id {dim = 0 : i32}
  %c = hopper.cta_id {dim = 0 : i32}
  // CHECK: hopper.grid_dim {dim = 2 : i32}
  %g = hopper.grid_dim {dim = 2 : i32}
  // CHECK: hopper.clock
  %k = hopper.clock
  // CHECK: hopper.globaltimer
  %ns = hopper.globaltimer
  // CHECK: hopper.shared_base
  %s = hopper.shared_base
  // CHECK: hopper.elect
  %e = hopper.elect
  // CHECK: hopper.uniform %{{.*}}
  %u = hopper.uniform %i
  // CHECK: hopper.shuffle %{{.*}}, %{{.*}} {mode = "xor"} : f32
  %x = hopper.shuffle %f, %i {mode = "xor"} : f32
  // CHECK: hopper.shuffle %{{.*}}, %{{.*}} {mode = "up"} : i32
  %y = hopper.shuffle %i, %i {mode = "up"} : i32
  // CHECK: hopper.warp_barrier
  hopper.warp_barrier
  // CHECK: hopper.setmaxnreg {count = 40 : i32}
  hopper.setmaxnreg {count = 40 : i32}
  // CHECK: hopper.setmaxnreg {count = 232 : i32, increase}
  hopper.setmaxnreg {count = 232 : i32, increase}
  // CHECK: hopper.grid_wait
  hopper.grid_wait
  // CHECK: hopper.grid_launch
  hopper.grid_launch
  // CHECK: hopper.trap
  hopper.trap
  llvm.return
}

// CHECK-LABEL: llvm.func @barriers
llvm.func @barriers(%addr: i32, %i: i32) {
  // CHECK: hopper.cta_barrier
  hopper.cta_barrier
  // CHECK: hopper.named_barrier {id = 1 : i32, threads = 128 : i32}
  hopper.named_barrier {id = 1 : i32, threads = 128 : i32}
  // CHECK: hopper.mbarrier_init %{{.*}} {count = 2 : i32}
  hopper.mbarrier_init %addr {count = 2 : i32}
  // CHECK: hopper.fence_mbarrier_init
  hopper.fence_mbarrier_init
  // CHECK: hopper.mbarrier_arrive %{{[0-9a-z]+$}}
  hopper.mbarrier_arrive %addr
  // CHECK: hopper.mbarrier_arrive %{{.*}} when %{{.*}}
  %when = llvm.icmp "eq" %addr, %addr : i32
  hopper.mbarrier_arrive %addr when %when
  // CHECK: hopper.mbarrier_expect %{{.*}} {bytes = 16384 : i32}
  hopper.mbarrier_expect %addr {bytes = 16384 : i32}
  // CHECK: hopper.mbarrier_expect_dyn %{{.*}}, %{{.*}}
  hopper.mbarrier_expect_dyn %addr, %i
  // CHECK: hopper.mbarrier_wait %{{.*}}, %{{.*}}
  hopper.mbarrier_wait %addr, %i
  // CHECK: hopper.fence_proxy_async
  hopper.fence_proxy_async
  llvm.return
}

// CHECK-LABEL: llvm.func @copies
llvm.func @copies(%map: !llvm.ptr, %a: i32, %b: i32, %i: i32, %f: f32) {
  // CHECK: hopper.tma_load %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}
  hopper.tma_load %map, %a, %b, %i, %i
  // CHECK: hopper.tma_store %{{.*}}, %{{.*}}, %{{.*}}
  hopper.tma_store %map, %a, %i
  // CHECK: hopper.tma_reduce_add %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}
  hopper.tma_reduce_add %map, %a, %i, %i
  // CHECK: hopper.tma_prefetch %{{.*}}
  hopper.tma_prefetch %map
  // CHECK: hopper.bulk_load %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}
  hopper.bulk_load %a, %map, %i, %b
  // CHECK: hopper.bulk_commit
  hopper.bulk_commit
  // CHECK: hopper.bulk_wait {count = 0 : i32, read}
  hopper.bulk_wait {count = 0 : i32, read}
  // CHECK: hopper.ldmatrix %{{.*}} {count = 4 : i32, trans}
  %m:4 = hopper.ldmatrix %a {count = 4 : i32, trans}
  // CHECK: hopper.stmatrix %{{.*}}, %{{.*}}, %{{.*}} {trans}
  hopper.stmatrix %a, %m#0, %m#1 {trans}
  // CHECK: hopper.red_add %{{.*}}, %{{.*}} : f32
  hopper.red_add %map, %f : f32
  llvm.return
}

// CHECK-LABEL: llvm.func @matrices
llvm.func @matrices(%i: i32, %f: f32, %p: i1) {
  // CHECK: %[[D:.*]] = hopper.matrix_descriptor %{{.*}}
  %d = hopper.matrix_descriptor %i
  // CHECK: hopper.wgmma_fence(%{{.*}}, %{{.*}} : f32, i32)
  %r:2 = hopper.wgmma_fence(%f, %i : f32, i32)
  // CHECK: hopper.wgmma_fence{{$}}
  hopper.wgmma_fence
  // CHECK: hopper.wgmma %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} + %[[D]] * %[[D]] if %{{.*}} {element = "bf16", n = 8 : i32, trans_a, trans_b} : i64
  %w:4 = hopper.wgmma %f, %f, %f, %f + %d * %d if %p {n = 8 : i32, element = "bf16", trans_a, trans_b} : i64
  // CHECK: hopper.wgmma {{.*}} + %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} * %[[D]] {element = "tf32", n = 8 : i32, zero} : i32, i32, i32, i32
  %v:4 = hopper.wgmma %f, %f, %f, %f + %i, %i, %i, %i * %d {n = 8 : i32, element = "tf32", zero} : i32, i32, i32, i32
  // CHECK: hopper.wgmma_commit
  hopper.wgmma_commit
  // CHECK: hopper.wgmma_wait(%{{.*}}, %{{.*}} : f32, f32) {pending = 1 : i32}
  %s:2 = hopper.wgmma_wait(%f, %f : f32, f32) {pending = 1 : i32}
  // CHECK: hopper.wgmma_wait {pending = 0 : i32}
  hopper.wgmma_wait {pending = 0 : i32}
  // CHECK: hopper.mma {{.*}} {element = "bf16", shape = "m16n8k16"}
  %m:4 = hopper.mma %f, %f, %f, %f + %i, %i, %i, %i * %i, %i {shape = "m16n8k16", element = "bf16"}
  llvm.return
}

// CHECK-LABEL: llvm.func @math
llvm.func @math(%f: f32, %i: i32) {
  // CHECK: hopper.exp2 %{{.*}}
  %a = hopper.exp2 %f
  // CHECK: hopper.log2 %{{.*}}
  %b = hopper.log2 %f
  // CHECK: hopper.rcp %{{.*}}
  %c = hopper.rcp %f
  // CHECK: hopper.rsqrt %{{.*}}
  %d = hopper.rsqrt %f
  // CHECK: hopper.pack_bf16 %{{.*}}, %{{.*}}
  %e = hopper.pack_bf16 %f, %f
  // CHECK: hopper.pack_f16 %{{.*}}, %{{.*}}
  %g = hopper.pack_f16 %f, %f
  // CHECK: hopper.to_tf32 %{{.*}}
  %h = hopper.to_tf32 %f
  // CHECK: hopper.fma_bf16x2 %{{.*}}, %{{.*}}, %{{.*}}
  %j = hopper.fma_bf16x2 %i, %i, %i
  // CHECK: hopper.mul_bf16x2 %{{.*}}, %{{.*}}
  %k = hopper.mul_bf16x2 %i, %i
  llvm.return
}
