#include "dialect/target/wgmma.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tilewright::target;
using testing::HasSubstr;
using testing::Optional;

TEST(WgmmaElements, HaveNamesAndDepths) {
  EXPECT_EQ(parseWgmmaElement("bf16"), WgmmaElement::bf16);
  EXPECT_EQ(parseWgmmaElement("tf32"), WgmmaElement::tf32);
  EXPECT_EQ(parseWgmmaElement("f32"), std::nullopt);
  EXPECT_EQ(wgmmaElementName(WgmmaElement::f16), "f16");
  EXPECT_EQ(wgmmaK(WgmmaElement::bf16), 16);
  EXPECT_EQ(wgmmaK(WgmmaElement::tf32), 8);
}

TEST(WgmmaForms, TakeEveryMultipleOfEight) {
  for (int n = -8; n <= 272; ++n) {
    bool legal = n >= 8 && n <= 256 && n % 8 == 0;
    EXPECT_EQ(!wgmmaProblem({.n = n}).has_value(), legal) << n;
  }
}

TEST(WgmmaForms, TransposeOnlySixteenBitsInSharedMemory) {
  EXPECT_EQ(wgmmaProblem({.n = 64, .element = WgmmaElement::bf16, .transA = true, .transB = true}), std::nullopt);
  EXPECT_EQ(wgmmaProblem({.n = 64, .element = WgmmaElement::f16, .aFromRegisters = true, .transB = true}),
            std::nullopt);
  EXPECT_THAT(wgmmaProblem({.n = 64, .element = WgmmaElement::tf32, .transB = true}),
              Optional(HasSubstr("16-bit element type, got tf32")));
  EXPECT_THAT(wgmmaProblem({.n = 64, .aFromRegisters = true, .transA = true}), Optional(HasSubstr("registers")));
}

TEST(WgmmaRegisters, AreHalfTheColumns) {
  EXPECT_EQ(wgmmaAccumulatorRegisters(256), 128);
  EXPECT_EQ(wgmmaAccumulatorRegisters(8), 4);
}

TEST(WgmmaMaxN, FollowsTheRegistersAtEntry) {
  EXPECT_EQ(wgmmaMaxN(128), 256);
  EXPECT_EQ(wgmmaMaxN(384), 256);
  EXPECT_EQ(wgmmaMaxN(512), 192);
}
