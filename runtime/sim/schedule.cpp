#include "runtime/sim/schedule.h"

#include <algorithm>

namespace tilewright::runtime::sim {
namespace {

constexpr std::uint64_t longest_flight = 200;   // turns after which a late copy completes though others could go on
constexpr std::uint64_t mood_turns = 48;        // turns for which a warp stays slow or quick

std::uint64_t mixed(std::uint64_t z) {          // splitmix64
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

}  // namespace

/// Completes copies early, late or in any order, as the schedule's temper is.
class SeededCompletion final : public CompletionPolicy {
 public:
  explicit SeededCompletion(Schedule& s) : schedule_(s) {}
  std::size_t choose(const std::vector<std::unique_ptr<AsyncOperation>>& pending, std::uint64_t turn, bool must) override {
    if (pending.empty()) return none;
    const auto any = [&] { return schedule_.below(static_cast<std::uint32_t>(pending.size())); };
    if (must) return schedule_.copies_ == Schedule::Temper::newest_first ? pending.size() - 1 : any();
    if (turn - pending.front()->issued_turn > longest_flight) return 0;
    switch (schedule_.copies_) {
      case Schedule::Temper::early: return any();
      case Schedule::Temper::late: return none;
      case Schedule::Temper::mixed: return schedule_.chance(30) ? any() : none;
      case Schedule::Temper::newest_first: return schedule_.chance(20) ? pending.size() - 1 : none;
    }
    return none;
  }

 private:
  Schedule& schedule_;
};

Schedule::Schedule(std::uint64_t seed, std::uint64_t stream) : plain_(seed == 0), state_(mixed(seed * 0x9e3779b97f4a7c15ull + stream)) {
  if (plain_) return;
  // One seed has one temper in all clusters; neighbouring seeds have different ones.
  copies_ = static_cast<Temper>(seed % 4);
  products_ = seed / 4 % 3 == 0 ? Temper::early : seed / 4 % 3 == 1 ? Temper::late : Temper::mixed;
  uneven_ = seed % 3 != 0;
}

std::uint32_t Schedule::next() {
  state_ += 0x9e3779b97f4a7c15ull;
  return static_cast<std::uint32_t>(mixed(state_) >> 32);
}

const std::vector<unsigned>& Schedule::order(unsigned warps) {
  if (order_.size() != warps) {
    order_.resize(warps);
    for (unsigned n = 0; n < warps; ++n) order_[n] = n;
  }
  if (!plain_)
    for (unsigned n = warps; n > 1; --n) std::swap(order_[n - 1], order_[below(n)]);
  return order_;
}

bool Schedule::rests(unsigned warp, std::uint64_t turn) {
  if (plain_ || !uneven_) return false;
  if (laziness_.size() <= warp || turn >= drawn_at_ + mood_turns || turn < drawn_at_) {
    static constexpr std::uint8_t moods[] = {0, 0, 40, 80, 97};
    laziness_.resize(std::max<std::size_t>(laziness_.size(), warp + 1));
    for (std::uint8_t& mood : laziness_) mood = moods[below(5)];
    drawn_at_ = turn;
  }
  return chance(laziness_[warp]);
}

unsigned Schedule::budget(unsigned most) {
  if (plain_) return most;
  const unsigned top = 1u << below(10);   // 1 to 512: short turns as often as long ones
  return 1 + below(std::min(top, most));
}

bool Schedule::product_is_early() {
  return !plain_ && (products_ == Temper::early || (products_ == Temper::mixed && chance(50)));
}

std::unique_ptr<CompletionPolicy> Schedule::completion() {
  if (plain_) return std::make_unique<InOrderCompletion>();
  return std::make_unique<SeededCompletion>(*this);
}

}  // namespace tilewright::runtime::sim
