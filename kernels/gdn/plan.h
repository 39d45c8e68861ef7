// Which form of the chain kernel suits a call, and whether a list of segments can help it: what the host decides from sizes, since lengths of packed
// sequences are known on the device only.
#pragma once
#include <algorithm>
#include <cstdint>

#include "kernels/gdn/planner_rules.h"

namespace tilewright::gdn {

/// How the chain kernel shares the columns of V among CTAs.
enum class Form {
  full,  ///< a CTA has all dv columns of one value head: 128 on two warpgroups, 64 on one
  split  ///< two CTAs with 64 of 128 columns each: twice the CTAs, for calls with few chains
};

/// SMs of an H100 and an H200, for what must not depend on the device: room in the workspace, and the form of batch-invariant calls.
inline constexpr int kTypicalSms = 132;

/// Columns of V that a warpgroup has. Heads of no more have one form only, the full one.
inline constexpr int kWarpgroupColumns = 64;
constexpr bool can_split(int dv) { return dv > kWarpgroupColumns; }

/// The form for a batch of `sequences` sequences with `value_heads` value heads of dv columns whose chains are not cut: split where two CTAs a chain still
/// find SMs of their own.
constexpr Form choose_form(std::int64_t sequences, int value_heads, int dv, int sms = kTypicalSms) {
  return can_split(dv) && sequences * value_heads <= sms / 2 ? Form::split : Form::full;
}

/// The form where it may not depend on the batch: that of four sequences.
constexpr Form batch_invariant_form(int value_heads, int dv) { return choose_form(4, value_heads, dv); }

/// Columns of V of one CTA.
constexpr int value_columns(Form form, int dv) { return form == Form::full ? dv : kWarpgroupColumns; }
/// Items of one form that run at a time, and what they cost.
constexpr int planner_slots(Form form, int sms) { return form == Form::full ? sms : std::max(sms / 2, 1); }
constexpr const CostModel& costs_of(const Costs& costs, Form form) { return form == Form::full ? costs.full : costs.split; }

constexpr const char* name_of(Form form) { return form == Form::full ? "full" : "split"; }

/// Whether chains of heads of these widths can be cut.
constexpr bool can_cut(int dk, int dv) { return dk == 128 && dv == 128; }

/// A call as the choice sees it.
struct CallSizes {
  std::int64_t tokens = 0, sequences = 0;  ///< of the batch
  int heads = 0, dk = 128, dv = 128;
  bool batch_invariant = false;  ///< nothing may depend on the batch
  bool whole_chains = false;     ///< something asked for works on whole chains only
  bool packed = false;           ///< lengths are known on the device only, else they are equal
  bool only_split = false;       ///< the aux role does more than its registers hold in the full form with segments: norms
  int cp = 0;                    ///< 0: as it suits, 1: no segments, N: segments of a chain
  bool operator==(const CallSizes&) const = default;
};
struct Choice {
  Form form = Form::full;
  bool segments = false;  ///< the chain kernel works through a planner's list
};
/// The kernels of a call on a device of these costs.
Choice choose(const CallSizes& sizes, const Costs& costs);

}  // namespace tilewright::gdn
