// A sample of random programs, programs that once showed a fault, and the fuzzer itself: planted faults are found and shrink.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/fuzz/emit.h"
#include "tests/fuzz/isolate.h"
#include "tests/fuzz/reduce.h"

namespace tilewright::fuzz {
namespace {

std::string device_name() { return std::getenv("TILEWRIGHT_TEST_DEVICE") ? std::getenv("TILEWRIGHT_TEST_DEVICE") : "sim"; }

TEST(Fuzz, SampleOfPrograms) {
  Limits limits;
  limits.jobs = 2;
  limits.device = device_name();
  limits.seconds = 30;
  const std::size_t count = 200;
  std::size_t finished = 0;
  run_isolated(count, limits, [](std::size_t i) { return generate(1000000 + i); }, [&](std::size_t i, const Outcome& o) {
    ++finished;
    EXPECT_EQ(o.kind, "ok") << "seed " << 1000000 + i << ": " << o.message;
  });
  EXPECT_EQ(finished, count);
}

/// Every file holds a program, what it once broke, and nothing that fails today.
TEST(Fuzz, ProgramsThatOnceBrokeSomething) {
  std::vector<nlohmann::json> all;
  for (const auto& entry : std::filesystem::directory_iterator(TILEWRIGHT_SOURCE_DIR "/tests/fuzz/seeds"))
    if (entry.path().extension() == ".json") all.push_back(nlohmann::json::parse(std::ifstream(entry.path())));
  ASSERT_FALSE(all.empty());
  Limits limits;
  limits.device = device_name();
  limits.seconds = 30;
  run_isolated(all.size(), limits, [&](std::size_t i) { return all[i].at("program").get<Program>(); },
               [&](std::size_t i, const Outcome& o) { EXPECT_EQ(o.kind, "ok") << all[i].at("broke") << ": " << o.message; });
}

TEST(Fuzz, TheSameSeedIsTheSameProgram) {
  for (std::uint64_t seed = 1; seed < 40; ++seed) {
    const Program p = generate(seed);
    EXPECT_EQ(nlohmann::json(p), nlohmann::json(generate(seed)));
    EXPECT_EQ(nlohmann::json(p), nlohmann::json(nlohmann::json(p).get<Program>()));
  }
}

/// A fault of the compiler, as an edit of the PTX.
struct Fault {
  const char *name, *from, *to;
};
void PrintTo(const Fault& fault, std::ostream* to) { *to << fault.name; }
class Planted : public testing::TestWithParam<Fault> {};

/// Replaces every occurrence; false where there is none.
bool edit(std::string& ptx, const Fault& fault) {
  const std::string from = fault.from, to = fault.to;
  std::size_t at = ptx.find(from);
  if (at == std::string::npos) return false;
  for (; at != std::string::npos; at = ptx.find(from, at + to.size())) ptx.replace(at, from.size(), to);
  return true;
}

/// Among the programs that the fault changes, some show it, and the smallest that does is small.
TEST_P(Planted, IsFoundAndShrinks) {
  const Fault fault = GetParam();
  const auto device = runtime::make_device("sim");
  const auto shows = [&](const Program& p) {
    bool changed = false;
    const Outcome o = run(p, *device, [&](std::string& ptx) { changed = edit(ptx, fault); });
    return changed && (o.kind == "mismatch" || o.kind == "device" || o.kind == "memory");
  };
  for (std::uint64_t seed = 1; seed < 200; ++seed) {
    const Program p = generate(seed);
    if (p.items > 2 || p.trips > 3 || !shows(p)) continue;
    const Program small = reduce(p, shows, 150);
    EXPECT_TRUE(shows(small));
    const auto size = [](const Program& q) {
      std::size_t n = 0;
      for (const Role& r : q.roles) n += r.body.size();
      return n;
    };
    EXPECT_LE(size(small), 14u) << emit(small).text;
    EXPECT_LE(size(small), size(p));
    return;
  }
  FAIL() << "no program of 200 showed it";
}

INSTANTIATE_TEST_SUITE_P(Faults, Planted,
                         testing::Values(Fault{"maximum", "max.f32", "min.f32"}, Fault{"shuffle", "shfl.sync.bfly.b32", "shfl.sync.up.b32"},
                                         Fault{"transposed", ".x4.trans.", ".x4."}, Fault{"rounding", "cvt.rn.bf16x2.f32", "cvt.rz.bf16x2.f32"},
                                         Fault{"product", "1, 1, 1, 0, 0;", "1, 1, 1, 0, 1;"}, Fault{"release", "mbarrier.arrive.", "// "}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tilewright::fuzz
