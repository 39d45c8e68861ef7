// The text forms of sizes, kinds and types, and their errors.
#include <charconv>
#include <limits>

#include "kernels/gdn/inputs.h"
#include "tilewright/error.h"

namespace tilewright::gdn {

namespace {

/// A whole non-negative decimal number, or -1.
std::int64_t number_of(std::string_view text) {
  std::int64_t value = -1;
  auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc() && end == text.data() + text.size() ? value : -1;
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

template <class E, size_t N>
E parse_name(std::string_view what, std::string_view text, const std::pair<std::string_view, E> (&names)[N]) {
  std::string known;
  for (const auto &[name, value] : names) {
    if (name == text)
      return value;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw Error(std::string(what) + " " + quoted(text) + " is not known; expected one of " + known);
}

constexpr std::pair<std::string_view, Kind> kKinds[] = {{"ordinary", Kind::ordinary},
                                                        {"few_keys", Kind::few_keys},
                                                        {"same_keys", Kind::same_keys},
                                                        {"no_decay", Kind::no_decay},
                                                        {"strong_decay", Kind::strong_decay}};
constexpr std::pair<std::string_view, DType> kDTypes[] = {
    {"bf16", DType::bf16}, {"fp16", DType::f16}, {"f16", DType::f16}};

} // namespace

std::vector<std::int64_t> parse_lens(std::string_view text) {
  const std::string expected = "; expected lengths like 32768, 8192x4 (four sequences) or 700+64+260";
  constexpr std::int64_t most_sequences = 1 << 24;
  constexpr std::int64_t most_tokens = std::numeric_limits<std::int32_t>::max();
  std::vector<std::int64_t> lens;
  std::int64_t total = 0;
  for (std::string_view rest = text;;) {
    size_t plus = rest.find('+');
    std::string_view part = rest.substr(0, plus);
    size_t times = part.find('x');
    std::int64_t length = number_of(part.substr(0, times));
    std::int64_t repeats = times == part.npos ? 1 : number_of(part.substr(times + 1));
    if (length < 0 || repeats < 1)
      throw Error("lens " + quoted(text) + ": " + quoted(part) + " is not a length" + expected);
    if (repeats > most_sequences - std::int64_t(lens.size()))
      throw Error("lens " + quoted(text) + ": more than " + std::to_string(most_sequences) + " sequences");
    if (length > (most_tokens - total) / repeats)
      throw Error("lens " + quoted(text) + ": more than " + std::to_string(most_tokens) + " tokens");
    total += length * repeats;
    lens.insert(lens.end(), size_t(repeats), length);
    if (plus == rest.npos)
      return lens;
    rest.remove_prefix(plus + 1);
  }
}

HeadCounts parse_heads(std::string_view text) {
  size_t times = text.find('x');
  std::int64_t hk = number_of(text.substr(0, times));
  std::int64_t hv = times == text.npos ? -1 : number_of(text.substr(times + 1));
  if (hk < 1 || hv < 1 || hk > 65535 || hv > 65535)
    throw Error("heads " + quoted(text) + ": expected KEY_HEADSxVALUE_HEADS, for example 16x64");
  if (hv % hk != 0)
    throw Error("heads " + quoted(text) + ": " + std::to_string(hv) + " value heads are not a multiple of " +
                std::to_string(hk) + " key heads");
  return {int(hk), int(hv)};
}

Kind parse_kind(std::string_view text) { return parse_name("kind", text, kKinds); }
DType parse_dtype(std::string_view text) { return parse_name("dtype", text, kDTypes); }

std::string_view name_of(Kind kind) {
  for (const auto &[name, value] : kKinds)
    if (value == kind)
      return name;
  throw InternalError("gdn::name_of: not a Kind");
}
std::string_view name_of(DType dtype) { return dtype == DType::bf16 ? "bf16" : "fp16"; }
std::string_view name_of(StateOrder order) { return order == StateOrder::k_first ? "k_first" : "v_first"; }

} // namespace tilewright::gdn
