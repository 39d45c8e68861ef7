// Fragments as one slot for each register, and which element a register holds.
#include "compiler/passes/lowering/Lowering.h"

using namespace mlir;

namespace tilewright::lowering {

Value Lowering::i32(std::int64_t value) { return arith::ConstantOp::create(b_, loc_, b_.getI32IntegerAttr(static_cast<std::int32_t>(value))); }
Value Lowering::f32(float value) { return arith::ConstantOp::create(b_, loc_, b_.getF32FloatAttr(value)); }
Value Lowering::add(Value a, Value b) { return arith::AddIOp::create(b_, loc_, a, b); }
Value Lowering::add(Value a, std::int64_t b) { return b ? Value(arith::AddIOp::create(b_, loc_, a, i32(b))) : a; }
Value Lowering::mul(Value a, std::int64_t b) { return arith::MulIOp::create(b_, loc_, a, i32(b)); }
Value Lowering::band(Value a, std::int64_t b) { return arith::AndIOp::create(b_, loc_, a, i32(b)); }
Value Lowering::shr(Value a, std::int64_t b) { return arith::ShRUIOp::create(b_, loc_, a, i32(b)); }
Value Lowering::shl(Value a, std::int64_t b) { return arith::ShLIOp::create(b_, loc_, a, i32(b)); }
Value Lowering::bxor(Value a, Value b) { return arith::XOrIOp::create(b_, loc_, a, b); }
Value Lowering::equal(Value a, std::int64_t b) { return arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq, a, i32(b)); }

/// One register: an alloca in the entry block, so that LLVM's promotion finds it.
Value Lowering::slot(Type type) {
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(&func_.getBody().front());
  Value one = arith::ConstantOp::create(b_, loc_, b_.getI32IntegerAttr(1));
  return LLVM::AllocaOp::create(b_, loc_, LLVM::LLVMPointerType::get(b_.getContext()), type, one, 0);
}
Value Lowering::read_slot(Value slot, Type type) { return LLVM::LoadOp::create(b_, loc_, type, slot); }
void Lowering::write_slot(Value slot, Value value) { LLVM::StoreOp::create(b_, loc_, value, slot); }

Fragment Lowering::new_fragment(int rows, int cols, Type element) {
  Fragment f;
  f.rows = rows, f.cols = cols, f.element = element;
  f.kind = f.rows == 1 ? Fragment::row_vector : f.cols == 1 ? Fragment::col_vector : Fragment::matrix;
  f.warp_scope = f.rows == 16;
  int registers = f.half() ? (f.elements() + 1) / 2 : f.elements();
  for (int i = 0; i < registers; ++i) f.slots.push_back(slot(f.held(b_)));
  f.number = static_cast<int>(fragments_.size());
  return f;
}
void Lowering::declare_fragment(tile::FragOp op) {
  auto type = op.getFrag().getType();
  fragments_[op.getFrag().getAsOpaquePointer()] =
      new_fragment(static_cast<int>(type.getShape()[0]), static_cast<int>(type.getShape()[1]), type.getElementType());
}

/// A view has the registers of its columns.
void Lowering::declare_view(tile::FragViewOp op) {
  Fragment view = fragments_[op.getFrag().getAsOpaquePointer()];
  view.number = static_cast<int>(fragments_.size());
  view.cols = static_cast<int>(op.getResult().getType().getShape()[1]);
  view.slots = slots_of(op.getResult());
  fragments_[op.getResult().getAsOpaquePointer()] = std::move(view);
}

/// Of a fragment, or of a view that may be declared further on; none of a fragment that is.
std::vector<Value> Lowering::slots_of(Value frag) {
  if (auto it = fragments_.find(frag.getAsOpaquePointer()); it != fragments_.end()) return it->second.slots;
  auto view = frag.getDefiningOp<tile::FragViewOp>();
  if (!view) return {};
  std::vector<Value> from = slots_of(view.getFrag());
  auto columns = [](Value v) { return cast<tile::FragType>(v.getType()).getShape()[1]; };
  size_t per_block = from.size() / (columns(view.getFrag()) / 8), first = view.getColumn() / 8 * per_block;
  auto begin = from.begin() + std::min(first, from.size());
  return {begin, begin + columns(frag) / 8 * per_block};
}

/// Ordinary code has used the fragment's registers.
void Lowering::touch(void* frag) {
  for (Value s : fragments_[frag].slots) touched_.insert(s.getAsOpaquePointer());
}

SmallVector<Value> Lowering::read_registers(const Fragment& f) {
  SmallVector<Value> out;
  for (Value s : f.slots) out.push_back(read_slot(s, f.held(b_)));
  return out;
}
void Lowering::write_registers(const Fragment& f, ValueRange values) {
  for (auto [s, v] : llvm::zip(f.slots, values)) write_slot(s, v);
}

/// A 16-bit half of a packed register, widened to f32.
Value Lowering::unpack(Value packed, bool high, Type type) {
  if (type.isBF16()) {
    Value bits = high ? band(packed, 0xffff0000u) : shl(packed, 16);
    return arith::BitcastOp::create(b_, loc_, b_.getF32Type(), bits);
  }
  Value half = arith::TruncIOp::create(b_, loc_, b_.getI16Type(), high ? shr(packed, 16) : packed);
  Value as_float = arith::BitcastOp::create(b_, loc_, b_.getF16Type(), half);
  return arith::ExtFOp::create(b_, loc_, b_.getF32Type(), as_float);
}
Value Lowering::pack(Value low, Value high, Type type) {
  if (type.isBF16()) return hopper::PackBF16Op::create(b_, loc_, low, high);
  return hopper::PackF16Op::create(b_, loc_, low, high);
}

/// Element `index` as f32; `cache` keeps registers that were read.
Value Lowering::element(const Fragment& f, int index, SmallVector<Value>& cache) {
  int reg = f.half() ? index / 2 : index;
  if (cache.empty()) cache.resize(f.slots.size());
  if (!cache[reg]) cache[reg] = read_slot(f.slots[reg], f.held(b_));
  return f.half() ? unpack(cache[reg], index & 1, f.element) : cache[reg];
}

/// The element of a (broadcast) fragment that matches element `matrix_index` of a matrix.
int Lowering::index_in(const Fragment& f, int matrix_index) const {
  switch (f.kind) {
    case Fragment::matrix: return matrix_index;
    case Fragment::row_vector: return 2 * (matrix_index / 4) + (matrix_index & 1);
    case Fragment::col_vector: return (matrix_index >> 1) & 1;
  }
  return 0;
}

Value Lowering::row_base(bool warp_scope) {
  Value lane_row = shr(lane_, 2);
  return warp_scope ? lane_row : add(shl(role_warp_, 4), lane_row);
}
/// The part of an element's place that does not depend on the thread.
std::pair<int, int> Lowering::constant_place(const Fragment& f, int index) const {
  switch (f.kind) {
    case Fragment::matrix: return {layout::row_of_index(index), layout::col_of_index(index)};
    case Fragment::row_vector: return {0, 8 * (index / 2) + (index & 1)};
    case Fragment::col_vector: return {8 * index, 0};
  }
  return {};
}
Value Lowering::row_index(const Fragment& f, int index) {
  if (f.kind == Fragment::row_vector) return i32(0);
  return add(row_base(f.warp_scope), constant_place(f, index).first);
}
Value Lowering::col_index(const Fragment& f, int index) {
  if (f.kind == Fragment::col_vector) return i32(0);
  return add(shl(band(lane_, 3), 1), constant_place(f, index).second);
}

}  // namespace tilewright::lowering
