// The least times of forward calls, against numbers that were worked out by hand.
#include "kernels/gdn/ceilings.h"

#include <gtest/gtest.h>

#include <vector>

namespace tilewright::gdn {
namespace {

TEST(Ceilings, OneSequenceOf32768Tokens) {
  // 512 chunks. A product of 64 x 64 x 128 is 1,048,576 operations; a value head has 8 of them a chunk, a key head 2.
  struct Row {
    HeadCounts heads;
    double megabytes, gigaflops;
  };
  for (const Row& row : {Row{{2, 8}, 170.917888, 36.507222016}, Row{{16, 64}, 1367.343104, 292.057776128}, Row{{16, 16}, 543.162368, 85.899345920}}) {
    const std::vector<std::int64_t> lens{32768};
    const Ceilings c = forward_ceilings(lens, row.heads);
    EXPECT_NEAR(c.memory_ms, row.megabytes / 4300, 1e-9) << row.heads.hk;
    EXPECT_NEAR(c.tensor_ms, row.gigaflops / 790, 1e-9) << row.heads.hk;
  }
}

TEST(Ceilings, LastChunksCountWholeAndStatesPerSequence) {
  const HeadCounts heads{1, 2};
  const auto of = [&](std::vector<std::int64_t> lens) { return forward_ceilings(lens, heads); };
  EXPECT_DOUBLE_EQ(of({65, 1}).tensor_ms, of({192}).tensor_ms);
  EXPECT_DOUBLE_EQ(of({0}).tensor_ms, 0);
  const double state = 2.0 * 128 * 128 * 4 * 2;  // of two heads, in and out
  EXPECT_NEAR((of({64, 64, 0}).memory_ms - of({128}).memory_ms) * 4.3e9, 2 * state, 1e-3);
  const double token = 2 * 2 * 128 * (1 + 2) + 2 * 2 * 4;
  EXPECT_NEAR((of({65}).memory_ms - of({64}).memory_ms) * 4.3e9, token, 1e-3);
}

TEST(Ceilings, HeadWidths) {
  const std::vector<std::int64_t> lens{64};
  const Ceilings c = forward_ceilings(lens, {1, 1}, 64, 128);
  // S K, S Q, V K: 64 x 64 x 128; T W, P V: 64 x 64 x 128; Q K^T, K K^T: 64 x 64 x 64.
  EXPECT_NEAR(c.tensor_ms * 790e9, 6 * 1048576, 1e-3);
  EXPECT_NEAR(c.memory_ms * 4.3e9, 64 * (2 * 2 * 64 + 2 * 2 * 128 + 8) + 8 * 64 * 128, 1e-3);
}

}  // namespace
}  // namespace tilewright::gdn
