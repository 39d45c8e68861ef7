// Shadow of a CTA's shared memory: of every cell the last write and the reads since.
#pragma once
#include <optional>

#include "runtime/sim/check/events.h"

namespace tilewright::runtime::sim::check {

/// Who accesses: the event, and what its agent knew when it began.
struct Access {
  Event event;
  const Clock* clock = nullptr;
  bool needs_values = true;      // a read whose values matter: it must find written memory
  bool same_values = false;      // a write of what lies there already
};

/// Why an access may not be performed.
struct Conflict {
  enum class Why : std::uint8_t { unordered, unfenced, unwritten, mbarrier };
  Why why = Why::unordered;
  bool with_read = false;        // the earlier access was a read
  Event other;
  std::uint64_t address = 0;
};

class SharedShadow {
 public:
  /// `granule`: bytes of a cell, 1, 2 or 4: the least that the kernel accesses.
  SharedShadow(std::size_t bytes, unsigned granule);
  void clear();
  std::optional<Conflict> read(std::uint64_t begin, std::uint64_t end, const Access&);
  std::optional<Conflict> write(std::uint64_t begin, std::uint64_t end, const Access&);
  /// Becomes memory that `a` wrote, whatever lay there.
  void release(std::uint64_t begin, std::uint64_t end, const Access& a);
  /// Reads without remembering it: whether every byte holds what somebody wrote.
  bool written(std::uint64_t begin, std::uint64_t end) const;

 private:
  struct Cell {
    EventId write = 0;
    ReadSetId reads = 0;
  };
  EventId number(const Event&);
  std::optional<Conflict> after_write(EventId, const Access&, bool reading) const;
  std::optional<Conflict> after_reads(ReadSetId, const Access&) const;
  std::uint64_t address_of(const Cell* c) const { return static_cast<std::uint64_t>(c - cells_.data()) << shift_; }

  std::vector<Cell> cells_;
  unsigned shift_;
  EventTable table_;
  std::vector<EventId> latest_;  // by agent
};

/// Whether warps that are not ordered may both write: the same instruction, the same values.
inline bool writes_alike(const Access& a, const Event& e) {
  return a.same_values && a.event.kind == Kind::generic && e.kind == Kind::generic && a.event.instruction == e.instruction;
}

/// Whether two strong accesses of CTAs `same_cta`, `same_cluster` need no order between them.
bool morally_strong(MemoryScope a, MemoryScope b, bool same_cta, bool same_cluster);

}  // namespace tilewright::runtime::sim::check
