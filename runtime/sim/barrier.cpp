// Named barriers of a CTA, the barrier of a cluster, and barriers of a warp.
#include "runtime/sim/check/hooks.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/decode.h"

namespace tilewright::runtime::sim {

using ptx::ScalarType;

namespace {

constexpr unsigned barrier_count = 16;

// in[0] id, in[1] thread count, in[2] predicate of a reduction; extra: 0 has count, 1 arrive only, 2 aligned, 3 reduction, 4 negated
enum Reduction : int { none, popc, all, any };
void arrive_at(Cta& cta, NamedBarrier& b, unsigned id, unsigned count, unsigned threads) {
  if (count != 0 && count % warp_lanes) throw Fault{"barrier " + std::to_string(id) + " for " + std::to_string(count) + " threads; expected a multiple of 32"};
  if (b.arrived == 0) b.expected = count;
  if (b.expected != count)
    throw Fault{"barrier " + std::to_string(id) + " for " + std::to_string(count ? count : cta.live_threads()) + " threads, but others wait at it for " +
                std::to_string(b.expected ? b.expected : cta.live_threads())};
  b.arrived += threads;
  ++cta.effects;
}

bool complete(Cta& cta, NamedBarrier& b, unsigned id) {
  const unsigned expected = b.expected ? b.expected : cta.live_threads();
  if (b.arrived > expected && b.expected)
    throw Fault{std::to_string(b.arrived) + " threads arrived at barrier " + std::to_string(id) + ", which waits for " + std::to_string(expected)};
  if (b.arrived < expected) return false;
  b.last_true = b.true_count;
  b.last_all = b.true_count == b.arrived;
  b.arrived = b.true_count = 0;
  ++b.generation;
  if (cta.check) check::note_completion(cta, id);
  return true;
}

Step reduced(Warp& w, const Instruction& i, LaneMask m, const NamedBarrier& b) {
  if (i.extra[3] == popc) {
    auto* d = w.out<std::uint32_t>(i.out[0]);
    each_lane(m, [&](unsigned l) { d[l] = b.last_true; });
  } else if (i.extra[3] != none) {
    w.set_predicate(i.out[0], m, (i.extra[3] == all ? b.last_all : b.last_true != 0) ? all_lanes : 0);
  }
  return Step::next;
}

Step barrier(Warp& w, const Instruction& i, LaneMask m) {
  Cta& cta = *w.cta;
  const auto lane = static_cast<unsigned>(std::countr_zero(m));
  const unsigned id = w.in<std::uint32_t>(i.in[0])[lane];
  if (id >= barrier_count) throw Fault{"barrier " + std::to_string(id) + "; expected 0 to 15"};
  NamedBarrier& b = cta.barriers[id];
  if (w.group().block.kind == Block::Kind::named_barrier) {
    if (b.generation == w.group().block.parity && !complete(cta, b, id)) return Step::blocked;   // lanes may have ended since
    if (cta.check) check::note_departure(w, id);
    return reduced(w, i, m, b);
  }
  if (i.extra[2] && !w.converged(w.live, m)) return Step::blocked;
  const unsigned count = i.extra[0] ? w.in<std::uint32_t>(i.in[1])[lane] : 0;
  const std::uint32_t generation = b.generation;
  if (cta.check) check::note_together(w, m);
  if (cta.check) check::note_arrival(w, id);
  arrive_at(cta, b, id, count, count && i.extra[2] ? warp_lanes : static_cast<unsigned>(std::popcount(m)));
  if (i.extra[3]) {
    const LaneMask p = w.predicates[static_cast<std::size_t>(i.in[2])];
    b.true_count += static_cast<unsigned>(std::popcount((i.extra[4] ? ~p : p) & m));
  }
  const bool last = complete(cta, b, id);
  if (last && cta.check && !i.extra[1]) check::note_departure(w, id);
  if (last) return reduced(w, i, m, b);
  if (i.extra[1]) return Step::next;
  return w.block(Block::Kind::named_barrier, id, generation);
}

Step warp_barrier(Warp& w, const Instruction& i, LaneMask m) {
  const LaneMask wanted = w.in<std::uint32_t>(i.in[0])[std::countr_zero(m)];
  if (!w.converged(wanted, m)) return Step::blocked;
  if (w.cta->check) check::note_together(w, m);
  return Step::next;
}

// The cluster's barrier in two halves. extra: 2 aligned
Step cluster_arrive(Warp& w, const Instruction& i, LaneMask m) {
  if (i.extra[2] && !w.converged(w.live, m)) return Step::blocked;
  if (m & w.cluster_arrived) throw Fault{"arrives at the cluster's barrier again without having waited", std::countr_zero(m & w.cluster_arrived)};
  Cluster& cluster = w.cta->cluster;
  w.cluster_generation = cluster.barrier.generation;
  w.cluster_arrived |= m;
  cluster.barrier.arrived += static_cast<unsigned>(std::popcount(m));
  if (w.cta->check) check::note_together(w, m);
  if (w.cta->check) check::note_cluster_arrival(w, i.order != MemoryOrder::relaxed);
  ++w.cta->effects;
  cluster.complete_barrier();
  return Step::next;
}

Step cluster_wait(Warp& w, const Instruction& i, LaneMask m) {
  if (i.extra[2] && !w.converged(w.live, m)) return Step::blocked;
  if (m & ~w.cluster_arrived) throw Fault{"waits at the cluster's barrier without having arrived", std::countr_zero(m & ~w.cluster_arrived)};
  Cluster& cluster = w.cta->cluster;
  if (cluster.barrier.generation == w.cluster_generation && !cluster.complete_barrier()) return w.block(Block::Kind::cluster_barrier);
  w.cluster_arrived &= ~m;
  if (w.cta->check) check::note_cluster_departure(w);
  return Step::next;
}

void decode_barrier(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::barrier;
  const bool old_name = d.statement().parts[0] == "bar";
  if (d.take("cluster")) {
    const std::string_view what = d.take_any({"arrive", "wait"});
    if (what.empty()) d.unsupported();
    if (d.take_any({"release", "relaxed", "acquire"}) == "relaxed") i.order = MemoryOrder::relaxed;
    i.extra[2] = d.take("aligned");
    i.exec = what == "arrive" ? cluster_arrive : cluster_wait;
    return;
  }
  if (d.take("warp")) {
    if (!d.take("sync")) d.unsupported();
    d.expect_operands(1, 1);
    i.in[0] = d.in(0, ScalarType::b32);
    i.exec = warp_barrier;
    return;
  }
  d.take("cta");
  const bool arrive = d.take("arrive"), reduce = d.take("red");
  if (!arrive && !reduce && !d.take("sync")) d.unsupported();
  i.extra[2] = d.take("aligned") || old_name;
  const std::size_t first = reduce ? 1 : 0, last = d.operands() - first;
  if (reduce) {   // destination, barrier, (threads,) predicate
    const std::string_view what = d.take_any({"popc", "and", "or"});
    if (what.empty()) d.unsupported();
    d.take_any({"u32", "pred"});
    i.extra[3] = what == "popc" ? popc : what == "and" ? all : any;
    d.expect_operands(3, 4);
    i.out[0] = what == "popc" ? d.out(0, ScalarType::u32) : d.predicate_out(d.operand(0));
    const ptx::Operand& p = d.operand(d.operands() - 1);
    i.in[2] = d.predicate(p);
    i.extra[4] = p.negated;
  } else {
    d.expect_operands(arrive ? 2 : 1, 2);
  }
  i.in[0] = d.in(first, ScalarType::u32);
  if (last - first == 2) {
    i.in[1] = d.in(first + 1, ScalarType::u32);
    i.extra[0] = 1;
  }
  i.extra[1] = arrive;
  i.exec = barrier;
}

}  // namespace

void add_barrier_family(DecoderTable& t) {
  t["bar"] = decode_barrier;
  t["barrier"] = decode_barrier;
}

}  // namespace tilewright::runtime::sim
