// From the stamps of a traced kernel to time lines, traces and pictures.
#include "runtime/cli/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/error_of.h"

namespace tilewright::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

nlohmann::json sidecar() {
  return nlohmann::json::parse(R"({"name": "k", "roles": [{"name": "math", "first_warp": 0, "warps": 2}, {"name": "load", "first_warp": 2, "warps": 1}],
    "trace": {"header_bytes": 16, "stamps_of_a_warp": 4, "stamps": ["math", "wait ab", "load", "end"]}})");
}

/// Stamps of the three warps; the counter wraps around in the second.
std::vector<std::uint32_t> words() {
  std::vector<std::uint32_t> w(4 + 3 * 8);
  w[0] = 5;
  const auto put = [&](unsigned warp, std::vector<std::uint32_t> stamps) { std::copy(stamps.begin(), stamps.end(), w.begin() + 4 + 8 * warp); };
  put(0, {1, 0xffffff00u, 2, 0xffffff40u, 1, 0xffffffc0u, 4, 0xffffffe0u});
  put(1, {1, 0xfffffff0u, 4, 0x10});
  put(2, {3, 0xfffffe00u, 4, 0xffffff00u});
  return w;
}

TEST(Timeline, CountsFromTheFirstStampAndBeyondTheCounter) {
  const Timeline t = read_timeline(sidecar(), words(), "cycles");
  EXPECT_EQ(t.cta, 5u);
  ASSERT_EQ(t.warps.size(), 3u);
  ASSERT_EQ(t.warps[0].intervals.size(), 3u);
  EXPECT_EQ(t.warps[0].role, "math");
  EXPECT_EQ(t.warps[0].intervals[1].what, "wait ab");
  EXPECT_EQ(t.warps[0].intervals[1].begin, 0x140u);
  EXPECT_EQ(t.warps[0].intervals[1].end, 0x1c0u);
  EXPECT_TRUE(t.warps[0].full);
  ASSERT_EQ(t.warps[1].intervals.size(), 1u);
  EXPECT_EQ(t.warps[1].intervals[0].begin, 0x1f0u);
  EXPECT_EQ(t.warps[1].intervals[0].end, 0x210u);
  EXPECT_FALSE(t.warps[1].full);
  EXPECT_EQ(t.warps[2].role, "load");
  EXPECT_EQ(t.warps[2].intervals[0].begin, 0u);
  EXPECT_EQ(t.length(), 0x210u);
}

TEST(Timeline, IsATraceOfEventsForPerfetto) {
  const auto json = nlohmann::json::parse(chrome_trace({read_timeline(sidecar(), words(), "cycles")}));
  unsigned slices = 0;
  for (const auto& event : json.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    ++slices;
    if (event.at("name") == "wait ab") {
      EXPECT_EQ(event.at("tid"), 0);
      EXPECT_DOUBLE_EQ(event.at("ts"), 0.320);
      EXPECT_DOUBLE_EQ(event.at("dur"), 0.128);
    }
  }
  EXPECT_EQ(slices, 5u);
  EXPECT_THAT(json.dump(), AllOf(HasSubstr("k, CTA 5, cycles"), HasSubstr("math (warp 1)")));
}

TEST(Timeline, IsDrawn) {
  const std::vector<Timeline> all{read_timeline(sidecar(), words(), "steps")};
  EXPECT_THAT(timeline_svg(all), AllOf(HasSubstr("<svg"), HasSubstr("wait ab: 320 to 448, 128 steps"), HasSubstr("load (warp 2)")));
  EXPECT_THAT(timeline_table(all), AllOf(HasSubstr("k, CTA 5: 528 steps"), HasSubstr("math 50%  wait ab 50%"), HasSubstr("warp 0 had room for no more")));
}

TEST(Timeline, SaysThatACtaIsNotThere) {
  EXPECT_THAT(test::error_of([&] { read_timeline(sidecar(), std::vector<std::uint32_t>(28), "steps"); }), HasSubstr("no warp of CTA 0 has left a stamp"));
}

}  // namespace
}  // namespace tilewright::cli
