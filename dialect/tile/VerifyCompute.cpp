// Rules of the tile ops that compute: products, maps, reductions, scans.
#include "dialect/tile/Shapes.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {

/// Logical extents and element type of a product's operand A, a fragment or a shared tile.
struct OperandA {
  int64_t rows = 0, k = 0;
  Type element;
};
OperandA operand_a(Value a, bool transposed) {
  if (auto frag = dyn_cast<FragType>(a.getType())) return {frag.getShape()[0], frag.getShape()[1], frag.getElementType()};
  auto shared = cast<SharedType>(a.getType());
  auto [rows, k] = logical(shared.getShape(), transposed);
  return {rows, k, shared.getElementType()};
}

LogicalResult verify_kind(Operation* op, StringRef kind) {
  if (kind == "add" || kind == "max" || kind == "min") return success();
  return op->emitOpError() << "kind \"" << kind << "\": expected add, max or min";
}

}  // namespace

LogicalResult GemmOp::verify() {
  auto acc = getAcc().getType();
  if (!acc.getElementType().isF32()) return emitOpError() << "the accumulator holds f32, not " << acc.getElementType();
  bool a_in_registers = isa<FragType>(getA().getType());
  if (a_in_registers && getTransA()) return emitOpError("a fragment cannot be a transposed A operand");
  auto [m, k, a_element] = operand_a(getA(), getTransA());
  auto b = getB().getType();
  auto [kb, n] = logical(b.getShape(), getTransB());
  bool wide = a_element.isF32();
  if ((!is_16bit(a_element) && !wide) || a_element != b.getElementType())
    return emitOpError() << "A holds " << a_element << " and B holds " << b.getElementType()
                         << "; both must be bf16, both f16, or both f32 (multiplied as tf32)";
  if (k != kb)
    return emitOpError() << "A is [" << m << ", " << k << "] and B is [" << kb << ", " << n
                         << "]: the inner extents differ (use .t() where a tile holds the transpose)";
  if (wide && getTransA())
    return emitOpError("A is a transposed tile of f32; a tf32 product reads A along its rows: keep the tile as [M, K]");
  if (wide && !getTransB())
    return emitOpError("B is a plain tile of f32; a tf32 product reads B along K: keep the tile as [N, K] and pass its .t()");
  if (acc.getShape()[0] != m || acc.getShape()[1] != n)
    return emitOpError() << "accumulator is " << show(acc.getShape()) << ", the product is [" << m << ", " << n << "]";
  int64_t step = wide ? 8 : 16;
  if (k % step) return emitOpError() << "K = " << k << " is not a multiple of " << step;
  if (n % 8 || n > 256) return emitOpError() << "N = " << n << " is not a multiple of 8 up to 256";
  if (m % 64)
    return emitOpError() << "M = " << m << " is not a multiple of 64, the rows of a warpgroup"
                         << (m % 16 ? "" : "; for few rows start the transposed product, or give each warp columns of its own with mma");
  return success();
}

LogicalResult MmaOp::verify() {
  auto acc = getAcc().getType();
  if (!acc.getElementType().isF32()) return emitOpError() << "the accumulator holds f32, not " << acc.getElementType();
  if (isa<FragType>(getA().getType()) && getTransA()) return emitOpError("a fragment cannot be a transposed A operand");
  auto [m, k, a_element] = operand_a(getA(), getTransA());
  auto b = getB().getType();
  auto [kb, n] = logical(b.getShape(), getTransB());
  if (acc.getShape()[0] != 16 || m != 16)
    return emitOpError() << "acc has " << acc.getShape()[0] << " rows and A " << m << "; both have the 16 rows of a warp";
  if (k != kb || acc.getShape()[1] != n)
    return emitOpError() << "acc " << show(acc.getShape()) << ", A " << show({m, k}) << ", B " << show({kb, n}) << " do not multiply";
  bool wide = a_element.isF32();
  if ((!is_16bit(a_element) && !wide) || a_element != b.getElementType())
    return emitOpError() << "A holds " << a_element << " and B holds " << b.getElementType()
                         << "; both must be bf16, both f16, or both f32 (multiplied as tf32)";
  int64_t step = wide ? 8 : 16;
  if (k % step || n % 8)
    return emitOpError() << "K = " << k << ", N = " << n << "; expected K a multiple of " << step << " and N of 8";
  return success();
}

LogicalResult MapOp::verify() {
  if (getOutputs().empty()) return emitOpError("a map has at least one output");
  auto shape = cast<FragType>(getOutputs()[0].getType()).getShape();
  for (Value v : getOutputs())
    if (cast<FragType>(v.getType()).getShape() != shape) return emitOpError("the outputs' shapes differ");
  for (Value v : getInputs()) {
    auto tile = dyn_cast<SharedType>(v.getType());
    bool row = tile && tile.getShape()[0] == 1, column = tile && tile.getShape()[1] == 1;
    bool wide = tile && tile.getElementType().isF32();
    if (tile && !(wide && (row || column)) && !(is_16bit(tile.getElementType()) && row))
      return emitOpError() << "input " << show(tile.getShape()) << " of " << tile.getElementType()
                           << " in shared memory; only f32 vectors and 16-bit rows are read in place, load other tiles first";
    auto in = tile ? tile.getShape() : cast<FragType>(v.getType()).getShape();
    if ((in[0] != shape[0] && in[0] != 1) || (in[1] != shape[1] && in[1] != 1))
      return emitOpError() << "input " << show(in) << " cannot be broadcast to " << show(shape);
  }
  if (getBody().front().getNumArguments() != 2 + getInputs().size())
    return emitOpError("the region takes row, column and one value for each input");
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield || yield.getValues().size() != getOutputs().size())
    return emitOpError("the region yields one value for each output");
  return success();
}

LogicalResult ReduceOp::verify() {
  auto in = getInput().getType().getShape(), out = getOutput().getType().getShape();
  bool columns = out[0] == in[0] && out[1] == 1, rows = out[0] == 1 && out[1] == in[1];
  if (!columns && !rows)
    return emitOpError() << "reduces " << show(in) << " into [" << in[0] << ", 1] or [1, " << in[1] << "], given " << show(out);
  for (Type t : {getInput().getType().getElementType(), getOutput().getType().getElementType()})
    if (!t.isF32()) return emitOpError() << "reduces f32, given " << t << "; cast first";
  return verify_kind(*this, getKind());
}

LogicalResult ScanOp::verify() {
  auto in = getInput().getType(), out = getOutput().getType();
  if (in != out) return emitOpError() << "scans " << show(in.getShape()) << " into " << show(out.getShape()) << "; both have one shape";
  if (!in.getElementType().isF32()) return emitOpError() << "scans f32, given " << in.getElementType() << "; cast first";
  if (in.getShape()[getDown() ? 0 : 1] == 1)
    return emitOpError() << "scans " << show(in.getShape()) << " along an axis of one element; expected "
                         << (getDown() ? "rows" : "columns") << " of more than one";
  return verify_kind(*this, getKind());
}

LogicalResult FragViewOp::verify() {
  auto from = getFrag().getType(), to = getResult().getType();
  if (from.getElementType() != to.getElementType()) return emitOpError("a view keeps the element type");
  if (from.getShape()[0] != to.getShape()[0])
    return emitOpError() << "view " << show(to.getShape()) << " of fragment " << show(from.getShape()) << ": a fragment's view has all its rows";
  int64_t column = getColumn(), columns = to.getShape()[1];
  if (column % 8 || columns % 8 || columns <= 0)
    return emitOpError() << "columns " << column << " to " << column + columns << " of a fragment; expected multiples of 8";
  if (column < 0 || column + columns > from.getShape()[1])
    return emitOpError() << "columns " << column << " to " << column + columns << " reach outside of the fragment " << show(from.getShape());
  return success();
}

LogicalResult MathOp::verify() {
  if (llvm::is_contained({"sqrt", "rsqrt", "tanh", "abs", "floor"}, getFunction())) return success();
  return emitOpError() << "function \"" << getFunction() << "\": expected sqrt, rsqrt, tanh, abs or floor";
}

LogicalResult RoundOp::verify() {
  if (llvm::is_contained({"bf16", "f16", "tf32"}, getTo())) return success();
  return emitOpError() << "rounds to \"" << getTo() << "\": expected bf16, f16 or tf32";
}
