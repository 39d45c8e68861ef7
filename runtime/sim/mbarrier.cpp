#include "runtime/sim/mbarrier.h"

#include <cstring>

#include "runtime/sim/check/hooks.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/decode.h"

namespace tilewright::runtime::sim {

using ptx::ScalarType;

namespace {

constexpr std::uint64_t magic = 1ull << 63;   // with bit 62 clear: memory nobody wrote is all ones
constexpr std::uint32_t largest_count = (1u << 20) - 1;

/// Whether the phase was complete, so that the next one has begun.
bool settle_phase(Mbarrier& b) {
  if (b.pending != 0 || b.bytes != 0) return false;
  b.phase ^= 1;
  b.pending = b.expected;
  return true;
}

std::string place(std::uint64_t address) { return "the mbarrier at shared address " + hex(address); }

void settle(Cta& cta, std::uint64_t address, Mbarrier b, int lane) {
  if (cta.check && b.pending == 0 && b.bytes < 0)
    throw Fault{"all arrivals of the phase have come to " + place(address) + " and " + std::to_string(-b.bytes) + " bytes more have landed than it expects: it cannot complete", lane};
  const bool complete = settle_phase(b);
  store_mbarrier(cta, address, b);
  if (complete && cta.check) check::note_phase(cta, address);
}

}  // namespace

Mbarrier Mbarrier::unpack(std::uint64_t v) {
  Mbarrier b;
  b.valid = (v >> 62) == 2;
  b.expected = static_cast<std::uint32_t>(v & largest_count);
  b.pending = static_cast<std::uint32_t>((v >> 20) & largest_count);
  b.bytes = static_cast<std::int32_t>(static_cast<std::uint32_t>((v >> 40) & 0x1fffffu) << 11) >> 11;
  b.phase = static_cast<std::uint32_t>((v >> 61) & 1);
  return b;
}

std::uint64_t Mbarrier::pack() const {
  return magic | std::uint64_t{expected} | std::uint64_t{pending} << 20 |
         (static_cast<std::uint64_t>(static_cast<std::uint32_t>(bytes)) & 0x1fffffu) << 40 | std::uint64_t{phase} << 61;
}

Mbarrier load_mbarrier(Cta& cta, std::uint64_t address, int lane) {
  const std::byte* p = cta.shared_at(address, 8, 8, lane, "mbarrier");
  std::uint64_t v;
  std::memcpy(&v, p, 8);
  const Mbarrier b = Mbarrier::unpack(v);
  if (!b.valid) throw Fault{place(address) + " is not initialised", lane};
  return b;
}

void store_mbarrier(Cta& cta, std::uint64_t address, Mbarrier b) {
  const std::uint64_t v = b.pack();
  std::memcpy(cta.shared.data() + address, &v, 8);
  ++cta.effects;
}

void arrive_mbarrier(Cta& cta, std::uint64_t address, std::uint32_t count, int lane) {
  Mbarrier b = load_mbarrier(cta, address, lane);
  if (count > b.pending)
    throw Fault{std::to_string(count) + " arrivals at " + place(address) + ", which expects " + std::to_string(b.expected) +
                    " in a phase and waits for " + std::to_string(b.pending) + " more" +
                    (b.bytes ? " and for " + std::to_string(b.bytes) + " bytes" : ""), lane};
  b.pending -= count;
  settle(cta, address, b, lane);
}

void complete_bytes(Cta& cta, std::uint64_t address, std::uint32_t bytes, int lane) {
  Mbarrier b = load_mbarrier(cta, address, lane);
  b.bytes -= static_cast<std::int32_t>(bytes);
  if (b.bytes < -static_cast<std::int32_t>(largest_count))
    throw Fault{std::to_string(-b.bytes) + " bytes landed at " + place(address) + " without being expected", lane};
  settle(cta, address, b, lane);
}

namespace {

/// The CTA whose mbarrier the instruction names, and the address in its window.
Cta& target(Warp& w, const Instruction& i, std::uint64_t& address, unsigned lane) {
  address = shared_address(lane_address(w, i, 0, i.extra[0], lane));
  return i.space == MemorySpace::cluster ? w.cta->owner(address, static_cast<int>(lane)) : *w.cta;
}

// extra: 0 wide address, 1 expect_tx, 2 noComplete, 3 count given, 4 parity form, 5 wide state
Step init(Warp& w, const Instruction& i, LaneMask m) {
  each_lane(m, [&](unsigned l) {
    const std::uint64_t a = shared_address(lane_address(w, i, 0, i.extra[0], l));
    const std::uint32_t count = w.in<std::uint32_t>(i.in[1])[l];
    if (count == 0 || count > largest_count)
      throw Fault{"mbarrier.init with " + std::to_string(count) + " arrivals; expected 1 to " + std::to_string(largest_count), static_cast<int>(l)};
    w.cta->shared_at(a, 8, 8, static_cast<int>(l), "mbarrier.init");
    if (w.cta->check) check::note_init(w, i, l, a);
    store_mbarrier(*w.cta, a, {count, count, 0, 0, true});
  });
  return Step::next;
}

Step inval(Warp& w, const Instruction& i, LaneMask m) {
  each_lane(m, [&](unsigned l) {
    const std::uint64_t a = shared_address(lane_address(w, i, 0, i.extra[0], l));
    load_mbarrier(*w.cta, a, static_cast<int>(l));
    if (w.cta->check) check::note_invalidation(w, i, l, a);
    std::memset(w.cta->shared.data() + a, 0, 8);
    ++w.cta->effects;
  });
  return Step::next;
}

void expect(Cta& cta, std::uint64_t a, std::uint32_t bytes, int lane) {
  Mbarrier b = load_mbarrier(cta, a, lane);
  const std::int64_t sum = std::int64_t{b.bytes} + bytes;
  if (sum > largest_count)
    throw Fault{place(a) + " would expect " + std::to_string(sum) + " bytes; at most " + std::to_string(largest_count) + " can be pending", lane};
  b.bytes = static_cast<std::int32_t>(sum);
  store_mbarrier(cta, a, b);
}

Step expect_tx(Warp& w, const Instruction& i, LaneMask m) {
  each_lane(m, [&](unsigned l) {
    std::uint64_t a;
    Cta& cta = target(w, i, a, l);
    expect(cta, a, w.in<std::uint32_t>(i.in[1])[l], static_cast<int>(l));
    if (cta.check) check::note_expected(w, i, cta, a, w.in<std::uint32_t>(i.in[1])[l]);
  });
  return Step::next;
}

Step complete_tx(Warp& w, const Instruction& i, LaneMask m) {
  each_lane(m, [&](unsigned l) {
    std::uint64_t a;
    Cta& cta = target(w, i, a, l);
    complete_bytes(cta, a, w.in<std::uint32_t>(i.in[1])[l], static_cast<int>(l));
  });
  return Step::next;
}

Step arrive(Warp& w, const Instruction& i, LaneMask m) {
  each_lane(m, [&](unsigned l) {
    std::uint64_t a;
    Cta& cta = target(w, i, a, l);
    const int lane = static_cast<int>(l);
    const std::uint64_t state = load_mbarrier(cta, a, lane).pack();
    if (i.extra[1]) expect(cta, a, w.in<std::uint32_t>(i.in[1])[l], lane);
    if (i.extra[1] && cta.check) check::note_expected(w, i, cta, a, w.in<std::uint32_t>(i.in[1])[l]);
    const std::uint32_t count = !i.extra[1] && i.extra[3] ? w.in<std::uint32_t>(i.in[1])[l] : 1;
    if (i.extra[2] && count >= load_mbarrier(cta, a, lane).pending)
      throw Fault{"mbarrier.arrive.noComplete would complete the phase of " + place(a), lane};
    if (i.extra[5]) {   // arrive_drop: later phases expect fewer
      Mbarrier b = load_mbarrier(cta, a, lane);
      b.expected -= std::min(b.expected, count);
      store_mbarrier(cta, a, b);
    }
    if (cta.check) check::note_arrivals(w, i, m, cta, a, count);
    arrive_mbarrier(cta, a, count, lane);
    w.out<std::uint64_t>(i.out[0])[l] = state;
  });
  return Step::next;
}

// Once for what has happened so far: a warp that only waits must come to rest.
bool returns_early(Warp& w) {
  if (w.returned_early_at == w.cta->effects || !w.cta->cluster.schedule.returns_early()) return false;
  w.returned_early_at = w.cta->effects;
  return true;
}

Step wait(Warp& w, const Instruction& i, LaneMask m, bool blocking) {
  LaneMask done = 0;
  std::uint64_t last = 0, noted = 0;
  std::uint32_t wanted = 0;
  each_lane(m, [&](unsigned l) {
    const std::uint64_t a = shared_address(lane_address(w, i, 0, i.extra[0], l));
    const Mbarrier b = load_mbarrier(*w.cta, a, static_cast<int>(l));
    const std::uint32_t phase = i.extra[4] ? w.in<std::uint32_t>(i.in[1])[l] & 1 : Mbarrier::unpack(w.in<std::uint64_t>(i.in[1])[l]).phase;
    if (w.cta->check && a != noted) check::note_wait(w, i, noted = a, phase, b.phase != phase);
    if (b.phase != phase) {
      done |= 1u << l;
    } else {
      last = a;
      wanted = phase;
    }
  });
  if (done == 0 && blocking && !w.group().block.give_up && !returns_early(w))
    return w.block(Block::Kind::mbarrier, static_cast<std::uint32_t>(last), wanted);
  w.set_predicate(i.out[0], m, done);
  return done == m ? Step::next : Step::yielded;
}

Step test_wait(Warp& w, const Instruction& i, LaneMask m) { return wait(w, i, m, false); }
Step try_wait(Warp& w, const Instruction& i, LaneMask m) { return wait(w, i, m, true); }

void take_scope(Decode& d) {
  if (d.take_any({"release", "acquire", "relaxed"}) == "relaxed") d.instruction().order = MemoryOrder::relaxed;
  d.take_any({"cta", "cluster"});
  const std::string_view space = d.take_any({"shared::cta", "shared::cluster", "shared"});
  d.instruction().space = space.empty() ? MemorySpace::generic : space == "shared::cluster" ? MemorySpace::cluster : MemorySpace::shared;
}

void decode_mbarrier(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::mbarrier;
  i.out[0] = d.builder().scratch(8);
  const std::string_view what = d.next_modifier();
  const bool no_complete = d.take("noComplete");
  const bool expects = what != "expect_tx" && d.take("expect_tx");
  const bool parity = d.take("parity");
  take_scope(d);
  d.take("b64");
  if (what == "init" || what == "expect_tx" || what == "complete_tx") {
    d.expect_operands(2, 2);
    d.address(d.operand(0), 0, 0);
    i.in[1] = d.in(1, ScalarType::u32);
    i.exec = what == "init" ? init : what == "expect_tx" ? expect_tx : complete_tx;
  } else if (what == "inval") {
    d.expect_operands(1, 1);
    d.address(d.operand(0), 0, 0);
    i.exec = inval;
  } else if (what == "arrive" || what == "arrive_drop") {
    const bool has_state = d.operand(0).kind != ptx::Operand::Kind::address;
    d.expect_operands(1, has_state ? 3 : 2);
    if (has_state) i.out[0] = d.out(0, ScalarType::b64);
    if (i.space == MemorySpace::cluster && has_state && d.operand(0).kind != ptx::Operand::Kind::sink)
      d.wrong("an arrival in shared::cluster gives no state; expected _");
    d.address(d.operand(has_state), 0, 0);
    i.extra[1] = expects;
    i.extra[2] = no_complete;
    i.extra[5] = what == "arrive_drop";
    if (d.operands() > 1u + has_state) {
      i.in[1] = d.in(1u + has_state, ScalarType::u32);
      i.extra[3] = 1;
    } else if (expects) {
      d.wrong("expect_tx needs a byte count");
    }
    i.exec = arrive;
  } else if (what == "test_wait" || what == "try_wait") {
    d.expect_operands(3, 4);   // the suspend time hint does not matter here
    i.out[0] = d.predicate_out(d.operand(0));
    d.address(d.operand(1), 0, 0);
    i.in[1] = d.in(2, parity ? ScalarType::u32 : ScalarType::b64);
    i.extra[4] = parity;
    i.exec = what == "test_wait" ? test_wait : try_wait;
  } else {
    d.unsupported();
  }
}

}  // namespace

void add_mbarrier_family(DecoderTable& t) { t["mbarrier"] = decode_mbarrier; }

}  // namespace tilewright::runtime::sim
