// Lists that the kernels read from device memory, checked where the host can read them too.
#include <vector>

#include "runtime/ops/gdn_forward_check.h"

namespace tilewright::ops {
namespace {

[[noreturn]] void refuse(const Tensor& t, std::int64_t at, std::int64_t value, const std::string& expected) {
  throw ArgumentError(std::string("gdn_forward: ") + t.name + "[" + std::to_string(at) + "] is " + std::to_string(value) + ", expected " + expected);
}

std::int64_t entry(const Tensor& t, std::int64_t i) {
  if (t.dtype == Dtype::i64) return reinterpret_cast<const std::int64_t*>(t.address)[i];
  return reinterpret_cast<const std::int32_t*>(t.address)[i];
}

/// Entries are rows of `rows`, or -1. With `once` no row is named twice.
void check_slots(const Tensor& slots, const Tensor& rows, bool once) {
  if (!slots.given) return;
  std::vector<bool> seen(static_cast<std::size_t>(rows.shape[0]));
  for (std::int64_t i = 0; i < slots.shape[0]; ++i) {
    const std::int64_t row = entry(slots, i);
    if (row < -1 || row >= rows.shape[0]) refuse(slots, i, row, "-1 to " + std::to_string(rows.shape[0] - 1) + ", a row of " + rows.name);
    if (row < 0 || !once) continue;
    if (seen[static_cast<std::size_t>(row)]) refuse(slots, i, row, "a row that no other sequence writes");
    seen[static_cast<std::size_t>(row)] = true;
  }
}

}  // namespace

void check_gdn_forward_lists(const GdnForwardArguments& a, const GdnForwardTensors& t) {
  using enum GdnTensor;
  const Tensor& offsets = t[cu_seqlens];
  std::int64_t previous = 0;
  for (std::int64_t n = 0; offsets.given && n <= a.N; ++n) {
    const std::int64_t offset = entry(offsets, n);
    if (offset < previous || offset > a.T)
      refuse(offsets, n, offset, std::to_string(previous) + " to T = " + std::to_string(a.T) + ": offsets must not decrease");
    previous = offset;
  }
  check_slots(t[read_slots], t[initial_state], false);
  check_slots(t[write_slots], t[final_state], true);
  check_slots(t[checkpoint_slots], t[checkpoints], true);
  if (!t[checkpoints].given) return;
  const std::int64_t numbers = t[checkpoint_slots].given ? a.checkpoint_count : a.checkpoint_rows;
  for (std::int64_t n = 0; n < a.sequences(); ++n) {
    const std::int64_t length = offsets.given ? entry(offsets, n + 1) - entry(offsets, n) : a.T;
    const std::int64_t first = entry(t[checkpoint_starts], n), count = length / a.checkpoint_every;
    if (first < 0 || first > numbers - count)
      refuse(t[checkpoint_starts], n, first, "0 to " + std::to_string(numbers - count) + ": the sequence has " + std::to_string(count) + " checkpoints");
  }
}

}  // namespace tilewright::ops
