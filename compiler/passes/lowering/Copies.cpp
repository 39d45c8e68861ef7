// TMA, and moves between shared memory and fragments.
#include "compiler/passes/lowering/Lowering.h"

using namespace mlir;

namespace tilewright::lowering {

Value Lowering::map_parameter(Value tensor, ArrayRef<std::int64_t> box, bool ragged, bool swizzled) {
  int argument = static_cast<int>(cast<BlockArgument>(tensor).getArgNumber());
  for (auto& p : parameters_)
    if (p.kind == Parameter::tensor_map && p.argument == argument && p.ragged == ragged && p.swizzled == swizzled &&
        ArrayRef<std::int64_t>(p.box) == box)
      return p.value;
  failed_ = kernel_;
  return {};
}

/// Coordinates innermost first; columns start at `panel_start`. Ragged rows use two more dimensions whose strides cancel modulo
/// 2^64, so that the hardware's bound on the row dimension ends the sequence: (2^30 - count + row, first + count, 2^30).
SmallVector<Value> Lowering::tma_coords(ValueRange coords, ValueRange ragged, int panel_start) {
  constexpr std::int64_t billion = std::int64_t{1} << 30;
  SmallVector<Value> out;
  for (size_t axis = coords.size(); axis-- > 0;) {
    Value c = mapped(coords[axis]);
    if (axis + 1 == coords.size()) c = add(c, panel_start);
    if (axis == 0 && !ragged.empty()) {
      Value first = mapped(ragged[0]), count = mapped(ragged[1]);
      out.push_back(add(arith::SubIOp::create(b_, loc_, c, count), billion));
      out.push_back(add(first, count));
      out.push_back(i32(billion));
    } else {
      out.push_back(c);
    }
  }
  return out;
}

namespace {
/// A swizzled tile is copied one 128-byte column panel at a time.
struct Panels {
  int count, columns;
  std::int64_t bytes;
};
Panels panels_of(const SharedPlace& p) {
  bool swizzled = p.layout.kind == layout::SharedLayout::swizzle128;
  int columns = swizzled ? layout::kPanelBytes / p.layout.element_bytes : p.cols;
  return {(p.cols + columns - 1) / columns, columns, swizzled ? p.layout.panel_bytes() : 0};
}
}  // namespace

void Lowering::emit_tma_load(tile::TmaLoadOp op) {
  SharedPlace p = place_of(op.getTile());
  bool swizzled = p.layout.kind == layout::SharedLayout::swizzle128;
  Value map = map_parameter(op.getTensor(), op.getBox(), !op.getRagged().empty(), swizzled);
  const RingPlan& plan = rings_[op.getRing().getAsOpaquePointer()];
  Value full = barrier_address(plan, mapped(op.getStage()), true);
  Panels panels = panels_of(p);
  by_leader([&] {
    for (int i = 0; i < panels.count; ++i) {
      Value to = add(tile_start(p), i * panels.bytes);
      auto coords = tma_coords(op.getCoords(), op.getRagged(), i * panels.columns);
      if (op.getMulticast()) hopper::TmaMulticastOp::create(b_, loc_, map, to, full, coords, (1 << launch_.cluster_size()) - 1);
      else hopper::TmaLoadOp::create(b_, loc_, map, to, full, coords);
    }
  });
}

void Lowering::emit_tma_store(tile::TmaStoreOp op) {
  SharedPlace p = place_of(op.getTile());
  bool swizzled = p.layout.kind == layout::SharedLayout::swizzle128;
  Value map = map_parameter(op.getTensor(), op.getBox(), !op.getRagged().empty(), swizzled);
  OpBuilder::InsertionGuard guard(b_);
  if (op.getIndexed()) {
    Value some = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::sge, mapped(op.getCoords()[0]), i32(0));
    auto branch = scf::IfOp::create(b_, loc_, some, false);
    b_.setInsertionPoint(branch.thenBlock()->getTerminator());
  }
  Panels panels = panels_of(p);
  for (int i = 0; i < panels.count; ++i) {
    Value from = add(tile_start(p), i * panels.bytes);
    auto coords = tma_coords(op.getCoords(), op.getRagged(), i * panels.columns);
    if (op.getReduce()) hopper::TmaReduceAddOp::create(b_, loc_, map, from, coords);
    else hopper::TmaStoreOp::create(b_, loc_, map, from, coords);
  }
}

/// f32 tiles and vectors by ordinary loads, two neighbouring columns at a time where they are neighbours in memory.
void Lowering::emit_vector_load(const SharedPlace& from, const Fragment& to, bool transposed) {
  bool pairs = !transposed && to.kind != Fragment::col_vector && from.pairs();
  auto pair = VectorType::get({2}, to.element);
  Value lane_address;
  for (int i = 0; i < to.elements(); i += pairs ? 2 : 1) {
    Value pointer = element_pointer(from, to, i, transposed, lane_address);
    Value v = LLVM::LoadOp::create(b_, loc_, pairs ? Type(pair) : to.element, pointer, pairs ? 8 : 4);
    if (!pairs) {
      write_slot(to.slots[i], v);
      continue;
    }
    for (int e = 0; e < 2; ++e) write_slot(to.slots[i + e], LLVM::ExtractElementOp::create(b_, loc_, v, i32(e)));
  }
}

void Lowering::emit_vector_store(const Fragment& from, const SharedPlace& to, bool transposed) {
  bool pairs = !transposed && from.kind != Fragment::col_vector && to.pairs();
  Value lane_address;
  for (int i = 0; i < from.elements(); i += pairs ? 2 : 1) {
    Value pointer = element_pointer(to, from, i, transposed, lane_address);
    Value v = read_slot(from.slots[i], from.element);
    if (pairs) {
      Value both = LLVM::UndefOp::create(b_, loc_, VectorType::get({2}, from.element));
      both = LLVM::InsertElementOp::create(b_, loc_, both, v, i32(0));
      v = LLVM::InsertElementOp::create(b_, loc_, both, read_slot(from.slots[i + 1], from.element), i32(1));
    }
    LLVM::StoreOp::create(b_, loc_, v, pointer, pairs ? 8 : 4);
  }
}

/// Vectors of 16-bit elements, one element at a time; their registers hold pairs.
void Lowering::emit_half_vector(const SharedPlace& p, const Fragment& f, bool transposed, bool store) {
  Type i16 = b_.getI16Type(), i32_type = b_.getI32Type();
  Value lane_address;
  for (int i = 0; i < f.elements(); i += 2) {
    Value pair = store ? read_slot(f.slots[i / 2], i32_type) : Value();
    for (int e = 0; e < 2 && i + e < f.elements(); ++e) {
      Value pointer = element_pointer(p, f, i + e, transposed, lane_address);
      if (store) {
        LLVM::StoreOp::create(b_, loc_, arith::TruncIOp::create(b_, loc_, i16, e ? shr(pair, 16) : pair), pointer);
        continue;
      }
      Value v = arith::ExtUIOp::create(b_, loc_, i32_type, LLVM::LoadOp::create(b_, loc_, i16, pointer));
      pair = e ? Value(arith::OrIOp::create(b_, loc_, pair, shl(v, 16))) : v;
    }
    if (!store) write_slot(f.slots[i / 2], pair);
  }
}

void Lowering::emit_load(tile::LoadOp op) {
  touch(op.getFrag());
  load_fragment(place_of(op.getTile()), fragments_[op.getFrag().getAsOpaquePointer()], op.getTransposed());
}

/// 16 columns, four 8x8 matrices, at a time; two matrices for a last block of 8 columns.
void Lowering::load_fragment(const SharedPlace& p, const Fragment& f, bool transposed) {
  if (!f.half()) return emit_vector_load(p, f, transposed);
  if (f.kind != Fragment::matrix) return emit_half_vector(p, f, transposed, false);
  Value lane_address = matrix_address(p, 0, transposed, f.warp_scope);
  for (int c0 = 0; c0 < f.cols; c0 += 16) {
    int count = std::min(4, (f.cols - c0) / 4);
    auto regs = hopper::LdMatrixOp::create(b_, loc_, matrix_block(p, lane_address, c0, transposed, f.warp_scope), count, transposed,
                                            matrix_offset(p, c0, transposed));
    for (int r = 0; r < count; ++r) write_slot(f.slots[c0 / 4 + r], regs.getResult()[r]);
  }
}

void Lowering::emit_store(tile::StoreOp op) {
  SharedPlace p = place_of(op.getTile());
  const Fragment& f = fragments_[op.getFrag().getAsOpaquePointer()];
  bool transposed = op.getTransposed();
  touch(op.getFrag());
  if (!f.half()) return emit_vector_store(f, p, transposed);
  if (f.kind != Fragment::matrix) return emit_half_vector(p, f, transposed, true);
  Value lane_address = matrix_address(p, 0, transposed, f.warp_scope);
  for (int c0 = 0; c0 < f.cols; c0 += 16) {
    int count = std::min(4, (f.cols - c0) / 4);
    SmallVector<Value> regs;
    for (int r = 0; r < count; ++r) regs.push_back(read_slot(f.slots[c0 / 4 + r], b_.getI32Type()));
    hopper::StMatrixOp::create(b_, loc_, matrix_block(p, lane_address, c0, transposed, f.warp_scope), regs, transposed,
                               matrix_offset(p, c0, transposed));
  }
}

}  // namespace tilewright::lowering
