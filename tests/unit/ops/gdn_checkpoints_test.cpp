// States on the way of a sequence, by the position of its tokens with and without a prefix.
#include "tests/unit/ops/gdn_call.h"

namespace tilewright::ops {
namespace {

constexpr std::size_t kRow = 2 * 128 * 128;  // of a state with two heads

/// The first `length` tokens of sequence n as a call of its own.
gdn::Inputs beginning(const gdn::Inputs& in, std::size_t n, std::int64_t length) {
  gdn::Inputs part = in;
  const std::size_t first = static_cast<std::size_t>(in.offsets()[n]), rows = static_cast<std::size_t>(length), H = static_cast<std::size_t>(in.hv), D = static_cast<std::size_t>(in.dk);
  const auto cut = [&](auto& values, std::size_t width) {
    values = {values.begin() + std::ptrdiff_t(first * width), values.begin() + std::ptrdiff_t((first + rows) * width)};
  };
  part.lens = {length};
  cut(part.q, H * D), cut(part.k, H * D), cut(part.v, H * D), cut(part.g, H), cut(part.beta, H);
  part.initial_state = {in.initial_state.begin() + std::ptrdiff_t(n * H * D * D), in.initial_state.begin() + std::ptrdiff_t((n + 1) * H * D * D)};
  return part;
}

struct Checkpoint {
  std::size_t sequence;
  std::int64_t tokens;  ///< of this call before it
};

/// A call with checkpoints: where they are expected, and whether they are there.
struct Checkpointed : Call {
  std::vector<Checkpoint> expected;
  std::vector<std::int32_t> starts;
  std::vector<std::uint16_t> poison;
  std::vector<std::int64_t> rows;  ///< of each checkpoint, -1: none

  Checkpointed(const std::vector<std::int64_t>& lens, std::int64_t every, std::vector<std::int64_t> prefixes = {}, Dtype prefix_dtype = Dtype::i64,
               gdn::Kind kind = gdn::Kind::ordinary, Dtype dtype = Dtype::bf16)
      : Call(lens, {}, kind) {
    for (std::size_t n = 0; n < lens.size(); ++n) {
      starts.push_back(static_cast<std::int32_t>(expected.size()));
      const std::int64_t before = prefixes.empty() ? 0 : prefixes[n];
      for (std::int64_t token = 1; token <= lens[n]; ++token)
        if ((before + token) % every == 0) expected.push_back({n, token});
      EXPECT_EQ(std::int64_t(expected.size()) - starts.back(), (before + lens[n]) / every - before / every);
    }
    for (std::size_t c = 0; c < expected.size(); ++c) rows.push_back(std::int64_t(c));
    poison.assign((expected.size() + 2) * kRow * (dtype == Dtype::f32 ? 2 : 1), 0xffff);
    args.checkpoints = {put(poison), {}, dtype};
    args.checkpoint_rows = std::int64_t(expected.size()) + 2, args.checkpoint_every = every;
    args.checkpoint_starts = {put(starts), {}, Dtype::i32};
    if (prefixes.empty()) return;
    if (prefix_dtype == Dtype::i64) args.prefix_lens = {put(prefixes), {}, Dtype::i64};
    else args.prefix_lens = {put(std::vector<std::int32_t>(prefixes.begin(), prefixes.end())), {}, Dtype::i32};
  }

  /// Sends them in reverse order through slots, without the second.
  void through_slots() {
    for (std::size_t c = 0; c < rows.size(); ++c) rows[c] = c == 1 ? -1 : args.checkpoint_rows - 1 - std::int64_t(c);
    args.checkpoint_slots = {put(rows), {}, Dtype::i64}, args.checkpoint_count = std::int64_t(rows.size());
  }
  std::vector<float> states() const {
    if (args.checkpoints.dtype == Dtype::f32) return get<float>(args.checkpoints.address, poison.size() / 2);
    return widened(get<std::uint16_t>(args.checkpoints.address, poison.size()), gdn::DType::bf16);
  }
  void check_states(double bar = 5e-3) const {
    const std::vector<float> got = states();
    const auto row = [&](std::int64_t r) { return std::span(got).subspan(static_cast<std::size_t>(r) * kRow, kRow); };
    std::vector<bool> written(static_cast<std::size_t>(args.checkpoint_rows));
    for (std::size_t c = 0; c < expected.size(); ++c) {
      if (rows[c] < 0) continue;
      written[static_cast<std::size_t>(rows[c])] = true;
      const gdn::Outputs reference = gdn::recurrence(beginning(in, expected[c].sequence, expected[c].tokens));
      EXPECT_LT(gdn::rms_ratio(row(rows[c]), reference.final_state), bar) << "sequence " << expected[c].sequence << " after " << expected[c].tokens;
    }
    for (std::int64_t r = 0; r < args.checkpoint_rows; ++r)
      if (!written[static_cast<std::size_t>(r)]) {
        const auto poisoned = row(r);
        EXPECT_EQ(std::count_if(poisoned.begin(), poisoned.end(), [](float x) { return std::isnan(x); }), std::ptrdiff_t(kRow)) << r;
      }
  }
};

TEST(GdnCheckpoints, FromTheSequencesBeginning) {
  for (const std::int64_t every : {64, 128}) {
    for (const bool slots : {false, true}) {
      SCOPED_TRACE(testing::Message() << every << (slots ? " with slots" : ""));
      Checkpointed call({200, 64, 0, 130, 63}, every);
      if (slots) call.through_slots();
      call.check({slots ? gdn::Form::split : gdn::Form::full, {}});
      call.check_states();
    }
  }
}

TEST(GdnCheckpoints, AbsolutePositionsBehindPrefixesOfWholeChunks) {
  // None; to the end of an interval; into one; beyond several; an empty sequence at a boundary; one that ends just before a boundary.
  const std::vector<std::int64_t> lens{130, 64, 130, 65, 0, 63}, prefixes{0, 64, 64, 128 * 7 + 64, 128, 64};
  for (const gdn::Form form : {gdn::Form::full, gdn::Form::split}) {
    const bool full = form == gdn::Form::full;
    Checkpointed call(lens, 128, prefixes, full ? Dtype::i32 : Dtype::i64);
    ASSERT_EQ(call.expected.size(), 4u);
    if (full) call.through_slots();
    call.check({form, {}});
    call.check_states();
  }
}

TEST(GdnCheckpoints, AbsolutePositionsBehindAnyPrefix) {
  // Inside the first, the second and the last chunk; on the last token; one token too few; behind one token; twice in a sequence.
  const std::vector<std::int64_t> lens{70, 130, 150, 37, 36, 1, 135}, prefixes{63, 27, 1, 91, 91, 64 * 1000 - 1, 100};
  for (const gdn::Form form : {gdn::Form::full, gdn::Form::split}) {
    SCOPED_TRACE(gdn::name_of(form));
    const bool full = form == gdn::Form::full;
    Checkpointed call(lens, full ? 64 : 128, prefixes, Dtype::i64, gdn::Kind::ordinary, full ? Dtype::bf16 : Dtype::f32);
    if (full) call.through_slots();
    call.args.state_order = call.in.state_order = full ? gdn::StateOrder::v_first : gdn::StateOrder::k_first;
    call.check({form, {}});
    call.check_states();
  }
}

TEST(GdnCheckpoints, InsideOfChunksWithNormsAndDecayThatErases) {
  for (const gdn::Form form : {gdn::Form::full, gdn::Form::split}) {
    Checkpointed call({131}, 64, {50}, Dtype::i32, gdn::Kind::strong_decay, Dtype::f32);
    std::vector<float> keys = widened(call.k, gdn::DType::bf16);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] *= std::exp2(static_cast<float>(static_cast<int>(i / 128 % 9) - 4));
    call.args.k = {call.put(halves(keys, gdn::DType::bf16))};
    call.args.l2norm = 1;
    call.check({form, {}}, 5e-3);
    call.check_states();
  }
}

TEST(GdnCheckpoints, AtEndsOfChunksDoNotChangeOtherResults) {
  for (const gdn::Form form : {gdn::Form::full, gdn::Form::split}) {
    Checkpointed behind_prefixes({131, 40}, 64, {64, 192}), from_beginnings({131, 40}, 64);
    Call without({131, 40});
    for (Call* call : std::initializer_list<Call*>{&behind_prefixes, &from_beginnings, &without}) call->run({form, {}}), call->fetch();
    EXPECT_EQ(behind_prefixes.o, without.o);
    EXPECT_EQ(behind_prefixes.state, without.state);
    EXPECT_EQ(from_beginnings.o, without.o);
    EXPECT_EQ(from_beginnings.state, without.state);
  }
}

TEST(GdnCheckpoints, PrefixesWithoutCheckpointsChangeNothing) {
  Call with({66, 3}), without({66, 3});
  with.args.prefix_lens = {with.put(std::vector<std::int64_t>{7, 1000}), {}, Dtype::i64};
  with.run(), without.run();
  with.fetch(), without.fetch();
  EXPECT_EQ(with.o, without.o);
  EXPECT_EQ(with.state, without.state);
}

TEST(GdnCheckpoints, ListsThatTheHostCanReadAreChecked) {
  if (on_card()) GTEST_SKIP() << "the host cannot read the lists";
  Checkpointed call({70, 64}, 64, {0, 0});
  const auto refusal_with = [&](std::vector<std::int64_t> prefixes) {
    call.args.prefix_lens = {call.put(prefixes), {}, Dtype::i64};
    return call.refusal();
  };
  EXPECT_EQ(refusal_with({0, -1}), "gdn_forward: prefix_lens[1] is -1, expected 0 to 2^31 - 1 tokens");
  EXPECT_EQ(refusal_with({std::int64_t{1} << 31, 0}), "gdn_forward: prefix_lens[0] is 2147483648, expected 0 to 2^31 - 1 tokens");
  // Four rows: with the first prefix sequence 0 has two checkpoints, and would need a fifth row from number 3 on.
  call.args.checkpoint_starts = {call.put(std::vector<std::int32_t>{3, 0}), {}, Dtype::i32};
  EXPECT_EQ(refusal_with({58, 0}), "gdn_forward: checkpoint_starts[0] is 3, expected 0 to 2: the sequence has 2 checkpoints");
  EXPECT_EQ(refusal_with({57, 0}), "no error");
}

}  // namespace
}  // namespace tilewright::ops
