#include "runtime/ops/offset_faults.h"

#include <algorithm>
#include <string>

#include "runtime/ops/errors.h"

namespace tilewright::ops {

OffsetFaults::~OffsetFaults() {
  try {
    device_.release_mapped(memory_);
  } catch (const std::exception&) {
    // The device is lost; whoever uses it next hears of it.
  }
}

std::size_t OffsetFaults::record_of(void* stream) {
  std::uintptr_t owner = reinterpret_cast<std::uintptr_t>(stream) + 1;
  if (owner == 2) owner = 1;  // CU_STREAM_LEGACY is the stream of the null handle
  const std::size_t home = static_cast<std::size_t>(owner * 0x9e3779b97f4a7c15u >> 56);
  static_assert(kRecords == 256);
  for (std::size_t i = 0; i < kRecords; ++i) {
    const std::size_t at = (home + i) % kRecords;
    std::uintptr_t found = owners_[at].load(std::memory_order_relaxed);
    if (found == 0 && owners_[at].compare_exchange_strong(found, owner, std::memory_order_relaxed)) return at;
    if (found == owner) return at;
  }
  return home;
}

void OffsetFaults::report(gdn::OffsetFault& fault, const char* where) {
  // The exchange is one with kernels' writes: of several threads one reports, and what a kernel reports meanwhile stays for the next call.
  const std::int64_t index = std::int64_t{std::atomic_ref(fault.place).exchange(0, std::memory_order_acquire)} - 1;
  if (index < 0) return;
  const auto value = static_cast<std::int64_t>(std::uint64_t{fault.high} << 32 | fault.low);
  throw ArgumentError("gdn_forward: cu_seqlens[" + std::to_string(index) + "]" + where + " is " + std::to_string(value) + ", expected " +
                      std::to_string(fault.least) + " to T = " + std::to_string(fault.tokens) + ": offsets must not decrease; sequences from " +
                      std::to_string(std::max<std::int64_t>(index - 1, 0)) + " on have no results");
}

}  // namespace tilewright::ops
