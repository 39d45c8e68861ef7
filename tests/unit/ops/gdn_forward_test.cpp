// The plain call: packed and batched sequences, every length, other addresses, other lengths.
#include "tests/unit/ops/gdn_call.h"

namespace tilewright::ops {
namespace {

TEST(Workspace, DependsOnSizesOnly) {
  GdnForwardArguments a;
  a.hk = 2, a.hv = 4, a.T = 1000, a.N = 3;
  a.cu_seqlens = {16, {}, Dtype::i32};
  const std::uint64_t slots = 1000 / 64 + 3;
  EXPECT_EQ(GdnForward::workspace_bytes(a), slots * 4 * (64 * 64 * 2 + 64 * 4) + 256);
  a.cu_seqlens = {}, a.N = 0, a.batch = 5;
  EXPECT_EQ(GdnForward::workspace_bytes(a), (5000 / 64 + 5) * 4 * (64 * 64 * 2 + 64 * 4) + 256);
}

TEST(Plan, SplitsWhereChainsAreFew) {
  EXPECT_EQ(gdn::choose_form(1, 64, 128), gdn::Form::split);
  EXPECT_EQ(gdn::choose_form(2, 33, 128), gdn::Form::split);
  EXPECT_EQ(gdn::choose_form(2, 64, 128), gdn::Form::full);
  EXPECT_EQ(gdn::choose_form(1, 1, 64), gdn::Form::full);  // 64 columns are one warpgroup's
}

TEST(GdnForward, PackedSequences) {
  for (const gdn::Form form : {gdn::Form::full, gdn::Form::split}) Call({66, 0, 1}).check({form, {}});
}

TEST(GdnForward, FormsAndBatchesGiveTheSameBits) {
  Call full({70, 66}), split({70, 66}), alone({70});
  full.run({gdn::Form::full, {}});
  split.run({gdn::Form::split, {}});
  std::copy_n(full.q.begin(), alone.q.size(), alone.q.begin());  // the same first sequence
  alone.device->copy_to_device(alone.args.q.address, full.q.data(), alone.q.size() * 2);
  alone.device->copy_to_device(alone.args.k.address, full.k.data(), alone.k.size() * 2);
  alone.device->copy_to_device(alone.args.v.address, full.v.data(), alone.v.size() * 2);
  alone.device->copy_to_device(alone.args.g.address, full.in.g.data(), alone.in.g.size() * 4);
  alone.device->copy_to_device(alone.args.beta.address, full.in.beta.data(), alone.in.beta.size() * 4);
  alone.device->copy_to_device(alone.args.initial_state.address, full.in.initial_state.data(), alone.in.initial_state.size() * 4);
  alone.args.flags = 1;  // batch invariant
  alone.run();
  full.fetch(), split.fetch(), alone.fetch();
  EXPECT_EQ(full.o, split.o);
  EXPECT_EQ(full.state, split.state);
  EXPECT_TRUE(std::equal(alone.o.begin(), alone.o.end(), full.o.begin()));
  EXPECT_TRUE(std::equal(alone.state.begin(), alone.state.end(), full.state.begin()));
}

TEST(GdnForward, EveryLengthUpToTwoChunksAndABit) {
  std::vector<std::int64_t> lens(131);
  for (std::size_t n = 0; n < lens.size(); ++n) lens[n] = static_cast<std::int64_t>(n);
  Call call(lens);
  call.run({gdn::Form::split, {}});
  call.fetch();
  const gdn::Outputs expected = gdn::recurrence(call.in);
  const std::size_t token = expected.o.size() / static_cast<std::size_t>(call.in.tokens());
  const std::size_t state = expected.final_state.size() / lens.size();
  std::size_t first = 0;
  for (std::size_t n = 0; n < lens.size(); first += token * n, ++n) {
    const auto o = std::span(expected.o).subspan(first, token * n);
    const auto got = std::span(call.o).subspan(first, token * n);
    if (n > 0) {
      EXPECT_LT(gdn::rms_ratio(std::span<const std::uint16_t>(got), gdn::DType::bf16, o), 6e-3) << "length " << n;
    }
    const auto got_state = std::span<const float>(call.state).subspan(state * n, state);
    EXPECT_LT(gdn::rms_ratio(got_state, std::span(expected.final_state).subspan(state * n, state)), 6e-3) << "length " << n;
  }
}

TEST(GdnForward, BatchWithoutOffsetsAndStateInPlace) {
  Call call({70, 70});
  call.args.cu_seqlens = {}, call.args.N = 0, call.args.batch = 2, call.args.T = 70;
  call.args.final_state = call.args.initial_state;
  call.check();
}

TEST(GdnForward, NoTokensPassStatesThrough) {
  Call call({0, 0});
  for (Operand* operand : {&call.args.q, &call.args.k, &call.args.v, &call.args.g, &call.args.beta, &call.args.o}) *operand = {};  // nothing to point at
  call.run();
  call.fetch();
  EXPECT_EQ(call.state, call.in.initial_state);
}

TEST(GdnForward, NoSequencesDoNothing) {
  Call call({64});
  call.args.N = 0;
  call.run();
}

TEST(GdnForward, CallsOfOneShapeAtOtherAddresses) {
  Call first({65}), second({65}, {}, gdn::Kind::no_decay, first.device);
  GdnForward op(*first.device);
  op.run(first.args);
  op.run(second.args);
  first.fetch();
  second.fetch();
  for (const Call* call : {&first, &second}) {
    const gdn::Outputs expected = gdn::recurrence(call->in);
    EXPECT_LT(gdn::rms_ratio(call->o, gdn::DType::bf16, expected.o), 4e-3);
    EXPECT_LT(gdn::rms_ratio(call->state, expected.final_state), 4e-3);
  }
  EXPECT_NE(first.o, second.o);
}

TEST(GdnForward, LaunchesServeOtherLengths) {
  Call call({66, 0, 64, 6});  // T and N stay what they are
  GdnForward op(*call.device);
  const Steps steps = op.prepare(call.args);
  for (const std::vector<std::int64_t>& lens : {std::vector<std::int64_t>{66, 0, 64, 6}, {1, 2, 3, 130}, {136, 0, 0, 0}}) {
    call.in.lens = lens;
    const auto offsets = call.in.offsets();
    const std::vector<std::int32_t> narrow(offsets.begin(), offsets.end());
    call.device->copy_to_device(call.args.cu_seqlens.address, narrow.data(), narrow.size() * 4);
    launch_steps(*call.device, steps, nullptr);
    call.fetch();
    const gdn::Outputs expected = gdn::recurrence(call.in);
    EXPECT_LT(gdn::rms_ratio(call.o, gdn::DType::bf16, expected.o), 4e-3) << lens[0];
    EXPECT_LT(gdn::rms_ratio(call.state, expected.final_state), 4e-3) << lens[0];
  }
}

}  // namespace
}  // namespace tilewright::ops
