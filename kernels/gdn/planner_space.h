// What the threads of the planner share: its arguments, its place in shared memory, sums over the CTA. planner.h has the whole.
#pragma once
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

/// Integers in shared memory, in rows of four.
struct Words {
  Shared<i32> tile;
  Index operator[](Index i) const { return tile.read(i >> 2, i & 3); }
  void set(Index i, Index x) const { tile.write(i >> 2, i & 3, x); }
};

/// The planner's shared memory.
class PlannerSpace {
 public:
  explicit PlannerSpace(Kernel& k) : tile(k.shared<i32>("plan_space", {kRows, 4})) {}
  Shared<i32> tile;

  // Of the sequences that a list may hold: their numbers and chunks, and how their matrix heads' chains are cut.
  Words sequence() const { return part(0, kMaxListedChains); }
  Words chunks() const { return part(1, kMaxListedChains); }
  Words segments() const { return part(2, kMaxListedChains); }
  Words share() const { return part(3, kMaxListedChains); }
  // Of the erasing heads' chains that begin behind another piece: when, and the chunks of their first piece.
  Words begin_at() const { return part(4, kMaxListedChains); }
  Words begin_chunks() const { return part(5, kMaxListedChains); }
  // Of the pieces with which SMs begin: chain and segment, first chunk, chunks.
  Words slot_chain() const { return part(6, kMaxListedChains); }
  Words slot_first() const { return part(7, kMaxListedChains); }
  Words slot_chunks() const { return part(8, kMaxListedChains); }
  // Of the heads: chunks after which nothing is left; the matrix heads from the front, the erasing ones from behind.
  Words erase() const { return part(9, kMaxPlannedHeads); }
  Words head() const { return {tile.view(9 * kPart + kMaxPlannedHeads / 4, 0, {kMaxPlannedHeads / 4, 4})}; }
  /// Where each thread's line has been: mark m of thread t is word m * kPlannerThreads + t.
  Words marks() const { return part(10, kMarks * kPlannerThreads); }

  /// Rows of four for sums over the CTA, and what else is handed from some threads to all. Each use has rows of its own: none needs a barrier before it.
  struct Scratch {
    int row, rows;
  };
  static constexpr Scratch kSurvey{0, 4}, kList{4, 3}, kEstimates{7, 1}, kLayouts{8, 1}, kBest{9, 2}, kHeads{11, 2}, kPlaces{13, 2}, kEqual{15, 4};
  Shared<i32> scratch(Scratch use) const { return tile.view(10 * kPart + kMarks * kPlannerThreads / 4 + use.row, 0, {use.rows, 4}); }

  static constexpr int kMarks = 16;

 private:
  static constexpr int kPart = kMaxListedChains / 4, kRows = 10 * kPart + kMarks * kPlannerThreads / 4 + kEqual.row + kEqual.rows;
  static_assert(kMaxPlannedSms <= kMaxListedChains && 2 * kMaxPlannedHeads <= kMaxListedChains);
  Words part(int i, int count) const { return {tile.view(i * kPart, 0, {count / 4, 4})}; }
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
  FromWarps(Kernel& k, Shared<i32> scratch, const std::vector<Index>& of_warp) : scratch_(scratch) {
    if_(k.lane() == 0, [&] {
      for (std::size_t i = 0; i < of_warp.size(); ++i) scratch.write(static_cast<int>(i), k.warp(), of_warp[i]);
    });
    k.sync();
  }
  Index operator()(int i, int warp) const { return scratch_.read(i, warp); }
  Index sum(int i) const { return (*this)(i, 0) + (*this)(i, 1) + (*this)(i, 2) + (*this)(i, 3); }
  Index largest(int i) const { return max(max((*this)(i, 0), (*this)(i, 1)), max((*this)(i, 2), (*this)(i, 3))); }
  Index least(int i) const { return min(min((*this)(i, 0), (*this)(i, 1)), min((*this)(i, 2), (*this)(i, 3))); }

 private:
  Shared<i32> scratch_;
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
