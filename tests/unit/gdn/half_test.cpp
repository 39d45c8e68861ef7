// 16-bit floats: every bit pattern round-trips, and rounding is to nearest, ties to even.
#include "tilewright/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tilewright {
namespace {

template <class From, class To> void round_trips(From from_float, To to_float, int exponent_bits) {
  const unsigned fraction_bits = unsigned(15 - exponent_bits);
  for (unsigned h = 0; h < 65536; ++h) {
    float x = to_float(std::uint16_t(h));
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(to_float(from_float(x))));
      continue;
    }
    ASSERT_EQ(from_float(x), h);
    // The midpoint to the next larger magnitude goes to the even one, and a hair to either side to the nearer one.
    if ((h & 0x7fffu) >= ((1u << exponent_bits) - 1) << fraction_bits || (h & 0x7fffu) == 0x7fffu)
      continue;
    float next = to_float(std::uint16_t(h + 1));
    if (std::isinf(next))
      continue;
    float middle = float((double(x) + double(next)) / 2);
    if (double(middle) != (double(x) + double(next)) / 2)
      continue;
    ASSERT_EQ(from_float(middle), h % 2 ? h + 1 : h);
    ASSERT_EQ(from_float(std::nextafter(middle, x)), h);
    ASSERT_EQ(from_float(std::nextafter(middle, next)), h + 1);
  }
}

TEST(Half, Bf16RoundTrips) { round_trips(bf16_from_float, float_from_bf16, 8); }
TEST(Half, F16RoundTrips) { round_trips(f16_from_float, float_from_f16, 5); }

TEST(Half, Extremes) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(f16_from_float(65504), 0x7bff);
  EXPECT_EQ(f16_from_float(65519.996f), 0x7bff);
  EXPECT_EQ(f16_from_float(65520), 0x7c00);
  EXPECT_EQ(f16_from_float(-1e30f), 0xfc00);
  EXPECT_EQ(f16_from_float(-inf), 0xfc00);
  EXPECT_EQ(f16_from_float(0x1p-25f), 0); // half of the smallest: ties to even
  EXPECT_EQ(f16_from_float(0x1.8p-25f), 1);
  EXPECT_EQ(f16_from_float(-0.0f), 0x8000);
  EXPECT_EQ(bf16_from_float(inf), 0x7f80);
  EXPECT_EQ(bf16_from_float(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(float_from_bf16(bf16_from_float(nan))));
  EXPECT_TRUE(std::isnan(float_from_f16(f16_from_float(nan))));
}

} // namespace
} // namespace tilewright
