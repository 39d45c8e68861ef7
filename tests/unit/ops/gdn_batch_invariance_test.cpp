// With the flag the bits of a sequence's results do not depend on what else is in the batch.
#include "tests/unit/ops/gdn_call.h"

namespace tilewright::ops {
namespace {

constexpr std::uint64_t kFlag = 1;  // TILEWRIGHT_GDN_BATCH_INVARIANT
constexpr std::size_t H = 2, D = 128, kState = H * D * D;

/// o, final state and checkpoints of one sequence.
struct Results {
  std::vector<std::uint16_t> o;
  std::vector<float> state;
  std::vector<std::uint16_t> checkpoints;
  bool operator==(const Results&) const = default;
};

/// The sequence that is looked at, and the batches that it is put into.
class BatchInvariance : public testing::Test {
 protected:
  static constexpr std::int64_t kLength = 135, kEvery = 64, kPrefix = 30;
  static constexpr std::size_t kCheckpoints = (kPrefix + kLength) / kEvery;
  Call alone_{{kLength}};

  /// Its results as sequence `place` of a batch of `lens`, in which all other sequences and states are NaN.
  Results among(std::vector<std::int64_t> lens, std::size_t place, bool packed = true, gdn::Form* form = nullptr, gdn::Form* without_flag = nullptr) {
    Call call(lens);
    const std::size_t first = static_cast<std::size_t>(call.offsets[place]);
    const auto lay = [&](auto& values, const auto& own, std::size_t width, auto nan) {
      std::fill(values.begin(), values.end(), nan);
      std::copy(own.begin(), own.end(), values.begin() + std::ptrdiff_t(width));
      return call.put(values);
    };
    constexpr std::uint16_t nan16 = 0x7fff;
    call.args.q.address = lay(call.q, alone_.q, first * D, nan16), call.args.k.address = lay(call.k, alone_.k, first * D, nan16);
    call.args.v.address = lay(call.v, alone_.v, first * H * D, nan16);
    call.args.g.address = lay(call.in.g, alone_.in.g, first * H, std::nanf("")), call.args.beta.address = lay(call.in.beta, alone_.in.beta, first * H, std::nanf(""));
    call.args.initial_state.address = lay(call.in.initial_state, alone_.in.initial_state, place * kState, std::nanf(""));
    // Only this sequence's checkpoints have rows: the others' numbers go nowhere.
    std::vector<std::int32_t> starts, slots(kCheckpoints, -1);
    std::vector<std::int64_t> prefixes(lens.size(), kPrefix);
    for (std::size_t n = 0; n < lens.size(); ++n) {
      starts.push_back(n == place ? 0 : static_cast<std::int32_t>(kCheckpoints));
      if (n != place) slots.resize(std::max(slots.size(), kCheckpoints + std::size_t((kPrefix + lens[n]) / kEvery)), -1);
    }
    for (std::size_t c = 0; c < kCheckpoints; ++c) slots[c] = static_cast<std::int32_t>(c);
    call.args.checkpoints = {call.put(std::vector<std::uint16_t>(kCheckpoints * kState)), {}, Dtype::bf16};
    call.args.checkpoint_rows = kCheckpoints, call.args.checkpoint_every = kEvery, call.args.checkpoint_count = std::int64_t(slots.size());
    call.args.checkpoint_starts = {call.put(starts), {}, Dtype::i32}, call.args.checkpoint_slots = {call.put(slots), {}, Dtype::i32};
    call.args.prefix_lens = {call.put(prefixes), {}, Dtype::i64};
    call.args.flags = kFlag;
    if (!packed) call.args.cu_seqlens = {}, call.args.N = 0, call.args.batch = std::int64_t(lens.size()), call.args.T = lens[0];
    GdnForward op(*call.device);
    if (form != nullptr) {
      *form = op.kernels_of(call.args).form;
      GdnForwardArguments plain = call.args;
      plain.flags = 0;
      *without_flag = op.kernels_of(plain).form;
    }
    op.run(call.args);
    call.fetch();
    const auto part = [](const auto& values, std::size_t from, std::size_t count) {
      return std::decay_t<decltype(values)>(values.begin() + std::ptrdiff_t(from), values.begin() + std::ptrdiff_t(from + count));
    };
    return {part(call.o, first * H * D, alone_.o.size()), part(call.state, place * kState, kState), call.get<std::uint16_t>(call.args.checkpoints.address, kCheckpoints * kState)};
  }
};

TEST_F(BatchInvariance, AmongOthersAsAlone) {
  gdn::Form form, without_flag;
  const Results alone = among({kLength}, 0, true, &form, &without_flag);
  EXPECT_EQ(form, gdn::Form::split);
  const gdn::Outputs expected = gdn::recurrence(alone_.in);
  EXPECT_LT(gdn::rms_ratio(alone.o, gdn::DType::bf16, expected.o), 4e-3);
  EXPECT_LT(gdn::rms_ratio(alone.state, expected.final_state), 4e-3);

  // In the middle of 40 short ones, 80 chains that would take the other form; behind 19 tokens, no multiple of 64.
  std::vector<std::int64_t> lens(40);
  for (std::size_t n = 0; n < lens.size(); ++n) lens[n] = std::int64_t(n % 3);
  lens[20] = kLength;
  EXPECT_TRUE(among(lens, 20, true, &form, &without_flag) == alone);
  EXPECT_EQ(form, gdn::Form::split);
  EXPECT_EQ(without_flag, gdn::Form::full);

  EXPECT_TRUE(among({65, kLength, 63}, 1) == alone);
  EXPECT_TRUE(among({0, 1, kLength}, 2) == alone);
  EXPECT_TRUE(among({kLength, kLength}, 1, /*packed=*/false) == alone);
}

TEST(BatchInvariantForm, DependsOnHeadsOnly) {
  const auto runtime = runtime::make_simulated_device();
  const GdnForward op(*runtime);
  for (const auto& [heads, form] : {std::pair{2, gdn::Form::split}, {16, gdn::Form::split}, {17, gdn::Form::full}, {64, gdn::Form::full}})
    for (const std::int64_t N : {1, 3, 4, 1000}) {
      GdnForwardArguments a;
      a.hk = 1, a.hv = heads, a.T = 64, a.batch = N, a.flags = kFlag;
      EXPECT_EQ(op.kernels_of(a).form, form) << heads << " heads, " << N;
    }
}

}  // namespace
}  // namespace tilewright::ops
