// Sums of fragments along rows and columns, and running sums. A row is summed by the warp that holds it; what is summed over rows
// of several warps goes through a tile `scratch` of f32, [warps of the role, columns].
#pragma once
#include "tilewright/dsl/ops.h"

namespace tilewright {

/// Which running sum: of the elements up to and with one's own, or without it; from the first, or from the last (`reverse`).
struct ScanForm {
  bool exclusive = false, reverse = false;
};

namespace dsl {
inline Frag<f32> vector(const Frag<f32>& x, Shape2 shape, std::string_view kind, const Where& where) {
  x.builder->at(where);
  Frag<f32> out(x.builder, x.builder->frag("", Element::f32, shape.rows, shape.cols), shape);
  x.builder->reduce(x.id, out.id, kind);
  return out;
}
inline Frag<f32> scan(const Frag<f32>& x, std::string_view kind, bool down, ScanForm form, const Where& where) {
  x.builder->at(where);
  Frag<f32> out(x.builder, x.builder->frag("", Element::f32, x.shape.rows, x.shape.cols), x.shape);
  x.builder->scan(x.id, out.id, kind, down, form.exclusive, form.reverse);
  return out;
}
inline Real combine(std::string_view kind, Real a, Real b) { return kind == "max" ? max(a, b) : kind == "min" ? min(a, b) : a + b; }

/// A vector [1, C] of each warp, put down as row `warp` of the scratch tile between two rendezvous of the role.
inline void publish(const Frag<f32>& x, const Shared<f32>& scratch, std::string_view what, const Where& where) {
  Builder& b = *x.builder;
  b.at(where);
  if (scratch.shape.rows != b.warps() || scratch.shape.cols != x.shape.cols)
    b.mistake(std::string(what) + ": scratch is [" + std::to_string(scratch.shape.rows) + ", " + std::to_string(scratch.shape.cols) + "], expected [" +
              std::to_string(b.warps()) + ", " + std::to_string(x.shape.cols) + "]: a row for each warp of the role");
  b.sync();
  Index warp{{&b, b.warp()}}, zero{{&b, b.constant(std::int64_t{0}, Element::i32)}};
  b.store(x.id, b.view(scratch.id, warp.id, zero.id, 1, x.shape.cols), false);
  b.sync();
}
/// Row `warp` of the scratch tile.
inline Frag<f32> published(const Frag<f32>& like, const Shared<f32>& scratch, int warp, const Where& where) {
  Builder& b = *like.builder;
  b.at(where);
  Frag<f32> out(&b, b.frag("", Element::f32, 1, scratch.shape.cols), {1, scratch.shape.cols});
  load(out, scratch.row(warp), where);
  return out;
}
}  // namespace dsl

// ------------------------------------------------------------------------------------------------ reductions

/// Reduction of each row, kind "add", "max" or "min": [R, C] -> [R, 1].
inline Frag<f32> reduce(const Frag<f32>& x, std::string_view kind, Where where = Where::current()) { return dsl::vector(x, {x.shape.rows, 1}, kind, where); }
inline Frag<f32> row_sum(const Frag<f32>& x, Where where = Where::current()) { return reduce(x, "add", where); }
inline Frag<f32> row_max(const Frag<f32>& x, Where where = Where::current()) { return reduce(x, "max", where); }
inline Frag<f32> row_min(const Frag<f32>& x, Where where = Where::current()) { return reduce(x, "min", where); }

/// Reduction of each column over the 16 rows of a warp: [R, C] -> [1, C], another one in each warp.
inline Frag<f32> warp_reduce_columns(const Frag<f32>& x, std::string_view kind, Where where = Where::current()) {
  return dsl::vector(x, {1, x.shape.cols}, kind, where);
}
/// What the vectors [1, C] of the role's warps come to, in every warp.
inline Frag<f32> reduce_warps(const Frag<f32>& x, const Shared<f32>& scratch, std::string_view kind, Where where = Where::current()) {
  dsl::publish(x, scratch, "reduce_warps", where);
  Frag<f32> out = dsl::published(x, scratch, 0, where);
  for (int w = 1; w < x.builder->warps(); ++w)
    map_to(out, dsl::MapBody([kind](Real a, Real b) { return dsl::combine(kind, a, b); }, where), out, scratch.row(w));
  return out;
}
/// Reduction of each column over all rows: [R, C] -> [1, C].
inline Frag<f32> reduce_columns(const Frag<f32>& x, const Shared<f32>& scratch, std::string_view kind, Where where = Where::current()) {
  return reduce_warps(warp_reduce_columns(x, kind, where), scratch, kind, where);
}
inline Frag<f32> column_sum(const Frag<f32>& x, const Shared<f32>& scratch, Where where = Where::current()) { return reduce_columns(x, scratch, "add", where); }
inline Frag<f32> column_max(const Frag<f32>& x, const Shared<f32>& scratch, Where where = Where::current()) { return reduce_columns(x, scratch, "max", where); }
inline Frag<f32> column_min(const Frag<f32>& x, const Shared<f32>& scratch, Where where = Where::current()) { return reduce_columns(x, scratch, "min", where); }

// ------------------------------------------------------------------------------------------------ scans

/// Running sum along each row of [R, C], or along the vector [1, C]. The identity of an exclusive one is 0 ("add"), -inf ("max") or
/// inf ("min").
inline Frag<f32> row_scan(const Frag<f32>& x, std::string_view kind, ScanForm form = {}, Where where = Where::current()) {
  return dsl::scan(x, kind, /*down=*/false, form, where);
}
/// Running sum along a vector [1, C] of f32 in shared memory, in place, by the one warp that calls it.
inline void row_scan(const Shared<f32>& line, std::string_view kind, ScanForm form = {}, Where where = Where::current()) {
  dsl::Builder& b = *line.builder;
  b.at(where);
  Frag<f32> v(&b, b.frag("", Element::f32, line.shape.rows, line.shape.cols), line.shape);
  load(v, line, where);
  b.scan(v.id, v.id, kind, /*down=*/false, form.exclusive, form.reverse);
  b.warp_sync();
  store(line, v, where);
  b.warp_sync();
}
/// Running sum down each column of [R, C], or down the vector [R, 1], over the 16 rows of a warp.
inline Frag<f32> warp_column_scan(const Frag<f32>& x, std::string_view kind, ScanForm form = {}, Where where = Where::current()) {
  return dsl::scan(x, kind, /*down=*/true, form, where);
}
/// Running sum down each column of [R, C] over all rows.
inline Frag<f32> column_scan(const Frag<f32>& x, const Shared<f32>& scratch, std::string_view kind, ScanForm form = {}, Where where = Where::current()) {
  Frag<f32> out = warp_column_scan(x, kind, form, where), total = warp_reduce_columns(x, kind, where);
  dsl::publish(total, scratch, "column_scan", where);
  dsl::Builder& b = *x.builder;
  const Index mine{{&b, b.warp()}};
  for (int w = 0; w < b.warps(); ++w) {
    const Pred before = form.reverse ? mine < w : mine > w;
    map_to(out, dsl::MapBody([&](Real a, Real other) { return select(before, dsl::combine(kind, a, other), a); }, where), out, scratch.row(w));
  }
  return out;
}

// ------------------------------------------------------------------------------------------------ split products

/// A matrix in two 16-bit parts, x = high + low to twice the precision: fragments or shared tiles.
template <class X>
struct Split {
  X high, low;
  auto t() const { return Split<decltype(high.t())>{high.t(), low.t()}; }
};
/// The parts of a fragment: high is x rounded to T, low the rest, rounded.
template <Half T>
Split<Frag<T>> split(const Frag<f32>& x, Where where = Where::current()) {
  auto [high, low] = map2<T, T>(dsl::MapBody([](Real v) {
    Real h = round_to<T>(v);
    return std::array<Real, 2>{h, v - h};
  }, where), x);
  return {high, low};
}
/// Tiles = fragments, part by part.
template <Half T>
void store(const Split<Shared<T>>& tiles, const Split<Frag<T>>& frags, Where where = Where::current()) {
  store(tiles.high, frags.high, where);
  store(tiles.low, frags.low, where);
}
/// Starts acc += A B for operands in two parts: low high + high low + high high; low low (2^-16 of the result for bf16) is left out.
template <class A, class B>
void gemm_split_add(const Frag<f32>& acc, const Split<A>& a, const Split<B>& b, Where where = Where::current()) {
  gemm_add(acc, a.low, b.high, where);
  gemm_add(acc, a.high, b.low, where);
  gemm_add(acc, a.high, b.high, where);
}
/// Starts acc = A B for operands in two parts.
template <class A, class B>
void gemm_split_zero(const Frag<f32>& acc, const Split<A>& a, const Split<B>& b, Where where = Where::current()) {
  gemm_zero(acc, a.low, b.high, where);
  gemm_add(acc, a.high, b.low, where);
  gemm_add(acc, a.high, b.high, where);
}

// ------------------------------------------------------------------------------------------------ scaled loads

/// Fragment = tile (or its transpose) times a vector: [R, 1] scales the fragment's rows, [1, C] its columns. The vector is a
/// fragment or lies in shared memory.
template <ElementTag T, class Tile, class Vector>
void load_scaled(const Frag<T>& frag, const Tile& tile, const Vector& scale, Where where = Where::current()) {
  load(frag, tile, where);
  map_to(frag, dsl::MapBody([](Real v, Real s) { return v * s; }, where), frag, scale);
}

}  // namespace tilewright
