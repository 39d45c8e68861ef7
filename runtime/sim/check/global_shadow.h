// Shadow of global memory during one launch: of every cell the last write and the last two reads. Several host threads use it.
#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "runtime/sim/check/shared_shadow.h"

namespace tilewright::runtime::sim::check {

struct GlobalEvent {
  std::uint32_t cluster = 0;
  Event event;
};

struct GlobalConflict {
  Conflict conflict;
  std::uint32_t cluster = 0;     // of the earlier access
};

class GlobalShadow {
 public:
  explicit GlobalShadow(unsigned granule);

  /// An agent's last event, so that repeated accesses share a number; and the pages it used last. One object serves one host thread.
  struct Handle {
    std::vector<EventId> latest;            // by agent
    std::uint32_t cluster = ~0u;
    std::array<std::uint64_t, 16> numbers{};
    std::array<void*, 16> pages{};
  };

  std::optional<GlobalConflict> read(std::uint64_t begin, std::uint64_t end, const Access&, std::uint32_t cluster, Handle&);
  std::optional<GlobalConflict> write(std::uint64_t begin, std::uint64_t end, const Access&, std::uint32_t cluster, Handle&);
  /// An event of this launch that a later launch, which has not waited for it, must not overtake: a write, or a read before a write.
  std::optional<GlobalEvent> touched(std::uint64_t begin, std::uint64_t end, bool writing);

 private:
  struct Cell {
    EventId write = 0, read = 0, other_read = 0;
    bool operator==(const Cell&) const = default;
  };
  static constexpr unsigned line_bytes = 128, page_bytes = 4096, lines = page_bytes / line_bytes;
  struct Line {
    Cell all;                               // of the whole line, unless `cells` is there
    std::unique_ptr<Cell[]> cells;
  };
  struct Page {
    std::atomic_flag busy = ATOMIC_FLAG_INIT;
    std::array<Line, lines> line;
  };
  static constexpr unsigned segment_bits = 14;

  Page& page(std::uint64_t number, Handle&);
  EventId number(const Access&, std::uint32_t cluster, Handle&);
  GlobalEvent& event(EventId n) { return segments_[n >> segment_bits].load(std::memory_order_acquire)[n & ((1u << segment_bits) - 1)]; }
  std::optional<GlobalConflict> unordered(EventId, const Access&, std::uint32_t cluster, bool with_read, bool writing);
  std::optional<GlobalConflict> apply(Cell&, EventId, const Access&, std::uint32_t cluster, bool writing);
  std::optional<GlobalConflict> visit(std::uint64_t begin, std::uint64_t end, const Access&, std::uint32_t cluster, Handle&, bool writing);

  unsigned granule_;
  std::shared_mutex mutex_;                 // of the pages' map
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::mutex growth_;
  std::atomic<EventId> next_{1};
  std::vector<std::unique_ptr<GlobalEvent[]>> owned_;
  std::unique_ptr<std::atomic<GlobalEvent*>[]> segments_;
};

}  // namespace tilewright::runtime::sim::check
