// Barriers order memory: none may move across a load or a store.
// RUN: hopper-opt --convert-hopper-to-llvm %s | FileCheck %s

// CHECK-LABEL: llvm.func @barriers
llvm.func @barriers(%addr: i32, %i: i32) {
  // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "bar.sync 0;", "~{memory}"
  hopper.cta_barrier
  // CHECK: "bar.sync 3, 256;", "~{memory}"
  hopper.named_barrier {id = 3 : i32, threads = 256 : i32}
  // CHECK: "mbarrier.init.shared::cta.b64 [$0], 2;", "r,~{memory}" %{{.*}} : (i32) -> ()
  hopper.mbarrier_init %addr {count = 2 : i32}
  // CHECK: "fence.mbarrier_init.release.cluster;", "~{memory}"
  hopper.fence_mbarrier_init
  // CHECK: "mbarrier.arrive.release.cta.shared::cta.b64 _, [$0];", "r,~{memory}"
  hopper.mbarrier_arrive %addr
  // CHECK: "@$1 mbarrier.arrive.release.cta.shared::cta.b64 _, [$0];", "r,b,~{memory}"
  %first = llvm.icmp "eq" %i, %addr : i32
  hopper.mbarrier_arrive %addr when %first
  // CHECK: "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], 16384;", "r,~{memory}"
  hopper.mbarrier_expect %addr {bytes = 16384 : i32}
  // CHECK: "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,~{memory}"
  hopper.mbarrier_expect_dyn %addr, %i
  // The labels of the loop carry a number of their own for each instance.
  // CHECK: "{\0A.reg .pred done;\0AWAIT_${:uid}:\0Ambarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;\0A@done bra DONE_${:uid};\0Abra WAIT_${:uid};\0ADONE_${:uid}:\0A}", "r,r,~{memory}"
  hopper.mbarrier_wait %addr, %i
  // CHECK: "fence.proxy.async.shared::cta;", "~{memory}"
  hopper.fence_proxy_async
  // CHECK-NOT: hopper.
  llvm.return
}
