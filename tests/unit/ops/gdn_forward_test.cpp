#include "runtime/ops/gdn_forward.h"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/gdn/reference.h"
#include "tests/unit/error_of.h"

namespace tilewright::ops {
namespace {

using test::error_of;
using testing::HasSubstr;

/// A call on the simulated device, whose memory is the host's.
struct Call {
  gdn::Inputs in;
  std::vector<std::int32_t> offsets;
  std::vector<std::uint16_t> o;
  std::vector<float> state;
  std::shared_ptr<runtime::Device> device;
  std::vector<runtime::DeviceAddress> owned;
  GdnForwardArguments args;

  explicit Call(std::vector<std::int64_t> lens, std::shared_ptr<runtime::Device> on = runtime::make_simulated_device()) : device(std::move(on)) {
    constexpr int hk = 1, hv = 2;
    gdn::InputShape shape;
    shape.lens = std::move(lens), shape.hk = hk, shape.hv = hv;
    in = gdn::generate(shape, gdn::Kind::ordinary, 1);
    for (const std::int64_t offset : in.offsets()) offsets.push_back(static_cast<std::int32_t>(offset));
    o.resize(in.v.size());
    state.resize(in.initial_state.size());
    args.q = put(in.q), args.k = put(in.k), args.v = put(in.v), args.g = put(in.g), args.beta = put(in.beta);
    args.cu_seqlens = put(offsets), args.initial_state = put(in.initial_state);
    args.o = put(o), args.final_state = put(state);
    args.T = in.tokens(), args.N = in.sequences(), args.hk = hk, args.hv = hv;
    args.workspace_bytes = GdnForward::workspace_bytes(args);
    args.workspace = device->allocate(args.workspace_bytes);
    owned.push_back(args.workspace);
  }
  ~Call() {
    for (const auto address : owned) device->release(address);
  }
  template <class Value>
  runtime::DeviceAddress put(const std::vector<Value>& values) {
    owned.push_back(device->allocate(values.size() * sizeof(Value) + 256));
    device->copy_to_device(owned.back(), values.data(), values.size() * sizeof(Value));
    return owned.back();
  }
  void fetch() {
    device->synchronize();
    device->copy_to_host(o.data(), args.o, o.size() * 2);
    device->copy_to_host(state.data(), args.final_state, state.size() * 4);
  }
  std::string refusal() {
    GdnForward op(*device);
    return error_of([&] { op.run(args); });
  }
};

TEST(Workspace, DependsOnSizesOnly) {
  GdnForwardArguments a;
  a.hk = 2, a.hv = 4, a.T = 1000, a.N = 3, a.cu_seqlens = 16;
  const std::uint64_t slots = 1000 / 64 + 3;
  EXPECT_EQ(GdnForward::workspace_bytes(a), slots * 4 * (64 * 64 * 2 + 64 * 4));
  a.cu_seqlens = 0, a.N = 0, a.batch = 5;
  EXPECT_EQ(GdnForward::workspace_bytes(a), (5000 / 64 + 5) * 4 * (64 * 64 * 2 + 64 * 4));
}

TEST(Plan, SplitsWhereChainsAreFew) {
  EXPECT_EQ(gdn::choose_form(1, 64), gdn::Form::split);
  EXPECT_EQ(gdn::choose_form(2, 33), gdn::Form::split);
  EXPECT_EQ(gdn::choose_form(2, 64), gdn::Form::full);
}

TEST(GdnForward, PackedSequences) {
  for (const gdn::Form form : {gdn::Form::full, gdn::Form::split}) {
    Call call({66, 0, 1});
    GdnForward op(*call.device, {form, {}});
    op.run(call.args);
    call.fetch();
    const gdn::Outputs expected = gdn::recurrence(call.in);
    EXPECT_LT(gdn::rms_ratio(call.o, gdn::DType::bf16, expected.o), 4e-3) << gdn::name_of(form);
    EXPECT_LT(gdn::rms_ratio(call.state, expected.final_state), 4e-3) << gdn::name_of(form);
  }
}

TEST(GdnForward, EveryLengthUpToTwoChunksAndABit) {
  std::vector<std::int64_t> lens(131);
  for (std::size_t n = 0; n < lens.size(); ++n) lens[n] = static_cast<std::int64_t>(n);
  Call call(lens);
  GdnForward op(*call.device, {gdn::Form::split, {}});
  op.run(call.args);
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
  call.args.cu_seqlens = 0, call.args.N = 0, call.args.batch = 2, call.args.T = 70;
  call.args.final_state = call.args.initial_state;
  GdnForward(*call.device).run(call.args);
  call.fetch();
  const gdn::Outputs expected = gdn::recurrence(call.in);
  EXPECT_LT(gdn::rms_ratio(call.o, gdn::DType::bf16, expected.o), 4e-3);
  EXPECT_LT(gdn::rms_ratio(call.state, expected.final_state), 4e-3);
}

TEST(GdnForward, NoTokensPassStatesThrough) {
  Call call({0, 0});
  call.args.q = call.args.k = call.args.v = call.args.g = call.args.beta = call.args.o = 0;  // nothing to point at
  GdnForward(*call.device).run(call.args);
  call.fetch();
  EXPECT_EQ(call.state, call.in.initial_state);
}

TEST(GdnForward, NoSequencesDoNothing) {
  Call call({64});
  call.args.N = 0;
  GdnForward(*call.device).run(call.args);
}

TEST(GdnForward, RepeatedCallsAreRemembered) {
  Call call({64});
  GdnForward op(*call.device);
  EXPECT_EQ(op.prepare(call.args), op.prepare(call.args));
}

TEST(GdnForward, CallsOfOneShapeAtOtherAddresses) {
  Call first({65}), second({65}, first.device);
  second.in = gdn::generate({{65}, 1, 2}, gdn::Kind::no_decay, 2);
  second.device->copy_to_device(second.args.v, second.in.v.data(), second.in.v.size() * 2);
  GdnForward op(*first.device);
  op.run(first.args);
  GdnForwardArguments moved = first.args;
  moved.v = second.args.v, moved.o = second.args.o, moved.workspace = second.args.workspace, moved.final_state = second.args.final_state;
  op.run(moved);
  first.fetch();
  second.fetch();
  first.in.v = second.in.v;
  const gdn::Outputs expected = gdn::recurrence(first.in);
  EXPECT_LT(gdn::rms_ratio(second.o, gdn::DType::bf16, expected.o), 4e-3);
  EXPECT_LT(gdn::rms_ratio(second.state, expected.final_state), 4e-3);
  EXPECT_NE(first.o, second.o);
}

TEST(GdnForwardErrors, Sizes) {
  Call call({64});
  const GdnForwardArguments good = call.args;
  call.args.hv = 3, call.args.hk = 2;
  EXPECT_THAT(call.refusal(), HasSubstr("hv is 3, expected a positive multiple of hk = 2"));
  call.args = good, call.args.dv = 64;
  EXPECT_THAT(call.refusal(), HasSubstr("dk = 128, dv = 64 are not supported, expected 128 and 128"));
  call.args = good, call.args.T = -1;
  EXPECT_THAT(call.refusal(), HasSubstr("T is -1"));
  call.args = good, call.args.batch = 2;
  EXPECT_THAT(call.refusal(), HasSubstr("batch is 2 with cu_seqlens, expected 1"));
  call.args = good, call.args.cu_seqlens = 0, call.args.N = 7;
  EXPECT_THAT(call.refusal(), HasSubstr("N is 7 without cu_seqlens, expected 0 or batch = 1"));
  call.args = good, call.args.T = std::int64_t{1} << 31;
  EXPECT_THAT(call.refusal(), HasSubstr("expected fewer than 2^30"));
  call.args = good, call.args.cu_seqlens = 0, call.args.N = 0, call.args.T = 0, call.args.batch = std::int64_t{1} << 62;
  EXPECT_THAT(call.refusal(), HasSubstr("batch is 4611686018427387904, expected fewer than 2^30 sequences"));
  call.args = good, call.args.hv = 65536;
  EXPECT_THAT(call.refusal(), HasSubstr("hv is 65536, expected at most 65535 value heads"));
  call.args = good, call.args.scale = std::numeric_limits<float>::infinity();
  EXPECT_THAT(call.refusal(), HasSubstr("scale is inf, expected a finite number"));
}

TEST(GdnForwardErrors, Pointers) {
  Call call({64});
  const GdnForwardArguments good = call.args;
  call.args.k = 0;
  EXPECT_THAT(call.refusal(), HasSubstr("k is NULL, expected 16384 bytes"));
  call.args = good, call.args.v += 8;
  EXPECT_THAT(call.refusal(), HasSubstr("v is at address"));
  call.args = good, call.args.workspace_bytes -= 1;
  EXPECT_THAT(call.refusal(), HasSubstr("workspace_bytes is"));
  call.args = good, call.args.workspace += 16;
  EXPECT_THAT(call.refusal(), HasSubstr("expected a multiple of 256 bytes"));
  call.args = good, call.args.o = call.args.v;
  EXPECT_THAT(call.refusal(), HasSubstr("o overlaps v"));
  call.args = good, call.args.final_state = call.args.initial_state + 256;
  EXPECT_THAT(call.refusal(), HasSubstr("final_state overlaps initial_state"));
  call.args = good, call.args.final_state = call.args.o;
  EXPECT_THAT(call.refusal(), HasSubstr("overlaps"));
}

TEST(GdnForwardErrors, OffsetsThatTheHostCanRead) {
  Call call({64, 64});
  const std::vector<std::int32_t> decreasing{0, 100, 90};
  call.args.cu_seqlens = call.put(decreasing);
  EXPECT_THAT(call.refusal(), HasSubstr("cu_seqlens[2] is 90, expected 100 to T = 128"));
  const std::vector<std::int32_t> beyond{0, 64, 129};
  call.args.cu_seqlens = call.put(beyond);
  EXPECT_THAT(call.refusal(), HasSubstr("cu_seqlens[2] is 129"));
}

}  // namespace
}  // namespace tilewright::ops
