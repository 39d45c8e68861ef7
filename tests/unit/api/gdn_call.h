// Calls of tilewright_gdn_forward as a C caller makes them, on the simulated device.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/tilewright.h"

namespace tilewright::test {

struct Destroy {
  void operator()(tilewright_handle* handle) const { tilewright_destroy(handle); }
};
using Handle = std::unique_ptr<tilewright_handle, Destroy>;

inline Handle handle_of(std::int32_t device) {
  tilewright_handle* raw = nullptr;
  EXPECT_EQ(tilewright_create(device, &raw), TILEWRIGHT_OK) << tilewright_last_error();
  return Handle(raw);
}

/// Zeroed memory aligned to 256 bytes.
template <class Value>
std::shared_ptr<Value[]> memory(std::size_t count) {
  const std::size_t bytes = (count * sizeof(Value) + 511) / 256 * 256;
  auto* raw = static_cast<Value*>(std::aligned_alloc(256, bytes));
  std::fill(reinterpret_cast<char*>(raw), reinterpret_cast<char*>(raw) + bytes, 0);
  return {raw, [](Value* p) { std::free(p); }};
}

/// A call that gives every tensor that a kernel takes: two packed sequences of 64 and 6 tokens, 2 heads.
struct FullCall {
  static constexpr std::size_t T = 70, N = 2, H = 2, D = 128, kRows = 3, kSlots = T / 64 + N;
  std::vector<std::shared_ptr<void>> owned;
  tilewright_gdn_forward_args args{};

  FullCall() {
    args.size = sizeof args;
    args.T = T, args.N = N, args.batch = 1, args.hq = H, args.hk = 1, args.hv = H, args.dk = args.dv = D;
    args.q = give<std::uint16_t>(T * H * D, TILEWRIGHT_BF16), args.k = give<std::uint16_t>(T * D, TILEWRIGHT_BF16);
    args.v = give<std::uint16_t>(T * H * D, TILEWRIGHT_BF16), args.o = give<std::uint16_t>(T * H * D, TILEWRIGHT_BF16);
    args.g = give<float>(T * H, TILEWRIGHT_F32), args.beta = give<std::uint16_t>(T * H, TILEWRIGHT_BF16);
    args.gate_domain = TILEWRIGHT_GATE_RAW, args.beta_domain = TILEWRIGHT_BETA_LOGIT, args.beta_scale = 2;
    args.A_log = give<float>(H, TILEWRIGHT_F32), args.dt_bias = give<float>(H, TILEWRIGHT_F32);
    args.cu_seqlens = list<std::int32_t>({0, 64, 70}, TILEWRIGHT_I32);
    args.initial_state = give<float>(kRows * H * D * D, TILEWRIGHT_F32), args.final_state = give<float>(kRows * H * D * D, TILEWRIGHT_F32);
    args.initial_rows = args.final_rows = kRows;
    args.read_slots = list<std::int64_t>({2, -1}, TILEWRIGHT_I64), args.write_slots = list<std::int32_t>({-1, 0}, TILEWRIGHT_I32);
    args.checkpoints = give<std::uint16_t>(kRows * H * D * D, TILEWRIGHT_BF16);
    args.checkpoint_rows = kRows, args.checkpoint_count = 1, args.checkpoint_every = 64;
    args.checkpoint_starts = list<std::int32_t>({0, 1}, TILEWRIGHT_I32), args.checkpoint_slots = list<std::int32_t>({1}, TILEWRIGHT_I32);
    args.save_b = give<float>(kSlots * H * 64, TILEWRIGHT_F32);
    args.workspace = keep(memory<char>(args.workspace_bytes = kSlots * H * 64 * 64 * 2 + 256));
  }

  template <class Value>
  Value* keep(std::shared_ptr<Value[]> values) {
    owned.push_back(values);
    return values.get();
  }
  template <class Value>
  tilewright_operand give(std::size_t count, tilewright_dtype dtype) {
    return {keep(memory<Value>(count)), {}, dtype, 0};
  }
  template <class Value>
  tilewright_operand list(std::initializer_list<Value> values, tilewright_dtype dtype) {
    const tilewright_operand operand = give<Value>(values.size(), dtype);
    std::copy(values.begin(), values.end(), static_cast<Value*>(operand.data));
    return operand;
  }
};

}  // namespace tilewright::test
