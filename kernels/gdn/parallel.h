#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace tilewright::gdn {

/// Calls body(i) for every i in 0..count-1 on up to `threads` threads (0 = as many as the machine has).
/// The order is not fixed: a body must touch only what belongs to its i, and must not throw.
template <class Body> void parallel_for(std::int64_t count, int threads, Body &&body) {
  if (threads <= 0)
    threads = int(std::max(1u, std::thread::hardware_concurrency()));
  threads = int(std::min<std::int64_t>(threads, count));
  std::atomic<std::int64_t> next{0};
  auto work = [&] {
    for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;)
      body(i);
  };
  std::vector<std::jthread> helpers;
  for (int t = 1; t < threads; ++t)
    helpers.emplace_back(work);
  work();
}

} // namespace tilewright::gdn
