// tilewright plan: what it prints, what it draws, what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "runtime/cli/segment_picture.h"
#include "tests/unit/cli/ran.h"

namespace tilewright::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The shipped costs, whatever the machine that the tests run on has.
const int kShipped = setenv("TILEWRIGHT_PLANNER_COSTS", "off", 1);

std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(PlanCommand, PrintsItemsAndTheirCourse) {
  const Ran r = ran("plan gdn-forward --heads 2x8 --lens 8192 --form full --items");
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("full form, 132 SMs"), HasSubstr("whole chains 223.8 us"), HasSubstr(" transition; "), HasSubstr("no chain follows whole"), HasSubstr("  SM   0 |"),
                           HasSubstr("from zero, behind a warm-up\n")));
}
TEST(PlanCommand, SaysThatNothingIsCut) {
  for (const char* line : {"plan gdn-forward --heads 16x64 --lens 8192x4", "plan gdn-forward --heads 2x8 --lens 8192 --cp off"})
    EXPECT_THAT(ran(line).out, AllOf(HasSubstr("no chain is cut"), Not(HasSubstr(" items: ")))) << line;
}
TEST(PlanCommand, TakesEqualSegmentsAndDecays) {
  EXPECT_THAT(ran("plan gdn-forward --heads 2x2 --lens 640 --cp 5 --decay 1").out, HasSubstr("24 items: 10 final, 8 end, 6 transition; 8 records; sequences of at most 1 chunks follow whole"));
  EXPECT_THAT(ran("plan gdn-forward --heads 2x2 --lens 640 --cp 5 --decay 0.5").out, HasSubstr("10 items: 10 final, 0 end"));
}
TEST(PlanCommand, RefusesWhatItDoesNotKnow) {
  for (const auto& [line, what] : std::vector<std::pair<std::string, std::string>>{{"plan gemm", "'gemm' has no plan of segments; expected gdn-forward"},
                                                                                  {"plan gdn-forward --decay 0.9+1.5", "--decay '0.9+1.5'"},
                                                                                  {"plan gdn-forward --decay 0.9+", "--decay '0.9+'"},
                                                                                  {"plan gdn-forward --cp 300", "--cp '300': expected auto, off or a number of segments from 1 to 256"}}) {
    const Ran r = ran(line);
    EXPECT_EQ(r.status, 2) << line;
    EXPECT_THAT(r.err, HasSubstr(what));
  }
  EXPECT_EQ(ran("plan gdn-forward --svg /nonexistent/folder/a.svg").status, 1);
}
TEST(PlanCommand, ThePictureOfTheDocumentationIsCurrent) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "gdn_plan.svg", shown = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "docs/kernels/gdn_plan.svg";
  const std::string line = "plan gdn-forward --heads 2x8 --lens 28672+4096 --form full --svg ";
  ASSERT_EQ(ran(line + file.string()).status, 0);
  EXPECT_TRUE(contents(file) == contents(shown)) << "tilewright " << line << "docs/kernels/gdn_plan.svg draws it anew";
  EXPECT_THAT(contents(std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "docs/kernels/gdn_plan.md"), HasSubstr("tilewright " + line + "docs/kernels/gdn_plan.svg"));
}
TEST(SegmentPicture, ShowsWhoWaits) {
  gdn::Timeline t;
  t.makespan = 20;
  t.spans = {{0, 0, 0, 0, 10, {0, 0, 0, 4, gdn::SegmentKind::end, 0, 0}}, {1, 1, 0, 10, 20, {0, 0, 4, 4, gdn::SegmentKind::final, 0, 1}}, {0, 2, 10, 10, 15, {0, 0, 0, 4, gdn::SegmentKind::final, 0, 0}}};
  EXPECT_THAT(segment_text(t, 2, 2, 20), AllOf(HasSubstr("SM   0 |eeeeeeeee|SSSS\n"), HasSubstr("SM   1 |.........RRRRRRRRRR\n")));
  EXPECT_THAT(segment_svg(t, 2, "title"), HasSubstr("sequence 0, head 0, chunks 4..8, segment 1: from records, 10.0 to 20.0 us"));
}

}  // namespace
}  // namespace tilewright::cli
