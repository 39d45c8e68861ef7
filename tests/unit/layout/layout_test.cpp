// Layouts by enumeration: every element has one place and every place one element; known conflict-free accesses are so.
#include "dialect/layout/layout.h"
#include "dialect/layout/picture.h"

#include <gtest/gtest.h>

#include <set>

#include "tilewright/error.h"

namespace tilewright::layout {
namespace {

SharedLayout swizzled(int rows, int cols, int eb = 2) { return {rows, cols, eb, SharedLayout::swizzle128, 0}; }

class SharedLayouts : public ::testing::TestWithParam<SharedLayout> {};

TEST_P(SharedLayouts, EveryElementHasItsOwnBytes) {
  SharedLayout s = GetParam();
  s.check();
  std::set<int64_t> taken;
  for (int r = 0; r < s.rows; ++r)
    for (int c = 0; c < s.cols; ++c) {
      int64_t byte = s.byte_of(r, c);
      ASSERT_GE(byte, 0);
      ASSERT_LE(byte + s.element_bytes, s.size_bytes());
      ASSERT_EQ(byte % s.element_bytes, 0);
      ASSERT_TRUE(taken.insert(byte).second) << r << "," << c;
      ASSERT_EQ(s.at_byte(byte), (Coord{r, c}));
    }
  for (int64_t b = 0; b < s.size_bytes(); ++b)
    ASSERT_EQ(s.at_byte(b).row >= 0, taken.count(b) == 1) << b;
}

INSTANTIATE_TEST_SUITE_P(All, SharedLayouts,
                         ::testing::Values(SharedLayout{64, 64}, SharedLayout{5, 3, 4, SharedLayout::row_major, 8},
                                           SharedLayout{1, 64, 4}, SharedLayout{16, 40, 2, SharedLayout::row_major, 16},
                                           swizzled(64, 64), swizzled(64, 128), swizzled(8, 256), swizzled(128, 64),
                                           swizzled(64, 32, 4), swizzled(16, 128, 1)));

TEST(SharedLayout, FollowsTheSwizzleFormula) {
  SharedLayout s = swizzled(64, 128);
  EXPECT_EQ(s.byte_of(0, 0), 0);
  EXPECT_EQ(s.byte_of(0, 64), 64 * 128);            // second panel
  EXPECT_EQ(s.byte_of(1, 0), 128 + 16);             // chunk 0 ^ 1
  EXPECT_EQ(s.byte_of(7, 9), 7 * 128 + 6 * 16 + 2); // chunk 1 ^ 7, second element
  EXPECT_EQ(s.size_bytes(), 16384);
  EXPECT_EQ(s.alignment(), 1024);
  EXPECT_EQ((SharedLayout{1, 64, 4}.alignment()), 128);
  EXPECT_EQ((SharedLayout{64, 64, 2, SharedLayout::row_major, 16}.alignment()), 16);
  EXPECT_EQ((SharedLayout{1, 3, 4}.alignment()), 16);
}

TEST(SharedLayout, RefusesWhatCannotBe) {
  EXPECT_THROW(swizzled(12, 64).check(), Error);
  EXPECT_THROW(swizzled(64, 48).check(), Error);
  EXPECT_THROW((SharedLayout{0, 4}.check()), Error);
  EXPECT_THROW((SharedLayout{4, 4, 3}.check()), Error);
  EXPECT_THROW((SharedLayout{8, 64, 2, SharedLayout::swizzle128, 16}.check()), Error);
}

class Fragments : public ::testing::TestWithParam<FragmentLayout> {};

TEST_P(Fragments, EveryElementHasOneOwner) {
  FragmentLayout f = GetParam();
  f.check();
  EXPECT_EQ(f.elements() * f.warps * kLanes, f.rows * f.cols);
  std::set<std::pair<int, int>> seen;
  for (int w = 0; w < f.warps; ++w)
    for (int l = 0; l < kLanes; ++l)
      for (int i = 0; i < f.elements(); ++i) {
        Coord at = f.coord(w, l, i);
        ASSERT_TRUE(at.row >= 0 && at.row < f.rows && at.col >= 0 && at.col < f.cols);
        ASSERT_TRUE(seen.insert({at.row, at.col}).second);
        ASSERT_EQ(f.owner(at.row, at.col), (Owner{w, l, i}));
        // The definition of PTX, said again: d[4j+2h+e] of lane l = (16w + l/4 + 8h, 8j + 2(l%4) + e).
        int j = i / 4, h = i / 2 % 2, e = i % 2;
        ASSERT_EQ(at, (Coord{16 * w + l / 4 + 8 * h, 8 * j + 2 * (l % 4) + e}));
      }
}

INSTANTIATE_TEST_SUITE_P(All, Fragments,
                         ::testing::Values(FragmentLayout{64, 64, 4}, FragmentLayout{64, 128, 4},
                                           FragmentLayout{128, 64, 8}, FragmentLayout{16, 16, 1},
                                           FragmentLayout{16, 64, 1}, FragmentLayout{192, 8, 12}));

TEST(Fragment, CountsRegistersAndRefusesWhatCannotBe) {
  EXPECT_EQ((FragmentLayout{64, 128, 4}.registers()), 64);
  EXPECT_EQ((FragmentLayout{64, 128, 4}.registers(2)), 32);
  EXPECT_THROW((FragmentLayout{64, 64, 8}.check()), Error);
  EXPECT_THROW((FragmentLayout{32, 64, 2}.check()), Error);
  EXPECT_THROW((FragmentLayout{64, 60, 4}.check()), Error);
}

// ldmatrix gives lane l, register q: elements 2*(l%4), 2*(l%4)+1 of row l/4 of the 8x8 matrix whose rows lanes 8q..8q+7
// address; .trans gives the elements of the transposed matrix. That must be the fragment's 16-bit register q.
TEST(LaneAddresses, BringFragmentRegisters) {
  FragmentLayout f{64, 64, 4};
  for (int warp = 0; warp < 4; ++warp)
    for (int c0 = 0; c0 < 64; c0 += 16)
      for (bool transposed : {false, true})
        for (int lane = 0; lane < kLanes; ++lane)
          for (int q = 0; q < 4; ++q)
            for (int e = 0; e < 2; ++e) {
              int row_in_matrix = transposed ? 2 * (lane % 4) + e : lane / 4;
              int col_in_matrix = transposed ? lane / 4 : 2 * (lane % 4) + e;
              Coord start = matrix_lane_address(8 * q + row_in_matrix, 16 * warp, c0, transposed);
              Coord element{start.row, start.col + col_in_matrix};
              if (transposed)
                std::swap(element.row, element.col);
              ASSERT_EQ(element, f.coord(warp, lane, c0 / 2 + 2 * q + e));
            }
}

// The B operand of mma.m16n8k16: lane l, register h: k = 2*(l%4) + e + 8h, n = l/4.
TEST(LaneAddresses, BringTheBOperandOfAWarpProduct) {
  for (bool k_major : {false, true})
    for (int lane = 0; lane < kLanes; ++lane)
      for (int q = 0; q < 4; ++q)
        for (int e = 0; e < 2; ++e) {
          int k = 32 + 2 * (lane % 4) + e + 8 * (q & 1), n = 16 + lane / 4 + 8 * (q >> 1);
          int row_in_matrix = k_major ? lane / 4 : 2 * (lane % 4) + e;
          int col_in_matrix = k_major ? 2 * (lane % 4) + e : lane / 4;
          Coord start = mma_b_lane_address(8 * q + row_in_matrix, 32, 16, k_major);
          Coord element{start.row, start.col + col_in_matrix};
          ASSERT_EQ(element, (k_major ? Coord{n, k} : Coord{k, n}));
        }
}

TEST(BankConflicts, NoneForMatrixAccessToASwizzledTile) {
  SharedLayout s = swizzled(64, 128), plain{64, 64};
  for (bool transposed : {false, true})
    for (int r0 = 0; r0 < 64; r0 += 16)
      for (int c0 = 0; c0 < 64; c0 += 16) {
        std::array<int64_t, 32> at{}, at_plain{};
        for (int l = 0; l < 32; ++l) {
          at[size_t(l)] = matrix_lane_byte(s, l, r0, c0, transposed);
          at_plain[size_t(l)] = matrix_lane_byte(plain, l, r0, c0, transposed);
        }
        EXPECT_EQ(bank_conflicts(at, 16), 0);
        EXPECT_EQ(bank_conflicts(at_plain, 16), 4 * 7); // rows of 128 bytes: all 8 rows in the same banks
      }
}

TEST(BankConflicts, CountsPasses) {
  std::array<int64_t, 32> at{};
  EXPECT_EQ(bank_conflicts(at, 4), 0); // one word for all: broadcast
  for (int l = 0; l < 32; ++l)
    at[size_t(l)] = 4 * l;
  EXPECT_EQ(bank_conflicts(at, 4), 0);
  for (int l = 0; l < 32; ++l)
    at[size_t(l)] = 8 * l;
  EXPECT_EQ(bank_conflicts(at, 4), 1);
  EXPECT_EQ(bank_conflicts(at, 8), 0);
  for (int l = 0; l < 32; ++l)
    at[size_t(l)] = 128 * l;
  EXPECT_EQ(bank_conflicts(at, 4), 31);
  for (int l = 1; l < 32; ++l)
    at[size_t(l)] = -1; // one active lane
  EXPECT_EQ(bank_conflicts(at, 4), 0);
  EXPECT_THROW(bank_conflicts(at, 3), Error);
}

TEST(WgmmaOperand, FieldsOfDescriptors) {
  WgmmaOperand k_major{swizzled(64, 128), false}, mn_major{swizzled(64, 128), true};
  k_major.check();
  mn_major.check();
  EXPECT_EQ(k_major.high_word(), 0x40000040u);
  EXPECT_EQ(mn_major.high_word(), 0x40000040u);
  EXPECT_EQ(k_major.low_word(0x8400), 0x840u | 1u << 16);
  EXPECT_EQ(k_major.low_word(0x01008400), 0x840u | 1u << 16); // the CTA rank of a cluster is masked away
  EXPECT_EQ(mn_major.low_word(0x400), 0x40u | (8192u >> 4) << 16);
  EXPECT_EQ(k_major.k_steps(), 8);
  EXPECT_EQ(k_major.mn_extent(), 64);
  EXPECT_EQ(mn_major.k_steps(), 4);
  EXPECT_EQ(mn_major.mn_extent(), 128);
  EXPECT_EQ(mn_major.k_step_bytes(3), 3 * 2048);
  EXPECT_EQ(mn_major.mn_bytes(64), 8192);
  EXPECT_EQ(k_major.mn_bytes(16), 2048);
  EXPECT_THROW(k_major.mn_bytes(4), Error);
  EXPECT_THROW(mn_major.mn_bytes(32), Error);
  EXPECT_THROW((WgmmaOperand{SharedLayout{64, 64}, false}.check()), Error);
}

// A K-major k-step starts at the unswizzled place of its first element: the hardware applies the XOR to address bits.
TEST(WgmmaOperand, KStepsStartWhereTheirColumnsDo) {
  WgmmaOperand b{swizzled(64, 128), false};
  for (int kk = 0; kk < b.k_steps(); ++kk)
    EXPECT_EQ(b.k_step_bytes(kk), b.tile.byte_of(0, 16 * kk));
  WgmmaOperand t{swizzled(64, 128), true};
  for (int kk = 0; kk < t.k_steps(); ++kk)
    EXPECT_EQ(t.k_step_bytes(kk), t.tile.byte_of(16 * kk, 0));
}

TEST(WgmmaOperand, OfTf32) {
  WgmmaOperand b{SharedLayout{.rows = 32, .cols = 64, .element_bytes = 4, .kind = SharedLayout::swizzle128}, false};
  b.check();
  EXPECT_EQ(b.k_step(), 8);
  EXPECT_EQ(b.k_steps(), 8);
  for (int kk = 0; kk < b.k_steps(); ++kk)
    EXPECT_EQ(b.k_step_bytes(kk), b.tile.byte_of(0, 8 * kk));
  b.mn_major = true;
  EXPECT_THROW(b.check(), Error);
}

// Two exchanges bring columns t and t + 4 to lane t, which had 2t and 2t + 1.
TEST(Tf32, ExchangeOfColumns) {
  for (int t = 0; t < 4; ++t) {
    std::array<int, 2> columns{-1, -1};
    for (int round = 0; round < 2; ++round) {
      int from = tf32_source(t, round);
      columns[tf32_part(t, round)] = 2 * from + tf32_part(from, round);
    }
    EXPECT_EQ(columns[0], t);
    EXPECT_EQ(columns[1], t + 4);
  }
}

TEST(Pictures, ShowOwnersAndBytes) {
  std::string s = picture(swizzled(8, 64), 2, 8);
  EXPECT_NE(s.find("144:4"), std::string::npos) << s;
  std::string f = picture(FragmentLayout{64, 64, 4}, 9, 4);
  EXPECT_NE(f.find("0.0.2"), std::string::npos) << f;
}

TEST(Pictures, SayWhatAccessesCost) {
  std::string swizzle = access_report(swizzled(64, 64)), plain = access_report({64, 64, 2}), padded = access_report({64, 64, 2, SharedLayout::row_major, 16});
  EXPECT_NE(swizzle.find("ldmatrix, a 16 x 16 block: no conflict"), std::string::npos) << swizzle;
  EXPECT_NE(plain.find("ldmatrix, a 16 x 16 block: 28 passes beyond the least"), std::string::npos) << plain;
  EXPECT_NE(plain.find("32 elements of a column: 31 passes"), std::string::npos) << plain;
  EXPECT_NE(padded.find("ldmatrix.trans, a 16 x 16 block: no conflict"), std::string::npos) << padded;
}

TEST(Pictures, AreDrawnAsSvg) {
  std::string tile = svg(swizzled(16, 64), "tile <a> & b");
  EXPECT_NE(tile.find("tile &lt;a&gt; &amp; b"), std::string::npos);
  EXPECT_NE(tile.find("row 9, columns 8..15: byte 1152, banks 0..3"), std::string::npos) << tile;
  std::string odd = svg({4, 6, 4, SharedLayout::row_major, 4}, "rows of 28 bytes");
  EXPECT_NE(odd.find("row 1, columns 0: byte 28, banks 7"), std::string::npos) << odd;
  std::string half = svg(FragmentLayout{64, 32, 4}, 2, "fragment");
  EXPECT_NE(half.find("row 8, column 9: warp 0, lane 0, register 3, high half"), std::string::npos);
  auto cells = [](const std::string &text) {
    size_t n = 0;
    for (size_t at = text.find("<g>"); at != std::string::npos; at = text.find("<g>", at + 1))
      ++n;
    return n;
  };
  EXPECT_EQ(cells(tile), 16u * 8u);
  EXPECT_EQ(cells(half), 64u * 32u);
  EXPECT_EQ(cells(svg(FragmentLayout{128, 256, 8}, 4, "large")), 64u * 64u);
}

} // namespace
} // namespace tilewright::layout
