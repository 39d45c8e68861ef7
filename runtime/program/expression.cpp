// Integer expressions over run-time extents and scalars.
#include "runtime/program/expression.h"

#include <algorithm>

#include "tilewright/error.h"

namespace tilewright::program {
namespace {

using Kind = Expression::Kind;

const char* word(Kind kind) {
  switch (kind) {
    case Kind::add: return "add";
    case Kind::sub: return "sub";
    case Kind::mul: return "mul";
    case Kind::div: return "div";
    case Kind::ceildiv: return "ceildiv";
    case Kind::min: return "min";
    case Kind::max: return "max";
    case Kind::constant:
    case Kind::name: break;
  }
  throw InternalError("expression kind has no word");
}

/// `value_of` gives the value of a name.
template <class ValueOf>
std::int64_t evaluate_with(const Expression& e, const ValueOf& value_of) {
  if (e.kind == Kind::constant) return e.value;
  if (e.kind == Kind::name) return value_of(e);
  const std::int64_t a = evaluate_with(e.operands[0], value_of), b = evaluate_with(e.operands[1], value_of);
  std::int64_t result = 0;
  bool overflow = false;
  switch (e.kind) {
    case Kind::add: overflow = __builtin_add_overflow(a, b, &result); break;
    case Kind::sub: overflow = __builtin_sub_overflow(a, b, &result); break;
    case Kind::mul: overflow = __builtin_mul_overflow(a, b, &result); break;
    case Kind::div:
    case Kind::ceildiv:
      if (b <= 0) throw Error(e.text() + " divides by " + std::to_string(b));
      result = a / b + (e.kind == Kind::ceildiv && a % b > 0 ? 1 : 0) - (e.kind == Kind::div && a % b < 0 ? 1 : 0);
      break;
    case Kind::min: result = std::min(a, b); break;
    case Kind::max: result = std::max(a, b); break;
    case Kind::constant:
    case Kind::name: break;
  }
  if (overflow) throw Error(e.text() + " of " + std::to_string(a) + " and " + std::to_string(b) + " exceeds 64 bits");
  return result;
}

}  // namespace

std::int64_t Expression::evaluate(const Bindings& bindings) const {
  return evaluate_with(*this, [&](const Expression& e) {
    const auto found = bindings.find(e.name);
    if (found == bindings.end()) throw Error("'" + e.name + "' has no value: no tensor has it as an extent, give it as a scalar");
    return found->second;
  });
}

void Expression::set_places(const std::function<std::size_t(const std::string&)>& place_of) {
  if (kind == Kind::name) place = place_of(name);
  for (Expression& operand : operands) operand.set_places(place_of);
}

std::int64_t Expression::evaluate_placed(std::span<const std::int64_t> values) const {
  return evaluate_with(*this, [&](const Expression& e) { return values[e.place]; });
}

std::string Expression::text() const {
  if (kind == Kind::constant) return std::to_string(value);
  if (kind == Kind::name) return name;
  return std::string(word(kind)) + "(" + operands[0].text() + ", " + operands[1].text() + ")";
}

}  // namespace tilewright::program
