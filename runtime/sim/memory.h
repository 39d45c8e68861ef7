// Global memory of the simulated device: host memory whose allocations are known, so that every access can be checked.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/sim/check/written.h"

namespace tilewright::runtime::sim {

class GlobalMemory {
 public:
  ~GlobalMemory();
  /// 256-byte aligned memory; 0 bytes give a one-byte allocation.
  std::uint64_t allocate(std::size_t bytes);
  /// Error when `address` is not the beginning of a live allocation.
  void release(std::uint64_t address);

  struct Range {
    std::uint64_t begin = 1;
    std::uint64_t end = 0;
    check::Written* written = nullptr;   // null: all of it counts as written
    bool holds(std::uint64_t address, std::uint64_t bytes) const {
      return address >= begin && address < end && bytes <= end - address;
    }
  };
  /// Makes memory of somebody else accessible until it is taken back: a plain interval, not an allocation.
  void lend(const Range& range) { lent_.push_back(range); }
  void take_back(const Range& range);
  /// The live allocation or lent range that holds all of [address, address + bytes), or an empty range.
  Range find(std::uint64_t address, std::uint64_t bytes) const;
  /// Notes that somebody has written [address, address + bytes), where it lies in an allocation.
  void mark_written(std::uint64_t address, std::uint64_t bytes);
  /// For people: where a valid address lies ("byte 48 of an allocation of 1024").
  std::string within(std::uint64_t address) const;
  /// For people: where an address that is not valid lies ("48 bytes behind an allocation of 1024 bytes").
  std::string describe(std::uint64_t address, std::uint64_t bytes) const;

 private:
  struct Allocation {
    std::size_t bytes = 0;
    std::unique_ptr<check::Written> written;
  };
  std::map<std::uint64_t, Allocation> live_;
  std::map<std::uint64_t, std::size_t> freed_;
  std::vector<Range> lent_;
};

}  // namespace tilewright::runtime::sim
