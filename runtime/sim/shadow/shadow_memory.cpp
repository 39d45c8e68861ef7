#include "runtime/sim/shadow/shadow_memory.h"

#include <cstring>

namespace tilewright::runtime::sim {
namespace {

std::uint32_t digest(const std::byte* p, unsigned bytes) {
  std::uint64_t v = 0;
  std::memcpy(&v, p, bytes);
  return static_cast<std::uint32_t>(v) ^ static_cast<std::uint32_t>(v >> 32);
}

}  // namespace

ShadowCell* ShadowMemory::place(const std::byte* p, bool make) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const std::uintptr_t number = address / page_bytes;
  Recent& recent = recent_[number % recent_.size()];
  if (recent.number != number || !recent.page) {
    auto found = pages_.find(number);
    if (found == pages_.end()) {
      if (!make) return nullptr;
      found = pages_.emplace(number, std::make_unique<Page>()).first;
    }
    recent = {number, found->second.get()};
  }
  return &(*recent.page)[address % page_bytes / 2];
}

const double* ShadowMemory::find(const std::byte* p, unsigned bytes) {
  const ShadowCell* c = place(p, false);
  return c && c->bytes == bytes && c->bits == digest(p, bytes) ? &c->value : nullptr;
}

void ShadowMemory::set(std::byte* p, unsigned bytes, double value) {
  forget(p + 2, bytes - 2);
  put(p, {value, digest(p, bytes), static_cast<std::uint8_t>(bytes)});
}

void ShadowMemory::forget(const std::byte* p, std::size_t bytes) {
  for (const std::byte* end = p + bytes; p < end;) {
    const auto page_end = p + (page_bytes - reinterpret_cast<std::uintptr_t>(p) % page_bytes);
    const std::byte* const stop = page_end < end ? page_end : end;
    if (ShadowCell* c = place(p, false))
      for (; p < stop; p += 2) (c++)->bytes = 0;
    p = stop;
  }
}

void ShadowMemory::copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t n = 0; n < bytes; n += 2) put(to + n, cell(from + n));
}

}  // namespace tilewright::runtime::sim
