// How the planner's reference lays chains out in a given time. docs/kernels/gdn_plan.md explains it.
#pragma once
#include <array>
#include <vector>

#include "kernels/gdn/planner_reference.h"

namespace tilewright::gdn {

constexpr int divide_up(int a, int b) { return (a + b - 1) / b; }

/// Whole chains that follow the list.
struct Tail {
  int chains = 0, work = 0, longest = 0;
  void add(int heads, int time) { chains += heads, work += heads * time, longest = std::max(longest, time); }
};

/// What is known of a batch before anything is cut.
struct Batch {
  std::vector<std::int32_t> listed;  ///< sequences that a list may hold
  bool all = false;                  ///< these are all that are not empty
  int lowest = 0, uncut = 0;         ///< a plan's time is at least, the time without a list at least
  Tail others;                       ///< the chains of the others, empty ones too
};

/// How the chains of a sequence are cut, where it is in the list: those of matrix heads, in n segments whose lengths fall by `slope` a segment as
/// compositions add up. In units of a chunk / 2^shift.
struct Cut {
  int n = 0;  ///< 0: not in the list
  int share = 0, slope = 0;
  int erasing = 0;  ///< heads that erase in so many chunks start from zero, the others have matrices

  /// Chunk at which segment j begins; segment n: the chain's end.
  int first(int j, int chunks, int shift) const { return j == n ? chunks : (share * j - slope * steps(j)) >> shift; }
  /// Compositions in segments 0 to j-1 together.
  static int steps(int j) { return j < 2 ? 0 : (j - 1) * (j - 2) / 2; }
};

/// A part of an erasing head's chain.
struct Piece {
  int chain, first, chunks, segment;  ///< chain: place of its sequence among the listed ones x heads + head
};
/// SMs on which erasing heads begin at the same time.
struct Region {
  int slots = 0, before = 0;   ///< how many, and when
  std::vector<Piece> pieces;   ///< the one that begins first on each of them
};

struct Layout {
  int time = 0;  ///< what it was made for
  int makespan = std::numeric_limits<int>::max(), items = 0, records = 0;
  std::vector<Cut> cuts;  ///< of the listed sequences
  int finals_at = 0, pairs_at = 0;  ///< when the finals of matrix heads begin: of chains of three segments and more; the second one of two
  std::array<Region, 3> regions;
  struct Begin { int at; Piece piece; };
  std::vector<Begin> begins;  ///< chains of erasing heads that begin behind another piece
  bool fits() const { return makespan != std::numeric_limits<int>::max(); }
};

/// A time, and whether all heads start segments from zero that can in it.
struct Goal {
  int time = 0;
  bool bold = false;
};
/// The least time that a layout for a goal seems to take; the largest int if there is none.
int estimate(const PlanRequest& request, const Batch& batch, const Goal& goal);
/// Chains laid out so that all SMs end at about a time; does not fit if they cannot.
Layout lay_out(const PlanRequest& request, const Batch& batch, const Goal& goal);

/// Heads that erase in so many chunks start from zero, by the request's classes or else as `chosen`.
inline int erasing_limit(const PlanRequest& r, int chosen) { return r.classes == HeadClass::erasing ? kNeverErased : r.classes == HeadClass::matrix ? -1 : chosen; }

/// Heads of a sequence that are cut with matrices.
int matrix_heads(const PlanRequest& request, int erasing);

}  // namespace tilewright::gdn
