// tilewright tune-planner, and what the other subcommands do with what it writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "runtime/cuda/timing.h"
#include "runtime/ops/gdn_costs.h"
#include "tests/unit/cli/started.h"
#include "tests/unit/gdn/probe_times.h"

namespace tilewright::cli {
namespace {

using test::Shell;
using test::Started;
using testing::AllOf;
using testing::HasSubstr;

class TunePlanner : public testing::Test {
 protected:
  TunePlanner() {
    no_card();
    shell_.set("TILEWRIGHT_PLANNER_COSTS=");
  }
  void no_card() { shell_.set("TILEWRIGHT_LIBCUDA=/nowhere/libcuda.so.1"); }
  void fake_card() { shell_.set(std::string("TILEWRIGHT_LIBCUDA=") + FAKE_LIBCUDA); }
  std::filesystem::path file(const std::string& text, const std::string& name = "costs.json") {
    const std::filesystem::path path = shell_.folder() / name;
    std::filesystem::create_directories(path.parent_path());
    assemble::write_file(path, text);
    return path;
  }
  void name(const std::filesystem::path& path) { shell_.set(std::string(ops::kGdnCostsVariable) + "=" + path.string()); }
  static std::string costs(double hop) {
    gdn::Costs c = gdn::kShippedCosts;
    c.full.hop = c.split.hop = hop;
    return ops::gdn_costs_text(c, {"NVIDIA H200", 114}, "for CUDA 12.8");
  }
  Shell shell_;
};

TEST_F(TunePlanner, NeedsACardAndAPlace) {
  const Started none = shell_.run("tune-planner");
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.err, HasSubstr("tilewright: tune-planner needs a card, the simulated device has no times: "));
  fake_card();
  shell_.set("TILEWRIGHT_CACHE_DIR=off");
  const Started nowhere = shell_.run("tune-planner");
  EXPECT_EQ(nowhere.status, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("tune-planner: there is no cache folder to write to (TILEWRIGHT_CACHE_DIR, HOME), expected --output FILE"));
  EXPECT_EQ(shell_.run("tune-planner --rounds 0").status, 2);
  EXPECT_THAT(shell_.run("tune-planner --help").out, AllOf(HasSubstr("--output"), HasSubstr("TILEWRIGHT_PLANNER_COSTS")));
}

TEST_F(TunePlanner, MeasuresOnACardOrSaysWhyNot) {
  shell_.set("TILEWRIGHT_LIBCUDA=");
  if (const Started r = shell_.run("doctor --card"); r.status != 0) GTEST_SKIP() << "no Hopper to measure on: " << shell_.run("tune-planner").err;
  const std::filesystem::path path = shell_.folder() / "tuned.json";
  const Started r = shell_.run("tune-planner --rounds 1 --output " + path.string());
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("split.state_step"), HasSubstr("wrote " + path.string())));
  EXPECT_EQ(gdn::why_not(ops::read_gdn_costs(path).costs), "");
  name(path);
  EXPECT_EQ(shell_.run("run gdn-forward --heads 2x8 --lens 4096 --device cuda --check").status, 0);
}

TEST_F(TunePlanner, WritesTheCostsThatTheTimesComeFrom) {
  constexpr int kSms = 114;  // the stand-in driver's
  const gdn::Costs costs{{2.1, 1.3, 1.5, 3, 0.2}, {1.4, 0.9, 1.25, 2.5, 0.2}, {6, 0.005, 11, 0.5}, kSms};
  const cuda::TimingOptions timing;
  std::ostringstream times;
  for (const double round : {1.1, 1.0, 0.8})  // the middle one counts
    for (const gdn::Probe& p : gdn::probes(kSms)) {
      const double ahead = gdn::testing::prologue_time(p, costs);
      const auto repeat = [&](double us) {
        for (unsigned i = 0; i < timing.warmups + timing.runs; ++i) times << round * us / 1000 << "\n";
      };
      repeat(ahead);
      if (gdn::of_the_chain(p.quantity)) repeat(ahead + gdn::testing::chain_time(p, costs));
    }
  fake_card();
  shell_.set("FAKE_CUDA_TIMES=" + file(times.str(), "times").string());
  const Started r = shell_.run("tune-planner --rounds 3");
  ASSERT_EQ(r.status, 0) << r.err;
  const auto place = shell_.cache() / "planner/nvidia-h200-114.json";
  const ops::GdnCostsFile written = ops::read_gdn_costs(place);
  EXPECT_EQ(written.card.name, "NVIDIA H200");
  EXPECT_EQ(written.card.sms, kSms);
  gdn::Costs found = written.costs, expected = costs;
  expected.full.planning = expected.split.planning = 0.5 - 32 * 0.005;
  const auto is = gdn::fields_of(found), should = gdn::fields_of(expected);
  for (std::size_t i = 0; i < is.size(); ++i) EXPECT_NEAR(is[i].value, should[i].value, 2e-3 * should[i].value) << is[i].full_name();
  EXPECT_THAT(r.out, AllOf(HasSubstr("NVIDIA H200, 114 SMs"), testing::ContainsRegex("full.full_step +2.10[0-9]* +15.0 % +1.7200"), HasSubstr("wrote " + place.string()),
                           HasSubstr("calls of processes that start from now on are planned by it")));
  EXPECT_THAT(shell_.run("plan gdn-forward --form full").out, HasSubstr(place.string()));
}

TEST_F(TunePlanner, WritesNothingWhereTimesMakeNoSense) {
  fake_card();  // all its times are the same
  const Started r = shell_.run("tune-planner --rounds 1");
  EXPECT_EQ(r.status, 1);
  EXPECT_THAT(r.err, HasSubstr("tilewright: the times that were measured make no sense: full.full_step is 0, expected microseconds above 0"));
  EXPECT_FALSE(std::filesystem::exists(shell_.cache() / "planner"));
}

TEST_F(TunePlanner, PlanShowsByWhichCosts) {
  const std::string line = "plan gdn-forward --heads 2x8 --lens 32768";
  const std::string shipped = shell_.run(line).out;
  EXPECT_THAT(shipped, HasSubstr("hop 2.1 us; shipped, measured on NVIDIA H200\n"));
  const auto path = file(costs(40));
  name(path);
  const std::string slow = shell_.run(line).out;
  EXPECT_THAT(slow, HasSubstr("hop 40 us; " + path.string() + ", measured on NVIDIA H200, 114 SMs\n"));
  EXPECT_NE(slow.substr(slow.find("items")), shipped.substr(shipped.find("items"))) << "dear hops make another plan";
  shell_.set("TILEWRIGHT_PLANNER_COSTS=off");
  EXPECT_EQ(shell_.run(line).out, shipped);
}

TEST_F(TunePlanner, TheCardsPlaceIsFoundByItself) {
  fake_card();
  const auto place = file(costs(5), "cache/planner/nvidia-h200-114.json");
  EXPECT_THAT(shell_.run("plan gdn-forward").out, HasSubstr("hop 5 us; " + place.string()));
  EXPECT_THAT(shell_.run("doctor").out, HasSubstr("planner costs     ok      " + place.string()));
  file("{", "cache/planner/nvidia-h200-114.json");
  EXPECT_THAT(shell_.run("plan gdn-forward").out, AllOf(HasSubstr("hop 2.1 us; shipped"), HasSubstr("no JSON")));
  const Started doctor = shell_.run("doctor");
  EXPECT_EQ(doctor.status, 1);
  EXPECT_THAT(doctor.out, AllOf(HasSubstr("planner costs     BROKEN  planner costs " + place.string() + ": no JSON"), HasSubstr("-> run `tilewright tune-planner`")));
}

TEST_F(TunePlanner, ANamedFileThatIsDamagedIsAnErrorOfEveryCall) {
  const auto path = file(costs(-4));
  name(path);
  const std::string complaint = "tilewright: planner costs " + path.string() + ": full.hop is -4, expected microseconds above 0 and at most 1000 (TILEWRIGHT_PLANNER_COSTS names the file";
  for (const char* line : {"plan gdn-forward", "run gdn-forward --heads 1x1 --lens 64 --device sim"}) {
    const Started r = shell_.run(line);
    EXPECT_EQ(r.status, 1) << line;
    EXPECT_THAT(r.err, HasSubstr(complaint)) << line;
  }
  EXPECT_EQ(shell_.run("doctor").status, 1);
}

}  // namespace
}  // namespace tilewright::cli
