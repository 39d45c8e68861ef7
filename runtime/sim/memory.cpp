#include "runtime/sim/memory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "tilewright/error.h"

namespace tilewright::runtime::sim {
namespace {

std::string hex(std::uint64_t v) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(v));
  return text;
}

}  // namespace

GlobalMemory::~GlobalMemory() {
  for (const auto& [address, allocation] : live_) std::free(reinterpret_cast<void*>(address));
}

std::uint64_t GlobalMemory::allocate(std::size_t bytes) {
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  if (size > SIZE_MAX - 256) throw Error("allocation of " + std::to_string(bytes) + " bytes: out of memory on the simulated device");
  void* p = std::aligned_alloc(256, (size + 255) / 256 * 256);
  if (!p) throw Error("allocation of " + std::to_string(bytes) + " bytes: out of memory on the simulated device");
  std::memset(p, 0xff, size);   // memory nobody wrote reads as NaN
  const auto address = reinterpret_cast<std::uint64_t>(p);
  for (auto it = freed_.begin(); it != freed_.end();)
    it = it->first < address + size && it->first + it->second > address ? freed_.erase(it) : std::next(it);
  live_[address] = {size, std::make_unique<check::Written>(size)};
  return address;
}

void GlobalMemory::release(std::uint64_t address) {
  if (address == 0) return;
  const auto it = live_.find(address);
  if (it == live_.end())
    throw Error("release of address " + hex(address) + ", which is " + describe(address, 1) + "; expected the beginning of an allocation");
  freed_[address] = it->second.bytes;
  if (freed_.size() > 4096) freed_.erase(freed_.begin());
  std::free(reinterpret_cast<void*>(address));
  live_.erase(it);
}

void GlobalMemory::take_back(const Range& range) {
  const auto it = std::find_if(lent_.begin(), lent_.end(), [&](const Range& r) { return r.begin == range.begin && r.end == range.end; });
  if (it != lent_.end()) lent_.erase(it);
}

GlobalMemory::Range GlobalMemory::find(std::uint64_t address, std::uint64_t bytes) const {
  if (auto it = live_.upper_bound(address); it != live_.begin()) {
    --it;
    const Range r{it->first, it->first + it->second.bytes, it->second.written.get()};
    if (r.holds(address, bytes)) return r;
  }
  for (const Range& r : lent_)
    if (r.holds(address, bytes)) return r;
  return {};
}

void GlobalMemory::mark_written(std::uint64_t address, std::uint64_t bytes) {
  const Range r = find(address, bytes);
  if (r.begin < r.end && r.written) r.written->mark(address - r.begin, address - r.begin + bytes);
}

std::string GlobalMemory::within(std::uint64_t address) const {
  const Range r = find(address, 1);
  if (r.begin >= r.end) return describe(address, 1);
  return "byte " + std::to_string(address - r.begin) + (r.written ? " of an allocation of " : " of the caller's memory of ") + std::to_string(r.end - r.begin);
}

std::string GlobalMemory::describe(std::uint64_t address, std::uint64_t bytes) const {
  for (const auto& [begin, size] : freed_)
    if (address >= begin && address < begin + size)
      return std::to_string(address - begin) + " bytes into freed memory of " + std::to_string(size) + " bytes";
  const Range* below = nullptr;
  for (const Range& r : lent_)
    if (address >= r.begin && address < r.end + (1u << 20) && (below == nullptr || r.begin > below->begin)) below = &r;
  if (below != nullptr) {
    const std::string memory = "memory of the caller of " + std::to_string(below->end - below->begin) + " bytes";
    if (address >= below->end) return std::to_string(address - below->end) + " bytes behind the end of " + memory;
    return std::to_string(address - below->begin) + " bytes into " + memory + ", " + std::to_string(address + bytes - below->end) + " bytes past its end";
  }
  auto it = live_.upper_bound(address);
  if (it != live_.begin()) {
    const std::uint64_t begin = std::prev(it)->first, size = std::prev(it)->second.bytes;
    if (address < begin + size)
      return std::to_string(address - begin) + " bytes into an allocation of " + std::to_string(size) + " bytes, " +
             std::to_string(address + bytes - begin - size) + " bytes past its end";
    if (address - begin - size < 1u << 20)
      return std::to_string(address - begin - size) + " bytes behind the end of an allocation of " + std::to_string(size) + " bytes";
  }
  if (it != live_.end() && it->first - address < 1u << 20)
    return std::to_string(it->first - address) + " bytes before an allocation of " + std::to_string(it->second.bytes) + " bytes";
  return "in no allocation";
}

}  // namespace tilewright::runtime::sim
