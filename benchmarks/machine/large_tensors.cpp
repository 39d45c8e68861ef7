// GDN forward with more than 2^31 elements in v and o: whole sequences at the start, across element 2^31 and at the end are
// checked against fp64.
#include <cmath>

#include "benchmarks/machine/bench.h"
#include "kernels/gdn/parallel.h"
#include "kernels/gdn/reference.h"
#include "runtime/cuda/timing.h"
#include "runtime/ops/gdn_forward.h"

namespace tilewright::machine {
namespace {

constexpr int kWidth = 128;
constexpr double kBar = 5e-3;  // rms ratio: a wrong address gives 1
constexpr std::int64_t kBlock = std::int64_t{1} << 24;  // elements made, sent and read back at a time

/// The inputs of a call, each number a function of its place: nothing is kept on the host.
struct Source {
  std::uint64_t seed;
  int hk, hv;
  std::uint16_t v(std::int64_t i) const { return bf16_of(Random{seed}.bell(std::uint64_t(i))); }
  /// q (stream 1) and k (stream 2): rows of unit length.
  void row(int stream, std::int64_t row, std::uint16_t* out) const {
    float x[kWidth];
    double squares = 0;
    for (int c = 0; c < kWidth; ++c) squares += double(x[c] = Random{seed + std::uint64_t(stream)}.bell(std::uint64_t(row * kWidth + c))) * x[c];
    for (int c = 0; c < kWidth; ++c) out[c] = bf16_of(x[c] / float(std::sqrt(squares)));
  }
  float g(std::int64_t i) const { return i % hv % 4 == 0 ? 0.0f : -0.06f * float(Random{seed + 3}.uniform(std::uint64_t(i))); }
  float beta(std::int64_t i) const { return float(Random{seed + 4}.uniform(std::uint64_t(i))); }
  static std::uint16_t bf16_of(float x) { return gdn::encode(x, gdn::DType::bf16); }

  /// Tokens [first, first + count) as a problem of their own.
  gdn::Inputs part(std::int64_t first, std::int64_t count) const {
    gdn::Inputs in;
    in.lens = {count};
    in.hk = hk, in.hv = hv, in.dk = in.dv = kWidth;
    in.scale = float(1 / std::sqrt(double(kWidth)));
    in.q.resize(std::size_t(count * hk * kWidth));
    in.k.resize(in.q.size());
    for (std::int64_t r = 0; r < count * hk; ++r) row(1, first * hk + r, &in.q[std::size_t(r * kWidth)]), row(2, first * hk + r, &in.k[std::size_t(r * kWidth)]);
    for (std::int64_t i = 0; i < count * hv * kWidth; ++i) in.v.push_back(v(first * hv * kWidth + i));
    for (std::int64_t i = 0; i < count * hv; ++i) in.g.push_back(g(first * hv + i)), in.beta.push_back(beta(first * hv + i));
    return in;
  }
};

/// Fills device memory with `make(index)`, block after block.
template <class T, class Make>
void fill(runtime::Device& device, const Buffer& to, std::int64_t count, Make&& make) {
  std::vector<T> block(std::size_t(std::min(count, kBlock)));
  constexpr std::int64_t kPart = 1 << 16;
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const std::int64_t here = std::min(kBlock, count - first);
    gdn::parallel_for((here + kPart - 1) / kPart, 0, [&](std::int64_t part) {
      for (std::int64_t i = part * kPart; i < std::min(here, (part + 1) * kPart); ++i) block[std::size_t(i)] = make(first + i);
    });
    device.copy_to_device(to.address() + std::uint64_t(first) * sizeof(T), block.data(), std::size_t(here) * sizeof(T));
  }
}

void fill_rows(runtime::Device& device, const Buffer& to, std::int64_t rows, const Source& source, int stream) {
  std::vector<std::uint16_t> all(std::size_t(rows * kWidth));
  gdn::parallel_for(rows, 0, [&](std::int64_t r) { source.row(stream, r, &all[std::size_t(r * kWidth)]); });
  device.copy_to_device(to.address(), all.data(), all.size() * 2);
}

}  // namespace

Json large_tensors(Setup& setup) {
  // 8192 elements a token: element 2^31 lies in token 262144, inside the second sequence.
  const std::vector<std::int64_t> lens = setup.small ? std::vector<std::int64_t>{190, 77, 65, 70} : std::vector<std::int64_t>{261900, 400, 700, 200};
  const Source source{setup.seed, setup.small ? 2 : 16, setup.small ? 4 : 64};
  runtime::Device& device = setup.target;
  std::vector<std::int64_t> offsets{0};
  for (std::int64_t n : lens) offsets.push_back(offsets.back() + n);
  const std::int64_t T = offsets.back(), N = std::int64_t(lens.size()), hv = source.hv, elements = T * hv * kWidth;

  const Buffer q(device, std::size_t(T * source.hk * kWidth) * 2), k(device, q.bytes()), v(device, std::size_t(elements) * 2);
  const Buffer g(device, std::size_t(T * hv) * 4), beta(device, g.bytes()), cu(device, offsets);
  Buffer o(device, v.bytes()), state(device, std::size_t(N * hv * kWidth * kWidth) * 4);
  fill_rows(device, q, T * source.hk, source, 1);
  fill_rows(device, k, T * source.hk, source, 2);
  fill<std::uint16_t>(device, v, elements, [&](std::int64_t i) { return source.v(i); });
  fill<float>(device, g, T * hv, [&](std::int64_t i) { return source.g(i); });
  fill<float>(device, beta, T * hv, [&](std::int64_t i) { return source.beta(i); });

  Json rows = Json::array();
  bool passed = true;
  for (gdn::Form form : {gdn::Form::full, gdn::Form::split}) {
    o.poison();
    state.poison();
    ops::GdnForwardArguments a;
    a.q = {q.address()}, a.k = {k.address()}, a.v = {v.address()}, a.o = {o.address()};
    a.g = {g.address(), {}, ops::Dtype::f32}, a.beta = {beta.address(), {}, ops::Dtype::f32};
    a.cu_seqlens = {cu.address(), {}, ops::Dtype::i64}, a.final_state = {state.address(), {}, ops::Dtype::f32};
    a.T = T, a.N = N, a.hk = source.hk, a.hv = source.hv;
    a.workspace_bytes = ops::GdnForward::workspace_bytes(a);
    const Buffer workspace(device, a.workspace_bytes);
    a.workspace = workspace.address();
    ops::GdnForward op(device, {form, {}});
    op.run(a);
    device.synchronize();

    Json row{{"form", gdn::name_of(form)}, {"lens", lens}, {"elements", elements}, {"workspace_bytes", a.workspace_bytes}};
    std::int64_t unwritten = 0;
    std::vector<std::uint16_t> block(std::size_t(std::min(elements, kBlock)));
    for (std::int64_t first = 0; first < elements; first += kBlock) {
      const std::int64_t here = std::min(kBlock, elements - first);
      device.copy_to_host(block.data(), o.address() + std::uint64_t(first) * 2, std::size_t(here) * 2);
      unwritten += std::count_if(block.begin(), block.begin() + here, [](std::uint16_t bits) { return (bits & 0x7fff) > 0x7f80; });
    }
    row["nan_or_unwritten"] = unwritten;
    passed = passed && unwritten == 0;
    const auto states = state.host<float>();
    Json checked = Json::array();
    for (std::int64_t n = 0; n < N; ++n) {
      const bool whole = lens[std::size_t(n)] <= 8192;
      const std::int64_t count = whole ? lens[std::size_t(n)] : 300, first = offsets[std::size_t(n)];
      const gdn::Inputs in = source.part(first, count);
      const gdn::Outputs expected = gdn::chunked(in);
      std::vector<std::uint16_t> got(std::size_t(count * hv * kWidth));
      device.copy_to_host(got.data(), o.address() + std::uint64_t(first * hv * kWidth) * 2, got.size() * 2);
      const double ratio = gdn::rms_ratio(got, gdn::DType::bf16, expected.o);
      Json part{{"sequence", n}, {"first_token", first}, {"tokens", count}, {"rms_o", ratio}};
      bool fine = ratio <= kBar;
      if (whole) {
        const auto size = std::size_t(hv * kWidth * kWidth);
        const double s = gdn::rms_ratio(std::span(states).subspan(std::size_t(n) * size, size), expected.final_state);
        part["rms_state"] = s;
        fine = fine && s <= kBar;
      }
      part["pass"] = fine;
      passed = passed && fine;
      checked.push_back(part);
    }
    row["checked"] = checked;
    if (setup.card) row.update(spread_us(cuda::time_each_launch_ms(device, [&](void* stream) { op.run(a, stream); }, {.warmups = 1, .runs = 5})));
    rows.push_back(row);
  }
  return {{"pass", passed}, {"rows", rows}};
}

}  // namespace tilewright::machine
