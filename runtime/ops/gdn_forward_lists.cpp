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

/// The row of a sequence's state: an entry of the slots, or its own number.
std::int64_t row_of(const Tensor& slots, std::int64_t n) { return slots.given ? entry(slots, n) : n; }

/// With states in place no sequence writes the row that another one reads: either may come first.
void check_in_place(const Tensor& initial, const Tensor& read_slots, const Tensor& final, const Tensor& write_slots, std::int64_t sequences) {
  if (!initial.given || !final.given || initial.address != final.address) return;
  std::vector<std::int64_t> writer(static_cast<std::size_t>(final.shape[0]), -1);
  for (std::int64_t n = 0; n < sequences; ++n)
    if (const std::int64_t row = row_of(write_slots, n); row >= 0) writer[static_cast<std::size_t>(row)] = n;
  for (std::int64_t n = 0; n < sequences; ++n) {
    const std::int64_t row = row_of(read_slots, n);
    if (row < 0 || row >= final.shape[0]) continue;
    const std::int64_t other = writer[static_cast<std::size_t>(row)];
    if (other < 0 || other == n) continue;
    const Tensor& named = read_slots.given ? read_slots : write_slots;
    refuse(named, read_slots.given ? n : other, row,
           "a row of its own: sequence " + std::to_string(other) + " writes it and sequence " + std::to_string(n) + " reads it, in place");
  }
}

}  // namespace

void check_gdn_forward_lists(const GdnForwardArguments& a, const GdnForwardTensors& t) {
  using enum GdnTensor;
  const Tensor& offsets = t[cu_seqlens];
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;
  const Tensor& prefixes = t[prefix_lens];
  for (std::int64_t n = 0; prefixes.given && n < a.sequences(); ++n)
    if (const std::int64_t prefix = entry(prefixes, n); prefix < 0 || prefix > most) refuse(prefixes, n, prefix, "0 to 2^31 - 1 tokens");
  check_slots(t[read_slots], t[initial_state], false);
  check_slots(t[write_slots], t[final_state], true);
  check_slots(t[checkpoint_slots], t[checkpoints], true);
  check_in_place(t[initial_state], t[read_slots], t[final_state], t[write_slots], a.sequences());
  if (!t[checkpoints].given) return;
  const std::int64_t numbers = t[checkpoint_slots].given ? a.checkpoint_count : a.checkpoint_rows;
  const auto bad = [&](std::int64_t n) { return entry(offsets, n) < (n == 0 ? 0 : entry(offsets, n - 1)) || entry(offsets, n) > a.T; };
  for (std::int64_t n = 0; n < a.sequences(); ++n) {
    if (offsets.given && ((n == 0 && bad(0)) || bad(n + 1))) return;  // the device reports it
    const std::int64_t length = offsets.given ? entry(offsets, n + 1) - entry(offsets, n) : a.T;
    const std::int64_t phase = prefixes.given ? entry(prefixes, n) % a.checkpoint_every : 0;
    const std::int64_t first = entry(t[checkpoint_starts], n), count = (phase + length) / a.checkpoint_every;
    if (first < 0 || first > numbers - count)
      refuse(t[checkpoint_starts], n, first, "0 to " + std::to_string(numbers - count) + ": the sequence has " + std::to_string(count) + " checkpoints");
  }
}

}  // namespace tilewright::ops
