// Expressions of maps and scalar statements in prefix notation: "add x0 max k-3 x1", "sel lt r c x0 k0".
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tilewright/dsl.h"

namespace tilewright::fuzz {

/// What an expression may name besides numbers.
struct Scope {
  std::vector<Real> inputs;        // x0, x1, ...
  std::map<std::string, Index> indices;  // r, c, i, t, w, l, ...
  Kernel* kernel;
};

/// The value, recorded; the text of the C++ that records it is appended to `text`. Throws std::invalid_argument.
Real real_expression(const std::string& expression, const Scope& scope, std::string& text);
Index index_expression(const std::string& expression, const Scope& scope, std::string& text);
/// Tokens of an expression, and where the one that begins at a token ends.
std::vector<std::string> tokens_of(const std::string& expression);
std::size_t end_of(const std::vector<std::string>& tokens, std::size_t begin);

}  // namespace tilewright::fuzz
