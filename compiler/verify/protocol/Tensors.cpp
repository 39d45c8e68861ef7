// Tensors: ordinary writes that TMA reads, and flags between CTAs.
//
// Whether accesses of two CTAs meet depends on run-time coordinates, so flags are checked by rules: who publishes has the role's writes
// behind it, who reads has the look at the flag behind it, and both sides order what they do. Whether a flag publishes what is written near it is the author's knowledge, so what breaks a rule is undecided.
#include "compiler/verify/protocol/Machine.h"

using namespace mlir;

namespace tilewright::verify::protocol {

std::string Machine::tensor_name(std::int64_t tensor) const {
  tile::KernelOp kernel = program_.kernel;
  for (auto [value, number] : program_.tensors)
    if (number == tensor) return cast<StringAttr>(kernel.getParamNames()[cast<BlockArgument>(value).getArgNumber()]).getValue().str();
  return "";
}

void Machine::access(Actor& a, const Instr& i) {
  if (i.result >= 0) a.scalars[static_cast<std::size_t>(i.result)] = i.strong_load ? values_.fresh() : unknown(a);
  if (!i.uses.empty()) touch(a, i);
  if (finding_) return;
  if (i.ordinary_write) write_tensor(a, i);
  else if (i.target >= 0) read_after_look(a, i, false);
  // An exchange under a condition is a lock's or a counter's, not a flag.
  if ((i.releases || (i.flag && !i.strong_load)) && !i.exchange) publish(a, i);
  if (i.acquires || i.polls) look(a, i);
}

void Machine::write_tensor(Actor& a, const Instr& i) {
  const std::uint32_t now = a.clock.seen[static_cast<std::size_t>(a.number)];
  const auto put = [&](std::vector<Access>& list) {
    for (Access& old : list)
      if (old.instr == &i && old.actor == a.number) return void(old.begin = old.end = now);
    Access access;
    access.instr = &i, access.actor = access.component = a.number, access.begin = access.end = now, access.mask = a.mask;
    list.push_back(access);
  };
  if (!i.uses.empty() && i.uses.front().write) return;  // of a tile
  if (i.target >= 0) put(tensors_[static_cast<std::size_t>(i.target)]);
  if (program_.flags) put(published_[static_cast<std::size_t>(a.cta) * program_.roles.size() + static_cast<std::size_t>(a.role)]);
}

/// TMA reads a tensor: ordinary writes of this CTA come before it, through a fence.
void Machine::load_tensor(Actor& a, const Instr& i, std::int64_t tensor) {
  if (a.warp != 0 || !(a.mask & 1)) return;
  read_after_look(a, i, true);
  for (const Access& old : tensors_[static_cast<std::size_t>(tensor)]) {
    const auto component = static_cast<std::size_t>(old.component);
    const Actor& writer = actors_[component];
    const bool ordered = a.clock.seen[component] >= old.end;
    if (finding_ || (ordered && a.clock.published[component] >= old.end)) continue;
    const std::string name = tensor_name(tensor);
    if (ordered)
      report(a, i, "fence", name, "ordinary writes of tensor \"" + name + "\" by " + who(writer) + " reach this copy without a fence for the async proxy",
             "call k.fence_async_global() between the writes and what publishes them");
    else
      report(a, i, "race", name, "cannot be decided: " + who(writer) + " writes tensor \"" + name + "\", from which this copies, and nothing orders the two; whether they meet depends on run-time coordinates",
             "order them with k.sync(), a ring or a barrier", true);
    if (finding_) finding_->steps.insert(finding_->steps.end() - 1, {old.instr->at, who(writer) + ": " + doing(*old.instr)});
  }
}

/// A release, or a write of a tensor that others poll: what the role wrote lies behind it.
void Machine::publish(Actor& a, const Instr& i) {
  if (!i.releases && !a.ordered)
    return void(report(a, i, "flags", "role", who(a) + " writes a flag that is polled, but nothing orders its data before the flag", "use store_release or Order::release, or k.fence() before it", true));
  for (const Access& old : published_[static_cast<std::size_t>(a.cta) * program_.roles.size() + static_cast<std::size_t>(a.role)]) {
    const auto component = static_cast<std::size_t>(old.component);
    const bool other_lanes = old.actor == a.number && a.lanes != 1 && old.mask != a.mask && old.begin > a.converged;
    if (old.instr > &i || (a.clock.seen[component] >= old.end && !other_lanes)) continue;
    report(a, i, "flags", "role", who(a) + " publishes while " + (other_lanes ? "other lanes of the warp" : "other warps") + " may still write a tensor: a release covers what its own thread did, and what it has seen",
           "call k.sync() between the writes and the release", true);
    if (finding_) finding_->steps.insert(finding_->steps.end() - 1, {old.instr->at, who(actors_[component]) + ": " + doing(*old.instr)});
    return;
  }
}

void Machine::look(Actor& a, const Instr& i) {
  a.fenced = i.acquires;
  looks_[static_cast<std::size_t>(a.cta) * program_.roles.size() + static_cast<std::size_t>(a.role)] = {&i, a.number, a.clock.seen[static_cast<std::size_t>(a.number)], a.mask};
}

/// A read of a tensor that the kernel writes, after the role has looked at a flag: the look lies before it for this thread, too.
void Machine::read_after_look(Actor& a, const Instr& i, bool by_tma) {
  const Look& look = looks_[static_cast<std::size_t>(a.cta) * program_.roles.size() + static_cast<std::size_t>(a.role)];
  if (!look.instr || look.instr > &i) return;  // none, or one that comes after it
  const Actor& looked = actors_[static_cast<std::size_t>(look.actor)];
  const bool seen = a.clock.seen[static_cast<std::size_t>(look.actor)] >= look.at;
  const bool lanes = look.actor == a.number && a.lanes != 1 && look.mask != a.mask && look.at > a.converged;
  const std::string name = tensor_name(by_tma ? i.many : i.target);
  if (!look.instr->acquires && !looked.fenced)
    report(a, i, "flags", name, who(a) + " reads tensor \"" + name + "\" after a relaxed look at a flag: what the flag publishes need not be visible", "use load_acquire or Order::acquire, or k.fence() after it", true);
  else if (!seen || lanes)
    report(a, i, "flags", name, std::string(lanes ? "lanes" : "warps") + " of " + who(a) + " read tensor \"" + name + "\" without waiting for the one that looks at the flag", "call k.sync() between the look and the reads", true);
  else if (by_tma && a.clock.published[static_cast<std::size_t>(look.actor)] < look.at)
    report(a, i, "flags", name, "this copy reads tensor \"" + name + "\", which other CTAs write with ordinary stores, and no fence for the async proxy follows the look at their flag",
           "call k.fence_async_global() between the look and the copy", true);
  else return;
  if (finding_) finding_->steps.insert(finding_->steps.end() - 1, {look.instr->at, who(looked) + ": " + doing(*look.instr)});
}

}  // namespace tilewright::verify::protocol
