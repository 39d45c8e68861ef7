// Integer expressions over run-time extents and scalars: grids, shapes and derived parameters of a program.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tilewright::program {

/// Values of names: dimensions, integer scalars and "sms", the device's multiprocessors.
using Bindings = std::map<std::string, std::int64_t>;

/// A constant, a name, or an operator over two expressions. In JSON: 64, "T", ["ceildiv", "T", 64].
struct Expression {
  enum class Kind { constant, name, add, sub, mul, div, ceildiv, min, max };
  Kind kind = Kind::constant;
  std::int64_t value = 0;             // constant
  std::string name;                   // name
  std::size_t place = 0;              // of a name: see set_places
  std::vector<Expression> operands;   // two, of an operator

  /// The value in 64-bit integers. div rounds down and ceildiv up, both for non-negative values as extents are.
  /// Throws Error naming the expression: an unbound name, a division by zero or less, an overflow.
  std::int64_t evaluate(const Bindings&) const;
  /// Gives every name the place of its value in a list, so that evaluating looks nothing up.
  void set_places(const std::function<std::size_t(const std::string& name)>& place_of);
  /// As evaluate(Bindings), with names' values by place.
  std::int64_t evaluate_placed(std::span<const std::int64_t> values) const;
  /// As it would be written: "ceildiv(T, 64)".
  std::string text() const;
};

}  // namespace tilewright::program
