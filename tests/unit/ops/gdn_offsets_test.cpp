// Offsets that decrease, are negative or go beyond T: what is written, what is not, and what the host hears of it.
#include <numeric>
#include <random>
#include <thread>

#include "runtime/ops/gdn_forward_check.h"
#include "tests/unit/ops/gdn_call.h"

namespace tilewright::ops {
namespace {

using testing::HasSubstr;
using Offsets = std::vector<std::int64_t>;

/// The number of the first bad offset, or N + 1.
std::size_t first_bad(const Offsets& cu, std::int64_t T) {
  for (std::size_t i = 0; i < cu.size(); ++i)
    if (cu[i] < (i == 0 ? 0 : cu[i - 1]) || cu[i] > T) return i;
  return cu.size();
}
std::size_t good_sequences(const Offsets& cu, std::int64_t T) { return std::max<std::size_t>(first_bad(cu, T), 1) - 1; }

std::string report_of(const Offsets& cu, std::int64_t T, const char* where = "") {
  const std::size_t bad = first_bad(cu, T);
  if (bad == cu.size()) return "no error";
  // What a kernel expects is as wide as T.
  const auto least = static_cast<std::int32_t>(bad == 0 ? 0 : cu[bad - 1]);
  return "gdn_forward: cu_seqlens[" + std::to_string(bad) + "]" + where + " is " + std::to_string(cu[bad]) + ", expected " + std::to_string(least) + " to T = " +
         std::to_string(T) + ": offsets must not decrease; sequences from " + std::to_string(std::max<std::size_t>(bad, 1) - 1) + " on have no results";
}

/// A call whose outputs hold a pattern before it runs.
struct Guarded : Call {
  static constexpr std::uint16_t kO = 0x1234;
  static constexpr float kState = 7.25f;
  using Call::Call;

  void set(const Offsets& cu, Dtype dtype) {
    args.N = static_cast<std::int64_t>(cu.size()) - 1;
    if (dtype == Dtype::i64) args.cu_seqlens = {put(cu), {}, dtype};
    else args.cu_seqlens = {put(std::vector<std::int32_t>(cu.begin(), cu.end())), {}, dtype};
    std::fill(o.begin(), o.end(), kO), std::fill(state.begin(), state.end(), kState);
    device->copy_to_device(args.o.address, o.data(), o.size() * 2);
    device->copy_to_device(args.final_state.address, state.data(), state.size() * 4);
  }
  /// Runs with bad offsets: the good sequences have the bits of `right`, of a call with good ones, and the others are not written.
  void expect(const Offsets& cu, const Call& right, GdnForward& op, Dtype dtype = Dtype::i32) {
    SCOPED_TRACE(testing::PrintToString(cu));
    set(cu, dtype);
    EXPECT_EQ(test::error_of([&] { op.run(args); }), report_of(cu, args.T));
    fetch();
    const std::size_t good = good_sequences(cu, args.T), row = o.size() / static_cast<std::size_t>(args.T), each = state.size() / (cu.size() - 1);
    const auto begin = good == 0 ? 0 : std::ptrdiff_t(static_cast<std::size_t>(cu[0]) * row), end = good == 0 ? 0 : std::ptrdiff_t(static_cast<std::size_t>(cu[good]) * row);
    EXPECT_TRUE(std::equal(o.begin() + begin, o.begin() + end, right.o.begin() + begin));
    EXPECT_EQ(std::count(o.begin(), o.begin() + begin, kO) + std::count(o.begin() + end, o.end(), kO), std::ptrdiff_t(o.size()) - (end - begin));
    const auto states = std::ptrdiff_t(each * good);
    EXPECT_TRUE(std::equal(state.begin(), state.begin() + states, right.state.begin()));
    EXPECT_EQ(std::count(state.begin() + states, state.end(), kState), std::ptrdiff_t(state.size()) - states);
  }
};

constexpr std::int64_t kHigh = std::int64_t{1} << 32;

TEST(GdnOffsets, GoodSequencesGetTheirResultsAndTheOthersNone) {
  for (const gdn::Form form : {gdn::Form::full, gdn::Form::split}) {
    Guarded call({70, 0, 130, 66, 3}, {1, 1, 1});  // 0, 70, 70, 200, 266, 269
    call.run({form, {}});
    call.fetch();
    Call right({70, 0, 130, 66, 3}, {1, 1, 1});
    right.o = call.o, right.state = call.state;
    GdnForward op(*call.device, {form, {}});
    const std::int64_t most = std::numeric_limits<std::int32_t>::max(), least = std::numeric_limits<std::int32_t>::min();
    for (const Offsets& cu : {Offsets{0, 70, 70, 200, 199, 269}, {0, 70, 69, 200, 266, 269}, {0, 70, 70, 200, 266, 270}, {-1, 70, 70, 200, 266, 269},
                              {0, 270, 70, 200, 266, 269}, {0, 70, 70, least, most, least}, {most, least, 0, 0, 64, 64}, {0, 70, 70, most, 0, 269}})
      call.expect(cu, right, op);
    for (const std::uint64_t seed : {1, 2, 3, 4}) {  // a sequence is left after three stages, one or none
      set_schedule(*call.device, seed);
      call.expect({0, 70, 70, 0, 130, 131}, right, op);
    }
    set_schedule(*call.device, 0);
    if (form == gdn::Form::split) continue;
    for (const Offsets& cu : {Offsets{0, 70, 70, 200, 266 + kHigh, 269}, {0, 70 - kHigh, 70, 200, 266, 269}, {0, 70, 70, 200, 266, -1}, {kHigh, 70, 70, 200, 266, 269},
                              {0, 70, 70, 200, 266, (std::int64_t{1} << 62) + 269}})
      call.expect(cu, right, op, Dtype::i64);
    call.set({0, 70, 70, 200, 266, 269}, Dtype::i64);  // and none of it stays behind
    op.run(call.args);
    call.fetch();
    EXPECT_EQ(call.o, right.o);
    EXPECT_EQ(call.state, right.state);
  }
}

TEST(GdnOffsets, ListsDrawnAtRandom) {
  std::mt19937_64 random(3);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); };
  constexpr std::int64_t T = 150;
  for (int round = 0; round < 12; ++round) {
    const std::int64_t N = 1 + below(7);
    Offsets cu(static_cast<std::size_t>(N) + 1);
    for (std::int64_t& offset : cu) offset = below(T + 1);
    std::sort(cu.begin(), cu.end());
    const Dtype dtype = round % 2 == 0 ? Dtype::i32 : Dtype::i64;
    std::vector<std::int64_t> lens(static_cast<std::size_t>(N));
    lens[0] = T;  // of the tensors; the call has others
    Guarded call(lens, {1, 1, 1});
    GdnForward op(*call.device, {});
    call.set(cu, dtype);
    op.run(call.args);
    call.fetch();
    Call right(lens, {1, 1, 1});
    right.o = call.o, right.state = call.state;
    for (int bad = 0; bad < 3; ++bad) {
      Offsets spoilt = cu;  // at one place, and whatever there is behind it
      const auto at = static_cast<std::size_t>(below(N + 1));
      for (std::size_t n = at; n < cu.size(); ++n)
        if (below(2) == 0) spoilt[n] = below(2) == 0 ? below(T + 1) : static_cast<std::int64_t>(random());
      const std::int64_t before = at == 0 ? 0 : cu[at - 1];
      spoilt[at] = below(2) == 0 ? before - 1 - below(T) : T + 1 + (dtype == Dtype::i32 ? below(T) : static_cast<std::int64_t>(random() >> 2));
      if (dtype == Dtype::i32)
        for (std::int64_t& offset : spoilt) offset = static_cast<std::int32_t>(offset);
      call.expect(spoilt, right, op, dtype);
    }
  }
}

TEST(GdnOffsets, StatesInPlaceSlotsAndCheckpointsStay) {
  Call call({64, 130, 64});
  constexpr std::size_t row = 2 * 128 * 128;
  call.args.final_state = call.args.initial_state;
  call.args.initial_rows = call.args.final_rows = 3;
  call.args.read_slots = {call.put(std::vector<std::int32_t>{2, 0, -1}), {}, Dtype::i32};
  call.args.write_slots = {call.put(std::vector<std::int32_t>{2, 0, 1}), {}, Dtype::i32};
  const std::vector<float> poison(4 * row, -3.0f);
  call.args.checkpoints = {call.put(poison), {}, Dtype::f32}, call.args.checkpoint_rows = 4, call.args.checkpoint_every = 64;
  call.args.checkpoint_starts = {call.put(std::vector<std::int32_t>{0, 1, 3}), {}, Dtype::i32};
  const Offsets cu{0, 64, 194, 193};
  call.device->copy_to_device(call.args.cu_seqlens.address, std::vector<std::int32_t>(cu.begin(), cu.end()).data(), 16);
  EXPECT_EQ(call.refusal(), report_of(cu, call.args.T));
  const auto states = call.get<float>(call.args.final_state.address, 3 * row), checkpoints = call.get<float>(call.args.checkpoints.address, 4 * row);
  const auto same = [&](const std::vector<float>& a, const std::vector<float>& b, std::size_t n) {
    return std::equal(a.begin() + std::ptrdiff_t(n * row), a.begin() + std::ptrdiff_t((n + 1) * row), b.begin() + std::ptrdiff_t(n * row));
  };
  EXPECT_FALSE(same(states, call.in.initial_state, 2));  // sequence 0
  EXPECT_FALSE(same(states, call.in.initial_state, 0));  // sequence 1
  EXPECT_TRUE(same(states, call.in.initial_state, 1));   // sequence 2 has bad offsets
  for (std::size_t n = 0; n < 4; ++n) EXPECT_EQ(same(checkpoints, poison, n), n == 3) << n;
}

/// Many sequences of few tokens: what the prologue leaves, for every place that a bad offset may have in the lists of its threads.
TEST(GdnOffsets, ManySequences) {
  for (const std::int64_t N : {1, 33, 129, 1000}) {
    constexpr std::int64_t T = 200;
    std::vector<std::int64_t> lens(static_cast<std::size_t>(N));
    lens[0] = T;
    Call call(lens, {1, 1, 1});
    set_checks(*call.device, N < 100);
    GdnForward op(*call.device, {});
    Offsets good(static_cast<std::size_t>(N) + 1);
    for (std::int64_t n = 0; n <= N; ++n) good[static_cast<std::size_t>(n)] = n * T / N;
    const auto run = [&](const Offsets& cu, bool chain) {
      call.device->copy_to_device(call.args.cu_seqlens.address, std::vector<std::int32_t>(cu.begin(), cu.end()).data(), cu.size() * 4);
      const Steps steps = op.prepare(call.args);
      launch_steps(*call.device, chain ? steps : Steps{steps[0]}, nullptr);
      EXPECT_EQ(call.get<std::int32_t>(call.args.workspace + gdn_forward_workspace(call.args).status, 1)[0], static_cast<std::int32_t>(good_sequences(cu, T)));
      EXPECT_EQ(test::error_of([&] { op.check_offsets(); }), report_of(cu, T, " of an earlier call on this stream"));
      EXPECT_EQ(test::error_of([&] { op.check_offsets(); }), "no error");  // once
    };
    run(good, true);
    call.fetch();
    const auto o = call.o;
    for (const std::int64_t at : {std::int64_t{0}, std::int64_t{1}, N / 2, N - 1, N}) {
      Offsets cu = good;
      cu[static_cast<std::size_t>(at)] = at % 2 == 0 ? T + 1 : -5;
      run(cu, N < 100);
      if (N >= 100) continue;
      call.fetch();
      EXPECT_TRUE(std::equal(o.begin(), o.begin() + std::ptrdiff_t(good[good_sequences(cu, T)] * 128), call.o.begin())) << N << " " << at;
    }
  }
}

TEST(OffsetFaults, EveryStreamHasItsOwn) {
  const auto device = runtime::make_simulated_device();
  OffsetFaults faults(*device);
  const auto stream = [](std::uintptr_t number) { return reinterpret_cast<void*>(number); };
  const auto report = [&](void* on, std::int32_t index) {
    const gdn::OffsetFault fault{index + 1, 5, 0, 9, 100};
    device->copy_to_device(faults.address(on), &fault, sizeof fault);
  };
  const auto said = [&](void* on) { return test::error_of([&] { faults.check(on, ""); }); };
  report(stream(0x700), 3), report(stream(0), 4);
  EXPECT_EQ(said(stream(0x800)), "no error");
  EXPECT_THAT(said(stream(0x700)), HasSubstr("cu_seqlens[3] is 5, expected 9 to T = 100"));
  EXPECT_EQ(said(stream(0x700)), "no error");
  EXPECT_EQ(said(stream(2)), "no error");
  EXPECT_THAT(said(stream(1)), HasSubstr("cu_seqlens[4]"));  // another name of the null stream
  for (std::uintptr_t n = 0; n < 1000; ++n) {
    report(stream(0x10000 + 64 * n), static_cast<std::int32_t>(n));
    EXPECT_THAT(said(stream(0x10000 + 64 * n)), HasSubstr("cu_seqlens[" + std::to_string(n) + "]"));
  }
}

TEST(OffsetFaults, OneOfManyThreadsReports) {
  const auto device = runtime::make_simulated_device();
  OffsetFaults faults(*device);
  for (int round = 0; round < 50; ++round) {
    const gdn::OffsetFault fault{1, 5, 0, 0, 4};
    device->copy_to_device(faults.address(nullptr), &fault, sizeof fault);
    std::atomic<int> reports{0};
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        if (test::error_of([&] { faults.check(nullptr, ""); }) != "no error") ++reports;
      });
    threads.clear();
    EXPECT_EQ(reports, 1);
  }
}

}  // namespace
}  // namespace tilewright::ops
