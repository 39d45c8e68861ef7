// What several threads do to the same memory: barriers with named participants, atomics, flags.
#pragma once
#include "tilewright/dsl/tile.h"

namespace tilewright {

/// How far away the other threads may be.
enum class Scope : std::uint8_t { cta, cluster, gpu, sys };
/// What an access orders: release makes what the thread did before visible to who acquires the value.
enum class Order : std::uint8_t { relaxed, acquire, release, acq_rel };

/// An mbarrier whose phases complete when every arriving role has arrived. Each waiting role counts the phases for itself.
class Barrier {
 public:
  Barrier(dsl::Builder* b, dsl::Id id) : builder_(b), id_(id) {}
  /// This role has done its part of the phase.
  void arrive(Where where = Where::current()) const {
    builder_->at(where);
    builder_->none(dsl::Call("arrive").value(id_));
  }
  /// Waits for the next phase that this role has not waited for.
  void wait(Where where = Where::current()) const {
    builder_->at(where);
    builder_->none(dsl::Call("wait_for").value(id_));
  }

 private:
  dsl::Builder* builder_;
  dsl::Id id_;
};

namespace dsl {

constexpr const char* text_of(Scope s) { return s == Scope::cta ? "cta" : s == Scope::cluster ? "cluster" : s == Scope::gpu ? "gpu" : "sys"; }
constexpr const char* text_of(Order o) {
  return o == Order::relaxed ? "relaxed" : o == Order::acquire ? "acquire" : o == Order::release ? "release" : "acq_rel";
}

template <class P> struct place_traits;
template <class T> struct place_traits<Tensor<T>> { using element = T; static constexpr Scope scope = Scope::gpu; };
template <class T> struct place_traits<Shared<T>> { using element = T; static constexpr Scope scope = Scope::cta; };
template <class P> using element_of = typename place_traits<P>::element;
template <class P> using scalar_of = typename element_of<P>::Scalar;
template <class P> inline constexpr Scope scope_of = place_traits<P>::scope;
/// A value for the place: a run-time one or a constant.
template <class P>
using operand_of = std::conditional_t<std::is_same_v<scalar_of<P>, Real>, RealOperand, std::conditional_t<std::is_same_v<scalar_of<P>, Index>, IndexOperand, LongOperand>>;

/// A tensor or a tile of 32- or 64-bit elements.
template <class P>
concept AtomicPlace = requires { typename place_traits<P>::element; } && !Half<element_of<P>>;

using Coords = std::initializer_list<IndexOperand>;
inline Ids ids(Builder& b, Coords coords) {
  Ids out;
  for (const auto& c : coords) out.push_back(c.in(b));
  return out;
}

template <AtomicPlace P>
scalar_of<P> fetch(const char* kind, const P& place, Coords coords, const operand_of<P>& value, Scope scope, Order order, const Where& where) {
  Builder& b = *place.builder;
  const Ids at = ids(b, coords);
  const Id v = value.in(b);
  b.at(where);
  return {{&b, b.one(Call("atomic").text(kind).text(text_of(order)).text(text_of(scope)).value(v).value(place.id).list(at))}};
}
template <AtomicPlace P>
void red(const char* kind, const P& place, Coords coords, const operand_of<P>& value, Scope scope, Order order, const Where& where) {
  Builder& b = *place.builder;
  const Ids at = ids(b, coords);
  const Id v = value.in(b);
  b.at(where);
  b.none(Call("red").text(kind).text(text_of(order)).text(text_of(scope)).value(place.id).list({v}).list(at));
}

}  // namespace dsl

// ------------------------------------------------------------------------------------------------ atomics
// On one element of a tensor or tile of i32, i64 or (add only) f32; each thread that gets here does one.

/// Adds and gives what was there: a ticket.
template <dsl::AtomicPlace P>
dsl::scalar_of<P> fetch_add(const P& place, dsl::Coords at, const dsl::operand_of<P>& value, Scope scope = dsl::scope_of<P>, Order order = Order::relaxed,
                            Where where = Where::current()) {
  return dsl::fetch("add", place, at, value, scope, order, where);
}
template <dsl::AtomicPlace P>
dsl::scalar_of<P> fetch_min(const P& place, dsl::Coords at, const dsl::operand_of<P>& value, Scope scope = dsl::scope_of<P>, Order order = Order::relaxed,
                            Where where = Where::current()) {
  return dsl::fetch("min", place, at, value, scope, order, where);
}
template <dsl::AtomicPlace P>
dsl::scalar_of<P> fetch_max(const P& place, dsl::Coords at, const dsl::operand_of<P>& value, Scope scope = dsl::scope_of<P>, Order order = Order::relaxed,
                            Where where = Where::current()) {
  return dsl::fetch("max", place, at, value, scope, order, where);
}
template <dsl::AtomicPlace P>
dsl::scalar_of<P> fetch_and(const P& place, dsl::Coords at, const dsl::operand_of<P>& value, Scope scope = dsl::scope_of<P>, Order order = Order::relaxed,
                            Where where = Where::current()) {
  return dsl::fetch("and", place, at, value, scope, order, where);
}
template <dsl::AtomicPlace P>
dsl::scalar_of<P> fetch_or(const P& place, dsl::Coords at, const dsl::operand_of<P>& value, Scope scope = dsl::scope_of<P>, Order order = Order::relaxed,
                           Where where = Where::current()) {
  return dsl::fetch("or", place, at, value, scope, order, where);
}
/// Writes and gives what was there.
template <dsl::AtomicPlace P>
dsl::scalar_of<P> exchange(const P& place, dsl::Coords at, const dsl::operand_of<P>& value, Scope scope = dsl::scope_of<P>, Order order = Order::relaxed,
                           Where where = Where::current()) {
  return dsl::fetch("exch", place, at, value, scope, order, where);
}
/// Writes `value` where the element equals `expected`; gives what was there.
template <dsl::AtomicPlace P>
dsl::scalar_of<P> compare_exchange(const P& place, dsl::Coords at, const dsl::operand_of<P>& expected, const dsl::operand_of<P>& value,
                                   Scope scope = dsl::scope_of<P>, Order order = Order::acq_rel, Where where = Where::current()) {
  auto& b = *place.builder;
  const dsl::Ids coords = dsl::ids(b, at);
  const dsl::Id c = expected.in(b), v = value.in(b);
  b.at(where);
  return {{&b, b.one(dsl::Call("atomic_cas").text(dsl::text_of(order)).text(dsl::text_of(scope)).value(c).value(v).value(place.id).list(coords))}};
}
/// As the fetch_ functions, without what was there: cheaper.
template <dsl::AtomicPlace P>
void red_add(const P& place, dsl::Coords at, const dsl::operand_of<P>& value, Scope scope = dsl::scope_of<P>, Order order = Order::relaxed,
             Where where = Where::current()) {
  dsl::red("add", place, at, value, scope, order, where);
}
template <dsl::AtomicPlace P>
void red_min(const P& place, dsl::Coords at, const dsl::operand_of<P>& value, Scope scope = dsl::scope_of<P>, Order order = Order::relaxed,
             Where where = Where::current()) {
  dsl::red("min", place, at, value, scope, order, where);
}
template <dsl::AtomicPlace P>
void red_max(const P& place, dsl::Coords at, const dsl::operand_of<P>& value, Scope scope = dsl::scope_of<P>, Order order = Order::relaxed,
             Where where = Where::current()) {
  dsl::red("max", place, at, value, scope, order, where);
}
/// Adds neighbours along the last axis at once: 2 or 4 elements of f32, 2 of bf16 or f16; the first column a multiple of their number.
template <ElementTag T>
  requires std::is_same_v<typename T::Scalar, Real>
void red_add_row(const Tensor<T>& tensor, dsl::Coords at, std::initializer_list<Real> values, Scope scope = Scope::gpu, Where where = Where::current()) {
  auto& b = *tensor.builder;
  const dsl::Ids coords = dsl::ids(b, at);
  dsl::Ids given;
  for (Real v : values) given.push_back(v.id);
  b.at(where);
  b.none(dsl::Call("red").text("add").text("relaxed").text(dsl::text_of(scope)).value(tensor.id).list(given).list(coords));
}

// ------------------------------------------------------------------------------------------------ flags

/// Reads an element that other threads write; behind it, what the writer did before its store_release (or red, atomic) is visible.
template <ElementTag T>
  requires(!Half<T>)
typename T::Scalar load_acquire(const Tensor<T>& tensor, dsl::Coords at, Scope scope = Scope::gpu, Where where = Where::current()) {
  auto& b = *tensor.builder;
  const dsl::Ids coords = dsl::ids(b, at);
  b.at(where);
  return {{&b, b.one(dsl::Call("load_strong").text("acquire").text(dsl::text_of(scope)).value(tensor.id).list(coords))}};
}
/// Writes an element that other threads wait for, after everything this thread did before. What other threads of the role did needs
/// k.sync() first.
template <ElementTag T>
  requires(!Half<T>)
void store_release(const Tensor<T>& tensor, dsl::Coords at, const dsl::operand_of<Tensor<T>>& value, Scope scope = Scope::gpu, Where where = Where::current()) {
  auto& b = *tensor.builder;
  const dsl::Ids coords = dsl::ids(b, at);
  const dsl::Id v = value.in(b);
  b.at(where);
  b.none(dsl::Call("store_strong").text("release").text(dsl::text_of(scope)).value(v).value(tensor.id).list(coords));
}

}  // namespace tilewright
