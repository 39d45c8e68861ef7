// st.async: a store into a CTA of the cluster whose bytes are counted on an mbarrier of that CTA.
#include <cstring>

#include "runtime/sim/access.h"
#include "runtime/sim/check/hooks.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/copy.h"
#include "runtime/sim/mbarrier.h"

namespace tilewright::runtime::sim {

using ptx::Operand;
using ptx::ScalarType;

namespace {

struct RemoteStore final : AsyncOperation {
  std::uint64_t to = 0, barrier = 0;
  std::array<std::byte, 32> value{};
  std::uint32_t bytes = 0;
  check::Flight flight;

  void perform(Cta& cta) override {
    const int l = static_cast<int>(lane);
    std::uint64_t place = to, signal = barrier;
    Cta& target = cta.owner(place, l);
    if (&cta.owner(signal, l) != &target) throw Fault{"st.async to one CTA of the cluster that signals an mbarrier of another", l};
    std::memcpy(target.shared_at(place, bytes, bytes, l, "st.async"), value.data(), bytes);
    if (target.check) check::note_landing(flight, target, signal, bytes);
    complete_bytes(target, signal, bytes, l);
  }
};

// in: 0 address, 1 mbarrier; list: the elements; extra: 0, 1 wide addresses; more_offsets[0]: of the address
Step issue(Warp& w, const Instruction& i, LaneMask m) {
  const Ref* list = w.cta->launch.program->lists.data() + i.list;
  if (w.cta->check) check::note_issue(w, i);
  each_lane(m, [&](unsigned l) {
    auto op = std::make_unique<RemoteStore>();
    op->warp = w.index;
    op->lane = l;
    op->instruction = &i;
    op->issued_turn = w.cta->turn;
    const auto address = [&](unsigned slot, std::int64_t offset) {
      const std::uint64_t base = i.extra[slot] ? w.in<std::uint64_t>(i.in[slot])[l] : w.in<std::uint32_t>(i.in[slot])[l];
      return shared_address(base + static_cast<std::uint64_t>(offset));
    };
    op->to = address(0, i.more_offsets[0]);
    op->barrier = address(1, i.more_offsets[1]);
    op->bytes = i.bytes * i.list_count;
    for (unsigned n = 0; n < i.list_count; ++n) std::memcpy(op->value.data() + n * i.bytes, w.in<std::byte>(list[n]) + l * i.bytes, i.bytes);
    std::uint64_t place = op->to;
    Cta& target = w.cta->owner(place, static_cast<int>(l));
    target.shared_at(place, op->bytes, op->bytes, static_cast<int>(l), "st.async");
    if (w.cta->check) check::note_remote_store({w, i, l}, op->flight, place, op->bytes, target, op->barrier & ((1ull << cluster_shift) - 1));
    w.cta->async.push(std::move(op));
  });
  ++w.cta->effects;
  return Step::next;
}

}  // namespace

void decode_remote_store(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::async_copy;
  d.take("async");
  if (i.space != MemorySpace::cluster || !d.take("mbarrier::complete_tx::bytes")) d.unsupported();
  const std::string_view vector = d.take_any({"v2", "v4"});
  const ScalarType t = d.type();
  i.bytes = static_cast<std::uint8_t>(ptx::bytes_of(t));
  if (i.bytes != 4 && i.bytes != 8) d.unsupported();
  d.expect_operands(3, 3);
  d.address(d.operand(2), 1, 1);
  i.more_offsets[1] = i.offset;
  d.address(d.operand(0), 0, 0);
  i.more_offsets[0] = i.offset;
  std::vector<Ref> refs;
  if (vector.empty()) {
    refs.push_back(d.in(1, t));
  } else {
    if (d.operand(1).kind != Operand::Kind::vector || d.operand(1).elements.size() != static_cast<std::size_t>(vector[1] - '0'))
      d.wrong("expected a vector of " + std::string(vector.substr(1)));
    for (const Operand& o : d.operand(1).elements) refs.push_back(d.in(o, t));
  }
  d.begin_list();
  for (const Ref r : refs) d.push_list(r);
  i.exec = issue;
}

}  // namespace tilewright::runtime::sim
