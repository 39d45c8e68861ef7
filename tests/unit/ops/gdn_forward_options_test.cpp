// What a call may ask for beside the plain form, each against the fp64 reference.
#include "tests/unit/ops/gdn_call.h"

namespace tilewright::ops {
namespace {

constexpr std::uint16_t kNan = 0x7fff;

TEST(GdnForwardOptions, HeadMaps) {
  for (const Heads heads : {Heads{4, 2, 1}, Heads{1, 2, 4}, Heads{2, 2, 2}, Heads{1, 1, 5}}) {
    SCOPED_TRACE(testing::Message() << heads.hq << " " << heads.hk << " " << heads.hv);
    Call({65, 3}, heads).check();
  }
}

TEST(GdnForwardOptions, SlicesOfOneBuffer) {
  const Heads heads{1, 1, 2};
  Call call({70, 1, 65}, heads);
  constexpr std::size_t D = 128;
  // A row holds q, k, v and o beside each other, and more that nobody names.
  const std::size_t T = static_cast<std::size_t>(call.in.tokens()), pitch = 7 * D, q = 0, k = D + 8, v = 2 * D + 16, o = 4 * D + 24;
  std::vector<std::uint16_t> buffer(T * pitch, kNan);
  for (std::size_t t = 0; t < T; ++t) {
    std::copy_n(call.q.begin() + std::ptrdiff_t(t * D), D, buffer.begin() + std::ptrdiff_t(t * pitch + q));
    std::copy_n(call.k.begin() + std::ptrdiff_t(t * D), D, buffer.begin() + std::ptrdiff_t(t * pitch + k));
    std::copy_n(call.v.begin() + std::ptrdiff_t(t * 2 * D), 2 * D, buffer.begin() + std::ptrdiff_t(t * pitch + v));
  }
  const auto at = call.put(buffer);
  const std::array<std::int64_t, 4> strides{0, pitch, D, 1};
  call.args.q = {at + 2 * q, strides}, call.args.k = {at + 2 * k, strides}, call.args.v = {at + 2 * v, strides}, call.args.o = {at + 2 * o, strides};
  // g is every second number of a [H, T] matrix with rows in reverse order of nothing: heads outermost.
  std::vector<float> g(2 * 2 * T, std::nanf(""));
  for (std::size_t t = 0; t < T; ++t)
    for (std::size_t h = 0; h < 2; ++h) g[h * 2 * T + 2 * t] = call.in.g[t * 2 + h];
  call.args.g = {call.put(g), {0, 2, static_cast<std::int64_t>(2 * T), 0}, Dtype::f32};
  call.run();
  const auto after = call.get<std::uint16_t>(at, buffer.size());
  const gdn::Outputs expected = gdn::recurrence(call.in);
  std::vector<std::uint16_t> got;
  for (std::size_t t = 0; t < T; ++t) {
    got.insert(got.end(), after.begin() + std::ptrdiff_t(t * pitch + o), after.begin() + std::ptrdiff_t(t * pitch + o + 2 * D));
    EXPECT_TRUE(std::equal(after.begin() + std::ptrdiff_t(t * pitch), after.begin() + std::ptrdiff_t(t * pitch + o), buffer.begin() + std::ptrdiff_t(t * pitch)));
  }
  EXPECT_LT(gdn::rms_ratio(got, gdn::DType::bf16, expected.o), 4e-3);
}

TEST(GdnForwardOptions, GateAndBetaOfOneBufferNeedNoAlignment) {
  Call call({70, 1}, {1, 1, 3});
  const std::size_t T = static_cast<std::size_t>(call.in.tokens());
  std::vector<float> both(7 * T, std::nanf(""));  // a row: nothing, three gates, three strengths
  for (std::size_t t = 0; t < T; ++t)
    for (std::size_t h = 0; h < 3; ++h) both[7 * t + 1 + h] = call.in.g[3 * t + h], both[7 * t + 4 + h] = call.in.beta[3 * t + h];
  const auto at = call.put(both);
  call.args.g = {at + 4, {0, 7, 1, 0}, Dtype::f32}, call.args.beta = {at + 16, {0, 7, 1, 0}, Dtype::f32};
  std::vector<std::int32_t> offsets{0};
  offsets.insert(offsets.end(), call.offsets.begin(), call.offsets.end());
  call.args.cu_seqlens.address = call.put(offsets) + 4;
  call.check();
}

TEST(GdnForwardOptions, SlotsOfAPool) {
  Call call({65, 0, 3, 70, 0});
  constexpr std::size_t row = 2 * 128 * 128, pitch = row + 3 * 128, rows = 6;
  // Sequences 1 and 4 are empty: 1 moves a state to another row, 4 is padding and touches nothing.
  const std::vector<std::int64_t> read{4, 2, -1, 0, -1}, write{4, 1, 3, -1, -1};
  std::vector<float> pool(rows * pitch);
  for (std::size_t i = 0; i < pool.size(); ++i) pool[i] = call.in.initial_state[(i * 7) % call.in.initial_state.size()];
  for (std::size_t n = 0; n < 5; ++n)
    for (std::size_t i = 0; i < row; ++i)
      call.in.initial_state[n * row + i] = read[n] < 0 ? 0.0f : pool[static_cast<std::size_t>(read[n]) * pitch + i];
  const auto at = call.put(pool);
  call.args.initial_state = call.args.final_state = {at, {static_cast<std::int64_t>(pitch), 128 * 128, 128, 1}, Dtype::f32};
  call.args.initial_rows = call.args.final_rows = rows;
  call.args.read_slots = {call.put(read), {}, Dtype::i64};
  call.args.write_slots = {call.put(std::vector<std::int32_t>(write.begin(), write.end())), {}, Dtype::i32};
  call.run();
  const auto after = call.get<float>(at, pool.size());
  const gdn::Outputs expected = gdn::recurrence(call.in);
  EXPECT_LT(gdn::rms_ratio(call.get<std::uint16_t>(call.args.o.address, call.o.size()), gdn::DType::bf16, expected.o), 4e-3);
  std::vector<bool> written(rows);
  for (std::size_t n = 0; n < 5; ++n) {
    if (write[n] < 0) continue;
    written[static_cast<std::size_t>(write[n])] = true;
    const std::span got = std::span(after).subspan(static_cast<std::size_t>(write[n]) * pitch, row);
    EXPECT_LT(gdn::rms_ratio(got, std::span(expected.final_state).subspan(n * row, row)), 4e-3) << "sequence " << n;
  }
  for (std::size_t r = 0; r < rows; ++r)  // other rows and the padding behind each row
    EXPECT_TRUE(std::equal(after.begin() + std::ptrdiff_t(r * pitch + (written[r] ? row : 0)), after.begin() + std::ptrdiff_t((r + 1) * pitch),
                           pool.begin() + std::ptrdiff_t(r * pitch + (written[r] ? row : 0))))
        << "row " << r;
}

TEST(GdnForwardOptions, StatesInEveryDtypeAndOrder) {
  for (const gdn::StateOrder order : {gdn::StateOrder::k_first, gdn::StateOrder::v_first})
    for (const auto& [from, to] : {std::pair{Dtype::bf16, Dtype::f16}, {Dtype::f32, Dtype::bf16}, {Dtype::f16, Dtype::f32}}) {
      SCOPED_TRACE(std::string(gdn::name_of(order)) + " " + name_of(from) + " to " + name_of(to));
      Call call({66, 2});
      call.args.state_order = call.in.state_order = order;
      const gdn::DType narrow = from == Dtype::bf16 ? gdn::DType::bf16 : gdn::DType::f16;
      if (from != Dtype::f32) {
        const auto bits = halves(call.in.initial_state, narrow);
        call.args.initial_state = {call.put(bits), {}, from};
        call.in.initial_state = widened(bits, narrow);
      }
      call.args.final_state.dtype = to;
      call.run({gdn::Form::full, {}});
      const gdn::Outputs expected = gdn::recurrence(call.in);
      EXPECT_LT(gdn::rms_ratio(call.get<std::uint16_t>(call.args.o.address, call.o.size()), gdn::DType::bf16, expected.o), 4e-3);
      if (to == Dtype::f32) {
        EXPECT_LT(gdn::rms_ratio(call.get<float>(call.args.final_state.address, call.state.size()), expected.final_state), 4e-3);
      } else {
        const gdn::DType written = to == Dtype::bf16 ? gdn::DType::bf16 : gdn::DType::f16;
        EXPECT_LT(gdn::rms_ratio(call.get<std::uint16_t>(call.args.final_state.address, call.state.size()), written, expected.final_state), 5e-3);
      }
    }
}

TEST(GdnForwardOptions, LinearGate) {
  Call call({70}, {1, 1, 4});
  std::vector<float> decay;
  const float special[]{0.0f, 1e-38f, 6.5e-12f, 1.0f, 0.49999f, 0.999999f};
  for (std::size_t i = 0; i < call.in.g.size(); ++i) {
    decay.push_back(i % 40 < 6 ? special[i % 40] : std::exp(call.in.g[i]));
    call.in.g[i] = std::max(-80.0f, static_cast<float>(std::log(double(decay.back()))));
  }
  call.args.g = {call.put(decay), {}, Dtype::f32};
  call.args.gate_domain = gdn::GateDomain::linear;
  call.check();
}

TEST(GdnForwardOptions, RawGateAndLogitsOfBeta) {
  for (const bool narrow : {false, true}) {
    Call call({66, 5}, {1, 1, 3});
    std::vector<float> x, logit, a_log{-1.0f, 0.5f, 2.0f}, bias{0.25f, -3.0f, 1.0f};
    for (std::size_t i = 0; i < call.in.g.size(); ++i) {
      x.push_back(static_cast<float>(static_cast<int>(i * 37 % 101) - 70) / 8);
      logit.push_back(static_cast<float>(static_cast<int>(i * 53 % 97) - 48) / 10);
    }
    x[5] = 90.0f, x[6] = -90.0f, logit[7] = 200.0f, logit[8] = -200.0f;
    if (narrow) {
      const auto gates = halves(x, gdn::DType::bf16), betas = halves(logit, gdn::DType::f16);
      const auto rates = halves(a_log, gdn::DType::bf16), biases = halves(bias, gdn::DType::f16);
      call.args.g = {call.put(gates), {}, Dtype::bf16}, call.args.beta = {call.put(betas), {}, Dtype::f16};
      call.args.A_log = {call.put(rates), {}, Dtype::bf16}, call.args.dt_bias = {call.put(biases), {}, Dtype::f16};
      x = widened(gates, gdn::DType::bf16), logit = widened(betas, gdn::DType::f16);
    } else {
      call.args.g = {call.put(x), {}, Dtype::f32}, call.args.beta = {call.put(logit), {}, Dtype::f32};
      call.args.A_log = {call.put(a_log), {}, Dtype::f32};
      bias = {0, 0, 0};  // not given
    }
    call.args.gate_domain = gdn::GateDomain::raw, call.args.beta_domain = gdn::BetaDomain::logit;
    call.args.beta_scale = narrow ? 2.0f : 0.0f;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double y = double(x[i]) + double(bias[i % 3]), softplus = std::max(y, 0.0) + std::log1p(std::exp(-std::abs(y)));
      call.in.g[i] = static_cast<float>(std::max(-80.0, -std::exp(double(a_log[i % 3])) * softplus));
      call.in.beta[i] = static_cast<float>((narrow ? 2.0 : 1.0) / (1 + std::exp(-double(logit[i]))));
    }
    call.check();
  }
}

TEST(GdnForwardOptions, NormsOfQueriesAndKeys) {
  // Rows that are powers of two times the reference's, whose norms are 1 up to rounding.
  for (const gdn::Form form : {gdn::Form::full, gdn::Form::split}) {
    Call call({70, 1, 64}, {1, 2, 4}, gdn::Kind::few_keys);
    const auto stretched = [&](const std::vector<std::uint16_t>& bits, unsigned seed) {
      std::vector<float> values = widened(bits, gdn::DType::bf16);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] *= std::exp2(static_cast<float>(static_cast<int>((i / 128 * 7 + seed) % 9) - 4));
      return halves(values, gdn::DType::bf16);
    };
    call.args.q = {call.put(stretched(call.q, 1))}, call.args.k = {call.put(stretched(call.k, 2))};
    call.args.l2norm = 1;
    call.check({form, {}}, 5e-3);
  }
}

TEST(GdnForwardOptions, NormsOfSmallRowsAreLimitedByEps) {
  Call call({66});
  std::vector<float> small = widened(call.k, gdn::DType::bf16);
  for (float& value : small) value *= 0x1p-10f;
  call.args.k = {call.put(halves(small, gdn::DType::bf16))};
  call.args.l2norm = 1, call.args.l2norm_eps = 0x1p-20f;  // as much as the sum of squares: rows of norm 1 / sqrt(2)
  std::vector<float> half = widened(call.in.k, gdn::DType::bf16);
  for (float& value : half) value *= std::sqrt(0.5f);
  call.in.k = halves(half, gdn::DType::bf16);
  call.check({}, 6e-3);
}

TEST(GdnForwardOptions, WithoutGateAndBeta) {
  Call call({65});
  call.args.g = call.args.beta = {};
  std::fill(call.in.g.begin(), call.in.g.end(), 0.0f);
  std::fill(call.in.beta.begin(), call.in.beta.end(), 1.0f);
  call.check();
}

TEST(GdnForwardOptions, SavesWhatTheBackwardReads) {
  Call call({70, 20});
  constexpr std::size_t C = 64, H = 2, D = 128;
  const std::size_t slots = static_cast<std::size_t>(call.args.slots());
  call.args.save_T = {call.put(std::vector<std::uint16_t>(slots * H * C * C))};
  call.args.save_b = {call.put(std::vector<float>(slots * H * C)), {}, Dtype::f32};
  EXPECT_EQ(GdnForward::workspace_bytes(call.args), 256u);
  call.args.workspace_bytes = 256;
  call.check();
  const auto T = call.get<std::uint16_t>(call.args.save_T.address, slots * H * C * C);
  const auto b = call.get<float>(call.args.save_b.address, slots * H * C);
  // Sequence 1, rows 70..89, has slot 70 / 64 + 1 = 2. (I + diag(beta) M) T = diag(beta).
  for (std::size_t h = 0; h < H; ++h) {
    const std::size_t at = 2 * H + h;
    double sum = 0, worst = 0;
    for (std::size_t i = 0; i < 20; ++i) {
      sum += call.in.g[(70 + i) * H + h] * 1.4426950408889634;
      EXPECT_NEAR(b[at * C + i], sum, 1e-5);
      for (std::size_t j = 0; j < 20; ++j) {
        const double beta = call.in.beta[(70 + i) * H + h];
        double row = gdn::decode(T[(at * C + i) * C + j], gdn::DType::bf16);
        for (std::size_t m = 0; m < i; ++m) {
          double dot = 0;
          for (std::size_t c = 0; c < D; ++c)
            dot += double(gdn::decode(call.in.k[((70 + i) * H + h) * D + c], gdn::DType::bf16)) * gdn::decode(call.in.k[((70 + m) * H + h) * D + c], gdn::DType::bf16);
          row += beta * std::exp2(double(b[at * C + i]) - b[at * C + m]) * dot * gdn::decode(T[(at * C + m) * C + j], gdn::DType::bf16);
        }
        worst = std::max(worst, std::abs(row - (i == j ? beta : 0.0)));
      }
    }
    EXPECT_LT(worst, 4e-3);
    for (std::size_t i = 20; i < C; ++i) EXPECT_EQ(b[at * C + i], b[at * C + 19]);
  }
}

}  // namespace
}  // namespace tilewright::ops
