// A call of gdn_forward on the simulated device, or with TILEWRIGHT_TEST_DEVICE=cuda on a card.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "kernels/gdn/reference.h"
#include "runtime/ops/gdn_forward.h"
#include "runtime/sim/simulator.h"
#include "tests/unit/error_of.h"
#include "tilewright/half.h"

namespace tilewright::ops {

inline bool on_card() {
  const char* device = std::getenv("TILEWRIGHT_TEST_DEVICE");
  return device != nullptr && std::string_view(device) == "cuda";
}
/// A simulated device of one's own, or the card.
inline std::shared_ptr<runtime::Device> test_device() {
  if (!on_card()) return runtime::make_simulated_device();
  static const std::shared_ptr<runtime::Device> card = runtime::make_device("cuda");
  return card;
}
/// What only the simulated device can be told.
inline void set_checks(runtime::Device& device, bool on) {
  if (!on_card()) runtime::sim::set_checks(device, on);
}
inline void set_schedule(runtime::Device& device, std::uint64_t seed) {
  if (!on_card()) runtime::sim::set_schedule(device, seed);
}

struct Heads {
  int hq = 1, hk = 1, hv = 2;
  int dk = 128, dv = 128;
  int all() const { return std::max({hq, hk, hv}); }
};

/// `in` is what the reference computes: every head has a query, key and value head of its own. The device gets the heads that are
/// shared once.
struct Call {
  Heads heads;
  gdn::Inputs in;
  std::shared_ptr<runtime::Device> device;
  std::vector<runtime::DeviceAddress> owned;
  std::vector<std::uint16_t> q, k, v;  // as the device gets them: [T, hq, dk], ...
  std::vector<std::int32_t> offsets;
  std::vector<std::uint16_t> o;
  std::vector<float> state;
  GdnForwardArguments args;

  explicit Call(std::vector<std::int64_t> lens, Heads h = {}, gdn::Kind kind = gdn::Kind::ordinary,
                std::shared_ptr<runtime::Device> on = test_device(), gdn::DType dtype = gdn::DType::bf16)
      : heads(h), device(std::move(on)) {
    gdn::InputShape shape;
    shape.lens = std::move(lens), shape.hk = shape.hv = h.all(), shape.dk = h.dk, shape.dv = h.dv, shape.dtype = dtype;
    in = gdn::generate(shape, kind, 1);
    q = share(in.q, h.hq, h.dk), k = share(in.k, h.hk, h.dk), v = share(in.v, h.hv, h.dv);
    for (const std::int64_t offset : in.offsets()) offsets.push_back(static_cast<std::int32_t>(offset));
    o.resize(in.v.size());
    state.resize(in.initial_state.size());
    const Dtype half = dtype_of(dtype);
    args.q = {put(q), {}, half}, args.k = {put(k), {}, half}, args.v = {put(v), {}, half}, args.o = {put(o), {}, half};
    args.g = {put(in.g), {}, Dtype::f32}, args.beta = {put(in.beta), {}, Dtype::f32};
    args.cu_seqlens = {put(offsets), {}, Dtype::i32};
    args.initial_state = {put(in.initial_state), {}, Dtype::f32}, args.final_state = {put(state), {}, Dtype::f32};
    args.T = in.tokens(), args.N = in.sequences(), args.hq = h.hq, args.hk = h.hk, args.hv = h.hv, args.dk = h.dk, args.dv = h.dv;
    give_workspace();
  }
  ~Call() {
    for (const auto address : owned) device->release(address);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void give_workspace() {
    args.workspace_bytes = GdnForward::workspace_bytes(args);
    args.workspace = device->allocate(args.workspace_bytes);
    owned.push_back(args.workspace);
  }
  template <class Value>
  runtime::DeviceAddress put(const std::vector<Value>& values) {
    owned.push_back(device->allocate(values.size() * sizeof(Value) + 256));
    device->copy_to_device(owned.back(), values.data(), values.size() * sizeof(Value));
    return owned.back();
  }
  template <class Value>
  std::vector<Value> get(runtime::DeviceAddress from, std::size_t count) const {
    std::vector<Value> values(count);
    device->copy_to_host(values.data(), from, count * sizeof(Value));
    return values;
  }
  void run(GdnForwardOptions options = {}) { GdnForward(*device, options).run(args); }
  void fetch() {
    device->synchronize();
    device->copy_to_host(o.data(), args.o.address, o.size() * 2);
    device->copy_to_host(state.data(), args.final_state.address, state.size() * 4);
  }
  /// Runs, and compares o and the final state with the reference.
  void check(GdnForwardOptions options = {}, double bar = 4e-3) {
    run(options);
    fetch();
    const gdn::Outputs expected = gdn::recurrence(in);
    EXPECT_LT(gdn::rms_ratio(o, in.dtype, expected.o), bar);
    EXPECT_LT(gdn::rms_ratio(state, expected.final_state), bar);
  }
  std::string refusal() {
    return test::error_of([&] { run(); });
  }

 private:
  /// The first head of each group of [T, all heads, width]; the others of the group get its values.
  std::vector<std::uint16_t> share(std::vector<std::uint16_t>& full, int count, int width) {
    const std::size_t D = static_cast<std::size_t>(width), H = static_cast<std::size_t>(heads.all()), group = H / static_cast<std::size_t>(count), rows = full.size() / (H * D);
    std::vector<std::uint16_t> shared;
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t h = 0; h < H; ++h) {
        const auto head = full.begin() + std::ptrdiff_t((row * H + h) * D), first = full.begin() + std::ptrdiff_t((row * H + h / group * group) * D);
        if (h % group == 0) shared.insert(shared.end(), head, head + D);
        else std::copy(first, first + D, head);
      }
    return shared;
  }
};

/// The first `length` tokens of sequence n as a call of its own.
inline gdn::Inputs beginning(const gdn::Inputs& in, std::size_t n, std::int64_t length) {
  gdn::Inputs part = in;
  const std::int64_t first = in.offsets()[n], state = std::int64_t{in.hv} * in.dk * in.dv, number = static_cast<std::int64_t>(n);
  const auto cut = [](auto& values, std::int64_t from, std::int64_t count, std::int64_t width) {
    values = {values.begin() + from * width, values.begin() + (from + count) * width};
  };
  part.lens = {length};
  cut(part.q, first, length, in.hk * in.dk), cut(part.k, first, length, in.hk * in.dk), cut(part.v, first, length, in.hv * in.dv);
  cut(part.g, first, length, in.hv), cut(part.beta, first, length, in.hv), cut(part.initial_state, number, 1, state);
  return part;
}

inline std::vector<std::uint16_t> halves(const std::vector<float>& values, gdn::DType dtype) {
  std::vector<std::uint16_t> bits;
  for (const float value : values) bits.push_back(gdn::encode(value, dtype));
  return bits;
}
inline std::vector<float> widened(const std::vector<std::uint16_t>& bits, gdn::DType dtype) {
  std::vector<float> values;
  for (const std::uint16_t b : bits) values.push_back(gdn::decode(b, dtype));
  return values;
}

}  // namespace tilewright::ops
