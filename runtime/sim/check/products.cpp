// wgmma: registers in flight, fences before them, and the products whose shared operands are read until a wait.
#include "runtime/sim/check/checker.h"
#include "runtime/sim/check/hooks.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/matrix_product.h"

namespace tilewright::runtime::sim::check {
namespace {

constexpr unsigned warps_of_group = 4;

bool is_register(Ref r) { return r > 0 && r % static_cast<Ref>(slot_unit) == 0; }
std::size_t slot(Ref r) { return static_cast<std::size_t>(r) / slot_unit; }

/// The shape of a product and which of its accumulator registers this is: products that agree in both are performed in order.
std::uint32_t use_of(const Instruction& i, std::uint32_t place) {
  const bool wide = static_cast<MatrixElement>(i.extra[1]) == MatrixElement::tf32;
  return place | static_cast<std::uint32_t>(i.extra[0]) << 8 | static_cast<std::uint32_t>(wide) << 20 | static_cast<std::uint32_t>(i.extra[3]) << 21;
}

/// Calls f(slot, whether it is an accumulator, place in the list) for the registers of a product.
template <class F>
void each_register(const Warp& w, const Instruction& i, F&& f) {
  const Ref* list = w.cta->launch.program->lists.data() + i.list;
  for (std::uint32_t n = 0; n < i.list_count; ++n)
    if (is_register(list[n])) f(slot(list[n]), n < static_cast<std::uint32_t>(i.extra[3]), n);
}

const Instruction* writer_of(const Warp& w, const WarpState& s, std::size_t wanted) {
  const Instruction* found = s.products.front();   // of a copy: one of those in flight
  for (const Instruction* i : s.products) each_register(w, *i, [&](std::size_t r, bool, std::uint32_t) { found = r == wanted ? i : found; });
  return found;
}

}  // namespace

void note_product_fence(Warp& w) { ++w.cta->check->of(w).fences; }

void note_product(Warp& w, const Instruction& i, const std::function<Ranges()>& operands) {
  CtaChecker& c = *w.cta->check;
  WarpState& s = c.of(w);
  c.count(w, i);
  if (s.fences == 0) throw Fault{"the first wgmma of the warp has no wgmma.fence before it"};
  each_register(w, i, [&](std::size_t r, bool accumulator, std::uint32_t place) {
    if (accumulator && s.accumulates[r] && s.use[r] != use_of(i, place))
      throw Fault{"accumulates into a register of an earlier wgmma in flight that has another shape, or has it in another place: " +
                  c.cta.launch.program->describe(*writer_of(w, s, r)) + "; expected a wgmma.wait_group that covers it before"};
    const bool written = s.written_after[r] == s.fences;
    if (written || (accumulator && s.read_after[r] == s.fences))
      throw Fault{std::string(accumulator ? "an accumulator register" : "a register of A") + " was " + (written ? "written" : "read") +
                  " after the last wgmma.fence; expected a wgmma.fence between the " + (written ? "write" : "read") + " and this wgmma"};
    if (accumulator && s.feeds[r])
      throw Fault{"writes a register that an earlier wgmma, which is in flight, reads as A: " + c.cta.launch.program->describe(*writer_of(w, s, r))};
    if (!accumulator && s.accumulates[r])
      throw Fault{"reads as A a register that an earlier wgmma, which is in flight, writes: " + c.cta.launch.program->describe(*writer_of(w, s, r))};
  });
  each_register(w, i, [&](std::size_t r, bool accumulator, std::uint32_t place) {
    ++(accumulator ? s.accumulates : s.feeds)[r];
    if (accumulator) s.use[r] = use_of(i, place);
  });
  s.products.push_back(&i);
  ++s.open_products;
  ++s.products_issued;

  GroupState& g = c.groups[w.index / warps_of_group];
  if (g.agent == nobody) {
    g.agent = c.cluster.make_agent(ClusterChecker::Role::product);
    for (unsigned n = 1; n < warps_of_group; ++n) c.cluster.make_agent(ClusterChecker::Role::product);
  }
  const std::size_t n = s.products_issued - g.formed - 1;
  if (n >= g.forming.size()) g.forming.resize(n + 1);
  Forming& f = g.forming[n];
  if (f.warps == 0) f.every = s.clock;
  else f.every.meet(s.clock);
  tick(s);
  if (++f.warps < warps_of_group || n != 0) return;
  Access a{c.event(w, i, all_lanes), &f.every, true};
  a.event.kind = Kind::async;
  a.event.agent = g.agent;
  a.event.parts = warps_of_group;
  a.event.time = ++g.formed;
  for (const auto& [begin, end] : operands()) c.read_shared(begin, end, a);
  g.forming.pop_front();
}

void note_product_commit(Warp& w) {
  WarpState& s = w.cta->check->of(w);
  s.commits.push_back(s.open_products);
  s.open_products = 0;
}

void note_product_wait(Warp& w, std::size_t keep) {
  CtaChecker& c = *w.cta->check;
  WarpState& s = c.of(w);
  bool any = false;
  for (; s.commits.size() > keep; s.commits.pop_front())
    for (std::size_t n = s.commits.front(); n > 0; --n) {
      each_register(w, *s.products.front(), [&](std::size_t r, bool accumulator, std::uint32_t) { --(accumulator ? s.accumulates : s.feeds)[r]; });
      s.products.pop_front();
      any = true;
    }
  if (!any) return;
  const GroupState& g = c.groups[w.index / warps_of_group];
  const auto complete = static_cast<Time>(s.products_issued - s.products.size());
  std::erase_if(s.copies, [&](const auto& copy) {
    if (copy.second > complete) return false;
    --s.accumulates[copy.first];
    return true;
  });
  s.clock.know(static_cast<Agent>(g.agent + w.index % warps_of_group), {complete, complete});   // a wait is for what its own warp has issued
}

namespace {

// Compilers copy accumulators while a product is in flight, around the end of a loop; the assembler follows the data. The copy is in flight, too.
void copy_register(WarpState& s, const Warp& w, Ref to, Ref from) {
  s.written_after[slot(to)] = is_register(from) ? s.written_after[slot(from)] : s.fences;
  s.read_after[slot(to)] = is_register(from) ? s.read_after[slot(from)] : s.fences;
  if (s.products.empty() || !is_register(from) || !s.accumulates[slot(from)]) return;
  Time number = s.products_issued - static_cast<Time>(s.products.size()), last = 0;
  for (const Instruction* i : s.products) {
    ++number;
    each_register(w, *i, [&](std::size_t r, bool accumulator, std::uint32_t) { last = accumulator && r == slot(from) ? number : last; });
  }
  for (const auto& [copy, product] : s.copies) last = copy == slot(from) ? std::max(last, product) : last;
  ++s.accumulates[slot(to)];
  s.use[slot(to)] = s.use[slot(from)];
  s.copies.emplace_back(slot(to), last);
}

}  // namespace

void note_registers(Warp& w, const Instruction& i) {
  WarpState& s = w.cta->check->of(w);
  const bool flying = !s.products.empty();
  if (i.copies_register && is_register(i.out[0]) && !(flying && (s.accumulates[slot(i.out[0])] || s.feeds[slot(i.out[0])])))
    return copy_register(s, w, i.out[0], i.in[0]);
  const Ref* list = w.cta->launch.program->lists.data() + i.list;
  const auto read = [&](Ref r) {
    if (flying && is_register(r) && s.accumulates[slot(r)])
      throw Fault{"reads an accumulator of a wgmma in flight, " + w.cta->launch.program->describe(*writer_of(w, s, slot(r))) +
                  "; expected a wgmma.wait_group that covers it before"};
    if (is_register(r)) s.read_after[slot(r)] = s.fences;
  };
  const auto write = [&](Ref r) {
    if (!is_register(r)) return;
    if (flying && (s.accumulates[slot(r)] || s.feeds[slot(r)]))
      throw Fault{std::string("writes ") + (s.accumulates[slot(r)] ? "an accumulator" : "a register of A") + " of a wgmma in flight, " +
                  w.cta->launch.program->describe(*writer_of(w, s, slot(r))) + "; expected a wgmma.wait_group that covers it before"};
    s.written_after[slot(r)] = s.fences;
  };
  for (const Ref r : i.in) read(r);
  for (std::uint32_t n = i.list_outputs; n < i.list_count; ++n) read(list[n]);
  for (const Ref r : i.out) write(r);
  for (std::uint32_t n = 0; n < i.list_outputs; ++n) write(list[n]);
}

}  // namespace tilewright::runtime::sim::check
