// What the simulator counts, with kernels whose counts one can work out by hand.
#include "runtime/sim/count/counting.h"

#include <map>
#include <random>
#include <set>

#include "runtime/sim/count/banks.h"
#include "tests/unit/sim/kernels.h"

namespace tilewright::test {
namespace {

namespace sim = runtime::sim;

struct Counted {
  sim::KernelCounts counts;
  const sim::Site& site(std::string_view opcode) const {
    for (const sim::Site& s : counts.sites)
      if (s.opcode == opcode) return s;
    throw Error("nothing was counted of " + std::string(opcode));
  }
  std::uint64_t bytes(sim::Traffic t) const { return counts.traffic[static_cast<std::size_t>(t)]; }
};

Counted count(const std::string& body, unsigned threads = 32, unsigned grid = 1, sim::SimulatorOptions options = {}, const std::string& before = {}) {
  options.checks = false;   // addresses matter here, not what lies there
  const auto device = sim::make_simulated_device(options);
  const auto counting = std::make_shared<sim::Counting>();
  sim::watch(*device, counting);
  run_words(*device, module_text(body, threads, before), threads, 64, std::vector<std::uint32_t>(256), 8192, grid);
  const auto kernels = counting->kernels();
  EXPECT_EQ(kernels.size(), 1u);
  return {kernels.at(0)};
}

constexpr const char* tile = ".extern .shared .align 1024 .b8 tile[];\n";

/// The passes of one access whose lanes are `stride` bytes apart.
sim::Site access(const std::string& instruction, const std::string& opcode, unsigned stride) {
  return count("mov.u32 %r1, tile; mad.lo.u32 %r1, %r0, " + std::to_string(stride) + ", %r1;\n" + instruction, 32, 1, {}, tile).site(opcode);
}

TEST(BankConflicts, OfScalarAccesses) {
  const auto passes = [](unsigned stride) { return access("st.shared.u32 [%r1], %r0;", "st.shared.u32", stride).passes; };
  EXPECT_EQ(passes(4), 1u);
  EXPECT_EQ(passes(8), 2u);
  EXPECT_EQ(passes(128), 32u);
  EXPECT_EQ(passes(132), 1u);
  EXPECT_EQ(passes(0), 1u) << "lanes that access one word share it";
  EXPECT_EQ(access("ld.shared.u16 %h1, [%r1];", "ld.shared.u16", 2).passes, 1u);
}

TEST(BankConflicts, OfVectorAccessesByHalfAndQuarterWarps) {
  const sim::Site halves = access("ld.shared.v2.u32 {%r2, %r3}, [%r1];", "ld.shared.v2.u32", 8);
  EXPECT_EQ(halves.passes, 2u);
  EXPECT_EQ(halves.least, 2u);
  const sim::Site quarters = access("ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1];", "ld.shared.v4.u32", 16);
  EXPECT_EQ(quarters.passes, 4u);
  EXPECT_EQ(quarters.least, 4u);
  EXPECT_EQ(access("ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1];", "ld.shared.v4.u32", 128).passes, 32u);
  EXPECT_EQ(access("ld.shared.u64 %rd2, [%r1];", "ld.shared.u64", 128).passes, 32u);
}

TEST(BankConflicts, OfMatricesAndAtomics) {
  const char* load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2, %r3, %r4, %r5}, [%r1];";
  EXPECT_EQ(access(load, "ldmatrix.sync.aligned.m8n8.x4.shared.b16", 16).passes, 4u);
  EXPECT_EQ(access(load, "ldmatrix.sync.aligned.m8n8.x4.shared.b16", 128).passes, 32u);
  const sim::Site two = access("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r2, %r3}, [%r1];", "ldmatrix.sync.aligned.m8n8.x2.shared.b16", 128);
  EXPECT_EQ(two.passes, 16u);
  EXPECT_EQ(two.least, 2u);
  EXPECT_EQ(access("red.shared.add.u32 [%r1], 1;", "red.shared.add.u32", 4).passes, 1u);
  EXPECT_EQ(access("red.shared.add.u32 [%r1], 1;", "red.shared.add.u32", 0).passes, 32u) << "atomics on one word take turns";
}

TEST(BankConflicts, OfRandomAddressesAreThoseOfCountingBanks) {
  std::mt19937 random(7);
  for (const unsigned bytes : {4u, 8u, 16u})
    for (int round = 0; round < 200; ++round) {
      std::array<std::int64_t, 32> addresses;
      for (auto& a : addresses) a = random() % 5 == 0 ? -1 : static_cast<std::int64_t>(random() % 64 * bytes);
      const unsigned lanes = 128 / bytes;
      unsigned expected = 0;
      for (unsigned first = 0; first < 32; first += lanes) {
        unsigned most = 0;
        for (unsigned bank = 0; bank < 32; ++bank) {
          std::set<std::int64_t> words;
          for (unsigned l = first; l < first + lanes; ++l)
            for (unsigned byte = 0; addresses[l] >= 0 && byte < bytes; byte += 4)
              if ((addresses[l] + byte) / 4 % 32 == bank) words.insert((addresses[l] + byte) / 4);
          most = std::max<unsigned>(most, static_cast<unsigned>(words.size()));
        }
        expected += most;
      }
      EXPECT_EQ(sim::passes_of_access(addresses, bytes).passes, expected);
    }
}

TEST(Counting, ByClassAndRole) {
  sim::SimulatorOptions options;
  options.roles = {{"k", 0, 1, "load"}, {"k", 1, 2, "math"}};
  const Counted c = count("setp.lt.u32 %p1, %r0, 40; @%p1 add.f32 %f1, %f1, %f1; ex2.approx.ftz.f32 %f2, %f1; cvt.rn.f32.u32 %f3, %r0;", 96, 2, options);
  std::map<std::pair<std::string, sim::InstructionClass>, std::uint64_t> warps;
  for (const sim::Site& s : c.counts.sites) warps[{s.role, s.group}] += s.executed;
  EXPECT_EQ((warps[{"load", sim::InstructionClass::floating}]), 2u);
  EXPECT_EQ((warps[{"math", sim::InstructionClass::floating}]), 2u) << "the third warp's guard lets no lane through";
  EXPECT_EQ((warps[{"math", sim::InstructionClass::special_function}]), 4u);
  EXPECT_EQ((warps[{"math", sim::InstructionClass::conversion}]), 4u);
  EXPECT_EQ(c.site("add.f32").threads, 2u * 32);
  EXPECT_EQ(c.counts.launches, 1u);
}

TEST(Counting, BytesByKind) {
  const Counted c = count("ld.global.v2.u32 {%r2, %r3}, [%rd0]; setp.lt.u32 %p1, %r0, 3; @%p1 st.global.u16 [%rd1], %h0; mov.u32 %r1, tile; st.shared.u32 [%r1], %r0;\n"
                          "cvt.u64.u32 %rd2, %r1; cvta.shared.u64 %rd2, %rd2; ld.u32 %r4, [%rd2]; red.global.add.u32 [%rd1], 1; cp.async.ca.shared.global [%r1], [%rd0], 8; cp.async.wait_all;\n", 32, 1, {}, tile);
  EXPECT_EQ(c.bytes(sim::Traffic::global_read), 32u * 8);
  EXPECT_EQ(c.bytes(sim::Traffic::global_write), 3u * 2);
  EXPECT_EQ(c.bytes(sim::Traffic::global_atomic), 32u * 4);
  EXPECT_EQ(c.bytes(sim::Traffic::shared_write), 32u * 4);
  EXPECT_EQ(c.bytes(sim::Traffic::shared_read), 32u * 4) << "by a generic address";
  EXPECT_EQ(c.bytes(sim::Traffic::small_copy), 32u * 8);
}

TEST(Counting, BytesOfBulkCopies) {
  const Counted c = count("setp.eq.u32 %p1, %r0, 0; mov.u32 %r1, tile; add.u32 %r2, %r1, 1024;\n@%p1 mbarrier.init.shared.b64 [%r2], 1;\n"
                          "@%p1 mbarrier.arrive.expect_tx.shared.b64 %rd4, [%r2], 512;\n@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0], 512, [%r2];\n"
                          "bar.sync 0;\nW: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0; @!%p2 bra W;\n"
                          "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 256;\ncp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n", 32, 1, {}, tile);
  EXPECT_EQ(c.bytes(sim::Traffic::bulk_in), 512u);
  EXPECT_EQ(c.bytes(sim::Traffic::bulk_out), 256u);
}

TEST(Counting, DoesNotDependOnHostThreads) {
  const std::string body = "mov.u32 %r1, %ctaid.x; setp.lt.u32 %p1, %r0, %r1; @%p1 add.u32 %r2, %r0, %r1; mov.u32 %r3, tile; mad.lo.u32 %r3, %r0, %r1, %r3; and.b32 %r3, %r3, -4; st.shared.u32 [%r3], %r2;";
  sim::SimulatorOptions one, three;
  one.threads = 1, three.threads = 3;
  const auto a = count(body, 64, 40, one, tile).counts, b = count(body, 64, 40, three, tile).counts;
  EXPECT_EQ(a.launches, b.launches);
  ASSERT_EQ(a.sites.size(), b.sites.size());
  for (std::size_t n = 0; n < a.sites.size(); ++n) {
    EXPECT_EQ(a.sites[n].opcode, b.sites[n].opcode);
    EXPECT_EQ(a.sites[n].threads, b.sites[n].threads);
    EXPECT_EQ(a.sites[n].passes, b.sites[n].passes);
  }
  EXPECT_EQ(a.traffic, b.traffic);
}

TEST(Counting, EndsWithTheWatch) {
  const auto device = sim::make_simulated_device(sim::SimulatorOptions{});
  const auto counting = std::make_shared<sim::Counting>();
  sim::watch(*device, counting);
  run_words(*device, module_text("add.u32 %r1, %r0, 1;"), 32, 1);
  run_words(*device, module_text("add.u32 %r1, %r0, 1;"), 32, 1);
  sim::watch(*device, nullptr);
  run_words(*device, module_text("add.u32 %r1, %r0, 1;"), 32, 1);
  ASSERT_EQ(counting->kernels().size(), 1u);
  EXPECT_EQ(counting->kernels()[0].launches, 2u);
  counting->reset();
  EXPECT_TRUE(counting->kernels().empty());
}

}  // namespace
}  // namespace tilewright::test
