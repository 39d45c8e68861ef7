// Accesses as the shadow memory remembers them: numbered, and sets of reads numbered, too, so that a cell is two numbers.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runtime/sim/check/clock.h"
#include "runtime/sim/program.h"

namespace tilewright::runtime::sim::check {

/// How an access was performed. `mbarrier`: an mbarrier object lies there, which only mbarrier operations may touch.
enum class Kind : std::uint8_t { generic, small_copy, async, mbarrier };

struct Event {
  Agent agent = 0;               // whose clock tells when it happened
  Kind kind = Kind::generic;
  MemoryScope scope = MemoryScope::none;   // of a strong access
  Time time = 0;
  std::uint32_t instruction = 0; // its number in the program
  std::uint32_t count = 0;       // how many times its warp had executed it, this one included
  std::uint8_t rank = 0;         // the CTA in the cluster and the warp that executed it
  std::uint8_t warp = 0;
  LaneMask lanes = 0;
  std::uint8_t parts = 1;        // agents from `agent` on that each do a part of it: the warps of a product
  bool known_to(const Clock& c) const {
    for (unsigned n = 0; n < parts; ++n)
      if (c.of(static_cast<Agent>(agent + n)).seen < time) return false;
    return true;
  }
};

using EventId = std::uint32_t;   // 0: none
using ReadSetId = std::uint32_t; // 0: no read

/// The events of one CTA's shared memory.
class EventTable {
 public:
  EventTable() { clear(); }
  void clear();
  EventId add(const Event&);
  const Event& event(EventId n) const { return events_[n]; }
  const std::vector<EventId>& reads(ReadSetId n) const { return sets_[n]; }
  /// The set with one more read. Leaves out those that `clock`, the reader's, knows: who is ordered after the new read is after them.
  ReadSetId with(ReadSetId, EventId, const Clock& clock);

  /// Whether it is time to drop events that no cell names.
  bool crowded() const { return events_.size() + sets_.size() > limit_; }
  /// Renumbers: visit(mark) calls mark(write, reads) for every cell, which changes both in place.
  template <class Visit>
  void compact(Visit&& visit);

 private:
  EventId keep(EventId, std::vector<Event>& fresh, std::vector<EventId>& moved) const;

  std::vector<Event> events_;
  std::vector<std::vector<EventId>> sets_;
  std::unordered_map<std::uint64_t, ReadSetId> steps_;   // set, event -> set with it
  std::size_t limit_ = first_limit;
  static constexpr std::size_t first_limit = 1u << 17;
};

template <class Visit>
void EventTable::compact(Visit&& visit) {
  std::vector<Event> events(1);
  std::vector<std::vector<EventId>> sets(1);
  std::vector<EventId> moved(events_.size(), 0);
  std::vector<ReadSetId> moved_sets(sets_.size(), 0);
  visit([&](EventId& write, ReadSetId& reads) {
    if (write) write = keep(write, events, moved);
    if (!reads) return;
    if (!moved_sets[reads]) {
      moved_sets[reads] = static_cast<ReadSetId>(sets.size());
      auto& set = sets.emplace_back(sets_[reads]);
      for (EventId& e : set) e = keep(e, events, moved);
    }
    reads = moved_sets[reads];
  });
  events_ = std::move(events);
  sets_ = std::move(sets);
  steps_.clear();
  limit_ = std::max(first_limit, 4 * (events_.size() + sets_.size()));
}

}  // namespace tilewright::runtime::sim::check
