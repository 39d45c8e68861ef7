// The two forms of the reference agree, and the recurrence does what its definition says on cases worked by hand.
#include "kernels/gdn/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tilewright/error.h"

namespace tilewright::gdn {
namespace {

InputShape shape(std::vector<std::int64_t> lens, int hk, int hv, int dk = 128, int dv = 0) {  // dv = 0: dk
  InputShape s;
  s.lens = std::move(lens), s.hk = hk, s.hv = hv, s.dk = dk, s.dv = dv == 0 ? dk : dv;
  return s;
}

void expect_equal(const Outputs &a, const Outputs &b, double bound) {
  EXPECT_LE(rms_ratio(a.o, b.o), bound);
  EXPECT_LE(rms_ratio(a.final_state, b.final_state), bound);
}

class Kinds : public ::testing::TestWithParam<Kind> {};

TEST_P(Kinds, ChunksEqualTheRecurrence) {
  for (DType dtype : {DType::bf16, DType::f16}) {
    InputShape s = shape({130, 64, 0, 1, 63}, 2, 4);
    s.dtype = dtype;
    Inputs in = generate(s, GetParam(), 3);
    expect_equal(chunked(in), recurrence(in), 1e-10);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Kinds,
                         ::testing::Values(Kind::ordinary, Kind::few_keys, Kind::same_keys, Kind::no_decay,
                                           Kind::strong_decay),
                         [](const auto &kind) { return std::string(name_of(kind.param)); });

TEST(Reference, ChunksEqualTheRecurrenceAtOddSizes) {
  for (auto [dk, dv] : {std::pair{1, 1}, {5, 5}, {24, 24}, {64, 24}, {5, 64}})
    for (StateOrder order : {StateOrder::k_first, StateOrder::v_first}) {
      InputShape s = shape({1, 70, 129}, 1, 3, dk, dv);
      s.state_order = order;
      Inputs in = generate(s, Kind::ordinary, 5);
      expect_equal(chunked(in), recurrence(in), 1e-10);
    }
}

TEST(Reference, OneTokenByHand) {
  Inputs in = generate(shape({1}, 1, 1, 2), Kind::ordinary, 1);
  auto bits = [](float x) { return encode(x, DType::bf16); };
  in.q = {bits(1), bits(2)}, in.k = {bits(0.5), bits(-1)}, in.v = {bits(3), bits(4)};
  in.g = {std::log(0.5f)}, in.beta = {0.25f}, in.scale = 2;
  in.initial_state = {2, 4, 6, 8};
  // Decayed state {1, 2; 3, 4}; S^T k = (0.5 - 3, 1 - 4) = (-2.5, -3); delta = 0.25 (5.5, 7).
  const double dx = 0.25 * 5.5, dy = 0.25 * 7;
  const double s[] = {1 + 0.5 * dx, 2 + 0.5 * dy, 3 - dx, 4 - dy};
  Outputs out = recurrence(in);
  for (size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(out.final_state[i], s[i], 1e-6);
  EXPECT_NEAR(out.o[0], 2 * (s[0] + 2 * s[2]), 1e-6);
  EXPECT_NEAR(out.o[1], 2 * (s[1] + 2 * s[3]), 1e-6);
  in.state_order = StateOrder::v_first;
  in.initial_state = {2, 6, 4, 8};
  Outputs turned = recurrence(in);
  EXPECT_EQ(turned.o, out.o);
  EXPECT_EQ(turned.final_state[1], out.final_state[2]);
  EXPECT_EQ(turned.final_state[2], out.final_state[1]);
}

TEST(Reference, KeysNarrowerThanValuesByHand) {
  Inputs in = generate(shape({1}, 1, 1, 1, 3), Kind::ordinary, 1);
  auto bits = [](float x) { return encode(x, DType::bf16); };
  in.q = {bits(2)}, in.k = {bits(0.5)}, in.v = {bits(3), bits(4), bits(-1)};
  in.g = {std::log(0.5f)}, in.beta = {0.25f}, in.scale = 2;
  in.initial_state = {2, 4, 6}; // one row in either order
  for (StateOrder order : {StateOrder::k_first, StateOrder::v_first}) {
    in.state_order = order;
    Outputs out = recurrence(in);
    const double v[] = {3, 4, -1}, decayed[] = {1, 2, 3};
    for (size_t j = 0; j < 3; ++j) {
      const double s = decayed[j] + 0.5 * 0.25 * (v[j] - 0.5 * decayed[j]);
      EXPECT_NEAR(out.final_state[j], s, 1e-6);
      EXPECT_NEAR(out.o[j], 2 * 2 * s, 1e-6);
    }
  }
}

TEST(Reference, SplittingASequenceChangesNothing) {
  Inputs whole = generate(shape({150}, 1, 2, 32), Kind::ordinary, 2);
  Outputs expected = recurrence(whole);
  Inputs head = whole, tail = whole;
  const std::int64_t cut = 77;
  head.lens = {cut}, tail.lens = {150 - cut};
  auto split = [&](auto &first, auto &second, std::int64_t width) {
    first.resize(size_t(cut * width));
    second.erase(second.begin(), second.begin() + cut * width);
  };
  split(head.q, tail.q, 32), split(head.k, tail.k, 32), split(head.v, tail.v, 64);
  split(head.g, tail.g, 2), split(head.beta, tail.beta, 2);
  Outputs first = chunked(head);
  tail.initial_state.assign(first.final_state.begin(), first.final_state.end()); // through fp32
  Outputs second = chunked(tail);
  EXPECT_LE(rms_ratio(second.final_state, expected.final_state), 1e-6);
}

TEST(Reference, EmptySequencesKeepTheirStateAndMissingStatesAreZero) {
  Inputs in = generate(shape({0, 3}, 1, 1, 8), Kind::ordinary, 2);
  for (const Outputs &out : {recurrence(in), chunked(in)})
    for (size_t i = 0; i < 64; ++i)
      ASSERT_EQ(out.final_state[i], double(in.initial_state[i]));
  Inputs zeros = in, none = in;
  zeros.initial_state.assign(zeros.initial_state.size(), 0.0f);
  none.initial_state.clear();
  EXPECT_EQ(recurrence(none).o, recurrence(zeros).o);
  EXPECT_EQ(chunked(none).final_state, chunked(zeros).final_state);
}

TEST(Reference, DoesNotDependOnThreadsOrOnNeighbours) {
  Inputs in = generate(shape({90, 33}, 2, 4, 32), Kind::few_keys, 4);
  Outputs one = chunked(in, 1), many = chunked(in, 5);
  EXPECT_EQ(one.o, many.o);
  EXPECT_EQ(one.final_state, many.final_state);
  for (size_t i = 90 * 4 * 32; i < in.v.size(); ++i) // NaN in the second sequence stays there
    in.v[i] = 0x7fff;
  Outputs poisoned = chunked(in);
  for (size_t i = 0; i < 90 * 4 * 32; ++i)
    ASSERT_EQ(poisoned.o[i], one.o[i]);
}

TEST(RmsRatio, MeasuresAndRefuses) {
  std::vector<double> expected{3, 4}, off{3, 4.5};
  EXPECT_EQ(rms_ratio(expected, expected), 0);
  EXPECT_NEAR(rms_ratio(off, expected), 0.1, 1e-12);
  std::vector<float> as_float{3, 4.5f};
  EXPECT_NEAR(rms_ratio(as_float, expected), 0.1, 1e-12);
  std::vector<std::uint16_t> bits{encode(3, DType::f16), encode(4.5, DType::f16)};
  EXPECT_NEAR(rms_ratio(bits, DType::f16, expected), 0.1, 1e-12);
  off[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(rms_ratio(off, expected)));
  off.pop_back();
  EXPECT_THROW(rms_ratio(off, expected), Error);
  EXPECT_EQ(rms_ratio(std::span<const double>(), std::span<const double>()), 0);
}

} // namespace
} // namespace tilewright::gdn
