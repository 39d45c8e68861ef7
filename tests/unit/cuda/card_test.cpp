// The card of this machine, or the reason why there is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "runtime/cuda/timing.h"
#include "tilewright/error.h"

namespace tilewright::cuda {
namespace {

using runtime::Device;
using runtime::KernelParameter;

// Loads 64 rows of a ragged bf16 tensor [rows, 1, 64] by TMA and writes what arrived in shared memory to `out`.
constexpr const char* kRows = R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry rows(.param .align 64 .b8 map[128], .param .u64 out, .param .u32 offset, .param .u32 length)
.reqntid 128
{
 .reg .b64 %rd<8>; .reg .b32 %r<16>; .reg .pred %p<4>;
 .shared .align 128 .b8 tile[8192];
 .shared .align 8 .b64 full;
 mov.u32 %r1, %tid.x;
 mov.u32 %r2, tile;
 mov.u32 %r3, full;
 setp.ne.u32 %p1, %r1, 0;
 @%p1 bra ready;
 mbarrier.init.shared::cta.b64 [%r3], 1;
 fence.proxy.async.shared::cta;
ready:
 bar.sync 0;
 @%p1 bra wait;
 ld.param.u32 %r4, [offset];
 ld.param.u32 %r5, [length];
 add.u32 %r6, %r4, %r5;
 sub.u32 %r7, 1073741824, %r5;
 mov.b64 %rd1, map;
 cvta.param.u64 %rd1, %rd1;
 mbarrier.arrive.expect_tx.shared::cta.b64 %rd2, [%r3], 8192;
 cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%rd1, {0, 0, %r7, %r6, 1073741824}], [%r3];
wait:
 mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;
 @!%p2 bra wait;
 ld.param.u64 %rd3, [out];
 cvta.to.global.u64 %rd3, %rd3;
 shl.b32 %r8, %r1, 6;
 cvt.u64.u32 %rd4, %r8;
 add.u64 %rd3, %rd3, %rd4;
 add.u32 %r2, %r2, %r8;
 ld.shared.v4.b32 {%r9, %r10, %r11, %r12}, [%r2];
 st.global.v4.b32 [%rd3], {%r9, %r10, %r11, %r12};
 ld.shared.v4.b32 {%r9, %r10, %r11, %r12}, [%r2+16];
 st.global.v4.b32 [%rd3+16], {%r9, %r10, %r11, %r12};
 ld.shared.v4.b32 {%r9, %r10, %r11, %r12}, [%r2+32];
 st.global.v4.b32 [%rd3+32], {%r9, %r10, %r11, %r12};
 ld.shared.v4.b32 {%r9, %r10, %r11, %r12}, [%r2+48];
 st.global.v4.b32 [%rd3+48], {%r9, %r10, %r11, %r12};
 ret;
}
)";

// Each CTA writes its rank in the cluster, once the kernel before it is done, and touches the last dynamic byte.
constexpr const char* kRanks = R"(.version 8.7
.target sm_90a
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.visible .entry ranks(.param .u64 out)
.reqntid 32
{
 .reg .b64 %rd<4>; .reg .b32 %r<6>;
 griddepcontrol.wait;
 ld.param.u64 %rd1, [out];
 cvta.to.global.u64 %rd1, %rd1;
 mov.u32 %r1, %ctaid.x;
 mov.u32 %r2, %cluster_ctarank;
 mov.u32 %r4, dynamic;
 st.shared.u32 [%r4+204796], %r2;
 ld.shared.u32 %r3, [%r4+204796];
 mul.wide.u32 %rd2, %r1, 4;
 add.u64 %rd3, %rd1, %rd2;
 st.global.u32 [%rd3], %r3;
 ret;
}
)";

std::vector<std::uint16_t> run_rows(Device& device, runtime::LoadedKernel& kernel, std::int32_t offset, std::int32_t length) {
  constexpr unsigned kPacked = 96, kWidth = 64;
  std::vector<std::uint16_t> in(kPacked * kWidth), out(64 * kWidth, 0xffff);
  std::iota(in.begin(), in.end(), std::uint16_t{1});
  const auto source = device.allocate(in.size() * 2), target = device.allocate(out.size() * 2);
  device.copy_to_device(source, in.data(), in.size() * 2);
  device.copy_to_device(target, out.data(), out.size() * 2);
  runtime::TensorMapSpec spec;
  spec.rank = 5;
  spec.address = source;
  spec.extents = {kWidth, 1, 1u << 30, 0x7fff0000, 0x7fff0000};
  spec.strides = {2, 128, 128, 128, (1ull << 34) - 128};
  spec.box = {kWidth, 1, 64, 1, 1};
  const runtime::EncodedTensorMap map = device.encode(spec);
  const std::array<KernelParameter, 4> parameters{std::as_bytes(std::span(&map, 1)), std::as_bytes(std::span(&target, 1)),
                                                  std::as_bytes(std::span(&offset, 1)), std::as_bytes(std::span(&length, 1))};
  device.launch(kernel, {}, parameters);
  device.synchronize();
  device.copy_to_host(out.data(), target, out.size() * 2);
  device.release(source);
  device.release(target);
  return out;
}

void check_ragged_tma(Device& device) {
  runtime::KernelImage image;
  image.name = "rows";
  image.ptx = kRows;
  image.threads = 128;
  const auto kernel = device.load(image);
  for (const auto& [offset, length] : {std::pair{0, 96}, {10, 20}, {95, 1}, {5, 0}}) {
    const std::vector<std::uint16_t> rows = run_rows(device, *kernel, offset, length);
    for (int row = 0; row < 64; ++row)
      for (int column = 0; column < 64; ++column)
        ASSERT_EQ(rows[row * 64 + column], row < length ? (offset + row) * 64 + column + 1 : 0)
            << "sequence at " << offset << " of " << length << ", row " << row << ", column " << column;
  }
}

void check_clusters_and_timing(Device& device) {
  runtime::KernelImage image;
  image.name = "ranks";
  image.ptx = kRanks;
  image.threads = 32;
  image.dynamic_shared_bytes = 204800;
  image.cluster = {2, 1, 1};
  const auto kernel = device.load(image);
  const auto target = device.allocate(6 * 4);
  const KernelParameter parameter = std::as_bytes(std::span(&target, 1));
  const auto enqueue = [&](void* stream) {
    for (const bool programmatic : {false, true})
      device.launch(*kernel, {{6, 1, 1}, stream, programmatic}, std::span(&parameter, 1));
  };
  for (const bool graph : {false, true}) {
    device.fill(target, 0xff, 24);
    TimingOptions options;
    options.runs = 5;
    options.graph = graph;
    const double milliseconds = time_launches_ms(device, enqueue, options);
    EXPECT_GT(milliseconds, 0.0005);
    EXPECT_LT(milliseconds, 10.0);
    std::array<std::uint32_t, 6> ranks{};
    device.copy_to_host(ranks.data(), target, 24);
    EXPECT_EQ(ranks, (std::array<std::uint32_t, 6>{0, 1, 0, 1, 0, 1}));
  }
  device.release(target);
}

TEST(Card, RunsKernelsOrSaysWhyNot) {
  std::unique_ptr<Device> device;
  try {
    device = runtime::make_cuda_device();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::AnyOf(testing::StartsWith("no CUDA driver: "), testing::StartsWith("no GPU: "),
                                             testing::StartsWith("wrong card: ")));
    return;
  }
  EXPECT_THAT(device->description(), testing::HasSubstr(" SMs, driver for CUDA "));
  check_ragged_tma(*device);
  check_clusters_and_timing(*device);
}

}  // namespace
}  // namespace tilewright::cuda
