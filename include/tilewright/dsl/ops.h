// Operations on tiles and fragments. Every one reports mistakes at the line that calls it.
#pragma once
#include <utility>

#include "tilewright/dsl/copies.h"

namespace tilewright {

// ------------------------------------------------------------------------------------------------ tensor cores

namespace dsl {
template <ElementTag T> std::pair<Id, bool> operand(const Shared<T>& s) { return {s.id, false}; }
template <ElementTag T> std::pair<Id, bool> operand(const Transposed<T>& s) { return {s.id, true}; }
template <ElementTag T> std::pair<Id, bool> operand(const Frag<T>& f) { return {f.id, false}; }
template <class X> struct element_tag;
template <class T> struct element_tag<Shared<T>> { using type = T; };
template <class T> struct element_tag<Transposed<T>> { using type = T; };
template <class T> struct element_tag<Frag<T>> { using type = T; };
template <class X> using element_tag_t = typename element_tag<X>::type;
template <class X> inline constexpr bool in_registers = false;
template <class T> inline constexpr bool in_registers<Frag<T>> = true;
}  // namespace dsl

/// Both operands of one 16-bit type, or of f32 (multiplied as tf32); B in shared memory.
template <class A, class B>
concept Multipliable = (Half<dsl::element_tag_t<A>> || std::is_same_v<dsl::element_tag_t<A>, f32>) &&
                       std::is_same_v<dsl::element_tag_t<A>, dsl::element_tag_t<B>> && !dsl::in_registers<B>;

/// Starts acc = A B. acc [M, N] f32; A [M, K] a shared tile or a fragment, B [K, N] a shared tile; .t() where a tile holds the
/// transpose. acc (and a fragment A) may not be touched before the batch that holds the product settles. f32 operands: B is the .t()
/// of a tile, A is not; a fragment is rounded to tf32, of a tile's elements the low 13 bits are ignored (round_tf32 before).
template <class A, class B>
  requires Multipliable<A, B>
void gemm_zero(const Frag<f32>& acc, const A& a, const B& b, Where where = Where::current()) {
  acc.builder->at(where);
  auto [ia, ta] = dsl::operand(a);
  auto [ib, tb] = dsl::operand(b);
  acc.builder->gemm(acc.id, ia, ta, ib, tb, /*zero=*/true, -1);
}
/// Starts acc += A B.
template <class A, class B>
  requires Multipliable<A, B>
void gemm_add(const Frag<f32>& acc, const A& a, const B& b, Where where = Where::current()) {
  acc.builder->at(where);
  auto [ia, ta] = dsl::operand(a);
  auto [ib, tb] = dsl::operand(b);
  acc.builder->gemm(acc.id, ia, ta, ib, tb, /*zero=*/false, -1);
}
/// Starts acc = A B + (accumulate ? acc : 0).
template <class A, class B>
  requires Multipliable<A, B>
void gemm_add_if(Pred accumulate, const Frag<f32>& acc, const A& a, const B& b, Where where = Where::current()) {
  acc.builder->at(where);
  auto [ia, ta] = dsl::operand(a);
  auto [ib, tb] = dsl::operand(b);
  acc.builder->gemm(acc.id, ia, ta, ib, tb, /*zero=*/false, accumulate.id);
}
/// Waits until the batch and all batches before it are complete.
inline void settle(Batch batch, Where where = Where::current()) {
  batch.builder->at(where);
  batch.builder->settle(batch.id);
}
/// acc [16, N] += A B within each warp, complete on return. A [16, K] a fragment of the warp or a shared tile, B [K, N] a shared
/// tile; .t() where a tile holds the transpose. bf16 or f16: K a multiple of 16; f32, rounded to tf32: of 8. N is a multiple of 8.
template <class A, class B>
  requires Multipliable<A, B>
void mma(const Frag<f32>& acc, const A& a, const B& b, Where where = Where::current()) {
  acc.builder->at(where);
  auto [ia, ta] = dsl::operand(a);
  auto [ib, tb] = dsl::operand(b);
  acc.builder->mma(acc.id, ia, ta, ib, tb);
}

// ------------------------------------------------------------------------------------------------ moves

/// Fragment = tile.
template <ElementTag T>
void load(const Frag<T>& frag, const Shared<T>& tile, Where where = Where::current()) {
  frag.builder->at(where);
  frag.builder->load(tile.id, frag.id, false);
}
/// Fragment = tile transposed.
template <ElementTag T>
void load(const Frag<T>& frag, const Transposed<T>& tile, Where where = Where::current()) {
  frag.builder->at(where);
  frag.builder->load(tile.id, frag.id, true);
}
/// Tile = fragment.
template <ElementTag T>
void store(const Shared<T>& tile, const Frag<T>& frag, Where where = Where::current()) {
  frag.builder->at(where);
  frag.builder->store(frag.id, tile.id, false);
}
/// Tile = fragment transposed.
template <ElementTag T>
void store(const Transposed<T>& tile, const Frag<T>& frag, Where where = Where::current()) {
  frag.builder->at(where);
  frag.builder->store(frag.id, tile.id, true);
}
/// Fragment = tensor at coords, rows along `row_axis` and columns along `col_axis`, by ordinary loads.
template <ElementTag T>
void load_global(const Frag<T>& frag, const Tensor<T>& tensor, std::initializer_list<IndexOperand> coords, int row_axis,
                 int col_axis, Where where = Where::current()) {
  auto at = tensor.ids(coords);
  frag.builder->at(where);
  frag.builder->load_global(tensor.id, at, frag.id, row_axis, col_axis);
}
/// Tensor at coords = fragment.
template <ElementTag T>
void store_global(const Tensor<T>& tensor, std::initializer_list<IndexOperand> coords, const Frag<T>& frag, int row_axis,
                  int col_axis, Where where = Where::current()) {
  auto at = tensor.ids(coords);
  frag.builder->at(where);
  frag.builder->store_global(frag.id, tensor.id, at, row_axis, col_axis);
}
/// Starts the copy of a tile into a box of a tensor. Called by one thread; see Kernel::store_wait.
template <ElementTag T>
void tma_store(const TensorBox<T>& to, const Shared<T>& tile, Where where = Where::current()) {
  to.builder->at(where);
  if (to.indexed) to.builder->none(dsl::with_box(dsl::Call("tma_store_into").text("").integer(true).value(tile.id), to));
  else to.builder->tma_store(tile.id, to);
}

// ------------------------------------------------------------------------------------------------ elementwise

namespace dsl {
/// The function of a map, f(values...) or f(row, column, values...), with the place where it was written. It returns a Real,
/// or a std::array of them for several results.
class MapBody {
 public:
  template <class F>
  MapBody(F f, Where w = Where::current()) : where(w) {
    find<F>(std::move(f), std::make_index_sequence<0>{});
  }
  template <class... In>
  void into(const Ids& outputs, Builder& b, const In&... in) const {
    b.at(where);
    if (inputs_ != sizeof...(In)) b.wrong_map(inputs_, sizeof...(In));
    b.map({in.id...}, outputs, [&](Id row, Id col, const Ids& values) { return call_(b, row, col, values); });
  }
  Where where;

 private:
  static constexpr std::size_t kMostInputs = 8;
  static Ids ids(Real r) { return {r.id}; }
  template <class Results>
  static Ids ids(const Results& results) {
    Ids out;
    for (Real r : results) out.push_back(r.id);
    return out;
  }
  /// Takes the first form that the function can be called with.
  template <class F, std::size_t... i>
  void find(F f, std::index_sequence<i...>) {
    inputs_ = sizeof...(i);
    if constexpr (std::is_invocable_v<F, Index, Index, decltype((void)i, Real{})...>) {
      call_ = [f = std::move(f)](Builder& b, Id row, Id col, [[maybe_unused]] const Ids& v) {
        return ids(f(Index{{&b, row}}, Index{{&b, col}}, Real{{&b, v[i]}}...));
      };
    } else if constexpr (std::is_invocable_v<F, decltype((void)i, Real{})...>) {
      call_ = [f = std::move(f)]([[maybe_unused]] Builder& b, Id, Id, [[maybe_unused]] const Ids& v) { return ids(f(Real{{&b, v[i]}}...)); };
    } else {
      static_assert(sizeof...(i) < kMostInputs,
                    "a map's function takes (values...) or (row, column, values...): Index for row and column, Real for each value");
      if constexpr (sizeof...(i) < kMostInputs) find<F>(std::move(f), std::make_index_sequence<sizeof...(i) + 1>{});
    }
  }
  std::size_t inputs_ = 0;
  std::function<Ids(Builder&, Id, Id, const Ids&)> call_;
};
/// The right operand of a compound operator.
struct FragOperand {
  Frag<f32> frag;
  Where where;
  FragOperand(const Frag<f32>& f, Where w = Where::current()) : frag(f), where(w) {}
};
template <class... In>
Shape2 broadcast_shape(const In&... in) {
  Shape2 s{1, 1};
  ((s.rows = std::max(s.rows, in.shape.rows), s.cols = std::max(s.cols, in.shape.cols)), ...);
  return s;
}
}  // namespace dsl

/// out(r, c) = f(in(r, c)...) or f(r, c, in(r, c)...); vectors are broadcast, 16-bit elements computed in fp32.
template <ElementTag T, class... In>
void map_to(const Frag<T>& out, const dsl::MapBody& f, const In&... in) {
  f.into({out.id}, *out.builder, in...);
}
/// As map_to, into a new fragment with elements of type T.
template <ElementTag T, class First, class... In>
Frag<T> map(const dsl::MapBody& f, const First& first, const In&... in) {
  Shape2 s = dsl::broadcast_shape(first, in...);
  first.builder->at(f.where);
  Frag<T> out(first.builder, first.builder->frag("", T::element, s.rows, s.cols), s);
  f.into({out.id}, *out.builder, first, in...);
  return out;
}
/// Two results in one pass: f returns std::array<Real, 2>.
template <ElementTag T, ElementTag U, class First, class... In>
std::pair<Frag<T>, Frag<U>> map2(const dsl::MapBody& f, const First& first, const In&... in) {
  Shape2 s = dsl::broadcast_shape(first, in...);
  first.builder->at(f.where);
  Frag<T> a(first.builder, first.builder->frag("", T::element, s.rows, s.cols), s);
  Frag<U> b(first.builder, first.builder->frag("", U::element, s.rows, s.cols), s);
  f.into({a.id, b.id}, *first.builder, first, in...);
  return {a, b};
}
/// The fragment rounded to T; of an accumulator, the A operand of the next product.
template <ElementTag T, ElementTag U>
Frag<T> cast(const Frag<U>& in, Where where = Where::current()) {
  return map<T>(dsl::MapBody([](Real x) { return x; }, where), in);
}
inline void fill(const Frag<f32>& frag, RealOperand value) {
  dsl::Id v = value.in(*frag.builder);
  frag.builder->fill(frag.id, v);
}

inline void scale(const Frag<f32>& x, Real factor, Where where = Where::current()) {
  map_to(x, dsl::MapBody([factor](Real v) { return v * factor; }, where), x);
}
inline void operator*=(const Frag<f32>& x, const dsl::FragOperand& y) {
  map_to(x, dsl::MapBody([](Real a, Real b) { return a * b; }, y.where), x, y.frag);
}
inline void operator+=(const Frag<f32>& x, const dsl::FragOperand& y) {
  map_to(x, dsl::MapBody([](Real a, Real b) { return a + b; }, y.where), x, y.frag);
}
inline void operator-=(const Frag<f32>& x, const dsl::FragOperand& y) {
  map_to(x, dsl::MapBody([](Real a, Real b) { return a - b; }, y.where), x, y.frag);
}

// ------------------------------------------------------------------------------------------------ control

/// for (i = 0; i < n; ++i) body(i), at run time.
template <class F>
void for_(Index n, F&& body, Where where = Where::current()) {
  auto* b = n.builder;
  b->at(where);
  b->for_loop(b->constant(std::int64_t{0}, Element::i32), n.id, b->constant(std::int64_t{1}, Element::i32),
              [&](dsl::Id i) { body(Index{{b, i}}); });
}
/// for (i = from; i < to; i += step) body(i), at run time.
template <class F>
void for_range(Index from, Index to, IndexOperand step, F&& body, Where where = Where::current()) {
  auto* b = from.builder;
  dsl::Id s = step.in(*b);
  b->at(where);
  b->for_loop(from.id, to.id, s, [&](dsl::Id i) { body(Index{{b, i}}); });
}
template <class F>
void if_(Pred p, F&& then, Where where = Where::current()) {
  p.builder->at(where);
  p.builder->if_else(p.id, std::forward<F>(then), {});
}
template <class F, class G>
void if_(Pred p, F&& then, G&& otherwise, Where where = Where::current()) {
  p.builder->at(where);
  p.builder->if_else(p.id, std::forward<F>(then), std::forward<G>(otherwise));
}

}  // namespace tilewright
