// Reductions and scans of fragments, and scalar functions.
#include <limits>

#include "compiler/passes/lowering/Lowering.h"

using namespace mlir;

namespace tilewright::lowering {

Value Lowering::combine(StringRef kind, Value a, Value b) {
  if (kind == "max") return arith::MaxNumFOp::create(b_, loc_, a, b);
  if (kind == "min") return arith::MinNumFOp::create(b_, loc_, a, b);
  return arith::AddFOp::create(b_, loc_, a, b);
}
static float identity(StringRef kind) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  return kind == "max" ? -infinity : kind == "min" ? infinity : 0.0f;
}

/// Lanes that share a row differ in these bits of their number, lanes that share a column in the others.
static constexpr int kAlongRow[] = {1, 2}, kAlongColumn[] = {4, 8, 16};

/// The thread's own elements of a row (or column), then the lanes that share it.
void Lowering::emit_reduce(tile::ReduceOp op) {
  const Fragment& in = fragments_[op.getInput().getAsOpaquePointer()];
  const Fragment& out = fragments_[op.getOutput().getAsOpaquePointer()];
  touch(op.getInput());
  touch(op.getOutput());
  SmallVector<Value> cache;
  ArrayRef<int> masks = out.kind == Fragment::col_vector ? ArrayRef<int>(kAlongRow) : ArrayRef<int>(kAlongColumn);
  for (int o = 0; o < out.elements(); ++o) {
    Value sum;
    for (int i = 0; i < in.elements(); ++i) {
      if (index_in(out, i) != o) continue;
      Value v = element(in, i, cache);
      sum = sum ? combine(op.getKind(), sum, v) : v;
    }
    for (int mask : masks) sum = combine(op.getKind(), sum, hopper::ShuffleOp::create(b_, loc_, sum, i32(mask), "xor"));
    write_slot(out.slots[o], sum);
  }
}

/// What comes before a lane's value among the lanes that differ in the bits of `masks`, and the value of all of them.
struct Lowering::Prefix {
  Value before, total;
};

/// Butterfly: each exchange brings the total of a neighbouring group, which counts where that group comes first.
Lowering::Prefix Lowering::prefix_of_lanes(StringRef kind, Value x, ArrayRef<int> masks, bool reverse) {
  Prefix p{{}, x};
  for (int mask : masks) {
    Value other = hopper::ShuffleOp::create(b_, loc_, p.total, i32(mask), "xor");
    Value upper = equal(band(lane_, mask), mask);
    Value with = p.before ? combine(kind, other, p.before) : other;
    Value without = p.before ? p.before : f32(identity(kind));
    p.before = arith::SelectOp::create(b_, loc_, upper, reverse ? without : with, reverse ? with : without);
    p.total = reverse ? combine(kind, other, p.total) : combine(kind, p.total, other);
  }
  return p;
}

/// Along the columns a lane holds pairs of neighbours in blocks of 8; down the rows one element in blocks of 8. `carry` is what the
/// blocks before came to.
void Lowering::emit_scan(tile::ScanOp op) {
  const Fragment& in = fragments_[op.getInput().getAsOpaquePointer()];
  const Fragment& out = fragments_[op.getOutput().getAsOpaquePointer()];
  touch(op.getInput());
  touch(op.getOutput());
  StringRef kind = op.getKind();
  bool reverse = op.getReverse(), exclusive = op.getExclusive(), down = op.getDown();
  std::vector<std::vector<std::vector<int>>> lines;  // [line][block][element of the lane, in order]
  if (!down) {
    int rows = in.kind == Fragment::matrix ? 2 : 1;
    for (int r = 0; r < rows; ++r) {
      lines.emplace_back();
      for (int c = 0; c < in.cols / 8; ++c) {
        int first = (c * rows + r) * 2;
        lines.back().push_back({first, first + 1});
      }
    }
  } else if (in.kind == Fragment::col_vector) {
    lines.push_back({{0}, {1}});
  } else {
    for (int c = 0; c < in.elements(); c += 4)
      for (int e = 0; e < 2; ++e) lines.push_back({{c + e}, {c + e + 2}});
  }
  SmallVector<Value> cache;
  for (auto& blocks : lines) {
    if (reverse) {
      std::reverse(blocks.begin(), blocks.end());
      for (auto& block : blocks) std::reverse(block.begin(), block.end());
    }
    Value carry;
    for (auto& block : blocks) {
      SmallVector<Value> own;
      for (int e : block) own.push_back(element(in, e, cache));
      Value sum = own.size() == 2 ? combine(kind, own[0], own[1]) : own[0];
      Prefix p = prefix_of_lanes(kind, sum, down ? ArrayRef<int>(kAlongColumn) : ArrayRef<int>(kAlongRow), reverse);
      Value running = carry ? combine(kind, carry, p.before) : p.before;
      for (auto [e, x] : llvm::zip(block, own)) {
        Value with = combine(kind, running, x);
        write_slot(out.slots[e], exclusive ? running : with);
        running = with;
      }
      carry = carry ? combine(kind, carry, p.total) : p.total;
    }
  }
}

Value Lowering::emit_math(tile::MathOp op) {
  Value x = mapped(op.getX());
  StringRef f = op.getFunction();
  if (f == "sqrt") return hopper::SqrtOp::create(b_, loc_, x);
  if (f == "rsqrt") return hopper::RsqrtOp::create(b_, loc_, x);
  if (f == "tanh") return hopper::TanhOp::create(b_, loc_, x);
  if (f == "abs") return hopper::AbsOp::create(b_, loc_, x);
  return hopper::FloorOp::create(b_, loc_, x);
}

Value Lowering::emit_round(tile::RoundOp op) {
  Value x = mapped(op.getX());
  if (op.getTo() == "tf32") return arith::BitcastOp::create(b_, loc_, b_.getF32Type(), hopper::ToTF32Op::create(b_, loc_, x));
  Type type = op.getTo() == "bf16" ? Type(b_.getBF16Type()) : Type(b_.getF16Type());
  return unpack(pack(x, x, type), true, type);
}

}  // namespace tilewright::lowering
