// dsl::Builder, part 3: rings, copies and products.
#include "compiler/dsl/BuilderImpl.h"

using namespace mlir;

namespace tilewright::dsl {

namespace {
UnitAttr flag(OpBuilder& o, bool set) { return set ? o.getUnitAttr() : UnitAttr(); }
}  // namespace

Id Builder::acquire(Id ring) {
  impl_->in_role("acquire");
  return impl_->add(tile::AcquireOp::create(impl_->ops, impl_->loc(), impl_->ops.getI32Type(), impl_->value(ring)));
}
Id Builder::wait(Id ring) {
  impl_->in_role("wait");
  return impl_->add(tile::WaitOp::create(impl_->ops, impl_->loc(), impl_->ops.getI32Type(), impl_->value(ring)));
}
void Builder::commit(Id ring, Id stage) {
  impl_->in_role("commit");
  tile::CommitOp::create(impl_->ops, impl_->loc(), impl_->value(ring), impl_->value(stage));
}
void Builder::release(Id ring, Id stage) {
  impl_->in_role("release");
  tile::ReleaseOp::create(impl_->ops, impl_->loc(), impl_->value(ring), impl_->value(stage));
}
void Builder::sync() {
  impl_->in_role("sync");
  tile::SyncOp::create(impl_->ops, impl_->loc());
}
void Builder::warp_sync() {
  impl_->in_role("warp_sync");
  tile::WarpSyncOp::create(impl_->ops, impl_->loc());
}
void Builder::fence_async() {
  impl_->in_role("fence_async");
  tile::FenceAsyncOp::create(impl_->ops, impl_->loc());
}
void Builder::grid_wait() { tile::GridWaitOp::create(impl_->ops, impl_->loc()); }
void Builder::grid_launch() { tile::GridLaunchOp::create(impl_->ops, impl_->loc()); }

Id Builder::stage_of(Id tile, Id stage) {
  Value t = impl_->value(tile);
  return impl_->add(tile::AtOp::create(impl_->ops, impl_->loc(), t.getType(), t, impl_->value(stage)));
}
Id Builder::view(Id tile, Id row, Id col, std::int64_t rows, std::int64_t cols) {
  Value t = impl_->value(tile);
  auto type = tile::SharedType::get(&impl_->context, {rows, cols}, cast<tile::SharedType>(t.getType()).getElementType());
  return impl_->add(impl_->checked(tile::ViewOp::create(impl_->ops, impl_->loc(), type, t, impl_->value(row), impl_->value(col))));
}
void Builder::tma_load(const Box& from, Id tile, Id ring, Id stage) {
  impl_->in_role("tma_load");
  impl_->check(tile::TmaLoadOp::create(impl_->ops, impl_->loc(), impl_->value(from.tensor), impl_->list(from.coords), impl_->list(from.ragged),
                                       impl_->value(tile), impl_->value(ring), impl_->value(stage), from.extents));
}
void Builder::tma_store(Id tile, const Box& to) {
  impl_->in_role("tma_store");
  impl_->check(tile::TmaStoreOp::create(impl_->ops, impl_->loc(), impl_->value(tile), impl_->value(to.tensor), impl_->list(to.coords),
                                        impl_->list(to.ragged), to.extents));
}
void Builder::store_wait(int pending, bool complete) {
  impl_->in_role("store_wait");
  tile::StoreWaitOp::create(impl_->ops, impl_->loc(), impl_->ops.getI32IntegerAttr(pending), flag(impl_->ops, complete));
}
void Builder::load(Id tile, Id frag, bool transposed) {
  impl_->check(tile::LoadOp::create(impl_->ops, impl_->loc(), impl_->value(tile), impl_->value(frag), flag(impl_->ops, transposed)));
}
void Builder::store(Id frag, Id tile, bool transposed) {
  impl_->check(tile::StoreOp::create(impl_->ops, impl_->loc(), impl_->value(frag), impl_->value(tile), flag(impl_->ops, transposed)));
}
void Builder::load_global(Id tensor, const Ids& coords, Id frag, int row_axis, int col_axis) {
  auto& o = impl_->ops;
  impl_->check(tile::LoadGlobalOp::create(o, impl_->loc(), impl_->value(tensor), impl_->list(coords), impl_->value(frag),
                                          o.getI32IntegerAttr(row_axis), o.getI32IntegerAttr(col_axis)));
}
void Builder::store_global(Id frag, Id tensor, const Ids& coords, int row_axis, int col_axis) {
  auto& o = impl_->ops;
  impl_->check(tile::StoreGlobalOp::create(o, impl_->loc(), impl_->value(frag), impl_->value(tensor), impl_->list(coords),
                                           o.getI32IntegerAttr(row_axis), o.getI32IntegerAttr(col_axis)));
}
Id Builder::read(Id from, const Ids& coords) {
  Value v = impl_->value(from);
  Type element = isa<tile::SharedType>(v.getType()) ? cast<tile::SharedType>(v.getType()).getElementType()
                                                    : cast<tile::GlobalType>(v.getType()).getElementType();
  Type result = isa<FloatType>(element) ? Type(impl_->ops.getF32Type()) : element;
  return impl_->add(impl_->checked(tile::ReadOp::create(impl_->ops, impl_->loc(), result, v, impl_->list(coords))));
}
void Builder::write(Id value, Id to, const Ids& coords) {
  impl_->check(tile::WriteOp::create(impl_->ops, impl_->loc(), impl_->value(value), impl_->value(to), impl_->list(coords)));
}
Id Builder::extent(Id tensor, int axis) {
  auto& o = impl_->ops;
  return impl_->add(impl_->checked(tile::ExtentOp::create(o, impl_->loc(), o.getI32Type(), impl_->value(tensor), o.getI32IntegerAttr(axis))));
}
Id Builder::is_present(Id tensor) {
  return impl_->add(tile::IsPresentOp::create(impl_->ops, impl_->loc(), impl_->ops.getI1Type(), impl_->value(tensor)));
}

void Builder::gemm(Id acc, Id a, bool trans_a, Id b, bool trans_b, bool zero, Id accumulate) {
  impl_->in_role("a product");
  auto& o = impl_->ops;
  Value when = accumulate < 0 ? Value() : impl_->value(accumulate);
  impl_->check(tile::GemmOp::create(o, impl_->loc(), impl_->value(acc), impl_->value(a), impl_->value(b), when, flag(o, trans_a),
                                    flag(o, trans_b), flag(o, zero)));
}
Id Builder::batch() {
  impl_->in_role("batch");
  return impl_->add(tile::BatchOp::create(impl_->ops, impl_->loc(), tile::BatchType::get(&impl_->context)));
}
void Builder::settle(Id batch) { tile::SettleOp::create(impl_->ops, impl_->loc(), impl_->value(batch)); }
void Builder::settle_pending(int pending) {
  impl_->in_role("settle_pending");
  tile::SettlePendingOp::create(impl_->ops, impl_->loc(), impl_->ops.getI32IntegerAttr(pending));
}
void Builder::mma(Id acc, Id a, Id b) {
  impl_->check(tile::MmaOp::create(impl_->ops, impl_->loc(), impl_->value(acc), impl_->value(a), impl_->value(b)));
}

void Builder::map(const Ids& inputs, const Ids& outputs, const std::function<Ids(Id, Id, const Ids&)>& body) {
  impl_->in_role("an elementwise map");
  auto& o = impl_->ops;
  auto map = tile::MapOp::create(o, impl_->loc(), impl_->list(inputs), impl_->list(outputs));
  Block& block = map.getBody().emplaceBlock();
  auto index = o.getI32Type();
  Id row = impl_->add(block.addArgument(index, impl_->loc())), col = impl_->add(block.addArgument(index, impl_->loc()));
  Ids values;
  for (size_t i = 0; i < inputs.size(); ++i) values.push_back(impl_->add(block.addArgument(o.getF32Type(), impl_->loc())));
  {
    OpBuilder::InsertionGuard guard(o);
    o.setInsertionPointToEnd(&block);
    Ids results = body(row, col, values);
    tile::YieldOp::create(o, impl_->loc(), impl_->list(results));
  }
  impl_->check(map);
}
void Builder::wrong_map(std::size_t taken, std::size_t given) {
  impl_->fail("the map's function takes " + std::to_string(taken) + " values beside row and column, given " + std::to_string(given) +
              " fragments; expected one value for each fragment");
}
void Builder::fill(Id frag, Id value) { tile::FillOp::create(impl_->ops, impl_->loc(), impl_->value(value), impl_->value(frag)); }
void Builder::reduce(Id input, Id output, std::string_view kind) {
  impl_->check(tile::ReduceOp::create(impl_->ops, impl_->loc(), impl_->value(input), impl_->value(output), impl_->text(kind)));
}

}  // namespace tilewright::dsl
