// Executors that compute each lane alone: one, two or three sources, one result.
#pragma once
#include <cstring>

#include "runtime/sim/decode.h"
#include "runtime/sim/machine.h"

namespace tilewright::runtime::sim {

/// Whether the processor has vectors of 256 bits, for loops that are compiled for both.
extern const bool wide_vectors;

// All lanes at once. Results go through an array of their own: a register may be target and source, and loops that write what they
// read are not vectorised.
template <class D, class F>
inline void all_lanes_plain(D* d, const F& value) {
  D r[warp_lanes];
  for (unsigned l = 0; l < warp_lanes; ++l) r[l] = value(l);
  std::memcpy(d, r, sizeof r);
}

#if defined(__x86_64__)
template <class D, class F>
__attribute__((target("avx2"))) void all_lanes_wide(D* d, const F& value) {
  D r[warp_lanes];
  for (unsigned l = 0; l < warp_lanes; ++l) r[l] = value(l);
  std::memcpy(d, r, sizeof r);
}
#endif

/// d[lane] = value(lane) for the lanes of the mask; `value` is compiled into its loop.
template <class D, class F>
inline void set_lanes(D* d, LaneMask m, const F& value) {
  if (m != all_lanes) {
    each_lane(m, [&](unsigned l) { d[l] = value(l); });
    return;
  }
#if defined(__x86_64__)
  if (wide_vectors) return all_lanes_wide(d, value);
#endif
  all_lanes_plain(d, value);
}

#define TILEWRIGHT_INTO_LOOP __attribute__((always_inline))

template <class D, class A, class F>
Step unary_lanes(Warp& w, const Instruction& i, LaneMask m) {
  D* d = w.out<D>(i.out[0]);
  const A* a = w.in<A>(i.in[0]);
  set_lanes(d, m, [=](unsigned l) TILEWRIGHT_INTO_LOOP { return static_cast<D>(F::apply(a[l])); });
  return Step::next;
}

template <class D, class A, class B, class F>
Step binary_lanes(Warp& w, const Instruction& i, LaneMask m) {
  D* d = w.out<D>(i.out[0]);
  const A* a = w.in<A>(i.in[0]);
  const B* b = w.in<B>(i.in[1]);
  set_lanes(d, m, [=](unsigned l) TILEWRIGHT_INTO_LOOP { return static_cast<D>(F::apply(a[l], b[l])); });
  return Step::next;
}

template <class D, class A, class B, class C, class F>
Step ternary_lanes(Warp& w, const Instruction& i, LaneMask m) {
  D* d = w.out<D>(i.out[0]);
  const A* a = w.in<A>(i.in[0]);
  const B* b = w.in<B>(i.in[1]);
  const C* c = w.in<C>(i.in[2]);
  set_lanes(d, m, [=](unsigned l) TILEWRIGHT_INTO_LOOP { return static_cast<D>(F::apply(a[l], b[l], c[l])); });
  return Step::next;
}

template <class T, class F> constexpr Execute unary = unary_lanes<T, T, F>;
template <class T, class F> constexpr Execute binary = binary_lanes<T, T, T, F>;
template <class T, class F> constexpr Execute ternary = ternary_lanes<T, T, T, T, F>;

/// The executor for an integer type of 16, 32 or 64 bits; untyped (.b) counts as unsigned. Null for another type.
template <template <class, class> class Make, class F>
Execute for_integer(ptx::ScalarType t) {
  using enum ptx::ScalarType;
  switch (t) {
    case b16: case u16: return Make<std::uint16_t, F>::value;
    case s16: return Make<std::int16_t, F>::value;
    case b32: case u32: return Make<std::uint32_t, F>::value;
    case s32: return Make<std::int32_t, F>::value;
    case b64: case u64: return Make<std::uint64_t, F>::value;
    case s64: return Make<std::int64_t, F>::value;
    default: return nullptr;
  }
}
template <class T, class F> struct MakeUnary { static constexpr Execute value = unary<T, F>; };
template <class T, class F> struct MakeBinary { static constexpr Execute value = binary<T, F>; };
template <class T, class F> struct MakeTernary { static constexpr Execute value = ternary<T, F>; };

/// Sets out[0] and in[0..sources) from operands of one type.
inline void take_operands(Decode& d, ptx::ScalarType t, unsigned sources) {
  d.expect_operands(sources + 1, sources + 1);
  d.instruction().out[0] = d.out(0, t);
  for (unsigned n = 0; n < sources; ++n) d.instruction().in[n] = d.in(n + 1, t);
}

/// Sets the executor, or refuses the statement when there is none.
inline void set_exec(Decode& d, Execute e) {
  if (!e) d.unsupported();
  d.instruction().exec = e;
}

}  // namespace tilewright::runtime::sim
