// Deterministic test inputs. Every number is a function of (seed, stream, index), so that threads may share the work.
#include "kernels/gdn/inputs.h"

#include <cmath>
#include <numbers>
#include <numeric>

#include "kernels/gdn/parallel.h"
#include "tilewright/error.h"
#include "tilewright/half.h"

namespace tilewright::gdn {

namespace {

enum Stream : std::uint64_t { stream_q = 1, stream_k, stream_v, stream_g, stream_beta, stream_state, stream_choice };

/// The finaliser of SplitMix64: a bijection of 64 bits that mixes well.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

struct Random {
  std::uint64_t key;
  Random(std::uint64_t seed, Stream stream) : key(mix(mix(seed) ^ std::uint64_t(stream) << 56)) {}

  std::uint64_t bits(std::uint64_t index) const { return mix(key ^ mix(index)); }
  /// Uniform in (0, 1).
  double uniform(std::uint64_t index) const { return (double(bits(index) >> 11) + 0.5) * 0x1p-53; }
  /// N(0,1), by Box and Muller: two neighbouring indices share a radius.
  float normal(std::uint64_t index) const {
    double radius = std::sqrt(-2 * std::log(uniform(index | 1)));
    double angle = 2 * std::numbers::pi * uniform(index & ~std::uint64_t(1));
    return float(radius * (index & 1 ? std::sin(angle) : std::cos(angle)));
  }
};

/// Rows of d normal numbers, l2-normalised in fp32 if asked; row `source(r)` of the stream becomes row r.
template <class Source>
std::vector<std::uint16_t> rows_of(std::int64_t rows, int d, Random random, DType dtype, bool normalise,
                                   Source source) {
  std::vector<std::uint16_t> out(size_t(rows) * size_t(d));
  constexpr std::int64_t block = 256;
  parallel_for((rows + block - 1) / block, 0, [&](std::int64_t b) {
    std::vector<float> row(static_cast<size_t>(d));
    for (std::int64_t r = b * block; r < std::min(rows, (b + 1) * block); ++r) {
      std::uint64_t first = std::uint64_t(source(r)) * std::uint64_t((d + 1) & ~1);
      double squares = 0;
      for (int c = 0; c < d; ++c) {
        row[size_t(c)] = random.normal(first + std::uint64_t(c));
        squares += double(row[size_t(c)]) * row[size_t(c)];
      }
      float length = normalise ? std::max(float(std::sqrt(squares)), 1e-12f) : 1.0f;
      for (int c = 0; c < d; ++c)
        out[size_t(r * d + c)] = encode(row[size_t(c)] / length, dtype);
    }
  });
  return out;
}

/// A quarter of the value heads (none of fewer than 4), chosen at random.
std::vector<bool> heads_without_decay(int hv, const Random &random) {
  std::vector<int> order(static_cast<size_t>(hv));
  std::iota(order.begin(), order.end(), 0);
  for (int i = hv - 1; i > 0; --i)
    std::swap(order[size_t(i)], order[random.bits(std::uint64_t(i)) % std::uint64_t(i + 1)]);
  std::vector<bool> without(static_cast<size_t>(hv));
  for (int i = 0; i < hv / 4; ++i)
    without[size_t(order[size_t(i)])] = true;
  return without;
}

void expect_size(const char *name, size_t given, std::int64_t expected, const char *shape) {
  if (std::int64_t(given) != expected)
    throw Error(std::string("gdn inputs: ") + name + " has " + std::to_string(given) + " elements, expected " +
                std::to_string(expected) + " " + shape);
}

} // namespace

float decode(std::uint16_t bits, DType dtype) {
  return dtype == DType::bf16 ? float_from_bf16(bits) : float_from_f16(bits);
}
std::uint16_t encode(float value, DType dtype) {
  return dtype == DType::bf16 ? bf16_from_float(value) : f16_from_float(value);
}

std::int64_t Inputs::tokens() const { return std::accumulate(lens.begin(), lens.end(), std::int64_t(0)); }

std::vector<std::int64_t> Inputs::offsets() const {
  std::vector<std::int64_t> out(lens.size() + 1, 0);
  std::partial_sum(lens.begin(), lens.end(), out.begin() + 1);
  return out;
}

void Inputs::check() const {
  for (size_t i = 0; i < lens.size(); ++i)
    if (lens[i] < 0)
      throw Error("gdn inputs: sequence " + std::to_string(i) + " has length " + std::to_string(lens[i]) +
                  ", expected 0 or more");
  if (hk < 1 || hv < 1 || hv % hk != 0)
    throw Error("gdn inputs: " + std::to_string(hv) + " value heads and " + std::to_string(hk) +
                " key heads; expected a positive multiple");
  if (dk < 1 || dv < 1)
    throw Error("gdn inputs: head widths dk = " + std::to_string(dk) + ", dv = " + std::to_string(dv) +
                "; expected 1 or more");
  std::int64_t t = tokens();
  expect_size("q", q.size(), t * hk * dk, "(T, Hk, dk)");
  expect_size("k", k.size(), t * hk * dk, "(T, Hk, dk)");
  expect_size("v", v.size(), t * hv * dv, "(T, Hv, dv)");
  expect_size("g", g.size(), t * hv, "(T, Hv)");
  expect_size("beta", beta.size(), t * hv, "(T, Hv)");
  if (!initial_state.empty())
    expect_size("initial_state", initial_state.size(), sequences() * hv * dk * dv, "(N, Hv, dk, dv)");
}

Inputs generate(const InputShape &shape, Kind kind, std::uint64_t seed) {
  Inputs in;
  in.lens = shape.lens;
  in.hk = shape.hk, in.hv = shape.hv, in.dk = shape.dk, in.dv = shape.dv;
  in.dtype = shape.dtype;
  in.state_order = shape.state_order;
  in.scale = float(1 / std::sqrt(double(shape.dk)));
  const std::int64_t t = in.tokens(), dk = in.dk, dv = in.dv, state = dk * dv;
  const Random choice(seed, stream_choice);
  const bool hard = kind == Kind::few_keys || kind == Kind::same_keys;

  auto itself = [](std::int64_t r) { return r; };
  auto key_row = [&](std::int64_t r) {
    std::int64_t token = r / in.hk, head = r % in.hk;
    if (kind == Kind::same_keys)
      token = 0;
    if (kind == Kind::few_keys)
      token = std::int64_t(choice.bits(1 << 20 | std::uint64_t(token) << 21) % 24);
    return token * in.hk + head;
  };
  in.q = rows_of(t * in.hk, in.dk, Random(seed, stream_q), in.dtype, true, itself);
  in.k = rows_of(t * in.hk, in.dk, Random(seed, stream_k), in.dtype, true, key_row);
  in.v = rows_of(t * in.hv, in.dv, Random(seed, stream_v), in.dtype, false, itself);

  in.g.resize(size_t(t * in.hv));
  in.beta.resize(size_t(t * in.hv));
  const Random random_g(seed, stream_g), random_beta(seed, stream_beta), random_state(seed, stream_state);
  const std::vector<bool> flat = heads_without_decay(in.hv, choice);
  for (std::int64_t i = 0; i < t * in.hv; ++i) {
    float g = flat[size_t(i % in.hv)] ? 0.0f : float(-std::log1p(std::exp(-random_g.normal(std::uint64_t(i)))) / 16);
    float beta = 1 / (1 + std::exp(-random_beta.normal(std::uint64_t(i))));
    if (hard)
      g *= 0.02f, beta = 0.9f + 0.1f * beta;
    if (kind == Kind::no_decay)
      g = 0;
    if (kind == Kind::strong_decay)
      g = float(-20 * random_g.uniform(std::uint64_t(i)));
    in.g[size_t(i)] = g;
    in.beta[size_t(i)] = beta;
  }

  if (shape.initial_state) {
    in.initial_state.resize(size_t(in.sequences() * in.hv * state));
    parallel_for(in.sequences() * in.hv, 0, [&](std::int64_t matrix) {
      for (std::int64_t key = 0; key < dk; ++key)
        for (std::int64_t value = 0; value < dv; ++value) {
          std::int64_t at = in.state_order == StateOrder::k_first ? key * dv + value : value * dk + key;
          in.initial_state[size_t(matrix * state + at)] =
              random_state.normal(std::uint64_t(matrix * state + key * dv + value));
        }
    });
  }
  in.check();
  return in;
}

} // namespace tilewright::gdn
