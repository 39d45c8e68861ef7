// Copies without a tensor map, stores that add or are skipped, and fences that are deferred.
#include "compiler/dsl/Operations.h"

using namespace mlir;

namespace tilewright::dsl {

namespace {

/// A tensor, coordinates, ragged rows and extents.
struct Box {
  Value tensor;
  SmallVector<Value> coords, ragged;
  SmallVector<int64_t> extents;
  explicit Box(Arguments& a) : tensor(a.value()), coords(a.list()), ragged(a.list()), extents(a.integers()) {}
};

void copy_async(Recording& r, Arguments& a) {
  r.in_role("copy_async");
  const Value tile = a.value(), ring = a.value(), stage = a.value();
  const Box box(a);
  r.check(r.make<tile::CopyAsyncOp>(box.tensor, box.coords, box.ragged, tile, ring, stage, box.extents));
}
void copy_in(Recording& r, Arguments& a) {
  r.in_role("copy_in");
  const Value tile = a.value();
  const Box box(a);
  r.check(r.make<tile::CopyInOp>(box.tensor, box.coords, box.ragged, tile, box.extents));
}
void copy_out(Recording& r, Arguments& a) {
  r.in_role("copy_out");
  const Value tile = a.value();
  const Box box(a);
  r.check(r.make<tile::CopyOutOp>(tile, box.tensor, box.coords, box.ragged, box.extents));
}
void bulk_load(Recording& r, Arguments& a) {
  r.in_role("bulk_load");
  const Value tile = a.value(), ring = a.value(), stage = a.value(), tensor = a.value();
  r.check(r.make<tile::BulkLoadOp>(tensor, a.list(), tile, ring, stage));
}
void bulk_store(Recording& r, Arguments& a) {
  r.in_role("bulk_store");
  const Value tile = a.value(), tensor = a.value();
  r.check(r.make<tile::BulkStoreOp>(tile, tensor, a.list()));
}
/// A store into a slot, or one that adds.
void tma_store_into(Recording& r, Arguments& a) {
  r.in_role("tma_store");
  const auto reduce = a.text();
  const bool indexed = a.flag();
  const Value tile = a.value();
  const Box box(a);
  r.check(r.make<tile::TmaStoreOp>(tile, box.tensor, box.coords, box.ragged, box.extents, reduce.empty() ? StringAttr() : r.text(reduce), indexed));
}

void defer_fence(Recording& r, Arguments& a) {
  auto tile = a.value().getDefiningOp<tile::SharedOp>();
  if (!tile) r.fail("defer_fences takes whole tiles, not stages or views");
  tile.setDeferred(true);
}
void manual_fences(Recording& r, Arguments&) { r.kernel->setAttr("manual_fences", r.ops.getUnitAttr()); }
void fence_async_global(Recording& r, Arguments&) {
  r.in_role("fence_async_global");
  r.make<tile::FenceAsyncOp>(/*global=*/true);
}

}  // namespace

void add_chunks(Handlers& h) {
  h["copy_async"] = copy_async;
  h["copy_in"] = copy_in;
  h["copy_out"] = copy_out;
  h["bulk_load"] = bulk_load;
  h["bulk_store"] = bulk_store;
  h["tma_store_into"] = tma_store_into;
  h["defer_fence"] = defer_fence;
  h["manual_fences"] = manual_fences;
  h["fence_async_global"] = fence_async_global;
}

}  // namespace tilewright::dsl
