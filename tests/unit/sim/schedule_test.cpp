// Schedules: a seed decides what the machine leaves open, and decides it the same way every time.
#include <set>

#include "tests/unit/sim/kernels.h"

namespace tilewright::test {
namespace {

using testing::HasSubstr;

// Every warp draws a ticket and writes it to its place.
const std::string tickets = R"(
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r3, %r1, %r2, %r0; and.b32 %r4, %r0, 31; setp.ne.u32 %p1, %r4, 0; @%p1 ret;
  mov.b32 %r5, 1; atom.global.add.u32 %r6, [%rd1], %r5; mul.wide.u32 %rd2, %r3, 4; add.s64 %rd2, %rd1, %rd2; st.global.u32 [%rd2+4], %r6;)";

std::vector<std::uint32_t> drawn(std::uint64_t seed, unsigned threads, unsigned grid) {
  runtime::sim::SimulatorOptions options;
  options.schedule = seed;
  const auto device = runtime::sim::make_simulated_device(options);
  return run_words(*device, module_text(tickets, threads), threads, 1024, {}, 0, grid);
}

TEST(Schedule, ASeedRepeatsAndSeedsDiffer) {
  std::set<std::vector<std::uint32_t>> warps, ctas;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto of_warps = drawn(seed, 256, 1), of_ctas = drawn(seed, 32, 16);
    EXPECT_EQ(of_warps, drawn(seed, 256, 1)) << seed;
    EXPECT_EQ(of_ctas, drawn(seed, 32, 16)) << seed;
    warps.insert(of_warps);
    ctas.insert(of_ctas);
  }
  EXPECT_GT(warps.size(), 4u);
  EXPECT_GT(ctas.size(), 4u);
}

TEST(Schedule, IsSetBetweenLaunchesOfOneKernel) {
  const auto device = runtime::make_simulated_device();
  const DeviceAddress out = device->allocate(4096);
  runtime::KernelImage image;
  image.name = "k";
  image.ptx = module_text(tickets, 256);
  const auto kernel = device->load(image);
  const runtime::KernelParameter parameters[] = {std::as_bytes(std::span(&out, 1)), std::as_bytes(std::span(&out, 1))};
  const auto launch = [&] {
    device->fill(out, 0, 4096);
    device->launch(*kernel, {}, parameters);
    std::vector<std::uint32_t> words(1024);
    device->copy_to_host(words.data(), out, 4096);
    return words;
  };
  std::set<std::vector<std::uint32_t>> seen;
  for (std::uint64_t seed = 1; seed < 8; ++seed) {
    runtime::sim::set_schedule(*device, seed);
    const auto first = launch();
    launch();   // launches under one seed have decisions of their own
    runtime::sim::set_schedule(*device, seed);
    EXPECT_EQ(launch(), first) << seed;
    seen.insert(first);
  }
  EXPECT_GT(seen.size(), 3u);
}

TEST(Schedule, WaitsThatReturnEarlyAreRepeated) {
  // Counts how often a wait of warp 1 returned without its phase: never on the plain schedule, sometimes under a seed.
  const std::string body = R"(.shared .align 8 .b64 bar; setp.ne.u32 %p1, %r0, 0; @%p1 bra READY; mbarrier.init.shared.b64 [bar], 1;
    READY: bar.sync 0; setp.ge.u32 %p2, %r0, 32; @%p2 bra LOOK; mov.b32 %r3, 0; BUSY: add.u32 %r3, %r3, 1; atom.global.add.u32 %r4, [%rd1+8], %r3; setp.lt.u32 %p3, %r3, 300; @%p3 bra BUSY;
    @!%p1 mbarrier.arrive.shared.b64 _, [bar]; ret;
    LOOK: mov.b32 %r2, 0; AGAIN: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0; @%p3 bra END; add.u32 %r2, %r2, 1; bra AGAIN; END: setp.eq.u32 %p4, %r0, 32; @%p4 st.global.u32 [%rd1], %r2;)";
  std::uint32_t most = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    runtime::sim::SimulatorOptions options;
    options.schedule = seed;
    const auto device = runtime::sim::make_simulated_device(options);
    const std::uint32_t early = run_words(*device, module_text(body, 64), 64, 4)[0];
    if (seed == 0) EXPECT_EQ(early, 0u);
    most = std::max(most, early);
  }
  EXPECT_GT(most, 0u);
}

TEST(Schedule, NoMoreCtasThanTheCardHolds) {
  // Every CTA waits for the last one: with 120 KiB each, 132 run at a time, or 16 clusters of 8.
  const std::string body = R"(mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r1, %r2; mov.b32 %r3, 1; @%p1 bra POLL; st.release.gpu.global.u32 [%rd1], %r3; ret;
    POLL: ld.acquire.gpu.global.u32 %r4, [%rd1]; setp.eq.u32 %p2, %r4, 0; @%p2 bra POLL;)";
  runtime::sim::SimulatorOptions options;
  options.step_limit = 2'000;
  const auto device = runtime::sim::make_simulated_device(options);
  std::string module = module_text(body, 32, ".extern .shared .align 16 .b8 dynamic[];");
  const std::string threads = ".reqntid 32\n";
  module.replace(module.find(threads), threads.size(), ".explicitcluster\n.reqnctapercluster 8, 1, 1\n" + threads);
  const auto run = [&](unsigned grid) { return error_of([&] { run_words(*device, module, 32, 4, {}, 120 * 1024, grid); }); };
  EXPECT_EQ(run(128), "no error");
  EXPECT_THAT(run(136), testing::AllOf(HasSubstr("no forward progress"), HasSubstr("all 16 CTAs or clusters that a card of 132 multiprocessors holds at a time poll; 1 more cannot begin")));
}

}  // namespace
}  // namespace tilewright::test
