// Run-time scalars.
#include "compiler/dsl/Operations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilewright::dsl {

namespace {

void constant(Recording& r, Arguments& a) {
  const Type type = r.type(a.element());
  if (!type.isInteger()) r.fail("an integer constant of a type that has fractions");
  const std::int64_t value = a.integer();
  if (type.isInteger(32)) a.result(r.make<arith::ConstantOp>(r.i32(value)));
  else a.result(r.make<arith::ConstantOp>(r.ops.getIntegerAttr(type, value)));
}
void constant_real(Recording& r, Arguments& a) {
  a.result(r.make<arith::ConstantOp>(r.ops.getF32FloatAttr(static_cast<float>(a.real()))));
}

Value real_arith(Recording& r, Arith op, Value a, Value b) {
  const auto contract = arith::FastMathFlags::contract;
  switch (op) {
    case Arith::add: return r.make<arith::AddFOp>(a, b, contract);
    case Arith::sub: return r.make<arith::SubFOp>(a, b, contract);
    case Arith::mul: return r.make<arith::MulFOp>(a, b, contract);
    case Arith::div: return r.make<arith::DivFOp>(a, b);
    case Arith::min: return r.make<arith::MinNumFOp>(a, b);
    case Arith::max: return r.make<arith::MaxNumFOp>(a, b);
    default: r.fail("this operator is not defined for fp32 values");
  }
}

Value integer_arith(Recording& r, Arith op, Value a, Value b) {
  switch (op) {
    case Arith::add: return r.make<arith::AddIOp>(a, b);
    case Arith::sub: return r.make<arith::SubIOp>(a, b);
    case Arith::mul: return r.make<arith::MulIOp>(a, b);
    case Arith::div: return r.make<arith::DivSIOp>(a, b);
    case Arith::rem: return r.make<arith::RemSIOp>(a, b);
    case Arith::min: return r.make<arith::MinSIOp>(a, b);
    case Arith::max: return r.make<arith::MaxSIOp>(a, b);
    case Arith::and_: return r.make<arith::AndIOp>(a, b);
    case Arith::or_: return r.make<arith::OrIOp>(a, b);
    case Arith::xor_: return r.make<arith::XOrIOp>(a, b);
    case Arith::shl: return r.make<arith::ShLIOp>(a, b);
    case Arith::shr: return r.make<arith::ShRSIOp>(a, b);
  }
  throw Malformed("unknown operator");
}

void arith_(Recording& r, Arguments& a) {
  const auto op = static_cast<Arith>(a.code());
  const Value x = a.value(), y = a.value();
  if (!x.getType().isF32() && !x.getType().isInteger()) r.wrong_type(x, "a scalar");
  a.result(x.getType().isF32() ? real_arith(r, op, x, y) : integer_arith(r, op, x, y));
}

void compare(Recording& r, Arguments& a) {
  const auto op = static_cast<std::size_t>(a.integer());
  const Value x = a.value(), y = a.value();
  using FP = arith::CmpFPredicate;
  using IP = arith::CmpIPredicate;
  constexpr FP real[] = {FP::OEQ, FP::UNE, FP::OLT, FP::OLE, FP::OGT, FP::OGE};
  constexpr IP integer[] = {IP::eq, IP::ne, IP::slt, IP::sle, IP::sgt, IP::sge};
  if (op >= std::size(real)) throw Malformed("unknown comparison");
  if (!x.getType().isF32() && !x.getType().isInteger()) r.wrong_type(x, "a scalar");
  if (x.getType().isF32()) a.result(r.make<arith::CmpFOp>(real[op], x, y));
  else a.result(r.make<arith::CmpIOp>(integer[op], x, y));
}

void invert(Recording& r, Arguments& a) {
  const Value yes = r.make<arith::ConstantOp>(r.ops.getBoolAttr(true));
  a.result(r.make<arith::XOrIOp>(a.value(), yes));
}

void select(Recording& r, Arguments& a) {
  const Value p = a.value(), x = a.value(), y = a.value();
  a.result(r.make<arith::SelectOp>(p, x, y));
}

Value real(Recording& r, Value x) {
  if (!x.getType().isF32()) r.wrong_type(x, "an fp32 number");
  return x;
}

void unary(Recording& r, Arguments& a) {
  const auto op = static_cast<Unary>(a.code());
  const Value x = real(r, a.value());
  switch (op) {
    case Unary::exp2: return a.result(r.make<tile::Exp2Op>(x));
    case Unary::log2: return a.result(r.make<tile::Log2Op>(x));
    case Unary::rcp: return a.result(r.make<tile::RcpOp>(x));
    case Unary::neg: return a.result(r.make<arith::NegFOp>(x));
  }
  throw Malformed("unknown operator");
}

void math(Recording& r, Arguments& a) {
  const auto function = r.text(a.text());
  a.result(r.checked(r.make<tile::MathOp>(function, real(r, a.value()))));
}

void round(Recording& r, Arguments& a) {
  const auto to = r.text(a.text());
  a.result(r.checked(r.make<tile::RoundOp>(real(r, a.value()), to)));
}

void convert(Recording& r, Arguments& a) {
  const Type to = r.type(a.element());
  const Value x = a.value();
  const Type from = x.getType();
  if (from == to) a.result(x);
  else if (from.isInteger(64) && to.isInteger(32)) a.result(r.make<arith::TruncIOp>(to, x));
  else if (from.isInteger(32) && to.isInteger(64)) a.result(r.make<arith::ExtSIOp>(to, x));
  else if (from.isInteger() && to.isF32()) a.result(r.make<arith::SIToFPOp>(to, x));
  else if (from.isF32() && to.isInteger()) a.result(r.make<arith::FPToSIOp>(to, x));
  else r.fail("no conversion between these scalar types");
}

template <class Op>
void index_in_grid(Recording& r, Arguments& a) {
  const std::int64_t axis = a.integer();
  if (axis < 0 || axis > 2) r.fail("axis " + std::to_string(axis) + " of the grid, expected 0, 1 or 2");
  a.result(r.make<Op>(r.ops.getI32Type(), r.i32(axis)));
}

template <class Op>
void thread_index(Recording& r, Arguments& a) {
  r.in_role(Op::getOperationName().drop_front(sizeof("tile.") - 1).str() + "()");
  a.result(r.make<Op>(r.ops.getI32Type()));
}

void uniform(Recording& r, Arguments& a) { a.result(r.make<tile::UniformOp>(r.ops.getI32Type(), a.value())); }

void shuffle(Recording& r, Arguments& a) {
  r.in_role("a shuffle");
  const Value x = a.value(), lane = a.value();
  a.result(r.make<tile::ShuffleOp>(x.getType(), x, lane, r.text(a.text())));
}

void var(Recording& r, Arguments& a) {
  r.in_role("a mutable scalar");
  const Value init = a.value();
  a.result(r.make<tile::VarOp>(tile::VarType::get(&r.context, init.getType()), init));
}
void get(Recording& r, Arguments& a) {
  const Value v = a.value();
  a.result(r.make<tile::GetOp>(r.typed<tile::VarType>(v, "a mutable scalar").getElementType(), v));
}
void set(Recording& r, Arguments& a) {
  const Value v = a.value(), x = a.value();
  if (x.getType() != r.typed<tile::VarType>(v, "a mutable scalar").getElementType()) r.wrong_type(x, "one of the mutable scalar's type");
  r.make<tile::SetOp>(v, x);
}

}  // namespace

void add_scalars(Handlers& h) {
  h["constant"] = constant;
  h["constant_real"] = constant_real;
  h["arith"] = arith_;
  h["compare"] = compare;
  h["invert"] = invert;
  h["select"] = select;
  h["unary"] = unary;
  h["math"] = math;
  h["round"] = round;
  h["convert"] = convert;
  h["block_index"] = index_in_grid<tile::BlockIndexOp>;
  h["cluster_index"] = index_in_grid<tile::ClusterIndexOp>;
  h["thread"] = thread_index<tile::ThreadOp>;
  h["lane"] = thread_index<tile::LaneOp>;
  h["warp"] = thread_index<tile::WarpOp>;
  h["uniform"] = uniform;
  h["shuffle"] = shuffle;
  h["var"] = var;
  h["get"] = get;
  h["set"] = set;
}

}  // namespace tilewright::dsl
