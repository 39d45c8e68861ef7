// Scalar operations on lanes.
#include <algorithm>
#include <cmath>

#include "compiler/evaluate/State.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilewright::evaluate {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::int64_t wrap(std::int64_t x, Type type) {
  if (type.isInteger(32)) return static_cast<std::int32_t>(x);
  if (type.isInteger(1)) return x & 1;
  return x;
}

template <class F>
Lanes each(const Lanes& a, F f) {
  Lanes out(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) out[i] = f(a[i]);
  return out;
}
template <class F>
Lanes each(const Lanes& a, const Lanes& b, F f) {
  Lanes out(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = f(lane(a, i), lane(b, i));
  return out;
}

/// and, or, xor of truth values that may be unknown.
std::int64_t logic(Operation* op, std::int64_t a, std::int64_t b) {
  if (isa<arith::AndIOp>(op)) return a == 0 || b == 0 ? 0 : a == 1 && b == 1 ? 1 : kUnknown;
  if (isa<arith::OrIOp>(op)) return a == 1 || b == 1 ? 1 : a == 0 && b == 0 ? 0 : kUnknown;
  return a == kUnknown || b == kUnknown ? kUnknown : a ^ b;
}

std::optional<std::int64_t> integer(Operation* op, std::int64_t a, std::int64_t b) {
  return llvm::TypeSwitch<Operation*, std::optional<std::int64_t>>(op)
      .Case<arith::AddIOp>([&](auto) { return std::int64_t(std::uint64_t(a) + std::uint64_t(b)); })
      .Case<arith::SubIOp>([&](auto) { return std::int64_t(std::uint64_t(a) - std::uint64_t(b)); })
      .Case<arith::MulIOp>([&](auto) { return std::int64_t(std::uint64_t(a) * std::uint64_t(b)); })
      .Case<arith::DivSIOp>([&](auto) { return b == 0 ? 0 : a / b; })
      .Case<arith::RemSIOp>([&](auto) { return b == 0 ? 0 : a % b; })
      .Case<arith::MinSIOp>([&](auto) { return std::min(a, b); })
      .Case<arith::MaxSIOp>([&](auto) { return std::max(a, b); })
      .Case<arith::AndIOp>([&](auto) { return a & b; })
      .Case<arith::OrIOp>([&](auto) { return a | b; })
      .Case<arith::XOrIOp>([&](auto) { return a ^ b; })
      .Case<arith::ShLIOp>([&](auto) { return b < 0 || b > 31 ? 0 : std::int64_t(std::uint64_t(a) << b); })
      .Case<arith::ShRSIOp>([&](auto) { return b < 0 || b > 31 ? (a < 0 ? -1 : 0) : a >> b; })
      .Default([](Operation*) { return std::nullopt; });
}

std::int64_t compare(arith::CmpIPredicate p, std::int64_t a, std::int64_t b) {
  switch (p) {
    case arith::CmpIPredicate::eq: return a == b;
    case arith::CmpIPredicate::ne: return a != b;
    case arith::CmpIPredicate::slt: return a < b;
    case arith::CmpIPredicate::sle: return a <= b;
    case arith::CmpIPredicate::sgt: return a > b;
    case arith::CmpIPredicate::sge: return a >= b;
    default: return kUnknown;
  }
}
std::int64_t compare(arith::CmpFPredicate p, Interval a, Interval b) {
  if (a.nan() || b.nan()) return p == arith::CmpFPredicate::UNE;
  switch (p) {
    case arith::CmpFPredicate::OLT: return a.hi < b.lo ? 1 : a.lo >= b.hi ? 0 : kUnknown;
    case arith::CmpFPredicate::OLE: return a.hi <= b.lo ? 1 : a.lo > b.hi ? 0 : kUnknown;
    case arith::CmpFPredicate::OGT: return compare(arith::CmpFPredicate::OLT, b, a);
    case arith::CmpFPredicate::OGE: return compare(arith::CmpFPredicate::OLE, b, a);
    case arith::CmpFPredicate::OEQ: return a.exact() && b.exact() && a.lo == b.lo ? 1 : a.hi < b.lo || b.hi < a.lo ? 0 : kUnknown;
    case arith::CmpFPredicate::UNE: {
      const std::int64_t equal = compare(arith::CmpFPredicate::OEQ, a, b);
      return equal == kUnknown ? kUnknown : 1 - equal;
    }
    default: return kUnknown;
  }
}

using Binary = Interval (*)(Interval, Interval);
Binary real(Operation* op) {
  return llvm::TypeSwitch<Operation*, Binary>(op)
      .Case<arith::AddFOp>([](auto) { return add; })
      .Case<arith::SubFOp>([](auto) { return subtract; })
      .Case<arith::MulFOp>([](auto) { return multiply; })
      .Case<arith::DivFOp>([](auto) { return divide; })
      .Case<arith::MinNumFOp>([](auto) { return minimum; })
      .Case<arith::MaxNumFOp>([](auto) { return maximum; })
      .Default([](Operation*) { return nullptr; });
}

Interval function(StringRef name, Interval x) {
  if (name == "abs") return absolute(x);
  if (name == "floor") return monotone(x, [](double v) { return std::floor(v); });
  if (name == "exp2") return monotone(x, [](double v) { return std::exp2(v); }, 0x1p-21, 0x1p-125);
  if (name == "log2") return monotone(x, [](double v) { return std::log2(v); }, 0x1p-21, 0x1p-21);
  if (name == "sqrt") return monotone(x, [](double v) { return std::sqrt(v); }, 0x1p-22);
  if (name == "tanh") return monotone(x, [](double v) { return std::tanh(v); }, 0x1p-10, 0x1p-20);
  if (name == "rsqrt") return negate(monotone(x, [](double v) { return -1 / std::sqrt(v); }, 0x1p-21));
  if (x.lo <= 0 && x.hi >= 0) return x.exact() ? Interval{1 / x.lo, 1 / x.lo} : Interval{-kInfinity, kInfinity};  // rcp
  return negate(monotone(x, [](double v) { return -1 / v; }, 0x1p-22));
}

}  // namespace

bool compute(Operation* op, const Get& get, Lanes& out) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto real = dyn_cast<FloatAttr>(constant.getValue())) out = {Word(Interval{real.getValue().convertToFloat(), real.getValue().convertToFloat()})};
    else if (op->getResult(0).getType().isInteger(1)) out = {Word(std::int64_t(cast<IntegerAttr>(constant.getValue()).getValue().getZExtValue()))};
    else out = {Word(cast<IntegerAttr>(constant.getValue()).getInt())};
    return true;
  }
  if (op->getNumResults() != 1 || op->getNumOperands() == 0) return false;
  const Type type = op->getResult(0).getType();
  const auto a = [&]() -> const Lanes& { return get(op->getOperand(0)); };
  const auto b = [&]() -> const Lanes& { return get(op->getOperand(1)); };
  if (op->getNumOperands() == 2) {
    if (type.isInteger(1) && isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op)) {
      out = each(a(), b(), [&](Word x, Word y) { return Word(logic(op, x.integer, y.integer)); });
      return true;
    }
    if (integer(op, 0, 1)) {
      out = each(a(), b(), [&](Word x, Word y) { return Word(wrap(*integer(op, x.integer, y.integer), type)); });
      return true;
    }
    if (Binary f = real(op)) {
      out = each(a(), b(), [&](Word x, Word y) { return Word(f(x.real, y.real)); });
      return true;
    }
    if (auto cmp = dyn_cast<arith::CmpIOp>(op)) {
      out = each(a(), b(), [&](Word x, Word y) { return Word(compare(cmp.getPredicate(), x.integer, y.integer)); });
      return true;
    }
    if (auto cmp = dyn_cast<arith::CmpFOp>(op)) {
      out = each(a(), b(), [&](Word x, Word y) { return Word(compare(cmp.getPredicate(), x.real, y.real)); });
      return true;
    }
    return false;
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    const Lanes &p = get(select.getCondition()), &x = get(select.getTrueValue()), &y = get(select.getFalseValue());
    out = Lanes(std::max({p.size(), x.size(), y.size()}));
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::int64_t which = lane(p, i).integer;
      if (which != kUnknown) out[i] = which ? lane(x, i) : lane(y, i);
      else if (type.isF32()) out[i] = Word(hull(lane(x, i).real, lane(y, i).real));
      else undefined(op, "selects an integer by a number that is known only to some bits");
    }
    return true;
  }
  if (isa<arith::NegFOp>(op)) return out = each(a(), [](Word x) { return Word(negate(x.real)); }), true;
  if (isa<arith::ExtSIOp, arith::TruncIOp>(op)) return out = each(a(), [&](Word x) { return Word(wrap(x.integer, type)); }), true;
  if (isa<arith::SIToFPOp>(op))
    return out = each(a(), [](Word x) { return Word(Interval{static_cast<float>(x.integer), static_cast<float>(x.integer)}); }), true;
  if (isa<arith::FPToSIOp>(op)) {
    out = each(a(), [&](Word x) {
      if (!(std::trunc(x.real.lo) == std::trunc(x.real.hi))) undefined(op, "makes an integer of a number that is known only to some bits");
      return Word(static_cast<std::int64_t>(std::clamp(std::trunc(x.real.lo), -0x1p31f, 0x1p31f)));
    });
    return true;
  }
  const auto by_name = [&](StringRef name) { return out = each(a(), [&](Word x) { return Word(function(name, x.real)); }), true; };
  if (isa<tile::Exp2Op>(op)) return by_name("exp2");
  if (isa<tile::Log2Op>(op)) return by_name("log2");
  if (isa<tile::RcpOp>(op)) return by_name("rcp");
  if (auto math = dyn_cast<tile::MathOp>(op)) return by_name(math.getFunction());
  if (auto round = dyn_cast<tile::RoundOp>(op)) {
    const std::string to = round.getTo().str();
    return out = each(a(), [&](Word x) { return Word(rounded(x.real, to)); }), true;
  }
  return false;
}

}  // namespace tilewright::evaluate
