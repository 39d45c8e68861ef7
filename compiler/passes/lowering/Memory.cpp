// Addresses in shared and global memory, and single elements.
#include <numeric>

#include "compiler/passes/lowering/Lowering.h"

using namespace mlir;

namespace tilewright::lowering {

bool known_multiple(Value v, std::int64_t of) {
  APInt constant;
  if (matchPattern(v, m_ConstantInt(&constant))) return constant.getSExtValue() % of == 0;
  if (auto argument = dyn_cast<BlockArgument>(v)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && v == loop.getInductionVar() && known_multiple(loop.getLowerBound(), of) && known_multiple(loop.getStep(), of);
  }
  Operation* op = v.getDefiningOp();
  const auto operand = [&](unsigned i) { return known_multiple(op->getOperand(i), of); };
  if (isa<arith::MulIOp, arith::AndIOp>(op)) return operand(0) || operand(1);
  if (isa<arith::AddIOp, arith::SubIOp>(op)) return operand(0) && operand(1);
  if (isa<arith::SelectOp>(op)) return operand(1) && operand(2);
  if (isa<arith::ShLIOp>(op)) return operand(0) || (matchPattern(op->getOperand(1), m_ConstantInt(&constant)) && constant.ult(31) && (std::int64_t{1} << constant.getZExtValue()) % of == 0);
  return false;
}

bool SharedPlace::pairs() const {
  if (swizzled()) return begins_with_panel();
  return layout.row_bytes() % (2 * layout.element_bytes) == 0 && const_col % 2 == 0 && (!col || known_multiple(col, 2));
}

SharedPlace Lowering::place_of(Value tile) {
  if (auto view = tile.getDefiningOp<tile::ViewOp>()) {
    SharedPlace p = place_of(view.getTile());
    auto shape = view.getResult().getType().getShape();
    auto shift = [&](Value by, Value& dynamic, int& constant) {
      APInt value;
      if (matchPattern(by, m_ConstantInt(&value))) {
        constant += static_cast<int>(value.getSExtValue());
      } else if (Value v = map_.lookupOrNull(by)) {
        dynamic = dynamic ? add(dynamic, v) : v;
      }
    };
    shift(view.getRow(), p.row, p.const_row);
    shift(view.getColumn(), p.col, p.const_col);
    p.rows = static_cast<int>(shape[0]), p.cols = static_cast<int>(shape[1]);
    return p;
  }
  auto at = tile.getDefiningOp<tile::AtOp>();
  auto root = (at ? at.getTile() : tile).getDefiningOp<tile::SharedOp>();
  auto type = root.getTile().getType();
  SharedPlace p;
  p.rows = static_cast<int>(type.getShape()[0]), p.cols = static_cast<int>(type.getShape()[1]);
  p.element = type.getElementType();
  p.layout = {p.rows, p.cols, static_cast<int>(tile::element_bytes(p.element)),
              root.getLayout() == "swizzle128" ? layout::SharedLayout::swizzle128 : layout::SharedLayout::row_major,
              static_cast<int>(root.getPad())};
  p.offset = static_cast<int>(root.getOffset().value_or(0));
  p.stage_base = shared_base_;
  if (at && shared_base_) {
    auto stride = root->getAttrOfType<IntegerAttr>("stage_stride");
    Value stage = map_.lookupOrNull(at.getStage());
    if (stage && stride) p.stage_base = add(shared_base_, mul(stage, stride.getInt()));
  }
  return p;
}

Value Lowering::shared_pointer(Value address, int offset) {
  auto type = LLVM::LLVMPointerType::get(b_.getContext(), 3);
  Value pointer = LLVM::IntToPtrOp::create(b_, loc_, type, address);
  if (!offset) return pointer;
  return LLVM::GEPOp::create(b_, loc_, type, b_.getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{offset});
}

/// Address of the view's first byte, where whole rows (of a panel) begin: what TMA takes.
Value Lowering::tile_start(const SharedPlace& p) {
  int panel = static_cast<int>(p.const_col * p.layout.element_bytes / layout::kPanelBytes * p.layout.panel_bytes());
  bool swizzled = p.layout.kind == layout::SharedLayout::swizzle128;
  Value start = add(p.stage_base, p.offset + p.const_row * p.layout.row_bytes() + (swizzled ? panel : 0));
  return p.row ? add(start, mul(p.row, p.layout.row_bytes())) : start;
}

/// Address of element (row, col) of the view: layout::SharedLayout::byte_of in run-time arithmetic.
Value Lowering::shared_address(const SharedPlace& p, Value row, Value col) {
  auto shifted = [&](Value v, Value dynamic, int constant) { return add(dynamic ? add(v, dynamic) : v, constant); };
  row = shifted(row, p.row, p.const_row);
  col = shifted(col, p.col, p.const_col);
  Value start = add(p.stage_base, p.offset);
  Value byte = mul(col, p.layout.element_bytes);
  if (p.layout.kind == layout::SharedLayout::row_major) return add(add(start, mul(row, p.layout.row_bytes())), byte);
  Value panel = shr(byte, 7), chunk = bxor(band(shr(byte, 4), 7), band(row, 7));
  Value inside = add(add(shl(row, 7), shl(chunk, 4)), band(byte, 15));
  return add(add(start, mul(panel, p.layout.panel_bytes())), inside);
}

/// Pointer to one element at tile coordinates. In a row-major tile the constant part of the place becomes an offset of the
/// instruction; with the alignment that follows from it, LLVM joins reads of neighbours into one wide load.
Value Lowering::element_pointer(const SharedPlace& p, ValueRange coords, unsigned& alignment) {
  if (p.layout.kind != layout::SharedLayout::row_major) return shared_pointer(shared_address(p, mapped(coords[0]), mapped(coords[1])));
  constexpr int arena = 128;  // alignment of every tile
  Value base = add(p.stage_base, p.offset);
  int offset = 0, aligned = arena;
  auto step = [&](Value coord, Value view, int view_constant, int bytes) {
    APInt value;
    offset += view_constant * bytes;
    if (view) base = add(base, mul(view, bytes)), aligned = std::gcd(aligned, bytes);
    if (matchPattern(coord, m_ConstantInt(&value))) {
      offset += static_cast<int>(value.getSExtValue()) * bytes;
    } else {
      base = add(base, mul(mapped(coord), bytes)), aligned = std::gcd(aligned, bytes);
    }
  };
  step(coords[0], p.row, p.const_row, p.layout.row_bytes());
  step(coords[1], p.col, p.const_col, p.layout.element_bytes);
  alignment = static_cast<unsigned>(std::gcd(aligned, offset ? offset : arena));
  return shared_pointer(base, offset);
}

/// Lane part of an ldmatrix/stmatrix address: layout::matrix_lane_address of the fragment's first 16 columns. The blocks that
/// follow differ by a constant (matrix_offset) and, inside a swizzled row, by a constant exclusive-or (matrix_block).
Value Lowering::matrix_address(const SharedPlace& p, int c0, bool transposed, bool warp_scope) {
  Value low = band(lane_, 7), bit3 = band(shr(lane_, 3), 1), bit4 = shr(lane_, 4);
  Value warp_row = warp_scope ? i32(0) : shl(role_warp_, 4);
  Value row = transposed ? add(low, shl(bit4, 3)) : add(warp_row, add(low, shl(bit3, 3)));
  Value col = transposed ? add(warp_row, shl(bit3, 3)) : add(shl(bit4, 3), c0);
  return shared_address(p, row, col);
}
/// In a view that begins with a panel the chunk of columns c0.. is an even number c of it; (c | bit4) ^ row = c ^ (bit4 ^ row), so
/// one xor moves there. Elsewhere the address is computed anew.
Value Lowering::matrix_block(const SharedPlace& p, Value lane_address, int c0, bool transposed, bool warp_scope) {
  if (transposed || c0 == 0 || p.layout.kind != layout::SharedLayout::swizzle128) return lane_address;
  if (!p.begins_with_panel()) return matrix_address(p, c0, transposed, warp_scope);
  int within = 2 * c0 % layout::kPanelBytes;
  return within ? bxor(lane_address, i32(within)) : lane_address;
}
int Lowering::matrix_offset(const SharedPlace& p, int c0, bool transposed) {
  if (transposed) return c0 * p.layout.row_bytes();
  if (p.layout.kind == layout::SharedLayout::row_major) return 2 * c0;
  return p.begins_with_panel() ? static_cast<int>(2 * c0 / layout::kPanelBytes * p.layout.panel_bytes()) : 0;
}

/// Pointer to the tile's element that matches element `index` of a fragment. In a row-major tile the elements of a lane differ by
/// constants, which become offsets of the instruction; `lane_address` keeps the lane's part between calls. So they do in a
/// swizzled tile of f32, but for the chunk of 16 bytes: 8 columns are two chunks, an even one and the next, so one xor moves there.
Value Lowering::element_pointer(const SharedPlace& p, const Fragment& f, int index, bool transposed, Value& lane_address) {
  if (p.swizzled() && !transposed && p.layout.element_bytes == 4 && p.begins_with_panel() && f.kind == Fragment::matrix) {
    if (!lane_address) lane_address = shared_address(p, row_index(f, 0), col_index(f, 0));
    auto [row, col] = constant_place(f, index);
    int byte = 4 * (col - col % 8), within = byte % layout::kPanelBytes;
    Value address = within ? bxor(lane_address, i32(within)) : lane_address;
    return shared_pointer(address, static_cast<int>(row * layout::kPanelBytes + byte / layout::kPanelBytes * p.layout.panel_bytes() + 4 * (col % 8)));
  }
  if (p.swizzled()) {
    Value r = row_index(f, index), c = col_index(f, index);
    return shared_pointer(transposed ? shared_address(p, c, r) : shared_address(p, r, c));
  }
  if (!lane_address) {
    Value r = row_index(f, 0), c = col_index(f, 0);
    lane_address = transposed ? shared_address(p, c, r) : shared_address(p, r, c);
  }
  auto [row, col] = constant_place(f, index);
  if (transposed) std::swap(row, col);
  return shared_pointer(lane_address, row * p.layout.row_bytes() + col * p.layout.element_bytes);
}

FailureOr<Value> Lowering::extent_of(Value tensor, unsigned axis) {
  auto arg = cast<BlockArgument>(tensor);
  auto type = cast<tile::GlobalType>(tensor.getType());
  if (axis >= type.getShape().size()) {
    emitError(loc_) << "axis " << axis << " of a tensor of rank " << type.getShape().size();
    return failure();
  }
  if (!ShapedType::isDynamic(type.getShape()[axis])) return i32(type.getShape()[axis]);
  auto description = cast<DictionaryAttr>((*kernel_.getShapes())[arg.getArgNumber()]);
  StringRef text = cast<StringAttr>(cast<ArrayAttr>(description.get("shape"))[axis]).getValue();
  for (auto [i, name] : llvm::enumerate(kernel_.getParamNames()))
    if (("\"" + cast<StringAttr>(name).getValue() + "\"").str() == text) return mapped(kernel_.getBody().getArgument(i));
  emitError(loc_) << "extent " << text << " of axis " << axis << " is an expression; only a dim's own extent is known inside the kernel";
  return failure();
}

/// Product of the extents inside `axis`, -1 when one of them is known only at launch.
std::int64_t Lowering::static_stride(Value tensor, unsigned axis) {
  auto shape = cast<tile::GlobalType>(tensor.getType()).getShape();
  std::int64_t stride = 1;
  for (size_t i = axis + 1; i < shape.size(); ++i) {
    if (ShapedType::isDynamic(shape[i])) return -1;
    stride *= shape[i];
  }
  return stride;
}

/// Pointer to the element at the emitted `coords` (to the first one without), offsets in 64 bits.
Value Lowering::pointer_at(Value tensor, ValueRange coords) {
  auto arg = cast<BlockArgument>(tensor);
  Value base;
  for (auto& p : parameters_)
    if (p.kind == Parameter::pointer && p.argument == static_cast<int>(arg.getArgNumber())) base = p.value;
  if (coords.empty()) return base;
  auto i64 = b_.getI64Type();
  Value offset;
  for (auto [axis, c] : llvm::enumerate(coords)) {
    Value term = arith::ExtSIOp::create(b_, loc_, i64, c);
    std::int64_t stride = static_stride(tensor, axis);
    if (stride >= 0) {
      if (stride != 1) term = arith::MulIOp::create(b_, loc_, term, arith::ConstantOp::create(b_, loc_, b_.getI64IntegerAttr(stride)));
    } else {
      for (size_t inner = axis + 1; inner < coords.size(); ++inner) {
        auto extent = extent_of(tensor, inner);
        if (failed(extent)) { failed_ = kernel_; return base; }
        term = arith::MulIOp::create(b_, loc_, term, arith::ExtSIOp::create(b_, loc_, i64, *extent));
      }
    }
    offset = offset ? Value(arith::AddIOp::create(b_, loc_, offset, term)) : term;
  }
  auto pointer = LLVM::LLVMPointerType::get(b_.getContext(), 1);
  return LLVM::GEPOp::create(b_, loc_, pointer, cast<tile::GlobalType>(tensor.getType()).getElementType(), base, ValueRange{offset});
}

/// Loads one element; 16-bit floats widen to f32.
Value Lowering::load_element(Value pointer, Type element, unsigned alignment) {
  if (element.isBF16()) {
    Value bits = LLVM::LoadOp::create(b_, loc_, b_.getI16Type(), pointer);
    Value wide = shl(arith::ExtUIOp::create(b_, loc_, b_.getI32Type(), bits), 16);
    return arith::BitcastOp::create(b_, loc_, b_.getF32Type(), wide);
  }
  Value v = LLVM::LoadOp::create(b_, loc_, element, pointer, alignment);
  return element.isF16() ? Value(arith::ExtFOp::create(b_, loc_, b_.getF32Type(), v)) : v;
}
void Lowering::store_element(Value pointer, Type element, Value value) {
  if (element.getIntOrFloatBitWidth() == 16)
    value = arith::TruncIOp::create(b_, loc_, b_.getI16Type(), pack(value, value, element));
  LLVM::StoreOp::create(b_, loc_, value, pointer);
}

void Lowering::emit_read(tile::ReadOp op) {
  auto shared = dyn_cast<tile::SharedType>(op.getFrom().getType());
  Type element = shared ? shared.getElementType() : cast<tile::GlobalType>(op.getFrom().getType()).getElementType();
  unsigned alignment = tile::element_bytes(element);
  Value pointer = shared ? element_pointer(place_of(op.getFrom()), op.getCoords(), alignment) : global_pointer(op.getFrom(), op.getCoords());
  map_.map(op.getValue(), load_element(pointer, element, alignment));
}
void Lowering::emit_write(tile::WriteOp op) {
  auto shared = dyn_cast<tile::SharedType>(op.getTo().getType());
  Type element = shared ? shared.getElementType() : cast<tile::GlobalType>(op.getTo().getType()).getElementType();
  unsigned alignment = tile::element_bytes(element);
  Value pointer = shared ? element_pointer(place_of(op.getTo()), op.getCoords(), alignment) : global_pointer(op.getTo(), op.getCoords());
  store_element(pointer, element, mapped(op.getValue()));
}

/// Fragment to or from global memory: neighbouring columns move together where they are neighbours in memory.
void Lowering::emit_global(Value tensor, ValueRange coords, Value frag, int row_axis, int col_axis, bool store) {
  const Fragment& f = fragments_[frag.getAsOpaquePointer()];
  touch(frag);
  std::int64_t row_stride = static_stride(tensor, row_axis), col_stride = static_stride(tensor, col_axis);
  Type element = f.element;
  auto i64 = b_.getI64Type();
  auto pointer_type = LLVM::LLVMPointerType::get(b_.getContext(), 1);
  auto scaled = [&](Value v, std::int64_t s) -> Value {
    return arith::MulIOp::create(b_, loc_, arith::ExtUIOp::create(b_, loc_, i64, v), arith::ConstantOp::create(b_, loc_, b_.getI64IntegerAttr(s)));
  };
  Value lane_row = f.kind == Fragment::row_vector ? i32(0) : row_base(f.warp_scope);
  Value lane_col = f.kind == Fragment::col_vector ? i32(0) : shl(band(lane_, 3), 1);
  Value lane_offset = arith::AddIOp::create(b_, loc_, scaled(lane_row, row_stride), scaled(lane_col, col_stride));
  Value base = LLVM::GEPOp::create(b_, loc_, pointer_type, element, global_pointer(tensor, coords), ValueRange{lane_offset});
  auto at = [&](int index) -> Value {
    auto [row, col] = constant_place(f, index);
    std::int64_t constant = row * row_stride + col * col_stride;
    return LLVM::GEPOp::create(b_, loc_, pointer_type, element, base, ArrayRef<LLVM::GEPArg>{static_cast<std::int32_t>(constant)});
  };
  // Pairs of columns are aligned where every other axis has an even stride, and the author's column is even.
  bool pairs = col_stride == 1 && f.kind != Fragment::col_vector && known_multiple(coords[col_axis], 2);
  auto shape = cast<tile::GlobalType>(tensor.getType()).getShape();
  for (int axis = 0; axis < static_cast<int>(coords.size()); ++axis) {
    std::int64_t known = 1;  // a factor of the stride, whatever the extents that are known only at launch
    for (size_t inner = axis + 1; inner < shape.size(); ++inner)
      if (!ShapedType::isDynamic(shape[inner])) known *= shape[inner];
    if (axis != col_axis) pairs &= known % 2 == 0;
  }
  Type i16 = b_.getI16Type(), word = b_.getI32Type();
  for (int i = 0; i < f.elements(); i += 2) {
    if (f.half() && pairs) {
      if (store) LLVM::StoreOp::create(b_, loc_, read_slot(f.slots[i / 2], word), at(i), 4);
      else write_slot(f.slots[i / 2], LLVM::LoadOp::create(b_, loc_, word, at(i), 4));
      continue;
    }
    if (f.half()) {
      if (store) {
        Value both = read_slot(f.slots[i / 2], word);
        for (int e = 0; e < 2; ++e) LLVM::StoreOp::create(b_, loc_, arith::TruncIOp::create(b_, loc_, i16, e ? shr(both, 16) : both), at(i + e));
      } else {
        Value halves[2];
        for (int e = 0; e < 2; ++e) halves[e] = arith::ExtUIOp::create(b_, loc_, word, LLVM::LoadOp::create(b_, loc_, i16, at(i + e)));
        write_slot(f.slots[i / 2], arith::OrIOp::create(b_, loc_, halves[0], shl(halves[1], 16)));
      }
      continue;
    }
    if (!pairs) {
      for (int e = 0; e < 2; ++e) {
        if (store) LLVM::StoreOp::create(b_, loc_, read_slot(f.slots[i + e], element), at(i + e));
        else write_slot(f.slots[i + e], LLVM::LoadOp::create(b_, loc_, element, at(i + e)));
      }
      continue;
    }
    auto pair = VectorType::get({2}, element);
    if (store) {
      Value v = LLVM::UndefOp::create(b_, loc_, pair);
      for (int e = 0; e < 2; ++e) v = LLVM::InsertElementOp::create(b_, loc_, v, read_slot(f.slots[i + e], element), i32(e));
      LLVM::StoreOp::create(b_, loc_, v, at(i), 8);
    } else {
      Value v = LLVM::LoadOp::create(b_, loc_, pair, at(i), 8);
      for (int e = 0; e < 2; ++e) write_slot(f.slots[i + e], LLVM::ExtractElementOp::create(b_, loc_, v, i32(e)));
    }
  }
}

}  // namespace tilewright::lowering
