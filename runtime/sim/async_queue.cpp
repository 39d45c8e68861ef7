#include "runtime/sim/async.h"

#include "runtime/sim/machine.h"

namespace tilewright::runtime::sim {

bool AsyncQueue::advance(Cta& cta, std::uint64_t turn, bool must) {
  bool any = false;
  for (;;) {
    const std::size_t n = policy_->choose(pending_, turn, must && !any);
    if (n == CompletionPolicy::none || n >= pending_.size()) return any;
    const std::unique_ptr<AsyncOperation> op = std::move(pending_[n]);
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(n));
    try {
      op->perform(cta);
    } catch (const Fault& f) {
      cta.fail(cta.warps[op->warp], *op->instruction, static_cast<int>(op->lane), f.what);
    }
    ++cta.effects;
    any = true;
  }
}

}  // namespace tilewright::runtime::sim
