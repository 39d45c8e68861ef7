// T of a chunk against (I + L)^-1 diag(beta) in fp64.
#include "kernels/gdn/inverse_warpgroup.h"

#include <cmath>

#include "tests/device/launch.h"

namespace tilewright::test {
namespace {

using namespace gdn;

constexpr int kWidth = 128;  // of keys

/// K and the gates of a chunk on the device; two calls, so that the second works on what the first has left.
template <Half T>
Program warpgroup_inverse(bool normalize) {
  return kernel("inverse", [=](Kernel& k) {
    auto keys = k.in<T>("k", {2 * kChunk, kWidth});
    auto bs = k.in<f32>("b", {2, kChunk}), betas = k.in<f32>("beta", {2, kChunk}), norms = k.in<f32>("norm", {2, kChunk});
    auto to = k.out<T>("t", {2 * kChunk, kChunk});
    auto tile = k.staged<T>("k_tile", 1, {kChunk, kWidth});
    auto b = k.shared<f32>("b_tile", {1, kChunk}), beta = k.shared<f32>("beta_tile", {1, kChunk}), norm = k.shared<f32>("norm_tile", {1, kChunk});
    auto t = k.shared<T>("t_tile", {kChunk, kChunk});
    auto scratch = WarpgroupInverse<T>::scratch(k, "scratch");
    k.ctas_per_sm(8);
    Role all = k.role("all", warpgroups(1));
    Ring ring = k.ring("k", 1, all, {all}, tile);
    all([&] {
      WarpgroupInverse<T> inverse(k, scratch);
      WarpgroupInverse<T>::clear(k, t);
      for_(k.index(2), [&](Index chunk) {
        Stage at = ring.acquire();
        ring.tma_load(at, tile, keys.tile({chunk * kChunk, 0}, {kChunk, kWidth}));
        if_(k.thread() < kChunk, [&] {
          b.write(0, k.thread(), bs.read({chunk, k.thread()}));
          beta.write(0, k.thread(), betas.read({chunk, k.thread()}));
          norm.write(0, k.thread(), norms.read({chunk, k.thread()}));
        });
        k.store_wait(0);
        k.sync();
        at = ring.wait();
        auto product = k.frag<f32>({kChunk, kChunk}, "K K^T");
        gemm_zero(product, tile[at], tile[at].t());
        Batch products = k.batch();
        inverse.prepare(b, beta, normalize ? std::optional(norm) : std::nullopt);
        settle(products);
        ring.release(at);
        inverse(product, beta, t);
        k.sync();
        if_(k.thread() == 0, [&] { tma_store(to.tile({chunk * kChunk, 0}, {kChunk, kChunk}), t); });
      });
      k.store_wait(0);
    });
  });
}

struct Gates {
  std::function<double(std::int64_t)> log2_decay, strength;
};

/// Runs both chunks. `condition`: by how much the rounding of L to tf32 may show beyond that of T.
template <Half T>
void check(const char* what, const Array& keys, const Gates& gates, bool normalize = false, double condition = 1) {
  SCOPED_TRACE(what);
  std::vector<double> sums;
  const Array b = array("f32", {2, kChunk}, [&](std::int64_t i) { return sums.push_back(gates.log2_decay(i) + (i % kChunk ? sums.back() : 0.0)), sums.back(); });
  const Array beta = array("f32", {2, kChunk}, gates.strength);
  const auto length = [&](std::int64_t i) { return std::sqrt(dot(kWidth, [&](auto, auto c) { return keys.at(i, c); }, [&](auto c, auto) { return keys.at(i, c); }, 0, 0)); };
  const Array norm = array("f32", {2, kChunk}, [&](std::int64_t i) { return 1 / length(i); });
  static std::map<bool, Program> programs;
  Launch run(programs.try_emplace(normalize, warpgroup_inverse<T>(normalize)).first->second);
  run.in("k", keys).in("b", b).in("beta", beta).in("norm", norm).out("t", keys.element, {2 * kChunk, kChunk}).run();
  const Array& t = run["t"];
  double largest = 0, error = 0;
  for (std::int64_t chunk : {0, 1}) {
    std::vector<double> L(kChunk * kChunk), Y(kChunk * kChunk);
    const auto row = [&](std::int64_t i) { return chunk * kChunk + i; };
    for (std::int64_t i = 0; i < kChunk; ++i)
      for (std::int64_t j = 0; j < i; ++j) {
        double kk = dot(kWidth, [&](auto, auto c) { return keys.at(row(i), c); }, [&](auto c, auto) { return keys.at(row(j), c); }, 0, 0);
        if (normalize) kk *= norm.at(chunk, i) * norm.at(chunk, j);
        L[size_t(i * kChunk + j)] = beta.at(chunk, i) * std::exp2(b.at(chunk, i) - b.at(chunk, j)) * kk;
      }
    for (std::int64_t j = 0; j < kChunk; ++j)
      for (std::int64_t i = j; i < kChunk; ++i) {
        double y = i == j;
        for (std::int64_t m = j; m < i; ++m) y -= L[size_t(i * kChunk + m)] * Y[size_t(m * kChunk + j)];
        Y[size_t(i * kChunk + j)] = y;
      }
    for (std::int64_t i = 0; i < kChunk; ++i)
      for (std::int64_t j = 0; j < kChunk; ++j) {
        const double expected = j <= i ? Y[size_t(i * kChunk + j)] * beta.at(chunk, j) : 0.0;
        largest = std::max(largest, std::abs(expected));
        error = std::max(error, std::abs(t.at(row(i), j) - expected));
        if (j > i) ASSERT_EQ(t.at(row(i), j), 0.0) << "row " << row(i) << ", column " << j;
        ASSERT_FALSE(std::isnan(t.at(row(i), j))) << "row " << row(i) << ", column " << j;
      }
  }
  EXPECT_LE(error, condition * largest * (keys.element == "bf16" ? 0x1p-8 : 0x1p-9));
}

/// Unit vectors around a common one: `common` 1 makes all of them the same.
Array keys(const char* element, double common) {
  const Array x = noise(element, {2 * kChunk + 1, kWidth}, 5);
  Array out = array(element, {2 * kChunk, kWidth}, [](std::int64_t) { return 0.0; });
  for (std::int64_t i = 0; i < 2 * kChunk; ++i) {
    double squares = 0;
    const auto value = [&](std::int64_t c) { return common * x.at(2 * kChunk, c) + (1 - common) * x.at(i, c); };
    for (std::int64_t c = 0; c < kWidth; ++c) squares += value(c) * value(c);
    for (std::int64_t c = 0; c < kWidth; ++c) out.values[size_t(i * kWidth + c)] = rounded(element, value(c) / std::sqrt(squares));
  }
  return out;
}
double random(std::int64_t i, unsigned seed) { return 0.5 + 0.5 * std::sin(double(i * i + 7 * i) * 1.7 + seed); }

template <Half T>
void check_all(const char* element) {
  const auto none = [](std::int64_t) { return 0.0; };
  const auto one = [](std::int64_t) { return 1.0; };
  const auto mixed = [](std::int64_t i) { return random(i, 1); };
  check<T>("random", keys(element, 0), {[](std::int64_t i) { return -0.1 * random(i, 2); }, mixed});
  check<T>("similar keys", keys(element, 0.7), {[](std::int64_t i) { return -0.05 * random(i, 2); }, mixed});
  check<T>("identical keys", keys(element, 1), {none, one});
  check<T>("negative eigenvalues", keys(element, 1), {none, [](std::int64_t) { return 1.95; }}, false, 4);
  check<T>("random, beta 2", keys(element, 0), {none, [](std::int64_t) { return 2.0; }});
  check<T>("strong decay", keys(element, 1), {[](std::int64_t i) { return i % 5 ? -115.0 * random(i, 3) : 0.0; }, one});
  check<T>("sequence's end", keys(element, 0.5), {[](std::int64_t i) { return i % kChunk < 23 ? -0.01 : 0.0; }, [](std::int64_t i) { return i % kChunk < 23 ? 0.9 : 0.0; }});
  Array longer = keys(element, 0.8);
  for (std::int64_t i = 0; i < 2 * kChunk * kWidth; ++i) longer.values[size_t(i)] = rounded(element, longer.values[size_t(i)] * (1.0 + double(i / kWidth % 9)));
  check<T>("normalized", longer, {[](std::int64_t i) { return -0.02 * random(i, 4); }, mixed}, true);
}
TEST(WarpgroupInverse, Bf16) { check_all<bf16>("bf16"); }
TEST(WarpgroupInverse, F16) { check_all<f16>("f16"); }

}  // namespace
}  // namespace tilewright::test
