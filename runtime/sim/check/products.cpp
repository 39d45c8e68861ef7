// wgmma: registers in flight, fences before them, and the products whose shared operands are read until a wait.
#include "runtime/sim/check/checker.h"
#include "runtime/sim/check/hooks.h"
#include "runtime/sim/cluster.h"

namespace tilewright::runtime::sim::check {
namespace {

constexpr std::size_t remembered = 64;   // products whose issuers' clocks are kept for warps that wait later

bool is_register(Ref r) { return r > 0 && r % static_cast<Ref>(slot_unit) == 0; }
std::size_t slot(Ref r) { return static_cast<std::size_t>(r) / slot_unit; }

/// Calls f(slot, whether it is an accumulator) for the registers of a product.
template <class F>
void each_register(const Warp& w, const Instruction& i, F&& f) {
  const Ref* list = w.cta->launch.program->lists.data() + i.list;
  for (std::uint32_t n = 0; n < i.list_count; ++n)
    if (is_register(list[n])) f(slot(list[n]), n < static_cast<std::uint32_t>(i.extra[3]));
}

const Instruction* writer_of(const Warp& w, const WarpState& s, std::size_t wanted) {
  const Instruction* found = s.products.front();   // of a copy: one of those in flight
  for (const Instruction* i : s.products) each_register(w, *i, [&](std::size_t r, bool) { found = r == wanted ? i : found; });
  return found;
}

}  // namespace

void note_product_fence(Warp& w) { ++w.cta->check->of(w).fences; }

void note_product(Warp& w, const Instruction& i, const std::function<Ranges()>& operands) {
  CtaChecker& c = *w.cta->check;
  WarpState& s = c.of(w);
  c.count(w, i);
  each_register(w, i, [&](std::size_t r, bool accumulator) {
    if (s.written_after[r] == s.fences)
      throw Fault{std::string(accumulator ? "an accumulator register" : "a register of A") +
                  " was written after the last wgmma.fence; expected a wgmma.fence between the write and this wgmma"};
    if (accumulator && s.feeds[r])
      throw Fault{"writes a register that an earlier wgmma, which is in flight, reads as A: " + c.cta.launch.program->describe(*writer_of(w, s, r))};
    if (!accumulator && s.accumulates[r])
      throw Fault{"reads as A a register that an earlier wgmma, which is in flight, writes: " + c.cta.launch.program->describe(*writer_of(w, s, r))};
  });
  each_register(w, i, [&](std::size_t r, bool accumulator) { ++(accumulator ? s.accumulates : s.feeds)[r]; });
  s.products.push_back(&i);
  ++s.open_products;
  ++s.products_issued;

  GroupState& g = c.groups[w.index / 4];
  if (g.agent == nobody) g.agent = c.cluster.make_agent(ClusterChecker::Role::product);
  const std::size_t n = s.products_issued - g.formed - 1;
  if (n >= g.forming.size()) g.forming.resize(n + 1);
  Forming& f = g.forming[n];
  if (f.warps == 0) f.every = s.clock;
  else f.every.meet(s.clock);
  f.any.join(s.clock);
  tick(s);
  if (++f.warps < 4 || n != 0) return;
  Access a{c.event(w, i, all_lanes), &f.every, true};
  a.event.kind = Kind::async;
  a.event.agent = g.agent;
  a.event.time = ++g.formed;
  for (const auto& [begin, end] : operands()) c.read_shared(begin, end, a);
  g.issued.emplace_back(g.formed, std::move(f.any));
  if (g.issued.size() > remembered) g.issued.pop_front();
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
      each_register(w, *s.products.front(), [&](std::size_t r, bool accumulator) { --(accumulator ? s.accumulates : s.feeds)[r]; });
      s.products.pop_front();
      any = true;
    }
  if (!any) return;
  const GroupState& g = c.groups[w.index / 4];
  const auto complete = static_cast<Time>(s.products_issued - s.products.size());
  std::erase_if(s.copies, [&](const auto& copy) {
    if (copy.second > complete) return false;
    --s.accumulates[copy.first];
    return true;
  });
  for (const auto& [time, clock] : g.issued)   // the other warps' clocks, too: a product is one operation of its warpgroup
    if (time == complete) s.clock.join(clock);
  s.clock.know(g.agent, {complete, complete});
}

namespace {

// Compilers copy accumulators while a product is in flight, around the end of a loop; the assembler follows the data. The copy is in flight, too.
void copy_register(WarpState& s, const Warp& w, Ref to, Ref from) {
  s.written_after[slot(to)] = is_register(from) ? s.written_after[slot(from)] : s.fences;
  if (s.products.empty() || !is_register(from) || !s.accumulates[slot(from)]) return;
  Time number = s.products_issued - static_cast<Time>(s.products.size()), last = 0;
  for (const Instruction* i : s.products) {
    ++number;
    each_register(w, *i, [&](std::size_t r, bool accumulator) { last = accumulator && r == slot(from) ? number : last; });
  }
  for (const auto& [copy, product] : s.copies) last = copy == slot(from) ? std::max(last, product) : last;
  ++s.accumulates[slot(to)];
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
