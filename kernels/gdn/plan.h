// Which form of the forward kernel suits a call.
#pragma once
#include <cstdint>

namespace tilewright::gdn {

/// How the chain kernel shares the columns of V among CTAs.
enum class Form {
  full,  ///< a CTA has all dv columns of one value head: 128 on two warpgroups, 64 on one
  split  ///< two CTAs with 64 of 128 columns each: twice the CTAs, for calls with few chains
};

/// Columns of V that a warpgroup has. Heads of no more have one form only, the full one.
inline constexpr int kWarpgroupColumns = 64;
constexpr bool can_split(int dv) { return dv > kWarpgroupColumns; }

/// Chains (sequences x value heads) up to which two CTAs a chain still find SMs of their own: half of an H200's 132.
inline constexpr std::int64_t kSplitChains = 66;

/// The form for a batch of `sequences` sequences with `value_heads` value heads of dv columns.
constexpr Form choose_form(std::int64_t sequences, int value_heads, int dv) {
  return can_split(dv) && sequences * value_heads <= kSplitChains ? Form::split : Form::full;
}

/// Columns of V of one CTA.
constexpr int value_columns(Form form, int dv) { return form == Form::full ? dv : kWarpgroupColumns; }

constexpr const char* name_of(Form form) { return form == Form::full ? "full" : "split"; }

}  // namespace tilewright::gdn
