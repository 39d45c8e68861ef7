// Instructions that move numbers: their shadows move along.
#include "runtime/sim/access.h"
#include "runtime/sim/collective.h"
#include "runtime/sim/shadow/shadow_observer.h"

namespace tilewright::runtime::sim {

using ptx::ScalarType;

Step ShadowObserver::move(Warp& w, const Instruction& i, LaneMask m, const ShadowPlan& p) {
  moves_.clear();
  if (p.kind != ShadowKind::matrix_load && p.kind != ShadowKind::matrix_store) list_moves(w, i, m, p);
  else if (w.converged(all_lanes, m)) list_matrix_moves(w, i, p.kind == ShadowKind::matrix_load);
  cells_.clear();   // first all that is read, as the instruction may overwrite it
  for (const Move& move : moves_)
    for (unsigned n = 0; n < move.bytes; n += 2) cells_.push_back(memory_.cell(move.from + n));
  const Step step = i.exec(w, i, m);
  if (step == Step::blocked) return step;
  auto cell = cells_.begin();
  for (const Move& move : moves_)
    for (unsigned n = 0; n < move.bytes; n += 2) memory_.put(move.to + n, *cell++);
  return step;
}

void ShadowObserver::list_moves(Warp& w, const Instruction& i, LaneMask m, const ShadowPlan& p) {
  const Ref* list = program_.lists.data() + i.list;
  const auto rows = [&](Ref to, unsigned to_step, Ref from, unsigned from_step, unsigned bytes) {
    each_lane(m, [&](unsigned l) { moves_.push_back({w.in<std::byte>(from) + l * from_step, w.out<std::byte>(to) + l * to_step, bytes}); });
  };
  const auto part = static_cast<unsigned>(i.extra[0]);   // of pack and unpack
  switch (p.kind) {
    case ShadowKind::copy: {   // of a conversion: extra 4, 5 register widths
      const bool converts = program_.statement(i).parts[0] == "cvt";
      return rows(i.out[0], converts ? static_cast<unsigned>(i.extra[5]) : p.bytes, i.in[0], converts ? static_cast<unsigned>(i.extra[4]) : p.bytes, p.bytes);
    }
    case ShadowKind::pack:
      for (unsigned n = 0; n < i.list_count; ++n)
        each_lane(m, [&](unsigned l) { moves_.push_back({w.in<std::byte>(list[n]) + l * part, w.out<std::byte>(i.out[0]) + l * i.bytes + n * part, part}); });
      return;
    case ShadowKind::unpack:
      for (unsigned n = 0; n < i.list_count; ++n)
        each_lane(m, [&](unsigned l) { moves_.push_back({w.in<std::byte>(i.in[0]) + l * i.bytes + n * part, w.out<std::byte>(list[n]) + l * part, part}); });
      return;
    case ShadowKind::select: {   // extra[1]: the predicate is negated
      const LaneMask first = w.predicates[static_cast<std::size_t>(i.in[2])] ^ (i.extra[1] ? all_lanes : 0);
      each_lane(m, [&](unsigned l) {
        moves_.push_back({w.in<std::byte>(i.in[first >> l & 1 ? 0 : 1]) + l * p.bytes, w.out<std::byte>(i.out[0]) + l * p.bytes, p.bytes});
      });
      return;
    }
    case ShadowKind::choose:
      each_lane(m, [&](unsigned l) {
        const bool first = p.type == ScalarType::f32 ? w.in<float>(i.in[2])[l] >= 0 : w.in<std::int32_t>(i.in[2])[l] >= 0;
        moves_.push_back({w.in<std::byte>(i.in[first ? 0 : 1]) + l * p.bytes, w.out<std::byte>(i.out[0]) + l * p.bytes, p.bytes});
      });
      return;
    case ShadowKind::shuffle:
      each_lane(m, [&](unsigned l) {
        const unsigned from = shuffle_source(i.extra[0], l, w.in<std::uint32_t>(i.in[1])[l], w.in<std::uint32_t>(i.in[2])[l]).lane;
        moves_.push_back({w.in<std::byte>(i.in[0]) + from * 4, w.out<std::byte>(i.out[0]) + l * 4, 4});
      });
      return;
    default: break;
  }
  const bool load = p.kind == ShadowKind::load;   // extra[1]: width of the registers
  const auto width = static_cast<unsigned>(i.extra[1]);
  each_lane(m, [&](unsigned l) {
    std::byte* place = operand_place(w, i, i.bytes * i.elements, l, load ? "load" : "store");
    for (unsigned e = 0; e < i.elements; ++e) {
      std::byte* in_memory = place + e * i.bytes;
      if (load) moves_.push_back({in_memory, w.out<std::byte>(list[e]) + l * width, i.bytes});
      else moves_.push_back({w.in<std::byte>(list[e]) + l * width, in_memory, i.bytes});
    }
  });
}

// extra: 1 count, 2 transposed
void ShadowObserver::list_matrix_moves(Warp& w, const Instruction& i, bool load) {
  const Ref* list = program_.lists.data() + i.list;
  for (unsigned n = 0; n < static_cast<unsigned>(i.extra[1]); ++n) {
    std::byte* rows[8];
    for (unsigned r = 0; r < 8; ++r) rows[r] = matrix_row(w, i, 8 * n + r, load ? "ldmatrix" : "stmatrix");
    std::byte* fragment = reinterpret_cast<std::byte*>(w.registers) + list[n];
    for (unsigned l = 0; l < warp_lanes; ++l)
      for (unsigned half = 0; half < 2; ++half) {
        const unsigned r = l / 4, c = 2 * (l % 4) + half;
        std::byte* element = i.extra[2] ? rows[c] + 2 * r : rows[r] + 2 * c;
        std::byte* in_register = fragment + l * 4 + 2 * half;
        moves_.push_back(load ? Move{element, in_register, 2} : Move{in_register, element, 2});
      }
  }
}

}  // namespace tilewright::runtime::sim
