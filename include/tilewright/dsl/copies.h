// Copies without a tensor map, stores that add or go to a slot, elements of other CTAs.
#pragma once
#include "tilewright/dsl/concurrency.h"

namespace tilewright {

namespace dsl {
inline Call with_box(Call&& o, const Box& box) {
  return std::move(o).value(box.tensor).list(box.coords).list(box.ragged).integers(box.extents);
}
}  // namespace dsl

/// Tile = box, by ordinary 16-byte loads and stores shared among the role's threads; zeros outside the tensor. k.sync() before
/// others read it. Rows of the box and of the tensor are multiples of 16 bytes.
template <ElementTag T>
void copy_in(const Shared<T>& tile, const TensorBox<T>& from, Where where = Where::current()) {
  tile.builder->at(where);
  tile.builder->none(dsl::with_box(dsl::Call("copy_in").value(tile.id), from));
}
/// Box = tile, likewise; what lies outside the tensor is not written.
template <ElementTag T>
void copy_out(const TensorBox<T>& to, const Shared<T>& tile, Where where = Where::current()) {
  tile.builder->at(where);
  tile.builder->none(dsl::with_box(dsl::Call("copy_out").value(tile.id), to));
}
/// Contiguous elements of the tensor from `at` on = tile, asynchronously, without a tensor map. Called by one thread; k.store_wait
/// follows. The address is a multiple of 16 bytes.
template <ElementTag T>
void bulk_store(const Tensor<T>& tensor, dsl::Coords at, const Shared<T>& tile, Where where = Where::current()) {
  const dsl::Ids coords = dsl::ids(*tensor.builder, at);
  tile.builder->at(where);
  tile.builder->none(dsl::Call("bulk_store").value(tile.id).value(tensor.id).list(coords));
}
/// Adds a tile to a box of a tensor, as tma_store; each element's addition is indivisible. An error where several threads start it.
template <ElementTag T>
void tma_reduce_add(const TensorBox<T>& to, const Shared<T>& tile, Where where = Where::current()) {
  tile.builder->at(where);
  tile.builder->none(dsl::with_box(dsl::Call("tma_store_into").text("add").integer(to.indexed).value(tile.id), to));
}

/// One element (f32 or i32) of a tile in the shared memory of the cluster's CTA `rank`.
template <ElementTag T>
typename T::Scalar remote_read(const Shared<T>& tile, IndexOperand rank, IndexOperand row, IndexOperand col, Where where = Where::current()) {
  auto& b = *tile.builder;
  const dsl::Id of = rank.in(b), r = row.in(b), c = col.in(b);
  b.at(where);
  return {{&b, b.one(dsl::Call("remote_read").value(tile.id).value(r).value(c).value(of))}};
}
/// Writes one. The other CTA sees it behind a barrier of the cluster.
template <ElementTag T>
void remote_write(const Shared<T>& tile, IndexOperand rank, IndexOperand row, IndexOperand col, typename T::Scalar value, Where where = Where::current()) {
  auto& b = *tile.builder;
  const dsl::Id of = rank.in(b), r = row.in(b), c = col.in(b);
  b.at(where);
  b.none(dsl::Call("remote_write").value(value.id).value(tile.id).value(r).value(c).value(of));
}

}  // namespace tilewright
