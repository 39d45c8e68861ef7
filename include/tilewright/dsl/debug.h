// Looking into a running kernel, and the author's own PTX.
#pragma once
#include <tuple>

#include "tilewright/dsl/tile.h"

namespace tilewright::dsl {

template <class T> inline constexpr std::int64_t ptx_type = -1;  // Pred
template <> inline constexpr std::int64_t ptx_type<Real> = static_cast<std::int64_t>(Element::f32);
template <> inline constexpr std::int64_t ptx_type<Index> = static_cast<std::int64_t>(Element::i32);
template <> inline constexpr std::int64_t ptx_type<Long> = static_cast<std::int64_t>(Element::i64);

template <class T>
concept PtxValue = std::is_same_v<T, Real> || std::is_same_v<T, Index> || std::is_same_v<T, Long> || std::is_same_v<T, Pred>;

/// Prints for each thread that gets here. One format, as C's printf has it, and a value for each conversion.
template <class... In>
void printf(Builder& b, const Named& format, const In&... values) {
  b.at(format.where);
  b.none(Call("printf").text(format.text).values({values.id...}));
}

/// PTX text with `#0`, `#1` for the inputs and `#out0`, `#out1` for results of the given types.
template <class... Out, class... In>
auto ptx(Builder& b, const Named& text, const In&... in) {
  b.at(text.where);
  const Ids made = b.record(Call("ptx").text(text.text).integers({ptx_type<Out>...}).values({in.id...}), sizeof...(Out));
  [[maybe_unused]] std::size_t next = 0;
  if constexpr (sizeof...(Out) == 1) return (Out{{&b, made[next]}}, ...);
  else if constexpr (sizeof...(Out) > 1) return std::tuple<Out...>{Out{{&b, made[next++]}}...};
}

}  // namespace tilewright::dsl
