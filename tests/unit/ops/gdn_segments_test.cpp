// Chains cut into segments (cp): as exact as whole chains, whatever the inputs, lengths, states and schedules.
#include "runtime/ops/gdn_forward_check.h"
#include "runtime/sim/simulator.h"
#include "tests/unit/ops/gdn_call.h"

namespace tilewright::ops {
namespace {

using gdn::DType;
using gdn::Form;
using gdn::HeadClass;
using gdn::Kind;
using gdn::StateOrder;
using testing::HasSubstr;

constexpr Form kForms[]{Form::full, Form::split};
constexpr HeadClass kClasses[]{HeadClass::erasing, HeadClass::matrix};

std::shared_ptr<runtime::Device> device_of(unsigned multiprocessors) { return runtime::sim::make_simulated_device({.multiprocessors = multiprocessors}); }

struct Results {
  std::vector<std::uint16_t> o;
  std::vector<float> state;
  bool operator==(const Results&) const = default;
};

struct Segmented : Call {
  using Call::Call;

  /// o and final states of a call whose chains are cut into `cp` segments.
  Results cut(int cp, Form form, HeadClass heads = HeadClass::chosen) {
    args.cp = cp;
    give_workspace();
    const std::vector<std::uint16_t> no_o(o.size(), 0x7fff);
    const std::vector<float> no_state(state.size(), std::nanf(""));
    device->copy_to_device(args.o.address, no_o.data(), no_o.size() * 2);
    device->copy_to_device(args.final_state.address, no_state.data(), no_state.size() * 4);
    run({form, {}, heads});
    fetch();
    return {o, state};
  }
  /// Distances of o and the final states from the reference.
  std::pair<double, double> errors(const Results& r, const gdn::Outputs& expected) const {
    return {gdn::rms_ratio(r.o, in.dtype, expected.o), gdn::rms_ratio(r.state, expected.final_state)};
  }
  void put_again(const Operand& operand, const std::vector<float>& values) { device->copy_to_device(operand.address, values.data(), values.size() * 4); }
  /// Every token of a chunk of the only head loses the same part of `bits` bits.
  void decay_chunks(const std::vector<double>& bits) {
    for (std::size_t t = 0; t < in.g.size(); ++t) in.g[t] = static_cast<float>(-bits[t / 64] / 64 * std::log(2.0));
    put_again(args.g, in.g);
  }
  void enlarge_state(float factor) {
    for (float& x : in.initial_state) x *= factor;
    put_again(args.initial_state, in.initial_state);
  }
};

struct Case {
  Kind kind;
  Form form;
  HeadClass heads;
  DType dtype;
  StateOrder order;
  bool l2norm;
};
// Every kind of input has both classes of heads; all else comes in turn.
const Case cases[]{
    {Kind::ordinary, Form::full, HeadClass::erasing, DType::bf16, StateOrder::k_first, false},
    {Kind::ordinary, Form::split, HeadClass::matrix, DType::f16, StateOrder::v_first, true},
    {Kind::few_keys, Form::split, HeadClass::erasing, DType::f16, StateOrder::k_first, false},
    {Kind::few_keys, Form::full, HeadClass::matrix, DType::bf16, StateOrder::v_first, false},
    {Kind::same_keys, Form::full, HeadClass::erasing, DType::f16, StateOrder::v_first, true},
    {Kind::same_keys, Form::split, HeadClass::matrix, DType::bf16, StateOrder::k_first, false},
    {Kind::no_decay, Form::split, HeadClass::erasing, DType::bf16, StateOrder::v_first, true},
    {Kind::no_decay, Form::full, HeadClass::matrix, DType::f16, StateOrder::k_first, false},
    {Kind::strong_decay, Form::full, HeadClass::erasing, DType::bf16, StateOrder::k_first, true},
    {Kind::strong_decay, Form::split, HeadClass::matrix, DType::bf16, StateOrder::v_first, false},
    {Kind::ordinary, Form::full, HeadClass::chosen, DType::f16, StateOrder::k_first, false},
};

TEST(GdnSegments, AsExactAsWholeChainsForEveryKindOfInput) {
  for (const Case& c : cases) {
    SCOPED_TRACE(testing::Message() << gdn::name_of(c.kind) << " " << gdn::name_of(c.form) << " class " << static_cast<int>(c.heads) << " " << gdn::name_of(c.dtype) << " "
                                    << gdn::name_of(c.order) << (c.l2norm ? " l2norm" : ""));
    Segmented call({8 * 64 + 10}, {1, 1, 2}, c.kind, test_device(), c.dtype);
    set_checks(*call.device, c.kind == Kind::ordinary);
    call.args.state_order = call.in.state_order = c.order;
    call.args.l2norm = c.l2norm;
    const gdn::Outputs expected = gdn::recurrence(call.in);
    const auto [o, state] = call.errors(call.cut(1, c.form), expected);
    EXPECT_LT(std::max(o, state), 6e-3);
    for (const int cp : {2, 3, 8}) {
      const auto [cut_o, cut_state] = call.errors(call.cut(cp, c.form, c.heads), expected);
      EXPECT_LE(cut_o, 1.1 * o) << cp;
      EXPECT_LE(cut_state, 1.2 * state) << cp;  // 1.17 with one key for all tokens and matrices, else below 1.1
    }
  }
}

TEST(GdnSegments, RawGatesAndLogits) {
  for (const HeadClass heads : kClasses) {
    Segmented call({330, 5}, {1, 1, 2});
    std::vector<float> x, logit, a_log{-1.0f, 1.0f}, bias{0.25f, -3.0f};
    for (std::size_t i = 0; i < call.in.g.size(); ++i) {
      x.push_back(static_cast<float>(static_cast<int>(i * 37 % 101) - 70) / 8);
      logit.push_back(static_cast<float>(static_cast<int>(i * 53 % 97) - 48) / 10);
    }
    call.args.g = {call.put(x), {}, Dtype::f32}, call.args.beta = {call.put(logit), {}, Dtype::f32};
    call.args.A_log = {call.put(a_log), {}, Dtype::f32}, call.args.dt_bias = {call.put(bias), {}, Dtype::f32};
    call.args.gate_domain = gdn::GateDomain::raw, call.args.beta_domain = gdn::BetaDomain::logit, call.args.beta_scale = 2.0f;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double y = double(x[i]) + double(bias[i % 2]), softplus = std::max(y, 0.0) + std::log1p(std::exp(-std::abs(y)));
      call.in.g[i] = static_cast<float>(std::max(-80.0, -std::exp(double(a_log[i % 2])) * softplus));
      call.in.beta[i] = static_cast<float>(2 / (1 + std::exp(-double(logit[i]))));
    }
    const auto [o, state] = call.errors(call.cut(3, Form::full, heads), gdn::recurrence(call.in));
    EXPECT_LT(o, 4e-3);
    EXPECT_LT(state, 4e-3);
  }
}

/// Six chunks in two segments, and a state before them so large that 2^-32 of it is more than all that the chunks bring.
struct Threshold : Segmented {
  Threshold() : Segmented({6 * 64}, {1, 1, 1}) { enlarge_state(0x1p40f); }
  Results whole(Form form) { return cut(1, form); }
  Results in_two(Form form) { return cut(2, form, HeadClass::erasing); }
};

TEST(GdnSegments, AStateIsKeptUntilItIsErased) {
  for (const Form form : kForms) {
    SCOPED_TRACE(gdn::name_of(form));
    // What lies before the second segment: 31.9 bits behind the first chunk, then 32.1 with it, for which the initial state is the right beginning, too.
    for (const std::vector<double>& before : {std::vector{0.0, 11.9, 20.0}, {0.2, 20.0, 11.9}}) {
      Threshold call;
      call.decay_chunks({before[0], before[1], before[2], 0.5, 0.5, 0.5});
      EXPECT_EQ(call.in_two(form), call.whole(form));
    }
  }
}

TEST(GdnSegments, AnErasedStateIsDropped) {
  for (const Form form : kForms) {
    SCOPED_TRACE(gdn::name_of(form));
    Threshold call;
    call.decay_chunks({0, 12.1, 20, 0.5, 0.5, 0.5});
    const Results whole = call.whole(form), cut = call.in_two(form);
    const auto second = std::ptrdiff_t(3 * 64 * 128);
    EXPECT_TRUE(std::equal(cut.o.begin(), cut.o.begin() + second, whole.o.begin()));
    EXPECT_FALSE(std::equal(cut.o.begin() + second, cut.o.end(), whole.o.begin() + second));
    call.enlarge_state(0);
    const Results without = call.in_two(form);
    EXPECT_TRUE(std::equal(cut.o.begin() + second, cut.o.end(), without.o.begin() + second));
    EXPECT_EQ(cut.state, without.state);
  }
}

TEST(GdnSegments, KeysThatMakeAStateGrowCount) {
  for (const bool l2norm : {false, true}) {
    SCOPED_TRACE(l2norm ? "l2norm" : "keys as given");
    Threshold call;
    call.decay_chunks({0, 13, 20, 0.5, 0.5, 0.5});
    // Two tokens of chunk 1 with beta |k|^2 = 4: 2^-33 of a state becomes up to 9 x 2^-33.
    std::vector<float> keys = widened(call.k, DType::bf16);
    for (const std::size_t token : {70u, 101u}) {
      if (l2norm) call.in.beta[token] = 4;
      else for (std::size_t c = 0; c < 128; ++c) keys[token * 128 + c] *= 2;
      if (!l2norm) call.in.beta[token] = 1;
    }
    call.put_again(call.args.beta, call.in.beta);
    call.args.k = {call.put(halves(keys, DType::bf16))};
    call.args.l2norm = l2norm;
    EXPECT_EQ(call.in_two(Form::full), call.whole(Form::full));
  }
}

TEST(GdnSegments, NanBehindAnErasedStateStaysThere) {
  Threshold call;
  call.decay_chunks({0, 12.1, 20, 0.5, 0.5, 0.5});
  call.enlarge_state(std::nanf(""));
  const Results cut = call.in_two(Form::full);
  const auto nans = [&](std::size_t from, std::size_t to) {
    return std::count_if(cut.o.begin() + std::ptrdiff_t(from * 128), cut.o.begin() + std::ptrdiff_t(to * 128), [](std::uint16_t x) { return (x & 0x7fff) > 0x7f80; });
  };
  EXPECT_EQ(nans(0, 192), 192 * 128);
  EXPECT_EQ(nans(192, 384), 0);
  call.decay_chunks({0, 11.9, 20, 0.5, 0.5, 0.5});
  const Results kept = call.in_two(Form::full);
  EXPECT_TRUE(std::all_of(kept.state.begin(), kept.state.end(), [](float x) { return std::isnan(x); }));
}

TEST(GdnSegments, AnyLengths) {
  for (const HeadClass heads : kClasses)
    for (const Form form : kForms) {
      SCOPED_TRACE(testing::Message() << gdn::name_of(form) << " class " << static_cast<int>(heads));
      Segmented call({0, 1, 63, 64, 65, 130, 0, 200}, {1, 1, 1});
      const auto [o, state] = call.errors(call.cut(3, form, heads), gdn::recurrence(call.in));
      EXPECT_LT(o, 4e-3);
      EXPECT_LT(state, 4e-3);
    }
}

TEST(GdnSegments, ManyShortSequencesAndALongOne) {
  std::vector<std::int64_t> lens;
  for (std::int64_t n = 0; n < 40; ++n) lens.push_back(n * 7 % 23);
  lens[17] = 9 * 64 + 5;
  Segmented call(lens, {1, 1, 1});
  set_checks(*call.device, false);
  const auto [o, state] = call.errors(call.cut(8, Form::full, HeadClass::matrix), gdn::recurrence(call.in));
  EXPECT_LT(o, 4e-3);
  EXPECT_LT(state, 4e-3);
}

TEST(GdnSegments, MoreChainsThanAListHoldsStayWhole) {
  Segmented call(std::vector<std::int64_t>(65, 65), {1, 1, 4});
  set_checks(*call.device, false);
  EXPECT_EQ(call.cut(2, Form::full), call.cut(1, Form::full));
}

TEST(GdnSegments, SlotsOfPools) {
  for (const HeadClass heads : kClasses) {
    Segmented call({200, 130, 70}, {1, 1, 1});
    constexpr std::size_t row = 128 * 128;
    call.args.initial_rows = call.args.final_rows = 3;
    call.args.read_slots = {call.put(std::vector<std::int32_t>{-1, 2, 0}), {}, Dtype::i32};
    call.args.write_slots = {call.put(std::vector<std::int32_t>{2, 1, -1}), {}, Dtype::i32};
    const std::vector<float> pool = call.in.initial_state;
    std::fill_n(call.in.initial_state.begin(), row, 0.0f);
    std::copy_n(pool.begin() + 2 * row, row, call.in.initial_state.begin() + row);
    std::copy_n(pool.begin(), row, call.in.initial_state.begin() + 2 * row);
    const gdn::Outputs expected = gdn::recurrence(call.in);
    const Results got = call.cut(2, Form::full, heads);
    EXPECT_LT(gdn::rms_ratio(got.o, call.in.dtype, expected.o), 4e-3);
    const auto state = [&](std::size_t r) { return std::span(got.state).subspan(r * row, row); };
    EXPECT_TRUE(std::all_of(state(0).begin(), state(0).end(), [](float x) { return std::isnan(x); }));
    EXPECT_LT(gdn::rms_ratio(state(1), std::span(expected.final_state).subspan(row, row)), 4e-3);
    EXPECT_LT(gdn::rms_ratio(state(2), std::span(expected.final_state).first(row)), 4e-3);
  }
}

TEST(GdnSegments, Checkpoints) {
  for (const auto& [heads, form] : {std::pair{HeadClass::erasing, Form::split}, {HeadClass::matrix, Form::split}, {HeadClass::matrix, Form::full}})
    for (const std::int64_t every : {64, 128}) {
      SCOPED_TRACE(testing::Message() << "class " << static_cast<int>(heads) << " " << gdn::name_of(form) << " every " << every);
      Segmented call({5 * 64 + 3, 130}, {1, 1, 1});
      constexpr std::size_t row = 128 * 128;
      const std::size_t first = static_cast<std::size_t>((5 * 64 + 3) / every), all = first + static_cast<std::size_t>(130 / every);
      call.args.checkpoints = {call.put(std::vector<float>((all + 1) * row, std::nanf(""))), {}, Dtype::f32};
      call.args.checkpoint_rows = std::int64_t(all) + 1, call.args.checkpoint_every = every;
      call.args.checkpoint_starts = {call.put(std::vector<std::int32_t>{0, std::int32_t(first)}), {}, Dtype::i32};
      call.cut(3, form, heads);
      const auto got = call.get<float>(call.args.checkpoints.address, (all + 1) * row);
      for (std::size_t c = 0; c < all; ++c) {
        const std::size_t n = c < first ? 0 : 1, number = n == 0 ? c : c - first;
        const gdn::Outputs expected = gdn::recurrence(beginning(call.in, n, std::int64_t(number + 1) * every));
        EXPECT_LT(gdn::rms_ratio(std::span(got).subspan(c * row, row), expected.final_state), 5e-3) << c;
      }
      EXPECT_TRUE(std::all_of(got.end() - row, got.end(), [](float x) { return std::isnan(x); }));
    }
}

TEST(GdnSegments, SchedulesAndMultiprocessorsDoNotMatter) {
  for (const Form form : kForms) {
    Segmented call({400, 70, 200}, {1, 1, 1});
    const Results first = call.cut(4, form, HeadClass::matrix);
    EXPECT_EQ(call.cut(4, form, HeadClass::matrix), first);
    for (const unsigned multiprocessors : {1u, 2u}) {  // items wait for items that run only when others are done
      Segmented few({400, 70, 200}, {1, 1, 1}, Kind::ordinary, device_of(multiprocessors));
      for (const std::uint64_t seed : {0, 1, 2}) {
        SCOPED_TRACE(testing::Message() << gdn::name_of(form) << " on " << multiprocessors << " seed " << seed);
        runtime::sim::set_schedule(*few.device, seed);
        EXPECT_EQ(few.cut(4, form, HeadClass::matrix), first);
      }
    }
  }
}

TEST(GdnSegments, RefusesWhatIsNotCut) {
  const auto refusal = [](auto&& change, Heads heads = {}) {
    Call call({130}, heads);
    call.args.cp = 2;
    change(call.args);
    return call.refusal();
  };
  EXPECT_EQ(refusal([](auto& a) { a.cp = -1; }), "gdn_forward: cp is -1, expected 0 (automatic), 1 (off) or a number of segments");
  EXPECT_EQ(refusal([](auto&) {}, {1, 1, 2, 64, 128}), "gdn_forward: cp is 2 with dk 64 and dv 128: only chains of heads of 128 and 128 are cut, expected 0 or 1");
  EXPECT_EQ(refusal([](auto&) {}, {1, 1, 129}), "gdn_forward: cp is 2 with 129 heads: chains of up to 128 are cut, expected 0 or 1");
  EXPECT_EQ(refusal([](auto& a) { a.flags = 1; }), "gdn_forward: cp is 2 with the batch-invariant flag, expected 0 or 1: segments depend on the batch");
  EXPECT_EQ(refusal([](auto& a) { a.checkpoints = a.checkpoint_starts = a.prefix_lens = a.cu_seqlens; }),
            "gdn_forward: cp is 2 with checkpoints behind prefixes, for which chains are not cut: expected 0 or 1");
}

TEST(GdnSegments, WorkspaceHasRoomForTheListAndItsRecords) {
  Call call({200});
  const std::uint64_t whole = call.args.workspace_bytes;
  call.args.cp = 2;
  const std::uint64_t cut = GdnForward::workspace_bytes(call.args);
  EXPECT_GT(cut, whole + 128 * 128 * 4);
  EXPECT_THAT(call.refusal(), HasSubstr("workspace_bytes is " + std::to_string(whole) + ", expected at least " + std::to_string(cut)));
}

TEST(GdnSegments, CallsThatAreNotCutHaveTheFormOfWholeChains) {
  GdnForwardArguments a;
  a.T = 128, a.hk = 1, a.hv = 2;
  EXPECT_EQ(gdn_forward_cuts(a).form, Form::split);
  EXPECT_FALSE(gdn_forward_cuts(a).segments());
  a.hv = 67;
  EXPECT_EQ(gdn_forward_cuts(a).form, Form::full);
  EXPECT_FALSE(gdn_forward_cuts(a).segments());
}

TEST(GdnSegments, LongPackedBatchesOfOneWaveAreCutForLengthsThatNobodyKnows) {
  GdnForwardArguments a;
  a.T = 32768, a.N = 2, a.hk = 16, a.hv = 64;
  a.cu_seqlens = {4096, {}, Dtype::i32};
  EXPECT_TRUE(gdn_forward_cuts(a).segments());
  EXPECT_EQ(gdn_forward_cuts(a).form, Form::full);
  a.T = 1024;  // too short for a planner to pay
  EXPECT_FALSE(gdn_forward_cuts(a).segments());
  a.cu_seqlens = {}, a.batch = 2, a.T = 16384, a.N = 0;  // equal lengths
  EXPECT_FALSE(gdn_forward_cuts(a).segments());
}

TEST(GdnSegments, WithNormsTheSplitFormIsCut) {
  GdnForwardArguments a;
  a.T = 4096, a.hk = 4, a.hv = 8;
  for (const int cp : {2, 64}) {
    a.cp = cp;
    a.l2norm = 1;
    const GdnForwardCuts cuts = gdn_forward_cuts(a);
    EXPECT_TRUE(cuts.segments()) << cp;
    EXPECT_EQ(cuts.form, Form::split) << cp;
  }
}

/// Runs with offsets of which the first `good` sequences' are good: those get their results, and nothing is written for the others.
void expect_good_ones(Segmented& call, const gdn::Outputs& expected, int cp, Form form, HeadClass heads, const std::vector<std::int32_t>& cu, std::size_t good) {
  SCOPED_TRACE(testing::Message() << "cp " << cp << " " << gdn::name_of(form) << " class " << static_cast<int>(heads) << " " << testing::PrintToString(cu));
  constexpr std::size_t row = 128 * 128;
  call.device->copy_to_device(call.args.cu_seqlens.address, cu.data(), cu.size() * 4);
  EXPECT_THAT(test::error_of([&] { call.cut(cp, form, heads); }), HasSubstr("sequences from " + std::to_string(good) + " on have no results"));
  call.fetch();
  const std::size_t written = good == 0 ? 0 : static_cast<std::size_t>(cu[good]) * 128;
  if (good > 0) {
    EXPECT_LT(gdn::rms_ratio(std::span(call.o).first(written), call.in.dtype, std::span(expected.o).first(written)), 4e-3);
    EXPECT_LT(gdn::rms_ratio(std::span(call.state).first(good * row), std::span(expected.final_state).first(good * row)), 4e-3);
  }
  EXPECT_EQ(std::count(call.o.begin() + std::ptrdiff_t(written), call.o.end(), 0x7fff), std::ptrdiff_t(call.o.size() - written));
  EXPECT_TRUE(std::all_of(call.state.begin() + std::ptrdiff_t(good * row), call.state.end(), [](float x) { return std::isnan(x); }));
}

TEST(GdnSegments, BadOffsets) {
  Segmented call({130, 200, 70, 3}, {1, 1, 1});
  const gdn::Outputs expected = gdn::recurrence(call.in);
  const std::pair<std::vector<std::int32_t>, std::size_t> lists[]{
      {{0, 130, 330, 320, 403}, 2}, {{0, 130, 330, 404, 403}, 2}, {{0, 130, -5, 400, 403}, 1}, {{0, 130, 0x7fffffff, 330, 403}, 1}, {{-1, 130, 330, 400, 403}, 0}, {{0, 130, 330, 400, 399}, 3}};
  for (const Form form : kForms)
    for (const HeadClass heads : kClasses)
      for (const auto& [cu, good] : lists) expect_good_ones(call, expected, 2, form, heads, cu, good);
}

TEST(GdnSegments, BadOffsetsWhereThePlannerChooses) {
  Segmented call({100 * 64, 1, 60 * 64 + 7}, {1, 1, 1});
  set_checks(*call.device, false);
  ASSERT_TRUE(gdn_forward_cuts(call.args).segments());
  const gdn::Outputs expected = gdn::recurrence(call.in);
  const auto [o, state] = call.errors(call.cut(0, Form::full), expected);
  EXPECT_LT(std::max(o, state), 4e-3);
  const std::int32_t end = static_cast<std::int32_t>(call.args.T);
  expect_good_ones(call, expected, 0, Form::full, HeadClass::chosen, {0, 6400, 6399, end}, 1);
  expect_good_ones(call, expected, 0, Form::full, HeadClass::chosen, {0, 6400, 6401, -end}, 2);
  expect_good_ones(call, expected, 0, Form::full, HeadClass::chosen, {0, end + 1, 6401, end}, 0);
}

}  // namespace
}  // namespace tilewright::ops
