// The comparison itself: a device agrees with itself, and what is wrong is found.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/card/agreement/cases.h"

namespace tilewright::test {
namespace {

const Case& case_of(const std::string& name) {
  for (const Case& c : agreement_cases())
    if (c.name == name) return c;
  throw Error("no case '" + name + "'");
}

/// Moves the element of the largest magnitude by `units` in its last place.
void move_largest(Ran& ran, unsigned units) {
  Captured& c = ran.outputs[0];
  const auto values = values_of(c);
  std::size_t at = 0;
  for (std::size_t n = 0; n < values.size(); ++n)
    if (std::abs(values[n]) > std::abs(values[at])) at = n;
  std::uint16_t bits;
  std::memcpy(&bits, &c.bytes[2 * at], 2);
  bits = static_cast<std::uint16_t>(bits - units);
  std::memcpy(&c.bytes[2 * at], &bits, 2);
}

TEST(Agreement, TheSimulatorAgreesWithItself) {
  for (const char* name : {"copy", "gemm-one-role", "gemm-gelu", "softmax", "linear-attention", "gdn-forward split bf16", "gdn-forward margins of NaN",
                           "gdn-forward 64 x 64 full f16", "gdn-forward 64 x 128 l2norm, bf16 states"}) {
    const Agreement a = agree(case_of(name), "sim", "sim");
    EXPECT_TRUE(a.agree()) << name << ": " << a.problem;
    for (const Difference& d : a.outputs) {
      EXPECT_EQ(d.different, 0u) << name << " " << d.output;
      EXPECT_GT(d.elements, 0u) << name;
    }
  }
}

TEST(Agreement, CopiesMustBeEqual) {
  const Agreement a = agree(case_of("copy"), "sim", "sim", [](Ran& ran) { move_largest(ran, 1); });
  ASSERT_EQ(a.outputs.size(), 1u) << a.problem;
  EXPECT_EQ(a.outputs[0].different, 1u);
  EXPECT_FALSE(a.agree());
}

TEST(Agreement, AResultMayBeRoundedTheOtherWayButNoFurther) {
  for (const char* name : {"gemm-one-role", "gemm-gelu", "softmax"}) {
    EXPECT_TRUE(agree(case_of(name), "sim", "sim", [](Ran& ran) { move_largest(ran, 1); }).agree()) << name;
    EXPECT_FALSE(agree(case_of(name), "sim", "sim", [](Ran& ran) { move_largest(ran, 3); }).agree()) << name;
  }
}

TEST(Agreement, AWrongRowIsFoundWhereResultsAreRoundedBetween) {
  for (const char* name : {"linear-attention", "gdn-forward split bf16"}) {
    const Agreement a = agree(case_of(name), "sim", "sim", [](Ran& ran) {   // one row of 128 is that of its neighbour
      auto& bytes = ran.outputs[0].bytes;
      std::copy_n(bytes.begin() + 256, 256, bytes.begin());
    });
    ASSERT_FALSE(a.outputs.empty()) << a.problem;
    EXPECT_GT(a.outputs[0].different, 100u) << name;
    EXPECT_FALSE(a.agree()) << name << ": rms " << a.outputs[0].rms;
  }
}

TEST(Agreement, NaNAndOtherPtxDoNotAgree) {
  EXPECT_FALSE(agree(case_of("softmax"), "sim", "sim", [](Ran& ran) { ran.outputs[0].bytes[1] = 0x7f, ran.outputs[0].bytes[0] = 0xff; }).agree());
  const Agreement a = agree(case_of("copy"), "sim", "sim", [](Ran& ran) { ran.ptx[0] += " "; });
  EXPECT_EQ(a.problem, "the devices got different PTX");
  EXPECT_FALSE(a.agree());
}

}  // namespace
}  // namespace tilewright::test
