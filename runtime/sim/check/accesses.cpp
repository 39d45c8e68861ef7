// Loads, stores and atomics of warps, and what strong ones hand over.
#include <bit>
#include <cstring>

#include "runtime/sim/access.h"
#include "runtime/sim/check/checker.h"
#include "runtime/sim/check/hooks.h"
#include "runtime/sim/cluster.h"

namespace tilewright::runtime::sim::check {
namespace {

bool releases(const Instruction& i) { return i.order == MemoryOrder::release || i.order == MemoryOrder::acq_rel; }
bool acquires(const Instruction& i) { return i.order == MemoryOrder::acquire || i.order == MemoryOrder::acq_rel; }

/// 0 the same CTA, 1 the same cluster, 2 another one.
unsigned distance(const CtaChecker& c, const Sync& s) { return s.cluster != c.cluster.number ? 2 : s.cta != c.cta.linear ? 1 : 0; }
bool reaches(MemoryScope s, unsigned distance) { return s >= MemoryScope::gpu || static_cast<unsigned>(s) > distance; }

void learn(Clock& to, const CtaChecker& c, const Clock& from, std::uint64_t cluster) {
  if (cluster == c.cluster.number) to.join(from);
  else to.join_foreign(from, cluster, c.cluster.number);
}

void hand_over(CtaChecker& c, WarpState& s, Sync& word, const Instruction& i, LaneMask m, bool keeps) {
  const bool has = releases(i) || !s.released.empty();
  const Clock& given = releases(i) ? known_to(s, m) : s.released;
  if (!has) {
    if (!keeps) word = Sync{{}, 0, 0, MemoryScope::none, word.version + 1};
    return;
  }
  Clock fresh = given;
  if (keeps && word.scope != MemoryScope::none) learn(fresh, c, word.clock, word.cluster);   // an atomic continues what was released before
  word.clock = std::move(fresh);
  word.cluster = c.cluster.number;
  word.cta = c.cta.linear;
  word.scope = releases(i) ? i.scope : std::min(i.scope, s.released_to);
  ++word.version;
}

void take_over(CtaChecker& c, WarpState& s, const void* key, const Sync& word, const Instruction& i) {
  if (word.scope == MemoryScope::none) return;
  const unsigned d = distance(c, word);
  if (!reaches(word.scope, d) || !reaches(i.scope, d)) return;
  std::uint64_t& met = s.met[key];
  const std::uint64_t version = word.version << 1 | acquires(i);
  if (met == version) return;
  met = version;
  learn(acquires(i) ? s.clock : s.acquired[d], c, word.clock, word.cluster);
}

void synchronise(CtaChecker& c, CtaChecker* owner, Warp& w, const Instruction& i, LaneMask m, std::uint64_t key, Use use) {
  WarpState& s = c.of(w);
  const auto* place = owner ? owner->cta.shared.data() + key : reinterpret_cast<const std::byte*>(key);
  const auto in = [&](std::unordered_map<const void*, Sync>& words) {
    if (use == Use::load) {
      if (const auto it = words.find(place); it != words.end()) take_over(c, s, place, it->second, i);
      return;
    }
    Sync& word = words[place];
    if (use == Use::atomic) take_over(c, s, place, word, i);
    hand_over(c, s, word, i, m, use == Use::atomic);
  };
  if (owner) return in(owner->words);
  const std::lock_guard lock(c.cluster.launch.mutex);
  in(c.cluster.launch.words);
}

struct Place {
  MemorySpace space = MemorySpace::global;
  CtaChecker* owner = nullptr;   // of shared memory
  std::uint64_t address = 0;
};

Place place_of(CtaChecker& c, MemorySpace space, std::uint64_t address) {
  if (space == MemorySpace::generic) {
    const std::uint64_t window = address & window_mask;
    if (window == local_window || window == param_window) return {MemorySpace::local, nullptr, address};
    space = window == shared_window ? MemorySpace::cluster : MemorySpace::global;
  }
  if (space == MemorySpace::global) return {space, nullptr, address};
  std::uint64_t a = shared_address(address);
  if (space == MemorySpace::shared) return {space, &c, a};
  const std::uint64_t rank = a >> cluster_shift;
  a &= (1ull << cluster_shift) - 1;
  if (rank > c.cluster.ctas.size()) return {MemorySpace::local, nullptr, a};   // the access itself reports it
  return {MemorySpace::shared, rank == 0 ? &c : c.cluster.ctas[rank - 1].get(), a};
}

void perform(CtaChecker& c, const Place& p, std::uint64_t bytes, const Access& a, Use use) {
  const std::uint64_t end = p.address + bytes;
  if (p.space == MemorySpace::global) {
    if (use != Use::store) c.read_global(p.address, end, a);
    if (use != Use::load) c.write_global(p.address, end, a);
  } else if (p.owner) {
    if (use != Use::store) p.owner->read_shared(p.address, end, a);
    if (use != Use::load) p.owner->write_shared(p.address, end, a);
  }
}

/// Calls f(first lane, address, bytes) for the lanes' addresses, neighbours joined.
template <class Address, class F>
void each_run(LaneMask m, unsigned bytes, Address&& address, F&& f) {
  std::uint64_t begin = 0, end = 0;
  unsigned first = 0;
  each_lane(m, [&](unsigned l) {
    const std::uint64_t a = address(l);
    if (a == end && end != 0) {
      end += bytes;
    } else if (end == 0 || a < begin || a + bytes > end) {
      if (end) f(first, begin, end - begin);
      begin = a;
      end = a + bytes;
      first = l;
    }
  });
  if (end) f(first, begin, end - begin);
}

/// Whether a store would write what lies there already.
template <class Address>
bool stores_what_is_there(Warp& w, const Instruction& i, LaneMask m, MemorySpace space, Address&& address) {
  const Ref* list = w.cta->launch.program->lists.data() + i.list;
  bool same = i.list_count == i.elements && i.bytes != 0;
  if (same) each_lane(m, [&](unsigned l) {
    const Place p = place_of(*w.cta->check, space, address(l));
    const std::uint64_t bytes = std::uint64_t{i.bytes} * i.elements;
    if (p.space == MemorySpace::local || (p.owner && p.address + bytes > p.owner->cta.shared.size())) return;
    const std::byte* there = p.owner ? p.owner->cta.shared.data() + p.address : reinterpret_cast<const std::byte*>(p.address);
    for (unsigned e = 0; e < i.elements; ++e)
      same = same && std::memcmp(there + e * i.bytes, w.in<std::byte>(list[e]) + l * static_cast<unsigned>(i.extra[1]), i.bytes) == 0;
  });
  return same;
}

/// Whether each lane's vector has an element that somebody wrote: compilers load vectors for the sake of some of their elements.
template <class Address>
bool partly_written(CtaChecker& c, const Instruction& i, LaneMask m, MemorySpace space, Address&& address) {
  bool every = i.elements > 1;
  if (every) each_lane(m, [&](unsigned l) {
    const Place p = place_of(c, space, address(l));
    bool any = false;
    for (unsigned e = 0; e < i.elements; ++e) {
      const std::uint64_t begin = p.address + e * i.bytes;
      if (p.owner) any |= begin + i.bytes <= p.owner->cta.shared.size() && p.owner->shared.written(begin, begin + i.bytes);
      else any |= c.written_global(begin, begin + i.bytes);
    }
    every &= any;
  });
  return every;
}

template <class Address>
void note(Warp& w, const Instruction& i, LaneMask m, unsigned bytes, MemorySpace space, Use use, Address&& address) {
  CtaChecker& c = *w.cta->check;
  c.count(w, i);
  Access a;
  a.event = c.event(w, i, m);
  a.event.scope = i.order == MemoryOrder::weak ? MemoryScope::none : i.scope;
  a.clock = &c.of(w).clock;
  // A strong access that acquires is ordered after what it reads from.
  const bool strong = i.order != MemoryOrder::weak && bytes <= 16;
  if (strong) {
    std::uint64_t last = ~0ull;
    each_lane(m, [&](unsigned l) {
      const Place p = place_of(c, space, address(l));
      if (p.address == last || p.space == MemorySpace::local) return;
      last = p.address;
      synchronise(c, p.owner, w, i, m, p.address, use);
    });
  }
  each_run(m, bytes, address, [&](unsigned first, std::uint64_t begin, std::uint64_t length) {
    try {
      try {
        perform(c, place_of(c, space, begin), length, a, use);
      } catch (const Fault&) {
        if (use == Use::load && a.needs_values && partly_written(c, i, m, space, address)) a.needs_values = false;
        else if (use == Use::store && !a.same_values && stores_what_is_there(w, i, m, space, address)) a.same_values = true;
        else throw;
        perform(c, place_of(c, space, begin), length, a, use);
      }
    } catch (Fault& f) {
      f.lane = static_cast<int>(first);
      throw;
    }
  });
  if (strong && use != Use::load) tick(c.of(w));
  else (std::has_single_bit(m) ? c.of(w).loose_solo : c.of(w).loose) |= m;
}

}  // namespace

void note_access(Warp& w, const Instruction& i, LaneMask m, unsigned bytes, Use use) {
  if (i.space == MemorySpace::local || i.space == MemorySpace::param) return;
  note(w, i, m, bytes, i.space, use, [&](unsigned l) { return lane_address(w, i, 0, i.extra[0], l); });
}

void note_rows(Warp& w, const Instruction& i, unsigned rows, Use use) {
  const LaneMask lanes = rows >= warp_lanes ? all_lanes : (1u << rows) - 1;
  note(w, i, lanes, 16, i.space == MemorySpace::generic ? MemorySpace::generic : MemorySpace::shared, use,
       [&](unsigned l) { return lane_address(w, i, 0, i.extra[0], l); });
}

}  // namespace tilewright::runtime::sim::check
