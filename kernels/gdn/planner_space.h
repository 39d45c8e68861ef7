// What the threads of the planner share: its arguments, its place in shared memory, sums over the CTA. planner.h has the whole.
#pragma once
#include <array>
#include <vector>

#include "kernels/gdn/planner_rules.h"
#include "kernels/gdn/segment_plan.h"
#include "kernels/gdn/sequences.h"

namespace tilewright::gdn {

/// Threads of the planner: one warpgroup.
inline constexpr int kPlannerThreads = 128;
static_assert(kCandidates == kPlannerThreads && kMaxPlannedHeads == kPlannerThreads);

/// No time: of a candidate that has no layout, of a chain that begins with an SM.
inline constexpr int kNoPlan = std::numeric_limits<std::int32_t>::max();

/// Launch scalars of the planner; PlannerCosts and PlanRequest have the same names.
struct PlannerArguments {
  Index shift, state, start, hop, planning;
  Index slots, item_capacity, record_capacity, cp, classes;
  explicit PlannerArguments(Kernel& k)
      : shift(k.scalar_i32("plan_shift")), state(k.scalar_i32("plan_state")), start(k.scalar_i32("plan_start")), hop(k.scalar_i32("plan_hop")), planning(k.scalar_i32("plan_planning")),
        slots(k.scalar_i32("plan_slots")), item_capacity(k.scalar_i32("plan_items")), record_capacity(k.scalar_i32("plan_records")), cp(k.scalar_i32("cp")),
        classes(k.scalar_i32("plan_classes")) {}
  Index step(Kernel& k) const { return k.index(1) << shift; }
  Index whole(Index chunks) const { return (chunks << shift) + start; }
};

/// Integers in shared memory.
struct Words {
  Shared<i32> tile;
  Index operator[](IndexOperand i) const { return tile.read(0, i); }
  void set(IndexOperand i, Index x) const { tile.write(0, i, x); }
  /// Numbers 4 i to 4 i + 3, in one load.
  std::array<Index, 4> four(Index i) const {
    const Shared<i32> row = tile.view(0, i * 4, {1, 4});
    return {row.read(0, 0), row.read(0, 1), row.read(0, 2), row.read(0, 3)};
  }
};

/// The planner's shared memory.
class PlannerSpace {
 public:
  explicit PlannerSpace(Kernel& k) : tile(k.shared<i32>("plan_space", {1, kWords})) {}
  Shared<i32> tile;

  // Of the sequences that a list may hold: their numbers and chunks; for equal segments, how many.
  Words sequence() const { return part(0, kMaxListedChains); }
  Words chunks() const { return part(1, kMaxListedChains); }
  Words segments() const { return part(2, kMaxListedChains); }
  /// Four words of each chain (planner_line.h).
  Words chains() const { return part(9, 4 * kMaxListedChains); }
  // Of the erasing heads' chains that begin behind another piece: when, and the chunks of their first piece.
  Words begin_at() const { return part(3, kMaxListedChains); }
  Words begin_chunks() const { return part(4, kMaxListedChains); }
  // Of the pieces with which SMs begin: chain and segment, first chunk, chunks.
  Words slot_chain() const { return part(5, kMaxListedChains); }
  Words slot_first() const { return part(6, kMaxListedChains); }
  Words slot_chunks() const { return part(7, kMaxListedChains); }
  // Of the heads: chunks after which nothing is left; the matrix heads from the front, the erasing ones from behind.
  Words erase() const { return part(8, kMaxPlannedHeads); }
  Words head() const { return {tile.view(0, 8 * kPart + kMaxPlannedHeads, {1, kMaxPlannedHeads})}; }
  /// Where each thread's line has been: mark m of thread t is word m * kPlannerThreads + t.
  Words marks() const { return part(13, kMarks * kPlannerThreads); }

  /// Words for sums over the CTA, and what else is handed from some threads to all. Each use has words of its own: none needs a barrier before it.
  struct Scratch {
    int first, count;
  };
  static constexpr Scratch kSurvey{0, 16}, kList{16, 12}, kEstimates{28, 4}, kLayouts{32, 4}, kCandidate{36, 24}, kHeads{60, 8}, kPlaces{68, 8}, kEqual{76, 16};
  Words scratch(Scratch use) const { return {tile.view(0, 13 * kPart + kMarks * kPlannerThreads + use.first, {1, use.count})}; }

  static constexpr int kMarks = 16;

 private:
  static constexpr int kPart = kMaxListedChains, kWords = 13 * kPart + kMarks * kPlannerThreads + kEqual.first + kEqual.count;
  static_assert(kMaxPlannedSms <= kMaxListedChains && 2 * kMaxPlannedHeads <= kMaxListedChains);
  Words part(int i, int count) const { return {tile.view(0, i * kPart, {1, count})}; }
};

inline Index ballot(Kernel& k, Pred p) { return k.ptx<Index>("vote.sync.ballot.b32 #out0, #0, 0xffffffff;", p); }
inline Index count_bits(Kernel& k, Index bits) { return k.ptx<Index>("popc.b32 #out0, #0;", bits); }
/// Bits of the lanes below this one.
inline Index lanes_below(Kernel& k) { return (k.index(1) << k.lane()) - 1; }

inline Index warp_sum(Kernel& k, Index x) { return k.ptx<Index>("redux.sync.add.s32 #out0, #0, 0xffffffff;", x); }
inline Index warp_max(Kernel& k, Index x) { return k.ptx<Index>("redux.sync.max.s32 #out0, #0, 0xffffffff;", x); }
inline Index warp_min(Kernel& k, Index x) { return k.ptx<Index>("redux.sync.min.s32 #out0, #0, 0xffffffff;", x); }

/// What the warps have, each in its own `of_warp`, in all threads: value i of warp w is given as (i, w).
class FromWarps {
 public:
  FromWarps(Kernel& k, const Words& scratch, const std::vector<Index>& of_warp) : scratch_(scratch) {
    if_(k.lane() == 0, [&] {
      for (std::size_t i = 0; i < of_warp.size(); ++i) scratch.set(k.warp() + static_cast<int>(i) * 4, of_warp[i]);
    });
    k.sync();
  }
  Index operator()(int i, int warp) const { return scratch_[i * 4 + warp]; }
  Index sum(int i) const { return (*this)(i, 0) + (*this)(i, 1) + (*this)(i, 2) + (*this)(i, 3); }
  Index largest(int i) const { return max(max((*this)(i, 0), (*this)(i, 1)), max((*this)(i, 2), (*this)(i, 3))); }
  Index least(int i) const { return min(min((*this)(i, 0), (*this)(i, 1)), min((*this)(i, 2), (*this)(i, 3))); }

 private:
  Words scratch_;
};

/// a / b for 0 <= a < 2^31 and 0 < b, quotients below 2^21: fewer instructions than an integer division.
inline Index quotient(Index a, Index b) {
  Index guess = to_index(to_real(a) * reciprocal(to_real(b))), rest = a - guess * b;
  return select(rest < 0, guess - 1, select(rest >= b, guess + 1, guess));
}
inline Index quotient_up(Index a, Index b) { return quotient(a + b - 1, b); }
/// The same for quotients below 2^23.
inline Index large_quotient(Index a, Index b) {
  Real inverse = reciprocal(to_real(b));
  Index first = to_index(to_real(a) * inverse), guess = first + to_index(to_real(a - first * b) * inverse), rest = a - guess * b;
  return select(rest < 0, guess - 1, select(rest >= b, guess + 1, guess));
}

/// Adds to a variable; keeps the largest.
inline void add(Var<Index>& to, IndexOperand x) { to.set(to.get() + x); }
inline void keep_max(Var<Index>& to, Index x) { to.set(max(to.get(), x)); }

}  // namespace tilewright::gdn
