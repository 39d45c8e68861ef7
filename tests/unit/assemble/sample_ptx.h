// Small PTX modules, each with one property that ptxas reports.
#pragma once
#include <string>

namespace tilewright::assemble::samples {

inline const std::string kHead = R"(.version 8.7
.target sm_90a
.address_size 64
.file 1 "kernels/demo/author.cpp"
)";

/// 128 threads, one barrier, 1024 bytes of static shared memory, nothing wrong.
inline const std::string kClean = kHead + R"(.visible .entry clean(.param .u64 p)
.reqntid 128
{
 .reg .b64 %rd<3>; .reg .b32 %r<3>; .shared .align 16 .b8 sm[1024];
 .loc 1 7 3
 ld.param.u64 %rd1, [p];
 mov.u32 %r1, sm;
 st.shared.u32 [%r1], %r1;
 bar.sync 0;
 ld.shared.u32 %r2, [%r1+4];
 .loc 1 9 3
 st.global.u32 [%rd1], %r2;
 ret;
}
)";

/// Line 11 is no instruction; the author's line is 34.
inline const std::string kRefused = kHead + R"(.visible .entry refused(.param .u64 p)
{
 .reg .b32 %r<4>;
 .loc 1 33 5
 mov.u32 %r1, 1;
 .loc 1 34 7
 frobnicate.u32 %r2, %r1;
 ret;
}
)";

/// A local array indexed with a run-time value: a stack frame without spills.
inline const std::string kStack = kHead + R"(.visible .entry stacky(.param .u64 p, .param .u32 i)
{
 .local .align 16 .b8 depot[256];
 .loc 1 61 3
 .reg .b64 %rd<8>; .reg .b32 %r<4>;
 mov.u64 %rd1, depot;
 ld.param.u32 %r1, [i];
 ld.param.u64 %rd4, [p];
 mul.wide.u32 %rd2, %r1, 4;
 add.s64 %rd3, %rd1, %rd2;
 st.local.u32 [%rd3], %r1;
 st.local.u32 [%rd1+8], %r1;
 ld.local.u32 %r2, [%rd3+16];
 st.global.u32 [%rd4], %r2;
 ret;
}
)";

/// An accumulator is used while its wgmma is in flight: ptxas injects waits, C7517 and C7519, at author's lines 53 to 54.
inline const std::string kSerial = kHead + R"(.visible .entry serial(.param .u64 p, .param .u64 da)
.reqntid 128
{
 .reg .b64 %rd<8>; .reg .f32 %f<8>;
 ld.param.u64 %rd1, [p];
 ld.param.u64 %rd2, [da];
 mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
 .loc 1 52 9
 wgmma.fence.sync.aligned;
 .loc 1 53 9
 wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, %rd2, %rd2, 1, 1, 1, 0, 0;
 .loc 1 54 9
 add.f32 %f0, %f0, %f1;
 wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, %rd2, %rd2, 1, 1, 1, 0, 0;
 wgmma.commit_group.sync.aligned;
 wgmma.wait_group.sync.aligned 0;
 st.global.f32 [%rd1], %f0; st.global.f32 [%rd1+4], %f1; st.global.f32 [%rd1+8], %f2; st.global.f32 [%rd1+12], %f3;
 ret;
}
)";

/// 90 values alive at 32 registers.
inline std::string spilling() {
  std::string text = kHead + R"(.visible .entry spilly(.param .u64 p)
.reqntid 256
.maxnreg 32
{
 .reg .b64 %rd<3>; .reg .f32 %f<90>;
 ld.param.u64 %rd1, [p];
)";
  for (int i = 0; i < 90; ++i)
    text += " ld.volatile.global.f32 %f" + std::to_string(i) + ", [%rd1+" + std::to_string(4 * i) + "];\n";
  text += " bar.sync 0;\n";
  for (int i = 0; i < 90; ++i)
    text += " st.volatile.global.f32 [%rd1+" + std::to_string(4 * i) + "], %f" + std::to_string(89 - i) + ";\n";
  return text + " ret;\n}\n";
}

}  // namespace tilewright::assemble::samples
