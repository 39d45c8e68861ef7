// Which form of the forward kernel suits a call.
#pragma once
#include <cstdint>

namespace tilewright::gdn {

/// How the chain kernel shares the columns of V among CTAs.
enum class Form {
  full,  ///< a CTA has all 128 columns of one value head
  split  ///< two CTAs with 64 columns each: twice the CTAs, for calls with few chains
};

/// Chains (sequences x value heads) up to which two CTAs a chain still find SMs of their own: half of an H200's 132.
inline constexpr std::int64_t kSplitChains = 66;

/// The form for a batch of `sequences` sequences with `value_heads` value heads.
constexpr Form choose_form(std::int64_t sequences, int value_heads) {
  return sequences * value_heads <= kSplitChains ? Form::split : Form::full;
}

/// The form where it may not depend on the batch: that of four sequences.
constexpr Form batch_invariant_form(int value_heads) { return choose_form(4, value_heads); }

/// Columns of V of one CTA.
constexpr int value_columns(Form form, int dv) { return form == Form::full ? dv : dv / 2; }

constexpr const char* name_of(Form form) { return form == Form::full ? "full" : "split"; }

}  // namespace tilewright::gdn
