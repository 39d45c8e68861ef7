// Copies, products and fences.
#include <algorithm>
#include <bit>

#include "compiler/verify/protocol/Machine.h"

using namespace mlir;

namespace tilewright::verify::protocol {

void Machine::asynchronous(Actor& a, const Instr& i) {
  const std::uint32_t now = a.clock.seen[static_cast<std::size_t>(a.number)];
  const auto settle = [&](std::int64_t to, std::int64_t& done, std::vector<std::uint32_t>& times) {
    if (to <= done) return;
    done = to;
    times.resize(static_cast<std::size_t>(to), now);
  };
  const auto issue = [&](std::int64_t group, bool product) {
    for (const TileUse& use : i.uses) {
      Access access;
      access.component = a.number, access.group = group, access.product = product;
      touch(a, i, use, a.cta, access);
      if (finding_) return;
    }
    note(a, i, -1 - i.uses.front().place.tile);
  };
  switch (i.code) {
    case Code::load_bytes:
      if (i.many >= 0) load_tensor(a, i, i.many);
      if (!finding_) land(a, i);
      return;
    case Code::copy_async: {
      auto stage = stage_of(a, i);
      if (!stage) return;
      const Signal& full = signals_[static_cast<std::size_t>(ring_signal(a.cta, i.target, *stage, true))];
      Access access;
      access.component = full.component, access.end = static_cast<std::uint32_t>(full.done + 1);
      note(a, i, ring_signal(a.cta, i.target, *stage, true));
      return touch(a, i, i.uses.front(), a.cta, access);
    }
    case Code::store_bytes:
      if (i.number) add_once(a, i);
      if (finding_) return;
      a.open_stores = true, a.store_mask |= a.mask, a.last_store = &i;
      return issue(a.store_groups, false);
    case Code::store_wait:
      if (a.store_mask & ~a.mask) return;  // not by the threads that started the copies
      ++a.store_groups;
      a.open_stores = false;
      settle(a.store_groups - i.number, a.stored, a.store_times);
      if (a.stored == a.store_groups) a.store_mask = 0;
      return note(a, i, -1 - (a.last_store ? a.last_store->uses.front().place.tile : -1));
    case Code::gemm:
      a.open_products = true, a.last_product = &i;
      return issue(a.batches, true);
    case Code::batch:
      a.scalars[static_cast<std::size_t>(i.result)] = Val::of(a.batches++);
      a.open_products = false;
      return;
    case Code::settle:
      if (Val batch = in(a, i); batch.is(Val::number)) settle(batch.x + 1, a.settled, a.settle_times);
      return;
    case Code::settle_pending: return settle(a.batches - i.number, a.settled, a.settle_times);
    case Code::fence_async: {
      if (a.maybe) return;
      auto& covered = i.number ? a.clock.published : a.clock.fenced;
      const std::uint32_t own = covered[static_cast<std::size_t>(a.number)];
      covered = a.clock.seen;
      if (a.mask != a.lanes) covered[static_cast<std::size_t>(a.number)] = std::max(own, a.converged);  // other lanes' writes since they last met
      return;
    }
    case Code::fence: a.fenced = a.ordered = true; return;
    case Code::opaque: {
      StringRef text = cast<tile::PtxOp>(i.at).getText();
      for (StringRef word : {"mbarrier", "bar.sync", "bar.arrive", "bar.red", "barrier.", "wgmma", "cp.async", "setmaxnreg", ".shared"})
        if (text.contains(word))
          return void(report(a, i, "ptx", "ptx", "cannot be decided: this PTX text synchronises or touches shared memory (\"" + word.str() + "\")", "use the language's own operations", true));
      return;
    }
    default: return;
  }
}

/// An addition of a tile is started by one thread: each that starts it adds once more.
void Machine::add_once(Actor& a, const Instr& i) {
  std::vector<Val> place;
  for (int n : i.in) place.push_back(a.scalars[static_cast<std::size_t>(n)]);
  for (const auto* origin : {&i.uses.front().place.rows, &i.uses.front().place.columns})
    for (int n : *origin) place.push_back(a.scalars[static_cast<std::size_t>(n)]);
  if (llvm::any_of(place, [](Val v) { return v.is(Val::lanes) || v.is(Val::varying); })) return;  // lanes may add to other places
  const std::string& tile = program_.tiles[static_cast<std::size_t>(i.uses.front().place.tile)].name;
  const char* hint = "let one thread start it: a role of one_thread(), or if_(k.thread() == 0, ...)";
  if (const int lanes = std::popcount(a.mask); lanes > 1)
    return void(report(a, i, "once", tile, std::to_string(lanes) + " threads of each warp of " + who(a) + " come here, and each adds tile \"" + tile + "\" once more", hint, a.maybe > 0));
  auto& made = additions_[{&i, a.cta}];
  const auto nth = std::count_if(made.begin(), made.end(), [&](const Addition& other) { return other.actor == a.number; });
  for (const Addition& other : made)
    if (other.actor != a.number && other.nth == nth && other.place == place)
      return void(report(a, i, "once", tile, "several warps of " + who(a) + " come here, and each adds tile \"" + tile + "\" to the same place once more", hint, a.maybe > 0));
  made.push_back({a.number, nth, std::move(place)});
}

}  // namespace tilewright::verify::protocol
