// Handles of tensors, shared tiles and fragments. A handle is a name, not a value: copying it copies the name.
#pragma once
#include <array>
#include <type_traits>

#include "tilewright/dsl/math.h"

namespace tilewright {

/// Element type tags.
struct f32 { static constexpr Element element = Element::f32; using Scalar = Real; };
struct bf16 { static constexpr Element element = Element::bf16; using Scalar = Real; };
struct f16 { static constexpr Element element = Element::f16; using Scalar = Real; };
struct i32 { static constexpr Element element = Element::i32; using Scalar = Index; };
struct i64 { static constexpr Element element = Element::i64; using Scalar = Long; };

template <class T>
concept ElementTag = requires { { T::element } -> std::convertible_to<Element>; };
/// Element types that wgmma multiplies here.
template <class T>
concept Half = std::is_same_v<T, bf16> || std::is_same_v<T, f16>;

struct Shape2 {
  std::int64_t rows, cols;
};

/// A box of a tensor for TMA.
template <ElementTag T>
struct TensorBox : dsl::Box {
  dsl::Builder* builder;
  bool indexed = false;  // axis 0 is a slot: below 0 there is none
};

/// A tensor in global memory. Coordinates and boxes have one entry for each axis, outermost first.
template <ElementTag T>
class Tensor {
 public:
  Tensor(dsl::Builder* b, dsl::Id id) : builder(b), id(id) {}

  /// Box of `extents` at `coords`; what lies outside the tensor reads as zero and is not written. The coordinates of a store are
  /// not negative (the machine stops); those of a load may be.
  TensorBox<T> tile(std::initializer_list<IndexOperand> coords, dsl::Extents extents) const {
    return {{id, ids(coords), std::move(extents), {}}, builder};
  }
  /// As tile() at row `slot` of axis 0 with an extent of 1, the rest as given. A slot below 0 is none: it reads as zeros, and nothing
  /// is stored.
  TensorBox<T> tile_at(Index slot, std::initializer_list<IndexOperand> coords, dsl::Extents extents) const {
    auto at = ids(coords);
    at.insert(at.begin(), slot.id);
    extents.insert(extents.begin(), 1);
    return {{id, std::move(at), std::move(extents), {}}, builder, true};
  }
  /// As tile(), but axis 0 counts from row `first` and rows from `count` on lie outside (packed sequences).
  TensorBox<T> ragged_tile(Index first, Index count, std::initializer_list<IndexOperand> coords, dsl::Extents extents) const {
    return {{id, ids(coords), std::move(extents), {first.id, count.id}}, builder};
  }
  /// One element. bf16 and f16 are widened to f32.
  typename T::Scalar read(std::initializer_list<IndexOperand> coords, Where where = Where::current()) const {
    auto at = ids(coords);
    builder->at(where);
    return {{builder, builder->read(id, at)}};
  }
  void write(std::initializer_list<IndexOperand> coords, typename T::Scalar value, Where where = Where::current()) const {
    auto at = ids(coords);
    builder->at(where);
    builder->write(value.id, id, at);
  }
  Index extent(int axis) const { return {{builder, builder->extent(id, axis)}}; }
  /// Whether the caller gave this optional tensor.
  Pred present() const { return {{builder, builder->is_present(id)}}; }

  dsl::Ids ids(std::initializer_list<IndexOperand> coords) const {
    dsl::Ids out;
    for (const auto& c : coords) out.push_back(c.in(*builder));
    return out;
  }
  dsl::Builder* builder;
  dsl::Id id;
};

template <ElementTag T>
class Shared;

/// A shared tile read as its transpose.
template <ElementTag T>
struct Transposed {
  dsl::Builder* builder;
  dsl::Id id;
};

/// A tile in shared memory: one stage of a ring, or a tile of its own.
template <ElementTag T>
class Shared {
 public:
  Shared(dsl::Builder* b, dsl::Id id, Shape2 shape) : builder(b), id(id), shape(shape) {}
  Transposed<T> t() const { return {builder, id}; }
  /// Sub-tile of `shape` at (row, col). For products, rows are a multiple of 8 and columns of 64.
  Shared view(IndexOperand row, IndexOperand col, Shape2 sub) const {
    dsl::Id r = row.in(*builder), c = col.in(*builder);
    return {builder, builder->view(id, r, c, sub.rows, sub.cols), sub};
  }
  Shared row(int r) const { return view(r, 0, {1, shape.cols}); }
  typename T::Scalar read(IndexOperand row, IndexOperand col, Where where = Where::current()) const {
    dsl::Id r = row.in(*builder), c = col.in(*builder);
    builder->at(where);
    return {{builder, builder->read(id, {r, c})}};
  }
  void write(IndexOperand row, IndexOperand col, typename T::Scalar value, Where where = Where::current()) const {
    dsl::Id r = row.in(*builder), c = col.in(*builder);
    builder->at(where);
    builder->write(value.id, id, {r, c});
  }
  dsl::Builder* builder;
  dsl::Id id;
  Shape2 shape;
};

/// A stage of a ring.
struct Stage : dsl::Value {};

/// A shared tile that exists once for each stage of a ring.
template <ElementTag T>
class Staged {
 public:
  Staged(dsl::Builder* b, dsl::Id id, Shape2 shape) : builder(b), id(id), shape(shape) {}
  Shared<T> operator[](Stage s) const { return {builder, builder->stage_of(id, s.id), shape}; }
  dsl::Builder* builder;
  dsl::Id id;
  Shape2 shape;
};

/// A register fragment of the role that declares it: [rows, cols], or a vector [1, cols] or [rows, 1].
template <ElementTag T>
class Frag {
 public:
  Frag(dsl::Builder* b, dsl::Id id, Shape2 shape) : builder(b), id(id), shape(shape) {}
  /// Columns first.. of the fragment, as a fragment: the same registers. Both numbers are multiples of 8.
  Frag columns(std::int64_t first, std::int64_t count, Where where = Where::current()) const {
    builder->at(where);
    return {builder, builder->frag_view(id, first, count), {shape.rows, count}};
  }
  dsl::Builder* builder;
  dsl::Id id;
  Shape2 shape;
};

/// Tensor-core products that settle together.
struct Batch : dsl::Value {};

}  // namespace tilewright
