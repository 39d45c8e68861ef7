// Chains cut into segments where the final states take the place of the initial ones: the same bits as with memory of their own.
#include "kernels/gdn/segment_plan.h"
#include "runtime/ops/gdn_forward_check.h"
#include "runtime/sim/simulator.h"
#include "tests/unit/ops/gdn_call.h"

namespace tilewright::ops {
namespace {

using gdn::Form;
using gdn::HeadClass;
using gdn::StateOrder;
using testing::HasSubstr;

constexpr Form kForms[]{Form::full, Form::split};
constexpr HeadClass kClasses[]{HeadClass::erasing, HeadClass::matrix};

/// What a call leaves: o, and the pool of final states as bytes.
struct Left {
  std::vector<std::uint16_t> o;
  std::vector<std::uint8_t> pool;
  bool operator==(const Left&) const = default;
};

/// A call with a pool of states, [rows, H, 128, 128] with a gap behind each row.
struct Pooled : Call {
  static constexpr std::int64_t kInner = 128, kGap = 3 * kInner;
  std::vector<std::uint8_t> before;  ///< the pool's bytes

  Pooled(std::vector<std::int64_t> lens, std::int64_t rows, Dtype states, Heads h = {1, 1, 2}, std::shared_ptr<runtime::Device> on = test_device())
      : Call(std::move(lens), h, gdn::Kind::ordinary, std::move(on)) {
    const std::int64_t pitch = h.all() * kInner * kInner + kGap;
    for (std::int64_t i = 0; i < rows * pitch; ++i) {
      const float x = in.initial_state[static_cast<std::size_t>(i * 7) % in.initial_state.size()];
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(&x);
      const std::uint16_t half = gdn::encode(x, states == Dtype::bf16 ? gdn::DType::bf16 : gdn::DType::f16);
      if (states == Dtype::f32) before.insert(before.end(), bytes, bytes + 4);
      else before.push_back(static_cast<std::uint8_t>(half)), before.push_back(static_cast<std::uint8_t>(half >> 8));
    }
    args.initial_state = {put(before), {pitch, kInner * kInner, kInner, 1}, states}, args.final_state = {put(before), args.initial_state.strides, states};
    args.initial_rows = args.final_rows = rows;
  }
  void slots(const std::vector<std::int32_t>& read, const std::vector<std::int32_t>& write) {
    args.read_slots = {put(read), {}, Dtype::i32}, args.write_slots = {put(write), {}, Dtype::i32};
  }
  std::size_t row_bytes() const { return before.size() / static_cast<std::size_t>(args.initial_rows); }
  bool row_is_as_before(const Left& left, std::size_t row) const {
    const auto from = std::ptrdiff_t(row * row_bytes()), to = from + std::ptrdiff_t(row_bytes());
    return std::equal(left.pool.begin() + from, left.pool.begin() + to, before.begin() + from);
  }

  /// `count` calls one after another, each with the states that the last one left, in place or each from one pool to the other.
  Left after(int count, bool in_place, GdnForwardOptions options) {
    GdnForwardArguments a = args;
    if (in_place) a.initial_state = a.final_state;
    device->copy_to_device(args.initial_state.address, before.data(), before.size());
    device->copy_to_device(args.final_state.address, before.data(), before.size());
    const std::vector<std::uint16_t> none(o.size(), 0x7fff);
    device->copy_to_device(args.o.address, none.data(), none.size() * 2);
    GdnForward op(*device, std::move(options));
    for (int i = 0; i < count; ++i) {
      op.run(a);
      if (!in_place && i + 1 < count) std::swap(a.initial_state.address, a.final_state.address);
    }
    device->synchronize();
    return {get<std::uint16_t>(a.o.address, o.size()), get<std::uint8_t>(a.final_state.address, before.size())};
  }
  /// One call, in `cp` segments.
  Left cut(bool in_place, int cp, Form form, HeadClass heads) {
    args.cp = cp;
    give_workspace();
    const std::vector<std::uint8_t> noise(args.workspace_bytes, 0xff);  // NaNs
    device->copy_to_device(args.workspace, noise.data(), noise.size());
    return after(1, in_place, {form, {}, heads});
  }
};

TEST(GdnSegmentsInPlace, SameBitsForEveryKindOfStates) {
  struct Case {
    Dtype states;
    StateOrder order;
    Form form;
    bool l2norm;
  };
  for (const auto& [states, order, form, l2norm] : {Case{Dtype::f32, StateOrder::k_first, Form::full, false}, {Dtype::f32, StateOrder::v_first, Form::split, true},
                                                    {Dtype::bf16, StateOrder::v_first, Form::full, false}, {Dtype::bf16, StateOrder::k_first, Form::split, false},
                                                    {Dtype::f16, StateOrder::v_first, Form::split, false}, {Dtype::f16, StateOrder::k_first, Form::full, false}}) {
    Pooled call({330, 130, 0, 70}, 6, states);
    call.args.state_order = order, call.args.l2norm = l2norm ? 1 : 0;
    call.slots({3, 1, 4, -1}, {3, -1, 5, 0});
    for (const HeadClass heads : kClasses) {
      SCOPED_TRACE(testing::Message() << name_of(states) << " " << gdn::name_of(order) << " " << gdn::name_of(form) << " class " << static_cast<int>(heads));
      const Left apart = call.cut(false, 3, form, heads);
      EXPECT_EQ(call.cut(true, 3, form, heads), apart);
      for (const std::size_t written : {0, 3}) EXPECT_FALSE(call.row_is_as_before(apart, written)) << written;
      for (const std::size_t other : {1, 2, 4}) EXPECT_TRUE(call.row_is_as_before(apart, other)) << other;
    }
  }
}

TEST(GdnSegmentsInPlace, RowsWithoutSlots) {
  Pooled call({200, 330}, 2, Dtype::f32);
  for (const Form form : kForms)
    for (const HeadClass heads : kClasses) EXPECT_EQ(call.cut(true, 4, form, heads), call.cut(false, 4, form, heads)) << gdn::name_of(form) << " class " << static_cast<int>(heads);
  // An int64 list whose upper words are read over.
  call.args.read_slots = {call.put(std::vector<std::int64_t>{1, -1}), {}, Dtype::i64}, call.args.write_slots = {call.put(std::vector<std::int64_t>{1, 0}), {}, Dtype::i64};
  EXPECT_EQ(call.cut(true, 2, Form::split, HeadClass::matrix), call.cut(false, 2, Form::split, HeadClass::matrix));
}

TEST(GdnSegmentsInPlace, ABatchWithCheckpoints) {
  Pooled call({200, 200}, 2, Dtype::bf16, {1, 1, 1});
  call.args.cu_seqlens = {}, call.args.batch = 2, call.args.T = 200, call.args.N = 0;
  call.args.checkpoints = {call.put(std::vector<float>(6 * 128 * 128)), {}, Dtype::f32};
  call.args.checkpoint_rows = 6, call.args.checkpoint_every = 64;
  call.args.checkpoint_starts = {call.put(std::vector<std::int32_t>{0, 3}), {}, Dtype::i32};
  const auto checkpoints = [&] { return call.get<float>(call.args.checkpoints.address, 6 * 128 * 128); };
  for (const HeadClass heads : kClasses) {
    const Left apart = call.cut(false, 3, Form::split, heads);
    const std::vector<float> expected = checkpoints();
    call.device->fill(call.args.checkpoints.address, 0xff, expected.size() * 4);
    EXPECT_EQ(call.cut(true, 3, Form::split, heads), apart) << static_cast<int>(heads);
    EXPECT_EQ(checkpoints(), expected) << static_cast<int>(heads);
  }
}

TEST(GdnSegmentsInPlace, SchedulesAndMultiprocessorsDoNotMatter) {
  for (const Form form : kForms)
    for (const HeadClass heads : kClasses) {
      Pooled call({400, 70, 200}, 3, Dtype::f32, {1, 1, 1});
      const Left apart = call.cut(false, 4, form, heads);
      for (const unsigned multiprocessors : {1u, 2u}) {
        Pooled few({400, 70, 200}, 3, Dtype::f32, {1, 1, 1}, runtime::sim::make_simulated_device({.multiprocessors = multiprocessors}));
        for (const std::uint64_t seed : {0, 1, 2}) {
          SCOPED_TRACE(testing::Message() << gdn::name_of(form) << " class " << static_cast<int>(heads) << " on " << multiprocessors << " seed " << seed);
          runtime::sim::set_schedule(*few.device, seed);
          EXPECT_EQ(few.cut(true, 4, form, heads), apart);
        }
      }
    }
}

TEST(GdnSegmentsInPlace, CallsThatGoOnFromEachOther) {
  for (const HeadClass heads : kClasses) {
    Pooled call({200, 130}, 4, Dtype::f32);
    call.args.cp = 3;
    call.slots({3, 1}, {3, 1});
    call.give_workspace();
    EXPECT_EQ(call.after(3, true, {Form::split, {}, heads}), call.after(3, false, {Form::split, {}, heads})) << static_cast<int>(heads);
  }
}

TEST(GdnSegmentsInPlace, OneOperatorServesBothKindsOfCalls) {
  Pooled call({200, 130}, 2, Dtype::f32);
  call.args.cp = 2;
  call.give_workspace();
  GdnForward op(*call.device, {Form::split, {}, HeadClass::matrix});
  GdnForwardArguments in_place = call.args;
  in_place.initial_state = call.args.final_state;
  const auto state = [&] { return call.get<std::uint8_t>(call.args.final_state.address, call.before.size()); };
  op.run(call.args);
  const auto first = state();
  for (int round = 0; round < 2; ++round) {  // the first binds, the second only replaces addresses
    call.device->copy_to_device(call.args.final_state.address, call.before.data(), call.before.size());
    op.run(in_place);
    EXPECT_EQ(state(), first);
    op.run(call.args);
    EXPECT_EQ(state(), first);
  }
}

TEST(GdnSegmentsInPlace, WhereThePlannerChooses) {
  Pooled call({100 * 64, 1, 60 * 64 + 7}, 3, Dtype::f32, {1, 1, 1});
  set_checks(*call.device, false);
  const Left apart = call.cut(false, 0, Form::full, HeadClass::chosen);
  GdnForwardArguments in_place = call.args;
  in_place.final_state = in_place.initial_state;
  EXPECT_EQ(gdn_forward_cuts(in_place).kept, 3);
  EXPECT_EQ(call.cut(true, 0, Form::full, HeadClass::chosen), apart);
}

TEST(GdnSegmentsInPlace, SequencesWithBadOffsetsKeepTheirStates) {
  for (const HeadClass heads : kClasses) {
    Pooled call({130, 200, 70, 3}, 4, Dtype::f32);
    const Left good = call.cut(true, 2, Form::full, heads);
    const std::vector<std::int32_t> bad{0, 130, 330, 320, 403};
    call.device->copy_to_device(call.args.cu_seqlens.address, bad.data(), bad.size() * 4);
    EXPECT_THAT(test::error_of([&] { call.cut(true, 2, Form::full, heads); }), HasSubstr("sequences from 2 on have no results"));
    const auto pool = call.get<std::uint8_t>(call.args.final_state.address, call.before.size());
    const auto third = std::ptrdiff_t(2 * call.row_bytes());
    EXPECT_TRUE(std::equal(pool.begin() + third, pool.end(), call.before.begin() + third));
    EXPECT_FALSE(std::equal(pool.begin(), pool.begin() + third, call.before.begin()));
    EXPECT_FALSE(std::equal(good.pool.begin() + third, good.pool.end(), call.before.begin() + third));
  }
}

TEST(GdnSegmentsInPlace, RowsOfOthersAndPoolsThatOverlapAreRefused) {
  Pooled call({200, 130}, 6, Dtype::f32);
  call.args.cp = 2;
  call.slots({3, 5}, {5, 3});
  call.give_workspace();
  const auto refusal = [&](auto&& change) {
    GdnForwardArguments a = call.args;
    a.final_state = a.initial_state;
    change(a);
    return test::error_of([&] { GdnForward(*call.device).run(a); });
  };
  if (!on_card()) {
    EXPECT_EQ(refusal([](auto&) {}), "gdn_forward: read_slots[0] is 3, expected a row of its own: sequence 1 writes it and sequence 0 reads it, in place");
  }
  EXPECT_EQ(refusal([](auto& a) { a.initial_rows = a.final_rows = 5, a.final_state.address += static_cast<std::uint64_t>(a.final_state.strides[0]) * 4; }),
            "gdn_forward: final_state overlaps initial_state, expected memory of its own");
  EXPECT_EQ(refusal([](auto& a) { a.final_state.strides[0] += 128; }), "gdn_forward: final_state overlaps initial_state, expected memory of its own or the same dtype and strides");
  EXPECT_EQ(refusal([](auto& a) { a.final_state.dtype = Dtype::bf16; }), "gdn_forward: final_state overlaps initial_state, expected memory of its own or the same dtype and strides");
}

TEST(GdnSegmentsInPlace, PitchesBelow2To31Lines) {
  Pooled call({200, 130}, 2, Dtype::f32);
  call.args.cp = 2, call.args.final_state = call.args.initial_state;
  const auto refusal = [&](std::int64_t pitch) {
    call.args.initial_state.strides[0] = call.args.final_state.strides[0] = pitch;
    return test::error_of([&] { check_gdn_forward(call.args); });
  };
  constexpr std::int64_t kMost = (std::int64_t{1} << 31) * gdn::kKeptWords;
  EXPECT_EQ(refusal(kMost - 128), "no error");
  EXPECT_EQ(refusal(kMost), "gdn_forward: initial_state.strides[0] is " + std::to_string(kMost) + ", expected less than 2^31 x 32");
  call.args.cp = 1;  // in lines of the state there are fewer
  EXPECT_EQ(refusal(kMost), "no error");
}

TEST(GdnSegmentsInPlace, CutAsOthersAreAndWorkspaceBySizesOnly) {
  GdnForwardArguments a;
  a.T = 32768, a.hk = 4, a.hv = 8;
  a.initial_state = {4096, {}, Dtype::bf16}, a.final_state = {8192, {}, Dtype::bf16};
  for (const int cp : {0, 2, 7}) {
    a.cp = cp, a.final_state.address = 8192;
    const GdnForwardCuts apart = gdn_forward_cuts(a);
    const GdnForwardWorkspace others = gdn_forward_workspace(a);
    a.final_state.address = 4096;
    const GdnForwardCuts in_place = gdn_forward_cuts(a);
    EXPECT_TRUE(apart.segments()) << cp;
    EXPECT_EQ(std::tuple(in_place.form, in_place.items, in_place.records), std::tuple(apart.form, apart.items, apart.records)) << cp;
    EXPECT_EQ(std::pair(apart.kept, in_place.kept), std::pair(std::int64_t{0}, std::int64_t{1})) << cp;
    EXPECT_EQ(gdn_forward_workspace(a).bytes, others.bytes) << cp;
    EXPECT_EQ(others.bytes, others.kept + 8 * 128 * 128 * 4) << cp;
    EXPECT_FALSE(others.keeps);
    EXPECT_TRUE(gdn_forward_workspace(a).keeps);
  }
  a.cp = 1;
  EXPECT_FALSE(gdn_forward_cuts(a).segments());
  EXPECT_EQ(gdn_forward_workspace(a).kept, gdn_forward_workspace(a).bytes);
}

TEST(GdnSegmentsInPlace, WorkspaceTooSmallForTheCopiesIsRefused) {
  Pooled call({200}, 1, Dtype::f32);
  call.args.cp = 2, call.args.final_state = call.args.initial_state;
  call.give_workspace();
  const std::uint64_t bytes = call.args.workspace_bytes--;
  EXPECT_EQ(call.refusal(), "gdn_forward: workspace_bytes is " + std::to_string(bytes - 1) + ", expected at least " + std::to_string(bytes));
}

TEST(GdnSegmentsInPlace, MoreChainsThanAListHoldsStayWhole) {
  GdnForwardArguments a;
  a.T = 8192, a.N = 65, a.hk = a.hv = 4, a.cp = 2;
  a.cu_seqlens = {4096, {}, Dtype::i32}, a.initial_state = {8192, {}, Dtype::f32}, a.final_state = {4096, {}, Dtype::f32};
  EXPECT_TRUE(gdn_forward_cuts(a).segments());  // most of the sequences may have one chunk
  EXPECT_EQ(gdn_forward_workspace(a).kept, gdn_forward_workspace(a).bytes);
  a.final_state = a.initial_state;
  EXPECT_FALSE(gdn_forward_cuts(a).segments());
  a.N = 64;
  EXPECT_TRUE(gdn_forward_cuts(a).segments());
}

}  // namespace
}  // namespace tilewright::ops
