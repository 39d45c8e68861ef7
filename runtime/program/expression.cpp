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

}  // namespace

std::int64_t Expression::evaluate(const Bindings& bindings) const {
  if (kind == Kind::constant) return value;
  if (kind == Kind::name) {
    const auto found = bindings.find(name);
    if (found == bindings.end()) throw Error("'" + name + "' has no value: no tensor has it as an extent, give it as a scalar");
    return found->second;
  }
  const std::int64_t a = operands[0].evaluate(bindings), b = operands[1].evaluate(bindings);
  std::int64_t result = 0;
  bool overflow = false;
  switch (kind) {
    case Kind::add: overflow = __builtin_add_overflow(a, b, &result); break;
    case Kind::sub: overflow = __builtin_sub_overflow(a, b, &result); break;
    case Kind::mul: overflow = __builtin_mul_overflow(a, b, &result); break;
    case Kind::div:
    case Kind::ceildiv:
      if (b <= 0) throw Error(text() + " divides by " + std::to_string(b));
      result = a / b + (kind == Kind::ceildiv && a % b > 0 ? 1 : 0) - (kind == Kind::div && a % b < 0 ? 1 : 0);
      break;
    case Kind::min: result = std::min(a, b); break;
    case Kind::max: result = std::max(a, b); break;
    case Kind::constant:
    case Kind::name: break;
  }
  if (overflow) throw Error(text() + " of " + std::to_string(a) + " and " + std::to_string(b) + " exceeds 64 bits");
  return result;
}

std::string Expression::text() const {
  if (kind == Kind::constant) return std::to_string(value);
  if (kind == Kind::name) return name;
  return std::string(word(kind)) + "(" + operands[0].text() + ", " + operands[1].text() + ")";
}

}  // namespace tilewright::program
