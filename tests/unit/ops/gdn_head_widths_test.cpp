// Heads of 64 and 128 columns in every combination, each against the fp64 token recurrence.
#include "tests/unit/ops/gdn_call.h"

namespace tilewright::ops {
namespace {

using enum gdn::Form;
using enum gdn::StateOrder;
using gdn::DType;
using gdn::Kind;

constexpr std::pair<int, int> kNew[]{{64, 64}, {64, 128}, {128, 64}};

/// Rows times powers of two, whose norms the kernels divide by again.
std::vector<std::uint16_t> stretched(const std::vector<std::uint16_t>& bits, int width, DType dtype) {
  std::vector<float> values = widened(bits, dtype);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= std::exp2(static_cast<float>(static_cast<int>(i / static_cast<std::size_t>(width) * 7 % 9) - 4));
  return halves(values, dtype);
}

/// A tensor of any float type on the device, as fp32.
std::vector<float> floats(const Call& call, const Operand& operand, std::size_t count) {
  if (operand.dtype == Dtype::f32) return call.get<float>(operand.address, count);
  return widened(call.get<std::uint16_t>(operand.address, count), operand.dtype == Dtype::bf16 ? DType::bf16 : DType::f16);
}

struct Case {
  int dk, dv;
  DType dtype;
  gdn::Form form;
  gdn::StateOrder order;
  Dtype initial, final;
  bool l2norm;
  Kind kind;
};
// Every pair of widths has both dtypes, both orders, narrow and wide states, norms taken or not, easy and hard inputs; two forms where there are two.
const Case cases[]{
    {64, 64, DType::bf16, full, k_first, Dtype::f32, Dtype::f32, false, Kind::ordinary},
    {64, 64, DType::bf16, full, v_first, Dtype::bf16, Dtype::f32, true, Kind::few_keys},
    {64, 64, DType::f16, full, k_first, Dtype::f32, Dtype::f16, true, Kind::strong_decay},
    {64, 64, DType::f16, full, v_first, Dtype::f16, Dtype::bf16, false, Kind::same_keys},
    {64, 128, DType::bf16, full, k_first, Dtype::bf16, Dtype::f16, true, Kind::same_keys},
    {64, 128, DType::bf16, split, v_first, Dtype::f32, Dtype::bf16, false, Kind::no_decay},
    {64, 128, DType::f16, full, v_first, Dtype::f16, Dtype::f32, false, Kind::strong_decay},
    {64, 128, DType::f16, split, k_first, Dtype::f32, Dtype::f32, true, Kind::few_keys},
    {128, 64, DType::bf16, full, k_first, Dtype::f16, Dtype::f32, false, Kind::few_keys},
    {128, 64, DType::bf16, full, v_first, Dtype::f32, Dtype::bf16, true, Kind::strong_decay},
    {128, 64, DType::f16, full, k_first, Dtype::bf16, Dtype::bf16, true, Kind::no_decay},
    {128, 64, DType::f16, full, v_first, Dtype::f32, Dtype::f16, false, Kind::same_keys},
    {128, 128, DType::f16, full, k_first, Dtype::bf16, Dtype::f32, true, Kind::same_keys},
    {128, 128, DType::bf16, split, v_first, Dtype::f16, Dtype::bf16, true, Kind::strong_decay},
};

TEST(GdnHeadWidths, EveryCombination) {
  for (const Case& c : cases) {
    SCOPED_TRACE(testing::Message() << c.dk << " x " << c.dv << " " << gdn::name_of(c.dtype) << " " << gdn::name_of(c.form) << " " << gdn::name_of(c.order) << " "
                                    << name_of(c.initial) << " to " << name_of(c.final) << (c.l2norm ? " l2norm " : " ") << gdn::name_of(c.kind));
    Call call({130, 0, 1, 64}, {1, 1, 2, c.dk, c.dv}, c.kind, test_device(), c.dtype);
    if (c.initial != Dtype::f32) {
      const DType stored = c.initial == Dtype::bf16 ? DType::bf16 : DType::f16;
      const auto bits = halves(call.in.initial_state, stored);
      call.args.initial_state = {call.put(bits), {}, c.initial};
      call.in.initial_state = widened(bits, stored);
    }
    call.args.state_order = call.in.state_order = c.order;
    call.args.final_state.dtype = c.final;
    call.args.l2norm = c.l2norm;
    if (c.l2norm) {
      const Dtype half = dtype_of(c.dtype);
      call.args.q = {call.put(stretched(call.q, c.dk, c.dtype)), {}, half}, call.args.k = {call.put(stretched(call.k, c.dk, c.dtype)), {}, half};
    }
    call.run({c.form, {}});
    const gdn::Outputs expected = gdn::recurrence(call.in);
    const double bar = c.dtype == DType::bf16 ? 5e-3 : 1e-3;
    EXPECT_LT(gdn::rms_ratio(floats(call, call.args.o, call.o.size()), expected.o), bar);
    EXPECT_LT(gdn::rms_ratio(floats(call, call.args.final_state, call.state.size()), expected.final_state), c.final == Dtype::bf16 ? 5e-3 : bar);
  }
}

TEST(GdnHeadWidths, Lengths) {
  const std::vector<std::int64_t> lens{0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 48, 63, 64, 65, 80, 95, 97, 112, 126, 127, 128, 129, 130};
  for (const auto& [dk, dv] : kNew) {
    SCOPED_TRACE(testing::Message() << dk << " x " << dv);
    Call call(lens, {1, 1, 2, dk, dv});
    call.run();
    call.fetch();
    const gdn::Outputs expected = gdn::recurrence(call.in);
    const std::size_t token = expected.o.size() / static_cast<std::size_t>(call.in.tokens()), state = expected.final_state.size() / lens.size();
    std::size_t first = 0;
    for (std::size_t n = 0; n < lens.size(); ++n) {
      const std::size_t count = token * static_cast<std::size_t>(lens[n]);
      const std::span<const std::uint16_t> o = std::span(call.o).subspan(first, count);
      EXPECT_LT(gdn::rms_ratio(o, DType::bf16, std::span(expected.o).subspan(first, count)), 6e-3) << "length " << lens[n];
      const std::span<const float> s = std::span(call.state).subspan(state * n, state);
      EXPECT_LT(gdn::rms_ratio(s, std::span(expected.final_state).subspan(state * n, state)), 6e-3) << "length " << lens[n];
      first += count;
    }
  }
}

TEST(GdnHeadWidths, HeadMaps) {
  for (const Heads heads : {Heads{4, 2, 1, 64, 128}, Heads{1, 2, 4, 128, 64}, Heads{1, 1, 5, 64, 64}}) {
    SCOPED_TRACE(testing::Message() << heads.hq << " " << heads.hk << " " << heads.hv);
    Call({65, 3}, heads).check();
  }
}

TEST(GdnHeadWidths, FormsSchedulesAndASecondRunGiveTheSameBits) {
  Call whole({70, 66}, {1, 1, 2, 64, 128}), halved({70, 66}, {1, 1, 2, 64, 128}), narrow({70, 66}, {1, 1, 2, 64, 64});
  whole.run({full, {}}), whole.fetch();
  narrow.run(), narrow.fetch();
  const auto o = narrow.o;
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    SCOPED_TRACE(testing::Message() << "schedule " << seed);
    set_schedule(*halved.device, seed), set_schedule(*narrow.device, seed);
    halved.run({split, {}}), halved.fetch();
    EXPECT_EQ(halved.o, whole.o);
    EXPECT_EQ(halved.state, whole.state);
    narrow.run({split, {}}), narrow.fetch();  // which has one form
    EXPECT_EQ(narrow.o, o);
  }
}

/// A pool with gaps between its rows, slots with -1, states in place, and checkpoints into slots.
TEST(GdnHeadWidths, PoolsAndCheckpoints) {
  for (const auto& [dk, dv] : kNew) {
    SCOPED_TRACE(testing::Message() << dk << " x " << dv);
    Call call({130, 0, 65, 3}, {1, 1, 2, dk, dv});
    const gdn::StateOrder order = dk < dv ? v_first : k_first;
    const std::int64_t inner = order == v_first ? dk : dv, outer = order == v_first ? dv : dk;
    const auto row = static_cast<std::size_t>(2 * dk * dv), rows = std::size_t{5}, pitch = row + 3 * static_cast<std::size_t>(inner);
    const std::vector<std::int32_t> read{3, 1, -1, 0}, write{3, 2, 4, -1}, starts{0, 2, 2, 3}, slots{2, -1, 0};
    std::vector<float> pool(rows * pitch);
    for (std::size_t i = 0; i < pool.size(); ++i) pool[i] = call.in.initial_state[i * 7 % call.in.initial_state.size()];
    for (std::size_t n = 0; n < 4; ++n)
      for (std::size_t i = 0; i < row; ++i) call.in.initial_state[n * row + i] = read[n] < 0 ? 0.0f : pool[static_cast<std::size_t>(read[n]) * pitch + i];
    call.args.state_order = call.in.state_order = order;
    const auto at = call.put(pool);
    call.args.initial_state = call.args.final_state = {at, {static_cast<std::int64_t>(pitch), dk * dv, inner, 1}, Dtype::f32};
    EXPECT_EQ(outer * inner, dk * dv);
    call.args.initial_rows = call.args.final_rows = rows;
    call.args.read_slots = {call.put(read), {}, Dtype::i32}, call.args.write_slots = {call.put(write), {}, Dtype::i32};
    const std::vector<std::uint16_t> poison(3 * row, 0xffff);
    call.args.checkpoints = {call.put(poison), {}, Dtype::bf16};
    call.args.checkpoint_rows = 3, call.args.checkpoint_every = 64, call.args.checkpoint_count = 3;
    call.args.checkpoint_starts = {call.put(starts), {}, Dtype::i32}, call.args.checkpoint_slots = {call.put(slots), {}, Dtype::i32};
    call.run();

    const auto after = call.get<float>(at, pool.size());
    const gdn::Outputs expected = gdn::recurrence(call.in);
    EXPECT_LT(gdn::rms_ratio(call.get<std::uint16_t>(call.args.o.address, call.o.size()), DType::bf16, expected.o), 4e-3);
    std::vector<bool> written(rows);
    for (std::size_t n = 0; n < 4; ++n) {
      if (write[n] < 0) continue;
      written[static_cast<std::size_t>(write[n])] = true;
      EXPECT_LT(gdn::rms_ratio(std::span(after).subspan(static_cast<std::size_t>(write[n]) * pitch, row), std::span(expected.final_state).subspan(n * row, row)), 4e-3) << n;
    }
    for (std::size_t r = 0; r < rows; ++r)  // other rows, and the gap behind each
      for (std::size_t i = r * pitch + (written[r] ? row : 0); i < (r + 1) * pitch; ++i) ASSERT_EQ(after[i], pool[i]) << "row " << r;
    const auto kept = call.get<std::uint16_t>(call.args.checkpoints.address, poison.size());
    for (const auto& [slot, n, length] : {std::tuple{2, 0, 64}, {0, 2, 64}}) {
      const gdn::Outputs part = gdn::recurrence(beginning(call.in, static_cast<std::size_t>(n), length));
      EXPECT_LT(gdn::rms_ratio(std::span(kept).subspan(static_cast<std::size_t>(slot) * row, row), DType::bf16, part.final_state), 5e-3) << "sequence " << n;
    }
    EXPECT_EQ(std::count(kept.begin() + std::ptrdiff_t(row), kept.begin() + std::ptrdiff_t(2 * row), 0xffff), std::ptrdiff_t(row));
  }
}

TEST(GdnHeadWidths, SlicesOfOneBuffer) {
  Call call({70, 1, 65}, {1, 1, 2, 64, 128});
  // A row: q, k, v and o of 64, 64, 256 and 256 columns, with 8 that nobody names behind each.
  const std::size_t T = static_cast<std::size_t>(call.in.tokens()), pitch = 64 + 64 + 256 + 256 + 32, q = 0, k = 72, v = 144, o = 408;
  std::vector<std::uint16_t> buffer(T * pitch, 0x7fff);  // NaN
  const auto put = [&](const std::vector<std::uint16_t>& values, std::size_t width, std::size_t column) {
    for (std::size_t t = 0; t < T; ++t) std::copy_n(values.begin() + std::ptrdiff_t(t * width), width, buffer.begin() + std::ptrdiff_t(t * pitch + column));
  };
  put(call.q, 64, q), put(call.k, 64, k), put(call.v, 256, v);
  const auto at = call.put(buffer);
  const auto slice = [&](std::size_t column, std::int64_t width) { return Operand{at + 2 * column, {0, static_cast<std::int64_t>(pitch), width, 1}}; };
  call.args.q = slice(q, 64), call.args.k = slice(k, 64), call.args.v = slice(v, 128), call.args.o = slice(o, 128);
  call.run();
  const auto after = call.get<std::uint16_t>(at, buffer.size());
  std::vector<std::uint16_t> got;
  for (std::size_t t = 0; t < T; ++t) {
    const auto row = after.begin() + std::ptrdiff_t(t * pitch);
    const auto before = buffer.begin() + std::ptrdiff_t(t * pitch);
    got.insert(got.end(), row + std::ptrdiff_t(o), row + std::ptrdiff_t(o + 256));
    EXPECT_TRUE(std::equal(row, row + std::ptrdiff_t(o), before) && std::equal(row + std::ptrdiff_t(o + 256), row + std::ptrdiff_t(pitch), before + std::ptrdiff_t(o + 256)));
  }
  EXPECT_LT(gdn::rms_ratio(got, DType::bf16, gdn::recurrence(call.in).o), 4e-3);
}

}  // namespace
}  // namespace tilewright::ops
