// How fast the simulated Hopper is, on one core: thread instructions a second, without and with checks, and wgmma.
#include <benchmark/benchmark.h>

#include <string>

#include "runtime/sim/simulator.h"

namespace {

using namespace tilewright::runtime;

std::unique_ptr<Device> one_core(bool checks) {
  sim::SimulatorOptions options;
  options.threads = 1;
  options.checks = checks;
  return sim::make_simulated_device(options);
}

std::string kernel(unsigned threads, const std::string& body) {
  return ".version 8.7\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 tile[];\n.visible .entry k(.param .u64 out)\n.reqntid " +
         std::to_string(threads) + "\n{ .reg .pred %p<4>; .reg .b32 %r<32>; .reg .f32 %f<300>; .reg .b64 %rd<8>;\nld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mov.u32 %r9, 0;\nLOOP:\n" +
         body + "add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 2000; @%p1 bra LOOP;\nmul.wide.u32 %rd1, %r0, 4; add.s64 %rd1, %rd0, %rd1; st.global.f32 [%rd1], %f0; ret; }\n";
}

void run(benchmark::State& state, unsigned threads, const std::string& body, bool checks = false) {
  const auto device = one_core(checks);
  KernelImage image;
  image.name = "k";
  image.ptx = kernel(threads, body);
  image.dynamic_shared_bytes = 65536;
  const auto loaded = device->load(image);
  const DeviceAddress out = device->allocate(4 * threads);
  const KernelParameter parameters[] = {std::as_bytes(std::span(&out, 1))};
  sim::reset_statistics(*device);
  for (auto _ : state) device->launch(*loaded, {}, parameters);
  const auto s = sim::statistics(*device);
  state.counters["thread_instructions/s"] = benchmark::Counter(static_cast<double>(s.thread_instructions), benchmark::Counter::kIsRate);
  state.counters["tensor_flop/s"] = benchmark::Counter(static_cast<double>(s.tensor_flops), benchmark::Counter::kIsRate);
}

constexpr const char* ordinary = R"(
    mad.lo.u32 %r1, %r0, %r9, 7; shl.b32 %r2, %r1, 2; and.b32 %r3, %r2, 0x7c; mad.lo.u32 %r3, %r0, 128, %r3; xor.b32 %r4, %r3, %r9; cvt.rn.f32.u32 %f1, %r4; fma.rn.f32 %f2, %f1, 0f3F000000, %f0;
    mov.u32 %r5, tile; add.u32 %r5, %r5, %r3; st.shared.f32 [%r5], %f2; ld.shared.f32 %f3, [%r5]; add.f32 %f0, %f0, %f3; shfl.sync.bfly.b32 %r6, %r4, 1, 31, -1; max.f32 %f0, %f0, %f1;
    setp.gt.f32 %p2, %f0, %f1; selp.f32 %f0, %f0, %f1, %p2; ex2.approx.ftz.f32 %f4, %f0; cvt.rn.bf16x2.f32 %r7, %f4, %f0;)";

void ordinary_instructions(benchmark::State& state) { run(state, 128, ordinary); }
BENCHMARK(ordinary_instructions)->Unit(benchmark::kMillisecond);

void checked_instructions(benchmark::State& state) { run(state, 128, ordinary, true); }
BENCHMARK(checked_instructions)->Unit(benchmark::kMillisecond);

std::string registers(unsigned count) {
  std::string s;
  for (unsigned n = 0; n < count; ++n) s += (n ? ", %f" : "%f") + std::to_string(n);
  return s;
}

void wgmma(benchmark::State& state) {
  const auto n = static_cast<unsigned>(state.range(0));
  run(state, 128, "mov.u32 %r1, tile; shr.u32 %r1, %r1, 4; mov.b64 %rd2, {%r1, 0x40000040}; add.s64 %rd3, %rd2, 512; setp.ne.u32 %p2, %r9, 0;\nwgmma.fence.sync.aligned;\n"
                  "wgmma.mma_async.sync.aligned.m64n" + std::to_string(n) + "k16.f32.bf16.bf16 {" + registers(n / 2) + "}, %rd2, %rd3, %p2, 1, 1, 0, 0;\n"
                  "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
}
BENCHMARK(wgmma)->Arg(64)->Arg(128)->Arg(256)->Unit(benchmark::kMillisecond);

}  // namespace
