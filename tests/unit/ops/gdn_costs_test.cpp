// Files of planner costs: what is written is read, what is wrong is named, and calls are planned by what was read.
#include "runtime/ops/gdn_costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/assemble/process.h"
#include "runtime/ops/gdn_forward_binding.h"
#include "tests/unit/error_of.h"

namespace tilewright::ops {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const gdn::Costs kOther{{2.5, 1.25, 0.5, 6, 0.125}, {1.5, 0.75, 0.25, 3, 0.125}, {8, 0.005, 12, 0.5}, 114};
const Card kCard{"NVIDIA H100 PCIe", 114};

class GdnCostsFiles : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& text, const std::string& name = "costs.json") {
    const std::filesystem::path path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    assemble::write_file(path, text);
    return path;
  }
  std::string good() const { return gdn_costs_text(kOther, kCard, "for CUDA 12.8"); }
  /// What is said of a good file in which one field has another value, or is gone.
  std::string refusal(const std::string& pointer, const nlohmann::json& value) {
    nlohmann::json json = nlohmann::json::parse(good());
    if (value.is_discarded()) json = json.patch({{{"op", "remove"}, {"path", pointer}}});
    else json[nlohmann::json::json_pointer(pointer)] = value;
    return refusal(json.dump());
  }
  std::string refusal(const std::string& text) {
    const std::filesystem::path path = file(text);
    std::string message = test::error_of([&] { read_gdn_costs(path); });
    const std::string begin = "planner costs " + path.string() + ": ";
    EXPECT_THAT(message, StartsWith(begin));
    return message.substr(std::min(begin.size(), message.size()));
  }
  cache::Settings settings() const { return {folder_.path() / "cache", "a test"}; }
  GdnCosts load(const char* named, const Card& card = kCard) {
    return load_gdn_costs(named, settings(), card, [this](const std::string& text) { warnings_.push_back(text); });
  }
  assemble::TemporaryFolder folder_;
  std::vector<std::string> warnings_;
};

TEST_F(GdnCostsFiles, ReadWhatWasWritten) {
  const GdnCostsFile read = read_gdn_costs(file(good()));
  EXPECT_EQ(read.costs, kOther);
  EXPECT_EQ(read.card.name, kCard.name);
  EXPECT_EQ(read.card.sms, 114);
}

TEST_F(GdnCostsFiles, EveryFieldThatIsWrongIsNamed) {
  const nlohmann::json gone(nlohmann::json::value_t::discarded);
  EXPECT_EQ(refusal("/version", 2), "version is 2, expected 1");
  EXPECT_EQ(refusal("/version", "1"), "version is \"1\", expected 1");
  EXPECT_EQ(refusal("/version", gone), "version is missing");
  EXPECT_EQ(refusal("/operator", "gemm"), "operator is \"gemm\", expected \"gdn-forward\"");
  EXPECT_EQ(refusal("/card", 7), "card is 7, expected text");
  EXPECT_EQ(refusal("/sms", 0), "sms is 0, expected an integer from 1 to 1024");
  EXPECT_EQ(refusal("/sms", 13.5), "sms is 13.5, expected an integer from 1 to 1024");
  EXPECT_EQ(refusal("/driver", gone), "driver is missing");
  EXPECT_EQ(refusal("/full", gone), "full is missing");
  EXPECT_EQ(refusal("/full", 3), "full is 3, expected an object");
  EXPECT_EQ(refusal("/extra", 1), "extra is no field, expected version, operator, card, sms, driver, ahead, full, split");
  EXPECT_EQ(refusal("/ahead/planer_start", 1), "ahead.planer_start is no field, expected prologue_start, prologue_chunk, planner_start, planner_chain");
  gdn::Costs costs = kOther;
  for (const gdn::CostField& field : gdn::fields_of(costs)) {
    const std::string pointer = "/" + std::string(field.part) + "/" + std::string(field.name), name = field.full_name();
    EXPECT_EQ(refusal(pointer, gone), name + " is missing");
    EXPECT_EQ(refusal(pointer, "3"), name + " is \"3\", expected microseconds");
    EXPECT_EQ(refusal(pointer, nullptr), name + " is null, expected microseconds");
    EXPECT_THAT(refusal(pointer, -1), StartsWith(name + " is -1, expected microseconds "));
    EXPECT_THAT(refusal(pointer, 1e9), StartsWith(name + " is 1e+09, expected microseconds "));
  }
  EXPECT_EQ(refusal("/split/state_step", 1.75), "split.state_step is 1.75, expected at most split.full_step, 1.5");
}

TEST_F(GdnCostsFiles, NoJsonAndNoFile) {
  EXPECT_EQ(refusal(""), "no JSON, expected what `tilewright tune-planner` writes");
  EXPECT_EQ(refusal(good().substr(0, 200)), "no JSON, expected what `tilewright tune-planner` writes");
  EXPECT_EQ(refusal("[1, 2]"), "the text is [1,2], expected an object");
  EXPECT_THAT(test::error_of([&] { read_gdn_costs(folder_.path() / "none"); }), AllOf(HasSubstr((folder_.path() / "none").string()), EndsWith("cannot be read: No such file or directory")));
  EXPECT_THAT(test::error_of([&] { read_gdn_costs(folder_.path()); }), EndsWith("cannot be read: Is a directory"));
}

TEST_F(GdnCostsFiles, ACardHasAPlace) {
  EXPECT_EQ(gdn_costs_place(settings(), kCard), folder_.path() / "cache/planner/nvidia-h100-pcie-114.json");
  EXPECT_EQ(gdn_costs_place({}, kCard), "");  // no cache
  EXPECT_EQ(gdn_costs_place(settings(), {}), "");  // the simulated card
}

TEST_F(GdnCostsFiles, ANamedFileGoesFirst) {
  EXPECT_EQ(load(nullptr).origin, "shipped, measured on NVIDIA H200");
  EXPECT_EQ(load(nullptr).costs.sms, 114);
  const auto place = file(good(), "cache/planner/nvidia-h100-pcie-114.json");
  EXPECT_EQ(load(nullptr).origin, place.string() + ", measured on NVIDIA H100 PCIe, 114 SMs");
  EXPECT_EQ(load("").costs, kOther);
  EXPECT_EQ(load("off").costs.full, gdn::kFullCosts);
  gdn::Costs third = kOther;
  third.full.hop = 1;
  const auto named = file(gdn_costs_text(third, {"NVIDIA H20", 78}, ""), "named.json");
  third.sms = 114;  // the costs are the file's, the multiprocessors the card's
  EXPECT_EQ(load(named.c_str()).costs, third);
  EXPECT_EQ(load(named.c_str(), {}).costs.sms, 132);
  EXPECT_EQ(load(nullptr, {"NVIDIA H100 PCIe", 112}).origin, "shipped, measured on NVIDIA H200");  // another partition
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(GdnCostsFiles, ADamagedFileIsAnErrorWhereItIsNamedAndAWarningInTheCardsPlace) {
  const auto named = file("{}", "named.json");
  EXPECT_EQ(test::error_of([&] { load(named.c_str()); }),
            "planner costs " + named.string() + ": version is missing (TILEWRIGHT_PLANNER_COSTS names the file; `off`: shipped costs)");
  const auto place = file("{}", "cache/planner/nvidia-h100-pcie-114.json");
  EXPECT_EQ(load(nullptr).costs.full, gdn::kFullCosts);
  file(gdn_costs_text(kOther, {"NVIDIA H20", 78}, ""), "cache/planner/nvidia-h100-pcie-114.json");
  EXPECT_EQ(load(nullptr).origin, "shipped, measured on NVIDIA H200");
  EXPECT_THAT(warnings_, ElementsAre("planner costs " + place.string() + ": version is missing; going on with the shipped costs. `tilewright tune-planner` measures anew",
                                     HasSubstr(": measured on NVIDIA H20, 78 SMs, expected NVIDIA H100 PCIe, 114 SMs; going on")));
}

TEST(GdnCosts, ACallIsPlannedByItsCosts) {
  GdnForwardArguments a;
  a.T = 4096, a.hk = 4, a.hv = 8;
  const auto planned = [&](const char* scalar) {
    const auto names = gdn_forward_scalar_names();
    const GdnForwardTables tables(a, check_gdn_forward(a), {}, 132, gdn::HeadClass::chosen);
    return std::get<std::int64_t>(tables.scalars()[std::size_t(std::find(names.begin(), names.end(), scalar) - names.begin())]);
  };
  a.q = a.k = a.v = a.o = {4096, {}, Dtype::bf16};
  ASSERT_TRUE(gdn_forward_cuts(a).segments());
  const std::uint64_t bytes = GdnForward::workspace_bytes(a);
  const std::int64_t hop = planned("plan_hop");
  gdn::Costs c = gdn::kShippedCosts;
  c.full.hop *= 2, c.split.hop *= 2;
  a.costs = &c;
  EXPECT_NEAR(double(planned("plan_hop")), 2.0 * double(hop), 1);
  gdn::Costs slow = gdn::kShippedCosts;
  slow.ahead.planner_start = 500;
  a.costs = &slow;
  EXPECT_FALSE(gdn_forward_cuts(a).segments());
  EXPECT_LT(GdnForward::workspace_bytes(a), bytes) << "the workspace is that of the same call";
}

TEST(GdnCosts, AProcessLoadsThemOnce) {
  const auto one = runtime::make_simulated_device(), other = runtime::make_simulated_device();
  EXPECT_EQ(&gdn_costs_of(*one), &gdn_costs_of(*other));
  GdnForward op(*one);
  EXPECT_EQ(&op.costs(), &gdn_costs_of(*one).costs);
}

}  // namespace
}  // namespace tilewright::ops
