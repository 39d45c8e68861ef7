// Which bytes of an allocation somebody has written.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace tilewright::runtime::sim::check {

/// One bit a byte. Several host threads may mark and ask.
class Written {
 public:
  explicit Written(std::size_t bytes) : bits_(static_cast<std::uint64_t*>(std::calloc(bytes / 64 + 1, 8))), bytes_(bytes) {}
  ~Written() { std::free(bits_); }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;

  void mark(std::size_t begin, std::size_t end) {
    each(begin, end, [](std::uint64_t& b, std::uint64_t m) {
      if ((std::atomic_ref(b).load(std::memory_order_relaxed) & m) != m) std::atomic_ref(b).fetch_or(m, std::memory_order_relaxed);
      return true;
    });
  }
  bool holds(std::size_t begin, std::size_t end) const {
    return each(begin, end, [](std::uint64_t& b, std::uint64_t m) { return (std::atomic_ref(b).load(std::memory_order_relaxed) & m) == m; });
  }

 private:
  template <class F>
  bool each(std::size_t begin, std::size_t end, F&& f) const {
    end = std::min(end, bytes_);
    while (bits_ && begin < end) {
      const std::size_t upto = std::min((begin / 64 + 1) * 64, end);
      const std::uint64_t mask = ~0ull >> (64 - (upto - begin)) << begin % 64;
      if (!f(bits_[begin / 64], mask)) return false;
      begin = upto;
    }
    return true;
  }
  std::uint64_t* bits_;
  std::size_t bytes_;
};

}  // namespace tilewright::runtime::sim::check
