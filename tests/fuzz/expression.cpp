#include "tests/fuzz/expression.h"

#include <sstream>
#include <stdexcept>

namespace tilewright::fuzz {
namespace {

/// Operands of each operator; names and numbers have none.
int arity(const std::string& token) {
  static const std::map<std::string, int> known = {{"add", 2}, {"sub", 2}, {"mul", 2}, {"min", 2}, {"max", 2}, {"div", 2}, {"rem", 2}, {"and", 2}, {"or", 2}, {"xor", 2},
                                                   {"shl", 2}, {"shr", 2}, {"neg", 1}, {"abs", 1}, {"floor", 1}, {"half", 1}, {"bf", 1}, {"hf", 1}, {"tf", 1}, {"exp2", 1},
                                                   {"rcp", 1}, {"sqrt", 1}, {"real", 1}, {"sel", 5}, {"selx", 5}, {"lt", 0}, {"le", 0}, {"gt", 0}, {"ge", 0}, {"eq", 0},
                                                   {"ne", 0}, {"shx", 2}, {"uni", 1}};
  const auto it = known.find(token);
  return it == known.end() ? 0 : it->second;
}

class Parser {
 public:
  Parser(const std::string& expression, const Scope& scope) : scope_(scope), tokens_(tokens_of(expression)) {}

  Real real(std::string& text) {
    const std::string t = next();
    if (t[0] == 'x') return text += t, scope_.inputs.at(std::stoul(t.substr(1)));
    if (t[0] == 'k') return text += "k.real(" + t.substr(1) + ")", scope_.kernel->real(std::stod(t.substr(1)));
    const auto call = [&](const std::string& name, auto f) {
      text += name + "(";
      Real a = real(text);
      text += ")";
      return f(a);
    };
    if (t == "real") return text += "to_real(", finish(to_real(index(text)), text);
    if (t == "neg") return call("-", [](Real a) { return -a; });
    if (t == "abs") return call("abs", [](Real a) { return abs(a); });
    if (t == "floor") return call("floor", [](Real a) { return floor(a); });
    if (t == "exp2") return call("exp2", [](Real a) { return exp2(a); });
    if (t == "rcp") return call("reciprocal", [](Real a) { return reciprocal(a); });
    if (t == "sqrt") return call("sqrt", [](Real a) { return sqrt(a); });
    if (t == "bf") return call("round_to<bf16>", [](Real a) { return round_to<bf16>(a); });
    if (t == "hf") return call("round_to<f16>", [](Real a) { return round_to<f16>(a); });
    if (t == "tf") return call("round_tf32", [](Real a) { return round_tf32(a); });
    if (t == "half") return call("0.5 * ", [](Real a) { return 0.5 * a; });
    if (t == "min" || t == "max") {
      text += t + "(";
      Real a = real(text);
      text += ", ";
      Real b = real(text);
      text += ")";
      return t == "min" ? min(a, b) : max(a, b);
    }
    if (t == "sel" || t == "selx") {
      const std::string op = next();
      text += "select(";
      Pred p = t == "sel" ? compare<Index>(op, text) : compare<Real>(op, text);
      text += ", ";
      Real a = real(text);
      text += ", ";
      Real b = real(text);
      text += ")";
      return select(p, a, b);
    }
    if (t == "add" || t == "sub" || t == "mul" || t == "div") {
      text += "(";
      Real a = real(text);
      text += t == "add" ? " + " : t == "sub" ? " - " : t == "mul" ? " * " : " / ";
      Real b = real(text);
      text += ")";
      return t == "add" ? a + b : t == "sub" ? a - b : t == "mul" ? a * b : a / b;
    }
    throw std::invalid_argument("expression: '" + t + "' is no number");
  }

  Index index(std::string& text) {
    const std::string t = next();
    if (const auto it = scope_.indices.find(t); it != scope_.indices.end()) return text += t, it->second;
    if (t[0] == 'k') return text += "k.index(" + t.substr(1) + ")", scope_.kernel->index(std::stoi(t.substr(1)));
    static const std::map<std::string, std::string> signs = {{"add", " + "}, {"sub", " - "}, {"mul", " * "}, {"div", " / "}, {"rem", " % "}, {"and", " & "},
                                                             {"or", " | "}, {"xor", " ^ "}, {"shl", " << "}, {"shr", " >> "}};
    if (t == "uni") return text += "k.uniform(", finish(scope_.kernel->uniform(index(text)), text);
    if (t == "min" || t == "max" || t == "shx") {
      text += t == "shx" ? "k.shuffle_xor(" : t + "(";
      Index a = index(text);
      text += ", ";
      if (t == "shx") {
        const int mask = std::stoi(next().substr(1));
        text += std::to_string(mask) + ")";
        return scope_.kernel->shuffle_xor(a, mask);
      }
      Index b = index(text);
      text += ")";
      return t == "min" ? min(a, b) : max(a, b);
    }
    if (t == "sel") {
      const std::string op = next();
      text += "select(";
      Pred p = compare<Index>(op, text);
      text += ", ";
      Index a = index(text);
      text += ", ";
      Index b = index(text);
      text += ")";
      return select(p, a, b);
    }
    const auto sign = signs.find(t);
    if (sign == signs.end()) throw std::invalid_argument("expression: '" + t + "' is no integer");
    text += "(";
    Index a = index(text);
    text += sign->second;
    Index b = index(text);
    text += ")";
    if (t == "add") return a + b;
    if (t == "sub") return a - b;
    if (t == "mul") return a * b;
    if (t == "div") return a / b;
    if (t == "rem") return a % b;
    if (t == "and") return a & b;
    if (t == "or") return a | b;
    if (t == "xor") return a ^ b;
    return t == "shl" ? a << b : a >> b;
  }

 private:
  template <class T>
  static T finish(T value, std::string& text) { return text += ")", value; }

  template <class T>
  T of(std::string& text) {
    if constexpr (std::is_same_v<T, Real>) return real(text);
    else return index(text);
  }
  template <class T>
  Pred compare(const std::string& op, std::string& text) {
    T a = of<T>(text);
    text += op == "lt" ? " < " : op == "le" ? " <= " : op == "gt" ? " > " : op == "ge" ? " >= " : op == "eq" ? " == " : " != ";
    T b = of<T>(text);
    return op == "lt" ? a < b : op == "le" ? a <= b : op == "gt" ? a > b : op == "ge" ? a >= b : op == "eq" ? a == b : a != b;
  }
  std::string next() {
    if (at_ == tokens_.size()) throw std::invalid_argument("expression: ends early");
    return tokens_[at_++];
  }

  const Scope& scope_;
  std::vector<std::string> tokens_;
  std::size_t at_ = 0;
};

}  // namespace

Real real_expression(const std::string& expression, const Scope& scope, std::string& text) { return Parser(expression, scope).real(text); }
Index index_expression(const std::string& expression, const Scope& scope, std::string& text) { return Parser(expression, scope).index(text); }

std::vector<std::string> tokens_of(const std::string& expression) {
  std::istringstream in(expression);
  std::vector<std::string> out;
  for (std::string t; in >> t;) out.push_back(t);
  return out;
}

std::size_t end_of(const std::vector<std::string>& tokens, std::size_t begin) {
  int open = 1;
  std::size_t at = begin;
  while (open > 0 && at < tokens.size()) open += arity(tokens[at++]) - 1;
  return at;
}

}  // namespace tilewright::fuzz
