// The author's lines reach PTX: kernel code names its file and line, for every file.
// RUN: hopper-translate %s | FileCheck %s
// RUN: hopper-translate %s --no-loc | FileCheck %s --check-prefix=NONE

// CHECK: .target sm_90a{{$}}
// CHECK: .loc [[K:[0-9]+]] 12 3
// CHECK: bar.sync 0;
// CHECK: .loc [[LIB:[0-9]+]] 40 7
// CHECK: bar.warp.sync
// CHECK-DAG: .file [[K]] "{{.*}}kernel.cpp"
// CHECK-DAG: .file [[LIB]] "{{.*}}library.h"
// NONE-NOT: .loc
// NONE-NOT: .file
llvm.func @k() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  hopper.cta_barrier loc("kernel.cpp":12:3)
  hopper.warp_barrier loc("library.h":40:7)
  llvm.return loc("kernel.cpp":13:1)
} loc("kernel.cpp":10:1)
