// cp.async.bulk: copies by the TMA unit, plain and by tensor map, with mbarrier or bulk-group completion.
#include <cstring>

#include "runtime/sim/access.h"
#include "runtime/sim/check/hooks.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/copy.h"
#include "runtime/sim/mbarrier.h"
#include "runtime/sim/observer.h"
#include "runtime/sim/tensor_map.h"

namespace tilewright::runtime::sim {

using ptx::Operand;
using ptx::ScalarType;

namespace {

enum class Way : int { to_shared, to_global, within_shared };

struct BulkCopy final : AsyncOperation {
  Way way = Way::to_shared;
  bool tensor = false;
  TensorMapSpec map;
  std::array<std::int32_t, 5> at{};
  std::uint64_t shared = 0;        // destination or source in shared memory
  std::uint64_t other = 0;         // the global address, or the shared source within shared memory
  std::uint32_t bytes = 0;
  std::uint64_t barrier = 0;
  std::uint32_t targets = 0;       // CTAs of a multicast, by rank
  std::shared_ptr<BulkGroup> group;
  Reduction reduction = Reduction::none;
  MapElement element = MapElement::f32;
  check::Flight flight;

  void perform(Cta& cta) override {
    const int l = static_cast<int>(lane);
    if (targets) {   // the same offsets in every target
      for (std::uint32_t left = targets; left; left &= left - 1) {
        std::uint64_t to = shared | (std::uint64_t{static_cast<unsigned>(std::countr_zero(left))} + 1) << cluster_shift;
        move(cta, cta.owner(to, l), to, barrier);
      }
    } else {
      std::uint64_t to = shared, signal = barrier;
      Cta& target = cta.owner(to, l);
      if (!group && &cta.owner(signal, l) != &target) throw Fault{"a bulk copy to one CTA of the cluster that signals an mbarrier of another", l};
      move(cta, target, to, signal);
    }
    if (group) {
      --group->reading;
      --group->pending;
    }
  }

 private:
  void move(Cta& cta, Cta& target, std::uint64_t to, std::uint64_t signal) {
    const int l = static_cast<int>(lane);
    if (tensor) {
      if (way == Way::to_shared) load_box(target, map, at, to, l);
      else store_box(target, map, at, to, reduction, l);
    } else {
      std::byte* s = target.shared_at(to, bytes, 16, l, "bulk copy");
      std::byte* o = way == Way::within_shared ? cta.shared_at(other, bytes, 16, l, "bulk copy") : cta.global(other, bytes, 16, l, "bulk copy");
      const std::vector<std::byte> before(o, o + (cta.observer && reduction != Reduction::none ? bytes : 0));
      if (way != Way::to_global) std::memmove(s, o, bytes);
      else if (reduction == Reduction::none) std::memcpy(o, s, bytes);
      else reduce_elements(o, s, bytes, element, reduction, l);
      if (cta.observer && reduction != Reduction::none) cta.observer->reduced(o, before.data(), s, bytes, element, reduction);
      else if (cta.observer) cta.observer->copied(way == Way::to_global ? o : s, way == Way::to_global ? s : o, bytes);
    }
    cta.statistics.bulk_bytes += bytes;
    if (cta.observer)
      cta.observer->transferred(targets ? Transfer::multicast : way == Way::to_shared ? Transfer::in : way == Way::within_shared ? Transfer::within_shared
                                : reduction == Reduction::none ? Transfer::out : Transfer::reduction, bytes);
    if (!group && target.check) check::note_landing(flight, target, signal, bytes);
    if (!group) complete_bytes(target, signal, bytes, l);
    ++target.effects;
  }
};

BulkThread& thread_of(Warp& w, unsigned lane) {
  if (!w.bulk[lane]) w.bulk[lane] = std::make_unique<BulkThread>();
  return *w.bulk[lane];
}

// Only a copy to shared memory may reach another CTA of the cluster.
void check_shared(Warp& w, const BulkCopy& op, unsigned align, const char* what) {
  const int lane = static_cast<int>(op.lane);
  std::uint64_t a = op.shared;
  Cta& target = op.way == Way::to_global ? *w.cta : w.cta->owner(a, lane);
  target.shared_at(a, op.bytes, align, lane, what);
}

// Tells the checks of a copy that has been issued.
void note(Warp& w, const Instruction& i, BulkCopy& op) {
  const check::BulkIssue n{w, i, op.lane};
  const int lane = static_cast<int>(op.lane);
  const bool reduces = op.reduction != Reduction::none;
  if (op.way == Way::to_global) {
    if (op.tensor) check::note_store_box(n, op.map, op.at, op.shared, reduces);
    else check::note_bulk_out(n, op.shared, op.other, op.bytes, reduces);
    return;
  }
  constexpr std::uint64_t offset = (1ull << cluster_shift) - 1;
  if (op.targets == 0) {
    std::uint64_t to = op.shared;
    Cta& target = w.cta->owner(to, lane);
    if (op.tensor) check::note_load_box(n, op.flight, op.map, op.at, to, target, op.barrier & offset, true);
    else check::note_bulk_in(n, op.flight, op.other, op.way == Way::within_shared, to, op.bytes, target, op.barrier & offset);
    return;
  }
  for (std::uint32_t left = op.targets; left; left &= left - 1) {
    Cta& target = *w.cta->cluster.ctas[static_cast<std::size_t>(std::countr_zero(left))];
    if (op.tensor) check::note_load_box(n, op.flight, op.map, op.at, op.shared & offset, target, op.barrier & offset, left == op.targets);
    else check::note_bulk_in(n, op.flight, op.other, false, op.shared & offset, op.bytes, target, op.barrier & offset);
  }
}

// in: 0 shared address, 1 map or other address, 2 mbarrier, 3 bytes, 4 multicast mask; list: coordinates
// extra: 0-2 wide addresses, 3 way | tensor << 4 | multicast << 5, 4 reduction, 5 element
Step issue(Warp& w, const Instruction& i, LaneMask m) {
  if (w.cta->check) check::note_issue(w, i);
  each_lane(m, [&](unsigned l) {
    const int lane = static_cast<int>(l);
    auto op = std::make_unique<BulkCopy>();
    op->warp = w.index;
    op->lane = l;
    op->instruction = &i;
    op->issued_turn = w.cta->turn;
    op->way = static_cast<Way>(i.extra[3] & 15);
    op->tensor = i.extra[3] >> 4 & 1;
    op->reduction = static_cast<Reduction>(i.extra[4]);
    op->element = static_cast<MapElement>(i.extra[5]);
    op->shared = shared_address(lane_address(w, i, 0, i.extra[0], l));
    const std::uint64_t second = (i.extra[1] ? w.in<std::uint64_t>(i.in[1])[l] : w.in<std::uint32_t>(i.in[1])[l]) + static_cast<std::uint64_t>(i.more_offsets[0]);
    if (i.extra[3] >> 5 & 1) {
      op->targets = w.in<std::uint16_t>(i.in[4])[l];
      const std::size_t ctas = w.cta->cluster.ctas.size();
      if (op->targets == 0 || op->targets >> ctas) throw Fault{"multicast to the CTAs " + hex(op->targets) + " of a cluster of " + std::to_string(ctas), lane};
    }
    if (op->tensor) {
      op->map = decode_tensor_map(generic_at(w, second, 128, 64, l, "tensor map"), lane);
      if (op->map.rank != i.list_count)
        throw Fault{"a tensor map of rank " + std::to_string(op->map.rank) + " is used with " + std::to_string(i.list_count) + " coordinates", lane};
      const Ref* list = w.cta->launch.program->lists.data() + i.list;
      for (unsigned n = 0; n < i.list_count; ++n) {
        op->at[n] = w.in<std::int32_t>(list[n])[l];
        // An H200 stops with an illegal instruction; loads from before the first element read zeros.
        if (op->way == Way::to_global && op->at[n] < 0)
          throw Fault{"a TMA store at coordinate " + std::to_string(op->at[n]) + " of dimension " + std::to_string(n) + "; expected none below 0", lane};
      }
      // Measured for loads: an H200 stops with an illegal instruction where a box does not begin at a multiple of 16 bytes.
      if (const int first = op->at[0] * static_cast<int>(size_of(op->map.element)); first % 16 != 0)
        throw Fault{"a TMA copy at coordinate " + std::to_string(op->at[0]) + " of dimension 0, " + std::to_string(first) + " bytes; expected a multiple of 16 bytes", lane};
      op->bytes = box_bytes(op->map);
      check_shared(w, *op, 128, "TMA copy");
    } else {
      op->other = op->way == Way::within_shared ? shared_address(second) : second;
      op->bytes = w.in<std::uint32_t>(i.in[3])[l];
      if (op->bytes % 16) throw Fault{"a bulk copy of " + std::to_string(op->bytes) + " bytes; expected a multiple of 16", lane};
      check_shared(w, *op, 16, "bulk copy");
      if (op->way != Way::within_shared) w.cta->global(op->other, op->bytes, 16, lane, "bulk copy");
    }
    if (op->way == Way::to_global) {
      BulkThread& t = thread_of(w, l);
      if (!t.open) t.open = std::make_shared<BulkGroup>();
      op->group = t.open;
      ++t.open->reading;
      ++t.open->pending;
    } else {
      op->barrier = shared_address((i.extra[2] ? w.in<std::uint64_t>(i.in[2])[l] : w.in<std::uint32_t>(i.in[2])[l]) + static_cast<std::uint64_t>(i.more_offsets[1]));
      std::uint64_t barrier = op->barrier;
      load_mbarrier(w.cta->owner(barrier, lane), barrier, lane);
    }
    if (w.cta->check) note(w, i, *op);
    w.cta->async.push(std::move(op));
    ++w.cta->effects;
  });
  return Step::next;
}

Step commit(Warp& w, const Instruction&, LaneMask m) {
  if (w.cta->check) check::note_bulk_commit(w, m);
  each_lane(m, [&](unsigned l) {
    BulkThread& t = thread_of(w, l);
    t.committed.push_back(t.open ? std::move(t.open) : std::make_shared<BulkGroup>());
    t.open = nullptr;
  });
  return Step::next;
}

Step wait_group(Warp& w, const Instruction& i, LaneMask m) {   // extra: 0 groups that may be pending, 1 only reading
  bool ready = true;
  each_lane(m, [&](unsigned l) {
    if (!w.bulk[l]) return;
    auto& groups = w.bulk[l]->committed;
    while (!groups.empty() && groups.front()->pending == 0) groups.pop_front();
    const auto keep = static_cast<std::size_t>(i.extra[0]);
    for (std::size_t n = 0; n + keep < groups.size(); ++n) ready &= i.extra[1] ? groups[n]->reading == 0 : groups[n]->pending == 0;
  });
  if (!ready) return w.block(Block::Kind::bulk_group);
  if (w.cta->check) check::note_bulk_wait(w, m, static_cast<std::size_t>(i.extra[0]), i.extra[1]);
  return Step::next;
}

Step prefetch(Warp&, const Instruction&, LaneMask) { return Step::next; }

void coordinates(Decode& d, const Operand& map, unsigned rank) {
  if (map.elements.size() != 2 || map.elements[1].kind != Operand::Kind::vector || map.elements[1].elements.size() != rank)
    d.wrong("expected [map, {" + std::to_string(rank) + " coordinates}]");
  std::vector<Ref> refs;
  for (const Operand& o : map.elements[1].elements) refs.push_back(d.in(o, ScalarType::s32));
  d.begin_list();
  for (const Ref r : refs) d.push_list(r);
}

void take_addresses(Decode& d, const Operand& shared, const Operand& other, const Operand* barrier) {
  Instruction& i = d.instruction();
  d.address(other, 1, 1);
  i.more_offsets[0] = i.offset;
  if (barrier) {
    d.address(*barrier, 2, 2);
    i.more_offsets[1] = i.offset;
  }
  d.address(shared, 0, 0);
}

Reduction take_reduction(Decode& d) {
  const std::string_view r = d.take_any({"add", "min", "max", "and", "or", "xor"});
  return r == "add" ? Reduction::add : r == "min" ? Reduction::min : r == "max" ? Reduction::max : r == "and" ? Reduction::bit_and
         : r == "or" ? Reduction::bit_or : r == "xor" ? Reduction::bit_xor : Reduction::none;
}

void take_element(Decode& d) {
  const ScalarType t = d.type();
  d.instruction().extra[5] = static_cast<int>(t == ScalarType::f32 ? MapElement::f32 : t == ScalarType::f16 ? MapElement::f16 : t == ScalarType::bf16 ? MapElement::bf16
                                              : t == ScalarType::s32 || t == ScalarType::u32 || t == ScalarType::b32 ? MapElement::i32 : MapElement::u8);
  if (static_cast<MapElement>(d.instruction().extra[5]) == MapElement::u8) d.unsupported();
}

}  // namespace

void decode_bulk_copy(Decode& d) {
  Instruction& i = d.instruction();
  if (d.take("commit_group")) { i.exec = commit; return; }
  if (d.take("wait_group")) {
    i.extra[1] = d.take("read");
    i.extra[0] = static_cast<int>(d.immediate(d.operand(0)));
    i.exec = wait_group;
    return;
  }
  const bool reduce = d.statement().parts[1] == "reduce";
  const bool is_prefetch = d.take("prefetch");
  const bool tensor = d.take("tensor");
  unsigned rank = 0;
  if (tensor) {
    const std::string_view r = d.take_any({"1d", "2d", "3d", "4d", "5d"});
    if (r.empty()) d.unsupported();
    rank = static_cast<unsigned>(r[0] - '0');
  }
  d.take("tile");
  const bool cached = d.take("L2::cache_hint");
  if (is_prefetch) {
    d.take("L2");
    d.take("global");
    i.exec = prefetch;
    return;
  }
  const bool from_barrier = d.take("mbarrier::complete_tx::bytes");
  const bool multicast = d.take("multicast::cluster");
  if (!from_barrier && !d.take("bulk_group")) d.unsupported("without a completion mechanism");
  // what is left: destination, source, and a reduction
  const std::string_view to = d.next_modifier(), from = d.next_modifier();
  const bool to_shared = to == "shared::cluster" || to == "shared::cta";
  const Reduction reduction = take_reduction(d);
  if (reduce != (reduction != Reduction::none)) d.unsupported();
  Way way;
  if (to_shared && from == "global" && from_barrier && !reduce) way = Way::to_shared;
  else if (to == "global" && from == "shared::cta" && !from_barrier) way = Way::to_global;
  else if (to_shared && from == "shared::cta" && from_barrier && !tensor && !reduce) way = Way::within_shared;
  else d.unsupported();
  if (reduce && !tensor) {
    d.take("noftz");
    take_element(d);
    i.bytes = 0;
  }
  i.extra[3] = static_cast<int>(way) | tensor << 4 | multicast << 5;
  i.extra[4] = static_cast<int>(reduction);
  if (reduce) d.builder().program().ordered = true;
  std::size_t used;
  if (tensor && way == Way::to_shared) {
    coordinates(d, d.operand(1), rank);
    take_addresses(d, d.operand(0), d.operand(1), &d.operand(2));
    used = 3;
  } else if (tensor) {
    coordinates(d, d.operand(0), rank);
    take_addresses(d, d.operand(1), d.operand(0), nullptr);
    used = 2;
  } else if (way == Way::to_global) {
    take_addresses(d, d.operand(1), d.operand(0), nullptr);
    i.in[3] = d.in(2, ScalarType::u32);
    used = 3;
  } else {
    take_addresses(d, d.operand(0), d.operand(1), &d.operand(3));
    i.in[3] = d.in(2, ScalarType::u32);
    used = 4;
  }
  if (multicast) i.in[4] = d.in(used++, ScalarType::b16);
  used += cached;
  d.expect_operands(used, used);
  i.exec = issue;
}

namespace {

void decode_copy(Decode& d) {
  d.instruction().group = InstructionClass::async_copy;
  d.take("reduce");
  if (!d.take("async")) d.unsupported();
  if (d.take("bulk")) return decode_bulk_copy(d);
  decode_small_copy(d);
}

}  // namespace

void add_copy_family(DecoderTable& t) { t["cp"] = decode_copy; }

}  // namespace tilewright::runtime::sim
