// Configuration of the GDN kernels: what is fixed when they are compiled. Numbers of heads are not: see Heads.
#pragma once
#include <cstdint>

#include "tilewright/dsl.h"

namespace tilewright::gdn {

/// Tokens of a chunk.
inline constexpr int kChunk = 64;
/// Widths of heads, dk and dv, that the kernels are made for.
inline constexpr int kHeadWidths[]{64, 128};

/// Element types of the rows of states. What is absent has the type of what is there.
struct StateTypes {
  Element initial = Element::f32, final = Element::f32, checkpoint = Element::f32;
  bool operator==(const StateTypes&) const = default;
};

/// The forward kernel.
struct ForwardConfig {
  int dk = 128, dv = 128;      ///< of kHeadWidths
  int value_columns = 128;     ///< columns of V (rows of S^T) of one CTA: dv, or 64 of 128 where chains are few
  bool state_v_first = false;  ///< a row of states is [heads, dv, dk] instead of [heads, dk, dv]
  StateTypes states;
  bool checkpoints = false;    ///< writes the state after every so many chunks
  bool prefixes = false;       ///< and counts the chunks from before the sequence
  bool l2norm = false;         ///< divides q and k by their norms
  bool segments = false;       ///< works through the planner's list (segment_plan.h) instead of one chain a CTA
  int stages = 3;
};

/// Decay vectors of a chunk that the aux role hands to the chain, see forward.h.
constexpr int decay_rows(const ForwardConfig& c) { return c.l2norm ? 6 : 3; }

/// The prologue.
struct PrologueConfig {
  int dk = 128;         ///< of kHeadWidths
  int pack = 4;         ///< heads of one CTA, 1 to 4: the heads of a key head, or four of them at a time
  bool l2norm = false;  ///< divides k by its norm
  bool planner = false;  ///< one CTA more writes the chain kernel's work list; the others copy initial states that are to be overwritten
  Element gate = Element::f32, strength = Element::f32;  ///< element types of g and beta
};

}  // namespace tilewright::gdn
