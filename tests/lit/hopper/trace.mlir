// Time stamps: a variable of the module, and a store under a predicate that both assemblers take.
// RUN: hopper-opt %s | hopper-opt | FileCheck %s --check-prefix=FORM
// RUN: hopper-opt --convert-hopper-to-llvm %s | FileCheck %s
// RUN: hopper-translate %s -O1 > %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx --check-prefix=PTX
// RUN: %ptxas12 -arch=sm_90a %t.ptx -o %t.12.cubin
// RUN: %ptxas13 -arch=sm_90a %t.ptx -o %t.13.cubin

// FORM: hopper.trace_base {bytes = 1040 : i32}
// FORM: hopper.stamp %{{.*}}, %{{.*}} {id = 7 : i32}
// CHECK: llvm.mlir.global external @tilewright_trace(dense<0>
// CHECK: "{\0A.reg .pred room;\0A.reg .b32 now;\0A.reg .b64 step;\0Asetp.lt.u64 room, $1, $2;\0Amov.u32 now, %clock;\0A@room st.global.v2.b32 [$1], {7, now};
// CHECK-SAME: "=l,l,l"
// PTX: .visible .global .align 16 .b8 tilewright_trace[1040];
// PTX: tilewright_trace
// PTX: st.global.v2.b32 [%rd{{[0-9]+}}], {7, now};
llvm.func @k(%end: i64) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %base = hopper.trace_base {bytes = 1040 : i32}
  %next = hopper.stamp %base, %end {id = 7 : i32}
  %last = hopper.stamp %next, %end {id = 7 : i32}
  llvm.return
}
