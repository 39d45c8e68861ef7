// Bad offsets that kernels have found, for the host to report: one record for each stream.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "kernels/gdn/offset_fault.h"
#include "runtime/device/device.h"

namespace tilewright::ops {

/// May be used by several threads, without a lock. All memory is there from the beginning, so that calls on new streams allocate nothing, captured
/// or not; where a device has more than kRecords streams in its life, some share a record.
class OffsetFaults {
 public:
  static constexpr std::size_t kRecords = 256;

  explicit OffsetFaults(runtime::Device& device) : device_(device), memory_(device.allocate_mapped(kRecords * sizeof(Record))) {}
  ~OffsetFaults();
  OffsetFaults(const OffsetFaults&) = delete;
  OffsetFaults& operator=(const OffsetFaults&) = delete;

  /// Where kernels on a stream report to.
  runtime::DeviceAddress address(void* stream) { return memory_.device + record_of(stream) * sizeof(Record); }
  /// Throws ArgumentError, once, if a kernel has reported. `where` belongs to the offset: " of an earlier call on this stream".
  void check(void* stream, const char* where) {
    gdn::OffsetFault& fault = static_cast<Record*>(memory_.host)[record_of(stream)].fault;
    if (std::atomic_ref(fault.place).load(std::memory_order_relaxed) != 0) report(fault, where);
  }

 private:
  struct alignas(64) Record {
    gdn::OffsetFault fault;
  };
  std::size_t record_of(void* stream);
  static void report(gdn::OffsetFault&, const char* where);

  runtime::Device& device_;
  runtime::MappedMemory memory_;
  std::array<std::atomic<std::uintptr_t>, kRecords> owners_{};  // a stream's handle + 1; 0: nobody's yet
};

}  // namespace tilewright::ops
