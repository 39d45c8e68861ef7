// The generator has the distributions that it promises; the parsers take what they say and refuse the rest by name.
#include "kernels/gdn/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tilewright/error.h"

namespace tilewright::gdn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

InputShape shape(std::vector<std::int64_t> lens, int hk, int hv) {
  InputShape s;
  s.lens = std::move(lens), s.hk = hk, s.hv = hv;
  return s;
}

struct Moments {
  double mean = 0, deviation = 0;
};
template <class Get> Moments moments(size_t n, Get get) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < n; ++i)
    sum += get(i), squares += get(i) * get(i);
  return {sum / double(n), std::sqrt(squares / double(n) - sum / double(n) * sum / double(n))};
}

TEST(ParseLens, TakesTheThreeForms) {
  EXPECT_THAT(parse_lens("700+64+260"), ElementsAre(700, 64, 260));
  EXPECT_THAT(parse_lens("8192x4"), ElementsAre(8192, 8192, 8192, 8192));
  EXPECT_THAT(parse_lens("3x2+0+1"), ElementsAre(3, 3, 0, 1));
  EXPECT_THAT(parse_lens("32768"), ElementsAre(32768));
}

TEST(ParseLens, RefusesTheRest) {
  for (const char *bad :
       {"", "+", "12+", "a", "-1", "4x", "x4", "4x0", "4x-1", "4x2x2", "1.5", " 7", "99999999999999999999"})
    EXPECT_THAT([&] { parse_lens(bad); }, ThrowsMessage<Error>(HasSubstr("lens '" + std::string(bad) + "'"))) << bad;
  EXPECT_THAT([] { parse_lens("2147483647+1"); }, ThrowsMessage<Error>(HasSubstr("more than 2147483647 tokens")));
  EXPECT_THAT([] { parse_lens("0x99999999"); }, ThrowsMessage<Error>(HasSubstr("more than 16777216 sequences")));
}

TEST(ParseHeads, TakesAndRefuses) {
  EXPECT_EQ(parse_heads("16x64").hk, 16);
  EXPECT_EQ(parse_heads("16x64").hv, 64);
  for (const char *bad : {"", "16", "x", "0x4", "4x", "ax4", "2x4x8"})
    EXPECT_THAT([&] { parse_heads(bad); }, ThrowsMessage<Error>(HasSubstr("KEY_HEADSxVALUE_HEADS"))) << bad;
  EXPECT_THAT([] { parse_heads("16x24"); }, ThrowsMessage<Error>(HasSubstr("24 value heads are not a multiple of 16")));
}

TEST(ParseNames, TakeAndRefuse) {
  for (Kind k : {Kind::ordinary, Kind::few_keys, Kind::same_keys, Kind::no_decay, Kind::strong_decay})
    EXPECT_EQ(parse_kind(name_of(k)), k);
  EXPECT_EQ(parse_dtype("bf16"), DType::bf16);
  EXPECT_EQ(parse_dtype("fp16"), DType::f16);
  EXPECT_EQ(parse_dtype("f16"), DType::f16);
  EXPECT_THAT([] { parse_kind("hard"); },
              ThrowsMessage<Error>(HasSubstr("'hard' is not known; expected one of ordinary, few_keys")));
  EXPECT_THAT([] { parse_dtype("fp8"); }, ThrowsMessage<Error>(HasSubstr("expected one of bf16, fp16, f16")));
}

TEST(Generate, OrdinaryDistributions) {
  Inputs in = generate(shape({700, 64, 260}, 2, 8), Kind::ordinary, 3);
  EXPECT_EQ(in.tokens(), 1024);
  EXPECT_THAT(in.offsets(), ElementsAre(0, 700, 764, 1024));
  EXPECT_FLOAT_EQ(in.scale, 1 / std::sqrt(128.0f));
  Moments v = moments(in.v.size(), [&](size_t i) { return decode(in.v[i], in.dtype); });
  EXPECT_NEAR(v.mean, 0, 0.01);
  EXPECT_NEAR(v.deviation, 1, 0.01);
  Moments h0 = moments(in.initial_state.size(), [&](size_t i) { return in.initial_state[i]; });
  EXPECT_NEAR(h0.deviation, 1, 0.01);
  for (size_t r = 0; r < in.k.size(); r += 128)
    for (const auto *x : {&in.q, &in.k}) {
      double squares = 0;
      for (size_t c = 0; c < 128; ++c)
        squares += std::pow(decode((*x)[r + c], in.dtype), 2);
      ASSERT_NEAR(squares, 1, 0.01);
    }
  std::set<int> flat;
  for (int h = 0; h < 8; ++h) {
    bool zero = true;
    for (size_t t = 0; t < 1024; ++t) {
      float g = in.g[t * 8 + size_t(h)], beta = in.beta[t * 8 + size_t(h)];
      ASSERT_TRUE(g <= 0 && beta > 0 && beta < 1);
      zero &= g == 0;
    }
    if (zero)
      flat.insert(h);
  }
  EXPECT_EQ(flat.size(), 2u);
  Moments g = moments(in.g.size(), [&](size_t i) { return in.g[i]; });
  EXPECT_NEAR(g.mean, -0.806 / 16 * 0.75, 0.002); // E log(1 + e^-z) = 0.806 for normal z
}

TEST(Generate, HardKinds) {
  auto keys = [](const Inputs &in) {
    std::set<std::vector<std::uint16_t>> distinct;
    for (size_t t = 0; t < size_t(in.tokens()); ++t)
      distinct.insert({in.k.begin() + long(t * 2 * 128), in.k.begin() + long((t + 1) * 2 * 128)});
    return distinct.size();
  };
  Inputs few = generate(shape({500, 300}, 2, 4), Kind::few_keys, 3),
         same = generate(shape({500, 300}, 2, 4), Kind::same_keys, 3);
  EXPECT_EQ(keys(few), 24u);
  EXPECT_EQ(keys(same), 1u);
  for (const Inputs *in : {&few, &same})
    for (size_t i = 0; i < in->g.size(); ++i)
      ASSERT_TRUE(in->beta[i] >= 0.9f && in->beta[i] <= 1 && in->g[i] > -0.02f && in->g[i] <= 0);
  for (float g : generate(shape({100}, 1, 4), Kind::no_decay, 3).g)
    ASSERT_EQ(g, 0);
  Inputs strong = generate(shape({2000}, 1, 4), Kind::strong_decay, 3);
  EXPECT_NEAR(moments(strong.g.size(), [&](size_t i) { return strong.g[i]; }).mean, -10, 0.3);
}

TEST(Generate, IsDeterministicAndKeepsTheStateInEitherOrder) {
  InputShape s = shape({40, 0, 1}, 1, 2);
  Inputs a = generate(s, Kind::ordinary, 7), b = generate(s, Kind::ordinary, 7), c = generate(s, Kind::ordinary, 8);
  EXPECT_EQ(a.v, b.v);
  EXPECT_EQ(a.k, b.k);
  EXPECT_EQ(a.g, b.g);
  EXPECT_EQ(a.initial_state, b.initial_state);
  EXPECT_NE(a.v, c.v);
  s.state_order = StateOrder::v_first;
  Inputs turned = generate(s, Kind::ordinary, 7);
  for (size_t i = 0; i < 128; ++i)
    for (size_t j = 0; j < 128; ++j)
      ASSERT_EQ(turned.initial_state[j * 128 + i], a.initial_state[i * 128 + j]);
  s.dk = 3, s.dv = 5;
  turned = generate(s, Kind::ordinary, 7);
  s.state_order = StateOrder::k_first;
  a = generate(s, Kind::ordinary, 7);
  ASSERT_EQ(a.initial_state.size(), size_t(3 * 2 * 3 * 5));
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 5; ++j)
      ASSERT_EQ(turned.initial_state[j * 3 + i], a.initial_state[i * 5 + j]);
  EXPECT_FLOAT_EQ(a.scale, 1 / std::sqrt(3.0f));
  s.initial_state = false;
  EXPECT_TRUE(generate(s, Kind::ordinary, 7).initial_state.empty());
}

TEST(Inputs, NamesWhatDoesNotFit) {
  Inputs in = generate(shape({8}, 1, 2), Kind::ordinary, 1);
  in.v.pop_back();
  EXPECT_THAT([&] { in.check(); }, ThrowsMessage<Error>(HasSubstr("v has 2047 elements, expected 2048 (T, Hv, dv)")));
  EXPECT_THAT([] { generate(shape({8}, 2, 3), Kind::ordinary, 1); },
              ThrowsMessage<Error>(HasSubstr("3 value heads and 2 key heads")));
  EXPECT_THAT(
      [] {
        generate(shape({8, -1}, 1, 1), Kind::ordinary, 1);
      },
      ThrowsMessage<Error>(HasSubstr("sequence 1 has length -1")));
}

} // namespace
} // namespace tilewright::gdn
