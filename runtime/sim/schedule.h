// What the machine leaves open, decided: whose turn it is and for how long, when a copy or a product completes, whether a wait returns early.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/sim/async.h"

namespace tilewright::runtime::sim {

/// Decisions of one cluster, repeatable from a seed. Seed 0 is the plain order: warps in turn, copies in the order of their issue.
class Schedule {
 public:
  Schedule() = default;
  /// Decisions for one of the clusters (`stream`) that run under a seed. The seed also draws a temper: how early copies and products
  /// complete and how uneven the warps' turns are, so that a few seeds reach both ends of what is allowed.
  Schedule(std::uint64_t seed, std::uint64_t stream);

  bool plain() const { return plain_; }
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>((std::uint64_t{next()} * n) >> 32); }
  bool chance(unsigned percent) { return below(100) < percent; }

  /// The warps of a CTA in the order of their turns.
  const std::vector<unsigned>& order(unsigned warps);
  /// Whether a warp sits this turn out. Some warps are much slower than others for a while.
  bool rests(unsigned warp, std::uint64_t turn);
  /// Instructions of a warp's turn, 1 to `most`.
  unsigned budget(unsigned most);
  /// Whether a product is executed as soon as its warpgroup has issued it; else when a wait asks for it.
  bool product_is_early();
  /// Whether a try_wait returns false although it could wait.
  bool returns_early() { return !plain_ && chance(10); }
  /// When the copies of a CTA complete. It refers to this schedule.
  std::unique_ptr<CompletionPolicy> completion();

 private:
  friend class SeededCompletion;
  enum class Temper : std::uint8_t { early, late, mixed, newest_first };
  std::uint32_t next();

  bool plain_ = true;
  std::uint64_t state_ = 0;
  Temper copies_ = Temper::early, products_ = Temper::late;
  bool uneven_ = false;
  std::vector<unsigned> order_;
  std::vector<std::uint8_t> laziness_;      // percent of turns that a warp sits out
  std::uint64_t drawn_at_ = 0;              // turn when the laziness was drawn
};

}  // namespace tilewright::runtime::sim
