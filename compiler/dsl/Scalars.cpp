// dsl::Builder, part 2: scalars and control flow.
#include "compiler/dsl/BuilderImpl.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilewright::dsl {

Id Builder::constant(std::int64_t value, Element type) {
  auto t = impl_->type(type);
  return impl_->add(arith::ConstantOp::create(impl_->ops, impl_->loc(), impl_->ops.getIntegerAttr(t, value)));
}
Id Builder::constant(float value) {
  return impl_->add(arith::ConstantOp::create(impl_->ops, impl_->loc(), impl_->ops.getF32FloatAttr(value)));
}

Id Builder::arith(Arith op, Id ia, Id ib) {
  auto& o = impl_->ops;
  auto l = impl_->loc();
  Value a = impl_->value(ia), b = impl_->value(ib);
  auto contract = arith::FastMathFlags::contract;
  if (a.getType().isF32()) {
    switch (op) {
      case Arith::add: return impl_->add(arith::AddFOp::create(o, l, a, b, contract));
      case Arith::sub: return impl_->add(arith::SubFOp::create(o, l, a, b, contract));
      case Arith::mul: return impl_->add(arith::MulFOp::create(o, l, a, b, contract));
      case Arith::div: return impl_->add(arith::DivFOp::create(o, l, a, b));
      case Arith::min: return impl_->add(arith::MinNumFOp::create(o, l, a, b));
      case Arith::max: return impl_->add(arith::MaxNumFOp::create(o, l, a, b));
      default: impl_->fail("this operator is not defined for fp32 values");
    }
  }
  switch (op) {
    case Arith::add: return impl_->add(arith::AddIOp::create(o, l, a, b));
    case Arith::sub: return impl_->add(arith::SubIOp::create(o, l, a, b));
    case Arith::mul: return impl_->add(arith::MulIOp::create(o, l, a, b));
    case Arith::div: return impl_->add(arith::DivSIOp::create(o, l, a, b));
    case Arith::rem: return impl_->add(arith::RemSIOp::create(o, l, a, b));
    case Arith::min: return impl_->add(arith::MinSIOp::create(o, l, a, b));
    case Arith::max: return impl_->add(arith::MaxSIOp::create(o, l, a, b));
    case Arith::and_: return impl_->add(arith::AndIOp::create(o, l, a, b));
    case Arith::or_: return impl_->add(arith::OrIOp::create(o, l, a, b));
    case Arith::xor_: return impl_->add(arith::XOrIOp::create(o, l, a, b));
    case Arith::shl: return impl_->add(arith::ShLIOp::create(o, l, a, b));
    case Arith::shr: return impl_->add(arith::ShRSIOp::create(o, l, a, b));
  }
  throw InternalError("unknown operator");
}

Id Builder::compare(Compare op, Id ia, Id ib) {
  auto& o = impl_->ops;
  Value a = impl_->value(ia), b = impl_->value(ib);
  using FP = arith::CmpFPredicate;
  using IP = arith::CmpIPredicate;
  if (a.getType().isF32()) {
    FP p[] = {FP::OEQ, FP::UNE, FP::OLT, FP::OLE, FP::OGT, FP::OGE};
    return impl_->add(arith::CmpFOp::create(o, impl_->loc(), p[static_cast<int>(op)], a, b));
  }
  IP p[] = {IP::eq, IP::ne, IP::slt, IP::sle, IP::sgt, IP::sge};
  return impl_->add(arith::CmpIOp::create(o, impl_->loc(), p[static_cast<int>(op)], a, b));
}

Id Builder::logical(Arith op, Id a, Id b) {
  auto& o = impl_->ops;
  if (op == Arith::and_) return impl_->add(arith::AndIOp::create(o, impl_->loc(), impl_->value(a), impl_->value(b)));
  return impl_->add(arith::OrIOp::create(o, impl_->loc(), impl_->value(a), impl_->value(b)));
}

Id Builder::invert(Id pred) {
  auto& o = impl_->ops;
  Value yes = arith::ConstantOp::create(o, impl_->loc(), o.getBoolAttr(true));
  return impl_->add(arith::XOrIOp::create(o, impl_->loc(), impl_->value(pred), yes));
}

Id Builder::select(Id pred, Id a, Id b) {
  return impl_->add(arith::SelectOp::create(impl_->ops, impl_->loc(), impl_->value(pred), impl_->value(a), impl_->value(b)));
}

Id Builder::unary(Unary op, Id a) {
  auto& o = impl_->ops;
  auto l = impl_->loc();
  Value x = impl_->value(a);
  switch (op) {
    case Unary::exp2: return impl_->add(tile::Exp2Op::create(o, l, x));
    case Unary::log2: return impl_->add(tile::Log2Op::create(o, l, x));
    case Unary::rcp: return impl_->add(tile::RcpOp::create(o, l, x));
    case Unary::neg: return impl_->add(arith::NegFOp::create(o, l, x));
  }
  throw InternalError("unknown operator");
}

Id Builder::convert(Id a, Element to) {
  auto& o = impl_->ops;
  auto l = impl_->loc();
  Value x = impl_->value(a);
  Type from = x.getType(), t = impl_->type(to);
  if (from == t) return a;
  if (from.isInteger(64) && t.isInteger(32)) return impl_->add(arith::TruncIOp::create(o, l, t, x));
  if (from.isInteger(32) && t.isInteger(64)) return impl_->add(arith::ExtSIOp::create(o, l, t, x));
  if (from.isInteger() && t.isF32()) return impl_->add(arith::SIToFPOp::create(o, l, t, x));
  if (from.isF32() && t.isInteger()) return impl_->add(arith::FPToSIOp::create(o, l, t, x));
  impl_->fail("no conversion between these scalar types");
}

Id Builder::block_index(int dim) {
  return impl_->add(tile::BlockIndexOp::create(impl_->ops, impl_->loc(), impl_->ops.getI32Type(), impl_->ops.getI32IntegerAttr(dim)));
}
Id Builder::thread() {
  impl_->in_role("thread()");
  return impl_->add(tile::ThreadOp::create(impl_->ops, impl_->loc(), impl_->ops.getI32Type()));
}
Id Builder::lane() {
  impl_->in_role("lane()");
  return impl_->add(tile::LaneOp::create(impl_->ops, impl_->loc(), impl_->ops.getI32Type()));
}
Id Builder::warp() {
  impl_->in_role("warp()");
  return impl_->add(tile::WarpOp::create(impl_->ops, impl_->loc(), impl_->ops.getI32Type()));
}
Id Builder::uniform(Id a) { return impl_->add(tile::UniformOp::create(impl_->ops, impl_->loc(), impl_->ops.getI32Type(), impl_->value(a))); }
Id Builder::shuffle(Id a, Id lane, std::string_view mode) {
  impl_->in_role("a shuffle");
  Value x = impl_->value(a);
  return impl_->add(tile::ShuffleOp::create(impl_->ops, impl_->loc(), x.getType(), x, impl_->value(lane), impl_->text(mode)));
}

Id Builder::var(Id init) {
  impl_->in_role("a mutable scalar");
  Value x = impl_->value(init);
  return impl_->add(tile::VarOp::create(impl_->ops, impl_->loc(), tile::VarType::get(&impl_->context, x.getType()), x));
}
Id Builder::get(Id var) {
  Value v = impl_->value(var);
  return impl_->add(tile::GetOp::create(impl_->ops, impl_->loc(), cast<tile::VarType>(v.getType()).getElementType(), v));
}
void Builder::set(Id var, Id value) { tile::SetOp::create(impl_->ops, impl_->loc(), impl_->value(var), impl_->value(value)); }

void Builder::for_loop(Id from, Id to, Id step, const std::function<void(Id)>& body) {
  impl_->in_role("a loop");
  auto& o = impl_->ops;
  auto loop = scf::ForOp::create(o, impl_->loc(), impl_->value(from), impl_->value(to), impl_->value(step));
  OpBuilder::InsertionGuard guard(o);
  o.setInsertionPoint(loop.getBody()->getTerminator());
  body(impl_->add(loop.getInductionVar()));
}

void Builder::if_else(Id pred, const std::function<void()>& then, const std::function<void()>& otherwise) {
  impl_->in_role("a run-time branch");
  auto& o = impl_->ops;
  auto branch = scf::IfOp::create(o, impl_->loc(), impl_->value(pred), static_cast<bool>(otherwise));
  OpBuilder::InsertionGuard guard(o);
  o.setInsertionPoint(branch.thenBlock()->getTerminator());
  then();
  if (!otherwise) return;
  o.setInsertionPoint(branch.elseBlock()->getTerminator());
  otherwise();
}

}  // namespace tilewright::dsl
