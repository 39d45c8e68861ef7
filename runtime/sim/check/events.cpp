#include "runtime/sim/check/events.h"

namespace tilewright::runtime::sim::check {

void EventTable::clear() {
  events_.assign(1, Event{});
  sets_.assign(1, {});
  steps_.clear();
  limit_ = first_limit;
}

EventId EventTable::add(const Event& e) {
  events_.push_back(e);
  return static_cast<EventId>(events_.size() - 1);
}

ReadSetId EventTable::with(ReadSetId from, EventId added, const Clock& clock) {
  const auto [it, is_new] = steps_.try_emplace(std::uint64_t{from} << 32 | added, 0);
  if (!is_new) return it->second;
  std::vector<EventId> set;
  const Event& e = events_[added];
  for (const EventId n : sets_[from]) {
    const Event& other = events_[n];
    const bool covered = other.agent == e.agent || other.known_to(clock);
    if (!covered) set.push_back(n);
  }
  set.push_back(added);
  sets_.push_back(std::move(set));
  return it->second = static_cast<ReadSetId>(sets_.size() - 1);
}

EventId EventTable::keep(EventId n, std::vector<Event>& fresh, std::vector<EventId>& moved) const {
  if (!moved[n]) {
    moved[n] = static_cast<EventId>(fresh.size());
    fresh.push_back(events_[n]);
  }
  return moved[n];
}

}  // namespace tilewright::runtime::sim::check
