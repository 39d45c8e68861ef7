#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Problems of the Gated Delta Net on the host: what a call gets, the generator of test inputs, and the text forms
/// in which sizes are written on a command line.
namespace tilewright::gdn {

/// Element type of q, k, v and o.
enum class DType { bf16, f16 };

/// Order of the last two dimensions of a state: [N, Hv, dk, dv] or [N, Hv, dv, dk].
enum class StateOrder { k_first, v_first };

/// Families of inputs, from easy to hard:
///   ordinary      g = logsigmoid(N(0,1)) / 16 with a quarter of the value heads at g = 0; beta = sigmoid(N(0,1))
///   few_keys      24 distinct keys, beta in 0.9..1, g * 0.02
///   same_keys     one key for all tokens, beta in 0.9..1, g * 0.02: the triangular solve at its worst
///   no_decay      g = 0
///   strong_decay  g uniform in -20..0: decays underflow within a chunk
enum class Kind { ordinary, few_keys, same_keys, no_decay, strong_decay };

/// One call on packed sequences: the tokens of all sequences one after the other. A batch of B sequences of T tokens,
/// [B, T, H, D], is the same memory as B packed sequences: lens = B times T.
/// Sizes: T = sum(lens), N = lens.size(), dk = width of a query or key head, dv of a value head, Hv a multiple of Hk;
/// value head h reads key head h / (Hv/Hk).
struct Inputs {
  std::vector<std::int64_t> lens;
  int hk = 0, hv = 0, dk = 128, dv = 128;
  DType dtype = DType::bf16;
  float scale = 0; ///< factor of q; the usual value is dk^-1/2
  StateOrder state_order = StateOrder::k_first;
  std::vector<std::uint16_t> q, k;  ///< [T, Hk, dk], bits of dtype
  std::vector<std::uint16_t> v;     ///< [T, Hv, dv], bits of dtype
  std::vector<float> g, beta;       ///< [T, Hv]; g is the natural log of the decay
  std::vector<float> initial_state; ///< [N, Hv, dk, dv] in state_order; empty means zero

  std::int64_t tokens() const;
  std::int64_t sequences() const { return std::int64_t(lens.size()); }
  /// cu_seqlens: N + 1 offsets, the first 0, the last T.
  std::vector<std::int64_t> offsets() const;
  /// Throws tilewright::Error, which names the argument, unless all sizes fit together.
  void check() const;
};

/// What to generate.
struct InputShape {
  std::vector<std::int64_t> lens;
  int hk = 0, hv = 0, dk = 128, dv = 128;
  DType dtype = DType::bf16;
  StateOrder state_order = StateOrder::k_first;
  bool initial_state = true; ///< N(0,1), or none
};

/// Deterministic inputs: q, k, v from N(0,1), q and k l2-normalised in fp32, then all three rounded to dtype; scale =
/// dk^-1/2. The same seed gives the same bits whatever the number of threads; the state is the same matrix in either
/// order.
Inputs generate(const InputShape &shape, Kind kind, std::uint64_t seed);

/// Value of 16 bits of `dtype`, and the bits nearest to a value (ties to even).
float decode(std::uint16_t bits, DType dtype);
std::uint16_t encode(float value, DType dtype);

/// "700+64+260", "8192x4", "1024x2+7": lengths of sequences, LENGTH or LENGTHxREPEATS joined by '+'. Length 0 is
/// allowed. Throws tilewright::Error on anything else.
std::vector<std::int64_t> parse_lens(std::string_view text);

/// As written on a command line. (gdn::Heads in config.h also has the widths.)
struct HeadCounts {
  int hk = 0, hv = 0;
};
/// "16x64": key heads x value heads. Throws tilewright::Error unless Hv is a positive multiple of Hk.
HeadCounts parse_heads(std::string_view text);

/// Names as in the enums ("fp16" and "f16" are the same). Throw tilewright::Error with the list of names.
Kind parse_kind(std::string_view text);
DType parse_dtype(std::string_view text);
std::string_view name_of(Kind kind);
std::string_view name_of(DType dtype);
std::string_view name_of(StateOrder order);

} // namespace tilewright::gdn
