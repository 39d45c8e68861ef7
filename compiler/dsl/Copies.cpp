// Tiles, and moves between tensors, tiles and fragments.
#include "compiler/dsl/Operations.h"

using namespace mlir;

namespace tilewright::dsl {

namespace {

void stage_of(Recording& r, Arguments& a) {
  const Value tile = a.value();
  r.typed<tile::SharedType>(tile, "a tile");
  a.result(r.make<tile::AtOp>(tile.getType(), tile, a.value()));
}

void view(Recording& r, Arguments& a) {
  const Value tile = a.value(), row = a.value(), col = a.value();
  const int64_t rows = a.integer(), cols = a.integer();
  auto type = tile::SharedType::get(&r.context, {rows, cols}, r.typed<tile::SharedType>(tile, "a tile").getElementType());
  a.result(r.checked(r.make<tile::ViewOp>(type, tile, row, col)));
}

void tma_load(Recording& r, Arguments& a) {
  r.in_role("tma_load");
  const Value tile = a.value(), ring = a.value(), stage = a.value(), tensor = a.value();
  const auto coords = a.list(), ragged = a.list();
  r.check(r.make<tile::TmaLoadOp>(tensor, coords, ragged, tile, ring, stage, a.integers()));
}

void tma_store(Recording& r, Arguments& a) {
  r.in_role("tma_store");
  const Value tile = a.value(), tensor = a.value();
  const auto coords = a.list(), ragged = a.list();
  r.check(r.make<tile::TmaStoreOp>(tile, tensor, coords, ragged, a.integers(), StringAttr()));
}

void store_wait(Recording& r, Arguments& a) {
  r.in_role("store_wait");
  const auto pending = r.i32(a.integer());
  r.make<tile::StoreWaitOp>(pending, r.flag(a.flag()));
}

/// load and store: (from, to) and whether the tile holds the transpose.
template <class Op>
void move(Recording& r, Arguments& a) {
  const Value from = a.value(), to = a.value();
  r.check(r.make<Op>(from, to, r.flag(a.flag())));
}

void load_global(Recording& r, Arguments& a) {
  const Value tensor = a.value(), frag = a.value();
  const auto row_axis = r.i32(a.integer()), col_axis = r.i32(a.integer());
  r.check(r.make<tile::LoadGlobalOp>(tensor, a.list(), frag, row_axis, col_axis));
}

void store_global(Recording& r, Arguments& a) {
  const Value frag = a.value(), tensor = a.value();
  const auto row_axis = r.i32(a.integer()), col_axis = r.i32(a.integer());
  r.check(r.make<tile::StoreGlobalOp>(frag, tensor, a.list(), row_axis, col_axis));
}

Type element_of(Recording& r, Value tile_or_tensor) {
  if (auto shared = dyn_cast<tile::SharedType>(tile_or_tensor.getType())) return shared.getElementType();
  return r.typed<tile::GlobalType>(tile_or_tensor, "a tensor or a tile").getElementType();
}

void read(Recording& r, Arguments& a) {
  const Value from = a.value();
  const Type element = element_of(r, from);
  a.result(r.checked(r.make<tile::ReadOp>(isa<FloatType>(element) ? r.ops.getF32Type() : element, from, a.list())));
}

void write(Recording& r, Arguments& a) {
  const Value value = a.value(), to = a.value();
  r.check(r.make<tile::WriteOp>(value, to, a.list()));
}

void extent(Recording& r, Arguments& a) {
  const Value tensor = a.value();
  a.result(r.checked(r.make<tile::ExtentOp>(r.ops.getI32Type(), tensor, r.i32(a.integer()))));
}

void is_present(Recording& r, Arguments& a) { a.result(r.make<tile::IsPresentOp>(r.ops.getI1Type(), a.value())); }

}  // namespace

void add_copies(Handlers& h) {
  h["stage_of"] = stage_of;
  h["view"] = view;
  h["tma_load"] = tma_load;
  h["tma_store"] = tma_store;
  h["store_wait"] = store_wait;
  h["load"] = move<tile::LoadOp>;
  h["store"] = move<tile::StoreOp>;
  h["load_global"] = load_global;
  h["store_global"] = store_global;
  h["read"] = read;
  h["write"] = write;
  h["extent"] = extent;
  h["is_present"] = is_present;
}

}  // namespace tilewright::dsl
