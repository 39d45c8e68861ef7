// cp.async: copies of a few bytes by each thread, performed at the wait or the arrival that needs them.
#include <algorithm>
#include <cstring>

#include "runtime/sim/access.h"
#include "runtime/sim/check/hooks.h"
#include "runtime/sim/copy.h"
#include "runtime/sim/mbarrier.h"
#include "runtime/sim/observer.h"

namespace tilewright::runtime::sim {

using ptx::Operand;
using ptx::ScalarType;

namespace {

void move(Warp& w, SmallCopy& c) {
  const unsigned size = c.instruction->bytes;
  each_lane(c.lanes & ~c.done, [&](unsigned l) {
    std::byte* to = w.cta->shared.data() + c.to[l];
    if (c.read[l]) std::memcpy(to, c.from[l], c.read[l]);
    std::memset(to + c.read[l], 0, size - c.read[l]);
    if (Observer* o = w.cta->observer) {
      o->copied(to, nullptr, size);
      if (c.read[l]) o->copied(to, c.from[l], c.read[l]);
    }
  });
  c.done = c.lanes;
  ++w.cta->effects;
}

// Performs all copies of groups older than the lanes' newest `keep` committed ones.
void complete(Warp& w, LaneMask m, std::uint32_t keep, bool open_too) {
  std::erase_if(w.small_copies, [&](const std::shared_ptr<SmallCopy>& c) {
    bool due = c->done == c->lanes;
    each_lane(c->lanes & m, [&](unsigned l) { due |= open_too || c->group[l] + keep < w.small_group[l]; });
    if (due) move(w, *c);
    return due;
  });
}

/// The arrival of threads at an mbarrier once their copies so far are complete.
struct LateArrival final : AsyncOperation {
  std::vector<std::shared_ptr<SmallCopy>> copies;
  std::vector<std::uint64_t> barriers;   // one for each arriving lane
  check::Flight flight;

  void perform(Cta& cta) override {
    for (const auto& c : copies) move(cta.warps[warp], *c);
    for (const std::uint64_t b : barriers) {
      if (cta.check) check::note_late_arrival(flight, cta.warps[warp], *instruction, b, 1);
      arrive_mbarrier(cta, b, 1, static_cast<int>(lane));
    }
  }
};

// in: 0 shared address, 1 global address, 2 bytes to read; extra: 0, 1 wide addresses, 2 source size given
Step issue(Warp& w, const Instruction& i, LaneMask m) {
  auto made = std::make_shared<SmallCopy>();
  SmallCopy& c = *made;
  c.instruction = &i;
  c.lanes = m;
  if (w.cta->check) check::note_issue(w, i);
  each_lane(m, [&](unsigned l) {
    const std::uint64_t to = shared_address(lane_address(w, i, 0, i.extra[0], l));
    w.cta->shared_at(to, i.bytes, i.bytes, static_cast<int>(l), "cp.async");
    c.to[l] = static_cast<std::uint32_t>(to);
    std::uint32_t read = i.bytes;
    if (i.extra[2] == 1) read = std::min<std::uint32_t>(read, w.in<std::uint32_t>(i.in[2])[l]);
    if (i.extra[2] == 2 && (w.predicates[static_cast<std::size_t>(i.in[2])] >> l & 1)) read = 0;
    c.read[l] = static_cast<std::uint8_t>(read);
    const std::uint64_t from = w.in<std::uint64_t>(i.in[1])[l] + static_cast<std::uint64_t>(i.more_offsets[0]);
    if (read) c.from[l] = w.cta->global(from, read, i.bytes, static_cast<int>(l), "cp.async");
    c.group[l] = w.small_group[l];
    if (w.cta->check) check::note_small_copy(w, i, l, to, from, read, i.bytes);
  });
  w.small_copies.push_back(std::move(made));
  return Step::next;
}

Step commit(Warp& w, const Instruction&, LaneMask m) {
  if (w.cta->check) check::note_small_commit(w);
  each_lane(m, [&](unsigned l) { ++w.small_group[l]; });
  return Step::next;
}

Step wait_group(Warp& w, const Instruction& i, LaneMask m) {
  complete(w, m, static_cast<std::uint32_t>(i.extra[0]), i.extra[1]);
  if (w.cta->check) check::note_small_wait(w, static_cast<std::size_t>(i.extra[0]), i.extra[1]);
  return Step::next;
}

// The barrier learns when this thread's earlier copies are complete. With .noinc that is one of the arrivals it expects; without,
// the instruction adds the arrival to what the phase expects first.
Step arrive(Warp& w, const Instruction& i, LaneMask m) {
  auto late = std::make_unique<LateArrival>();
  late->warp = w.index;
  late->lane = static_cast<unsigned>(std::countr_zero(m));
  late->instruction = &i;
  late->issued_turn = w.cta->turn;
  for (const auto& c : w.small_copies)
    if (c->lanes & m) late->copies.push_back(c);
  if (w.cta->check) {
    check::note_issue(w, i);
    late->flight = check::small_flight(w);
  }
  each_lane(m, [&](unsigned l) {
    const std::uint64_t a = shared_address(lane_address(w, i, 0, i.extra[0], l));
    Mbarrier b = load_mbarrier(*w.cta, a, static_cast<int>(l));
    if (w.cta->check) check::note_use(w, *w.cta, a);
    if (!i.extra[1]) {
      ++b.pending;
      store_mbarrier(*w.cta, a, b);
    }
    late->barriers.push_back(a);
  });
  w.cta->async.push(std::move(late));
  ++w.cta->effects;
  return Step::next;
}

}  // namespace

void decode_small_copy(Decode& d) {
  Instruction& i = d.instruction();
  if (d.take("commit_group")) {
    i.exec = commit;
    return;
  }
  if (d.take("wait_all") || d.take("wait_group")) {
    i.extra[1] = d.operands() == 0;
    i.extra[0] = d.operands() ? static_cast<int>(d.immediate(d.operand(0))) : 0;
    i.exec = wait_group;
    return;
  }
  if (d.take("mbarrier")) {
    if (!d.take("arrive")) d.unsupported();
    i.extra[1] = d.take("noinc");
    d.take_any({"shared::cta", "shared"});
    d.take("b64");
    d.address(d.operand(0), 0, 0);
    i.exec = arrive;
    return;
  }
  if (d.take_any({"ca", "cg"}).empty()) d.unsupported();
  if (d.take_any({"shared::cta", "shared"}).empty() || !d.take("global")) d.unsupported();
  d.take("L2::cache_hint");
  d.take_any({"L2::64B", "L2::128B", "L2::256B"});
  d.expect_operands(3, 5);
  d.address(d.operand(1), 1, 1);
  i.more_offsets[0] = i.offset;
  if (!i.extra[1]) d.wrong("the global address must have 64 bits");
  d.address(d.operand(0), 0, 0);
  i.bytes = static_cast<std::uint8_t>(d.immediate(d.operand(2)));
  if (i.bytes != 4 && i.bytes != 8 && i.bytes != 16) d.wrong("copies " + std::to_string(i.bytes) + " bytes; expected 4, 8 or 16");
  if (d.operands() > 3) {
    const Operand& o = d.operand(3);
    const bool predicate = d.is_register(o) && d.width(o) == 0;
    if (predicate) {
      i.in[2] = d.predicate(o);
      i.extra[2] = 2;
    } else if (!d.is_register(o) || d.width(o) == 4) {
      i.in[2] = d.in(o, ScalarType::u32);
      i.extra[2] = 1;
    }
  }
  i.exec = issue;
}

}  // namespace tilewright::runtime::sim
