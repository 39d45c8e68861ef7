// Products, elementwise maps and reductions.
#include "compiler/passes/lowering/Lowering.h"

using namespace mlir;

namespace tilewright::lowering {

void Lowering::touch(Value frag) { touched_.insert(frag.getAsOpaquePointer()); }

/// One wgmma.fence before the first product that uses registers which ordinary code has used since the last fence. Those
/// registers pass through it, so that no write to them can move below; registers in flight over a back edge do not.
void Lowering::fence_if_needed(ArrayRef<Value> frags) {
  bool needed = all_touched_;
  for (Value v : frags) needed |= touched_.count(v.getAsOpaquePointer()) != 0;
  if (!needed) return;
  SmallVector<Value> regs;
  SmallVector<Value> used;
  for (Value v : frags)
    if (touched_.count(v.getAsOpaquePointer())) used.push_back(v);
  for (Value v : used) regs.append(read_registers(fragments_[v.getAsOpaquePointer()]));
  auto fence = hopper::WgmmaFenceOp::create(b_, loc_, regs);
  size_t at = 0;
  for (Value v : used) {
    const Fragment& f = fragments_[v.getAsOpaquePointer()];
    write_registers(f, ValueRange(fence.getResult()).slice(at, f.slots.size()));
    at += f.slots.size();
  }
  touched_.clear();
  all_touched_ = false;
}

/// Low word of the descriptor of a tile's first k-step for this warpgroup; every advance is one addition to it.
Value Lowering::descriptor_low(const SharedPlace& p, bool mn_major) {
  layout::WgmmaOperand operand{p.layout, mn_major};
  Value low = shr(band(p.stage_base, 0x3FFFF), 4);
  if (p.row) low = add(low, mul(p.row, layout::kPanelBytes >> 4));
  std::int64_t constant = p.offset + p.const_row * layout::kPanelBytes + p.const_col * 2 / layout::kPanelBytes * p.layout.panel_bytes();
  return add(low, (constant >> 4) + ((operand.leading_bytes() >> 4) << 16));
}

void Lowering::emit_gemm(tile::GemmOp op) {
  const Fragment& acc = fragments_[op.getAcc().getAsOpaquePointer()];
  auto a_frag = isa<tile::FragType>(op.getA().getType()) ? &fragments_[op.getA().getAsOpaquePointer()] : nullptr;
  SmallVector<Value> used{op.getAcc()};
  if (a_frag) used.push_back(op.getA());
  fence_if_needed(used);

  SharedPlace b = place_of(op.getB());
  bool b_mn_major = !op.getTransB();  // stored [K, N] is N-major, stored [N, K] is K-major
  layout::WgmmaOperand b_operand{b.layout, b_mn_major};
  Value b_low = descriptor_low(b, b_mn_major);
  SharedPlace a;
  Value a_low;
  layout::WgmmaOperand a_operand;
  if (!a_frag) {
    a = place_of(op.getA());
    a_operand = {a.layout, op.getTransA()};
    a_low = descriptor_low(a, op.getTransA());
    Value group = shr(role_warp_, 2);  // this warpgroup's 64 rows of A: 64 rows of 128 bytes, or one panel
    if (role_.warps > 4) a_low = add(a_low, mul(group, (op.getTransA() ? a.layout.panel_bytes() : 64 * layout::kPanelBytes) >> 4));
  }
  int k_steps = static_cast<int>((op.getTransB() ? b.cols : b.rows) / 16);
  int n = acc.cols;
  StringRef element = b.element.isBF16() ? "bf16" : "f16";
  SmallVector<Value> regs = read_registers(acc);
  SmallVector<Value> a_regs;
  if (a_frag) a_regs = read_registers(*a_frag);
  Value accumulate = op.getAccumulate() ? mapped(op.getAccumulate()) : Value();
  for (int kk = 0; kk < k_steps; ++kk) {
    Value b_desc = hopper::MatrixDescriptorOp::create(b_, loc_, add(b_low, b_operand.k_step_bytes(kk) >> 4));
    SmallVector<Value> a_values;
    if (a_frag) a_values.append(a_regs.begin() + 4 * kk, a_regs.begin() + 4 * kk + 4);
    else a_values.push_back(hopper::MatrixDescriptorOp::create(b_, loc_, add(a_low, a_operand.k_step_bytes(kk) >> 4)));
    bool first = kk == 0;
    auto product = hopper::WgmmaOp::create(b_, loc_, regs, a_values, b_desc, first ? accumulate : Value(), n, element,
                                           !a_frag && op.getTransA(), b_mn_major, first && op.getZero());
    regs.assign(product.getResult().begin(), product.getResult().end());
  }
  write_registers(acc, regs);
  open_accumulators_.push_back(op.getAcc().getAsOpaquePointer());
  if (a_frag) open_accumulators_.push_back(op.getA().getAsOpaquePointer());
}

/// Waits until `pending` batches are left; the accumulators and A operands of what settles pass through the wait, so that they
/// stay where they are until then and are free afterwards.
void Lowering::emit_settle(Value batch, int pending) {
  std::set<void*> settled, flying;
  size_t keep = std::min<size_t>(pending, in_flight_.size());
  size_t done = in_flight_.size() - keep;
  for (size_t i = 0; i < in_flight_.size(); ++i)
    for (void* acc : in_flight_[i].second) (i < done ? settled : flying).insert(acc);
  for (void* acc : open_accumulators_) flying.insert(acc);
  SmallVector<Value> regs;
  std::vector<const Fragment*> order;
  if (batch || pending == 0)
    for (void* acc : settled)
      if (!flying.count(acc)) order.push_back(&fragments_[acc]), touched_.insert(acc);
  for (auto* f : order) regs.append(read_registers(*f));
  auto wait = hopper::WgmmaWaitOp::create(b_, loc_, regs, pending);
  size_t at = 0;
  for (auto* f : order) {
    write_registers(*f, ValueRange(wait.getResult()).slice(at, f->slots.size()));
    at += f->slots.size();
  }
  in_flight_.erase(in_flight_.begin(), in_flight_.begin() + done);
}

/// mma.sync.m16n8k8 tf32. Within a block of 8, k index q stands for column 2q and q + 4 for column 2q + 1: then an accumulator's
/// registers are an A operand as they are, and B's rows are read in the same order. The operands are rounded first: the unit
/// ignores their low 13 bits, which as a one-sided error is seen in the state (same_keys: 3.0e-3 instead of 2.5e-3).
void Lowering::emit_mma(tile::MmaOp op) {
  const Fragment& acc = fragments_[op.getAcc().getAsOpaquePointer()];
  const Fragment& a = fragments_[op.getA().getAsOpaquePointer()];
  touch(op.getAcc());
  touch(op.getA());
  SharedPlace b = place_of(op.getB());
  SmallVector<Value> a_cache;
  auto tf32 = [&](Value v) -> Value { return hopper::ToTF32Op::create(b_, loc_, v); };
  SmallVector<Value> sums = read_registers(acc);
  Value k_lane = shl(band(lane_, 3), 1), n_lane = shr(lane_, 2);
  Value lane_address = shared_address(b, k_lane, n_lane);
  for (int k0 = 0; k0 < a.cols; k0 += 8) {
    SmallVector<Value> a_regs;
    for (int e : {0, 2, 1, 3}) a_regs.push_back(tf32(element(a, k0 / 2 + e, a_cache)));
    for (int n0 = 0; n0 < acc.cols; n0 += 8) {
      SmallVector<Value> b_regs;
      for (int e = 0; e < 2; ++e) {
        int offset = (k0 + e) * b.layout.row_bytes() + n0 * b.layout.element_bytes;
        b_regs.push_back(tf32(LLVM::LoadOp::create(b_, loc_, b_.getF32Type(), shared_pointer(lane_address, offset))));
      }
      auto part = ArrayRef<Value>(sums).slice(n0 / 2, 4);
      auto product = hopper::MmaOp::create(b_, loc_, part, a_regs, b_regs, "m16n8k8", "tf32");
      for (int i = 0; i < 4; ++i) sums[n0 / 2 + i] = product.getResult()[i];
    }
  }
  write_registers(acc, sums);
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
  if (f.kind == Fragment::col_vector || in.place.layout.kind != layout::SharedLayout::row_major) {
    in.cache[source] = LLVM::LoadOp::create(b_, loc_, f.element, element_pointer(in.place, f, source, false, in.lane_address));
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

/// Over the columns: the thread's own elements of a row, then the four lanes that share it.
void Lowering::emit_reduce(tile::ReduceOp op) {
  const Fragment& in = fragments_[op.getInput().getAsOpaquePointer()];
  const Fragment& out = fragments_[op.getOutput().getAsOpaquePointer()];
  touch(op.getInput());
  touch(op.getOutput());
  auto combine = [&](Value a, Value b) -> Value {
    if (op.getKind() == "max") return arith::MaxNumFOp::create(b_, loc_, a, b);
    return arith::AddFOp::create(b_, loc_, a, b);
  };
  SmallVector<Value> cache;
  for (int h = 0; h < 2; ++h) {
    Value sum;
    for (int i = 0; i < in.elements(); ++i) {
      if (index_in(out, i) != h) continue;
      Value v = element(in, i, cache);
      sum = sum ? combine(sum, v) : v;
    }
    for (int mask : {1, 2}) sum = combine(sum, hopper::ShuffleOp::create(b_, loc_, sum, i32(mask), "xor"));
    write_slot(out.slots[h], sum);
  }
}

}  // namespace tilewright::lowering
