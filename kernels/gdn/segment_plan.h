// Context parallelism: the chain kernel's work list, as the planner writes it on the device.
//
// A list of `header.items` items, each the work of one CTA (of one per block of value columns), is followed by the chains (sequence n, head) that it
// does not hold, in their order: those of sequences with at most `header.longest_whole` chunks.
// An item is a segment of a chain: chunks [first, first + chunks). What it starts from:
//   segment 0 of its chain   the sequence's initial state
//   else, base < 0           zero, at as many chunks before `first` as erase what lies before them (found when the item runs), or the sequence's beginning
//   else                     records base .. base + segment - 1: E_0, then E_r + A_r E_(r-1)...
// Kind `final` writes o (and the final state after the chain's last chunk). `end` and `transition` are for the chains with records: `end` writes E to record
// base + segment, its state at the end when it starts from zero (segment 0: from the initial state); `transition` writes A, the matrix that takes a state
// at its beginning to its part of the state at the end.
// An item waits only for items before it in the list.
#pragma once
#include <cstdint>

namespace tilewright::gdn {

enum class SegmentKind : std::int32_t { final = 0, end = 1, transition = 2 };

/// Words of the plan, [rows, kPlanWords] i32: row 0 is the header, row 1 + i item i.
inline constexpr int kPlanWords = 8;
namespace plan_header {
inline constexpr int kItems = 0, kLongestWhole = 1, kRecords = 2;
}
namespace plan_item {
inline constexpr int kSequence = 0, kHead = 1, kFirst = 2, kChunks = 3, kKind = 4, kBase = 5, kSegment = 6;
}

/// Words that the planner clears: the ticket of the next work, and from kReady on how much of each record is there.
inline constexpr int kTicket = 0, kReady = 64;

/// Words of a line, in which states are copied that final states take the place of (kept_states.h).
inline constexpr int kKeptWords = 32;

/// A factor 2^-kErasedBits and below leaves nothing of a state beside fp32 rounding (2^-24).
inline constexpr int kErasedBits = 32;

}  // namespace tilewright::gdn
