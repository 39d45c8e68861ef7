// Products of warpgroups, and elementwise maps.
#include "compiler/passes/lowering/Lowering.h"

using namespace mlir;

namespace tilewright::lowering {

/// The registers that this product and those behind it take over from ordinary code: what was used before the product, and by
/// ordinary code no more until a product uses it.
SmallVector<Value> Lowering::taken_over(tile::GemmOp product) {
  std::set<void*> candidates = touched_;
  SmallVector<Value> taken;
  auto leave = [&](Value frag, bool take) {
    if (!isa<tile::FragType>(frag.getType())) return;
    for (Value s : slots_of(frag))
      if (candidates.erase(s.getAsOpaquePointer()) && take) taken.push_back(s);
  };
  for (Operation* op = product; op && !candidates.empty(); op = op->getNextNode()) {
    if (auto gemm = dyn_cast<tile::GemmOp>(op)) {
      leave(gemm.getAcc(), true);
      leave(gemm.getA(), !gemm.getB().getType().getElementType().isF32());  // of a tf32 product: rounded into others
    } else if (!isa<tile::FragViewOp>(op)) {
      op->walk([&](Operation* user) {
        for (Value v : user->getOperands()) leave(v, false);
      });
    }
  }
  return taken;
}

/// One wgmma.fence before the first product with none in flight, whose registers may have been anybody's, and before the first that uses
/// registers which ordinary code has used since the last fence. They pass through it, with those of the products behind it, so that no
/// write to them can move below.
void Lowering::fence_if_needed(tile::GemmOp product, ArrayRef<void*> frags) {
  bool needed = all_touched_ || (in_flight_.empty() && open_accumulators_.empty());
  SmallVector<Value> slots = taken_over(product);
  for (void* frag : frags)
    for (Value s : fragments_[frag].slots) {
      if (!touched_.count(s.getAsOpaquePointer())) continue;
      needed = true;
      if (!llvm::is_contained(slots, s)) slots.push_back(s);
    }
  if (!needed) return;
  SmallVector<Value> regs;
  for (Value s : slots) regs.push_back(read_slot(s, cast<LLVM::AllocaOp>(s.getDefiningOp()).getElemType()));
  auto fence = hopper::WgmmaFenceOp::create(b_, loc_, regs);
  for (auto [s, v] : llvm::zip(slots, fence.getResult())) {
    write_slot(s, v);
    touched_.erase(s.getAsOpaquePointer());
  }
  all_touched_ = false;
}

/// The k-step of its tile at which an operand begins: inside a panel only if K is contiguous.
static int first_k_step(const SharedPlace& p, const layout::WgmmaOperand& operand) { return operand.mn_major ? 0 : p.const_col / operand.k_step(); }

/// Bytes from the first k-step of an operand to its k-step `kk`.
static std::int64_t k_advance(const SharedPlace& p, const layout::WgmmaOperand& operand, int kk) {
  int first = first_k_step(p, operand);
  return operand.k_step_bytes(first + kk) - operand.k_step_bytes(first);
}

/// Low word of the descriptor of an operand's first k-step for this warpgroup; every advance is one addition to it.
Value Lowering::descriptor_low(const SharedPlace& p, bool mn_major) {
  layout::WgmmaOperand operand{p.layout, mn_major};
  Value low = shr(band(p.stage_base, 0x3FFFF), 4);
  if (p.row) low = add(low, mul(p.row, layout::kPanelBytes >> 4));
  std::int64_t columns = mn_major ? p.const_col * p.layout.element_bytes / layout::kPanelBytes * p.layout.panel_bytes() : operand.k_step_bytes(first_k_step(p, operand));
  std::int64_t constant = p.offset + p.const_row * layout::kPanelBytes + columns;
  return add(low, (constant >> 4) + ((operand.leading_bytes() >> 4) << 16));
}

/// A fragment as the A operand of a tf32 product, in registers of its own: rounded (the unit would cut the low 13 bits off) and
/// moved between the four lanes of each row, see layout::tf32_part. Returns its key in fragments_.
void* Lowering::tf32_operand(const Fragment& from) {
  Fragment to;
  to.rows = from.rows, to.cols = from.cols;
  to.element = b_.getI32Type();
  SmallVector<Value> cache;
  Value t = band(lane_, 3), quad = band(lane_, 28);
  Value crosses[2], source[2];
  for (int round = 0; round < 2; ++round) {
    Value part = band(bxor(t, add(shr(t, 1), round)), 1);
    crosses[round] = equal(part, 1);
    source[round] = arith::OrIOp::create(b_, loc_, quad, arith::OrIOp::create(b_, loc_, shl(part, 1), shr(t, 1)));
  }
  for (int i = 0; i < from.elements(); i += 4) {
    Value regs[4];
    for (int row = 0; row < 2; ++row) {
      Value x[2], got[2];
      for (int e = 0; e < 2; ++e) x[e] = hopper::ToTF32Op::create(b_, loc_, element(from, i + 2 * row + e, cache));
      for (int round = 0; round < 2; ++round) {
        Value published = arith::SelectOp::create(b_, loc_, crosses[round], x[1], x[0]);
        got[round] = hopper::ShuffleOp::create(b_, loc_, published, source[round], "idx");
      }
      for (int part = 0; part < 2; ++part)
        regs[row + 2 * part] = arith::SelectOp::create(b_, loc_, crosses[0], got[1 - part], got[part]);
    }
    for (Value r : regs) {
      to.slots.push_back(slot(to.element));
      write_slot(to.slots.back(), r);
    }
  }
  to.number = static_cast<int>(fragments_.size());
  void* key = to.slots.front().getAsOpaquePointer();
  fragments_[key] = std::move(to);
  touch(key);
  return key;
}

void Lowering::emit_gemm(tile::GemmOp op) {
  void* acc_key = op.getAcc().getAsOpaquePointer();
  bool wide = op.getB().getType().getElementType().isF32();
  void* a_key = isa<tile::FragType>(op.getA().getType()) ? op.getA().getAsOpaquePointer() : nullptr;
  if (a_key && wide) {
    touch(op.getA());
    a_key = tf32_operand(fragments_[a_key]);
  }
  SmallVector<void*> used{acc_key};
  if (a_key) used.push_back(a_key);
  fence_if_needed(op, used);
  const Fragment& acc = fragments_[acc_key];

  SharedPlace b = place_of(op.getB());
  bool b_mn_major = !op.getTransB();  // stored [K, N] is N-major, stored [N, K] is K-major
  layout::WgmmaOperand b_operand{b.layout, b_mn_major};
  Value b_low = descriptor_low(b, b_mn_major);
  SharedPlace a;
  Value a_low;
  layout::WgmmaOperand a_operand;
  if (!a_key) {
    a = place_of(op.getA());
    a_operand = {a.layout, op.getTransA()};
    a_low = descriptor_low(a, op.getTransA());
    Value group = shr(role_warp_, 2);  // this warpgroup's 64 rows of A: 64 rows of 128 bytes, or one panel
    if (role_.warps > 4) a_low = add(a_low, mul(group, (op.getTransA() ? a.layout.panel_bytes() : 64 * layout::kPanelBytes) >> 4));
  }
  int k_steps = static_cast<int>((op.getTransB() ? b.cols : b.rows) / b_operand.k_step());
  int n = acc.cols;
  StringRef element = wide ? "tf32" : b.element.isBF16() ? "bf16" : "f16";
  SmallVector<Value> regs = read_registers(acc);
  SmallVector<Value> a_regs;
  if (a_key) a_regs = read_registers(fragments_[a_key]);
  Value accumulate = op.getAccumulate() ? mapped(op.getAccumulate()) : Value();
  for (int kk = 0; kk < k_steps; ++kk) {
    Value b_desc = hopper::MatrixDescriptorOp::create(b_, loc_, add(b_low, k_advance(b, b_operand, kk) >> 4));
    SmallVector<Value> a_values;
    if (a_key) a_values.append(a_regs.begin() + 4 * kk, a_regs.begin() + 4 * kk + 4);
    else a_values.push_back(hopper::MatrixDescriptorOp::create(b_, loc_, add(a_low, k_advance(a, a_operand, kk) >> 4)));
    bool first = kk == 0;
    auto product = hopper::WgmmaOp::create(b_, loc_, regs, a_values, b_desc, first ? accumulate : Value(), n, element,
                                           !a_key && op.getTransA(), b_mn_major, first && op.getZero());
    regs.assign(product.getResult().begin(), product.getResult().end());
  }
  write_registers(acc, regs);
  open_accumulators_.push_back(acc_key);
  if (a_key) open_accumulators_.push_back(a_key);
}

/// Waits until `pending` batches are left; the accumulators and A operands of what settles pass through the wait, so that they
/// stay where they are until then and are free afterwards.
void Lowering::emit_settle(Value batch, int pending) {
  std::map<int, void*> settled;  // in the order of declaration
  std::set<void*> flying;
  size_t keep = std::min<size_t>(pending, in_flight_.size());
  size_t done = in_flight_.size() - keep;
  auto hold = [&](void* frag) {
    for (Value s : fragments_[frag].slots) flying.insert(s.getAsOpaquePointer());
  };
  for (size_t i = done; i < in_flight_.size(); ++i)
    for (void* frag : in_flight_[i].second) hold(frag);
  for (void* frag : open_accumulators_) hold(frag);
  for (size_t i = 0; i < done; ++i)
    for (void* frag : in_flight_[i].second) settled[fragments_[frag].number] = frag;
  SmallVector<Value> regs, slots;
  if (batch || pending == 0)
    for (auto [number, frag] : settled) {
      const Fragment& f = fragments_[frag];
      for (Value s : f.slots) {
        if (!flying.insert(s.getAsOpaquePointer()).second) continue;  // in flight, or part of another fragment that settles
        slots.push_back(s);
        regs.push_back(read_slot(s, f.held(b_)));
        touched_.insert(s.getAsOpaquePointer());
      }
    }
  auto wait = hopper::WgmmaWaitOp::create(b_, loc_, regs, pending);
  for (auto [s, v] : llvm::zip(slots, wait.getResult())) write_slot(s, v);
  in_flight_.erase(in_flight_.begin(), in_flight_.begin() + done);
}

/// Reads the elements of one input of a map.
struct Lowering::MapInput {
  const Fragment* fragment = nullptr;
  SharedPlace place;                 // of a vector in shared memory
  Fragment shape;                    // and the fragment it would fill
  SmallVector<Value> cache;
  Value lane_address;
};

Value Lowering::map_element(MapInput& in, const Fragment& out, int index) {
  const Fragment& f = in.fragment ? *in.fragment : in.shape;
  int source = f.kind == out.kind ? index : index_in(f, index);
  if (in.fragment) return element(f, source, in.cache);
  if (in.cache.empty()) in.cache.resize(f.elements());
  if (in.cache[source]) return in.cache[source];
  if (f.kind == Fragment::col_vector || in.place.swizzled() || !in.place.pairs()) {
    in.cache[source] = load_element(element_pointer(in.place, f, source, false, in.lane_address), f.element, in.place.layout.element_bytes);
    return in.cache[source];
  }
  int pair = source & ~1;
  if (f.half()) {
    Value packed = LLVM::LoadOp::create(b_, loc_, b_.getI32Type(), element_pointer(in.place, f, pair, false, in.lane_address), 4);
    for (int e = 0; e < 2; ++e) in.cache[pair + e] = unpack(packed, e == 1, f.element);
    return in.cache[source];
  }
  Value both = LLVM::LoadOp::create(b_, loc_, VectorType::get({2}, f.element), element_pointer(in.place, f, pair, false, in.lane_address), 8);
  for (int e = 0; e < 2; ++e) in.cache[pair + e] = LLVM::ExtractElementOp::create(b_, loc_, both, i32(e));
  return in.cache[source];
}

void Lowering::emit_map(tile::MapOp op) {
  std::vector<const Fragment*> out;
  std::vector<MapInput> in(op.getInputs().size());
  for (auto [i, v] : llvm::enumerate(op.getInputs())) {
    if (isa<tile::FragType>(v.getType())) {
      in[i].fragment = &fragments_[v.getAsOpaquePointer()];
      touch(v);
      continue;
    }
    in[i].place = place_of(v);
    in[i].shape.kind = in[i].place.rows == 1 ? Fragment::row_vector : Fragment::col_vector;
    in[i].shape.rows = in[i].place.rows, in[i].shape.cols = in[i].place.cols;
    in[i].shape.element = in[i].place.element;
  }
  for (Value v : op.getOutputs()) out.push_back(&fragments_[v.getAsOpaquePointer()]), touch(v);
  Block& body = op.getBody().front();
  auto yield = cast<tile::YieldOp>(body.getTerminator());
  bool needs_row = !body.getArgument(0).use_empty(), needs_col = !body.getArgument(1).use_empty();
  std::vector<SmallVector<Value>> low(out.size());
  for (int index = 0; index < out[0]->elements(); ++index) {
    if (needs_row) map_.map(body.getArgument(0), row_index(*out[0], index));
    if (needs_col) map_.map(body.getArgument(1), col_index(*out[0], index));
    for (size_t i = 0; i < in.size(); ++i) map_.map(body.getArgument(2 + i), map_element(in[i], *out[0], index));
    for (Operation& inner : body.without_terminator())
      if (failed(emit(&inner))) { failed_ = op; return; }
    loc_ = op.getLoc();
    for (size_t i = 0; i < out.size(); ++i) {
      Value v = mapped(yield.getValues()[i]);
      if (!out[i]->half()) {
        write_slot(out[i]->slots[index], v);
      } else if (index % 2 == 0) {
        low[i] = {v};
      } else {
        write_slot(out[i]->slots[index / 2], pack(low[i][0], v, out[i]->element));
      }
    }
  }
}

void Lowering::emit_fill(tile::FillOp op) {
  const Fragment& f = fragments_[op.getFrag().getAsOpaquePointer()];
  touch(op.getFrag());
  Value v = mapped(op.getValue());
  for (Value s : f.slots) write_slot(s, f.half() ? pack(v, v, f.element) : v);
}

}  // namespace tilewright::lowering
