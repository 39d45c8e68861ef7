#include "dialect/target/tma.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tilewright::target;
using testing::HasSubstr;
using testing::Optional;

namespace {

std::optional<std::string> box(std::vector<std::int64_t> extents, int elementBytes, int swizzleBytes) {
  return tmaBoxProblem({.extents = extents, .elementBytes = elementBytes, .swizzleBytes = swizzleBytes});
}

std::optional<std::string> tensor(std::uint64_t address, std::vector<std::int64_t> extents,
                                  std::vector<std::int64_t> strides) {
  return tmaTensorProblem(address, extents, strides);
}

} // namespace

TEST(TmaBox, FitsTheMachine) {
  EXPECT_EQ(box({64, 128}, 2, 128), std::nullopt);
  EXPECT_EQ(box({256}, 4, 0), std::nullopt);
  EXPECT_EQ(box({8, 256, 1, 1, 1}, 2, 32), std::nullopt);
  std::vector<std::int64_t> extents{64, 128};
  EXPECT_EQ(tmaBoxBytes({.extents = extents, .elementBytes = 2, .swizzleBytes = 128}), 16384);
}

TEST(TmaBox, SaysWhatDoesNotFit) {
  EXPECT_THAT(box({64, 257}, 2, 128), Optional(HasSubstr("extent 257 along dimension 1")));
  EXPECT_THAT(box({0, 8}, 2, 0), Optional(HasSubstr("extent 0 along dimension 0")));
  EXPECT_THAT(box({128, 8}, 2, 128), Optional(HasSubstr("256 bytes is longer than the 128-byte swizzle span")));
  EXPECT_THAT(box({3, 8}, 2, 0), Optional(HasSubstr("6 bytes, expected a multiple of 16")));
  EXPECT_THAT(box({}, 2, 0), Optional(HasSubstr("rank 0")));
  EXPECT_THAT(box({8, 1, 1, 1, 1, 1}, 2, 0), Optional(HasSubstr("rank 6")));
  EXPECT_THAT(box({16}, 3, 0), Optional(HasSubstr("element of 3 bytes")));
  EXPECT_THAT(box({16}, 2, 48), Optional(HasSubstr("swizzle of 48 bytes")));
}

TEST(TmaTensor, FitsTheMachine) {
  EXPECT_EQ(tensor(256, {128, 1000, 3}, {256, 256000}), std::nullopt);
  EXPECT_EQ(tensor(0x7f0000000010, {64}, {}), std::nullopt);
}

TEST(TmaTensor, SaysWhatDoesNotFit) {
  EXPECT_THAT(tensor(8, {64}, {}), Optional(HasSubstr("8 bytes past a multiple of 16")));
  EXPECT_THAT(tensor(0, {64, 0}, {128}), Optional(HasSubstr("extent 0 along dimension 1")));
  EXPECT_THAT(tensor(0, {64, 8}, {100}), Optional(HasSubstr("stride of 100 bytes along dimension 1")));
  EXPECT_THAT(tensor(0, {64, 8}, {std::int64_t{1} << 40}), Optional(HasSubstr("below 2^40")));
  EXPECT_THAT(tensor(0, {64, 8}, {}), Optional(HasSubstr("0 strides, expected 1")));
  EXPECT_THAT(tensor(0, {}, {}), Optional(HasSubstr("rank 0")));
}

TEST(TmaAlignment, IsEightRowsOfTheSpan) {
  EXPECT_EQ(tmaSharedAlignment(128), 1024);
  EXPECT_EQ(tmaSharedAlignment(64), 512);
  EXPECT_EQ(tmaSharedAlignment(32), 256);
  EXPECT_EQ(tmaSharedAlignment(0), 128);
}
