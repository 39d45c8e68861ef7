// Device functions: every call of one becomes a copy of its statements, so that lanes that call from different places never
// share a program counter. A function is parsed when the first call of it is met.
#include "runtime/sim/ptx_parser.h"
#include "tilewright/error.h"

namespace tilewright::runtime::sim::ptx {

namespace {

constexpr const char* return_label = "$return";

/// A call's parts: (results), name, (arguments); results and arguments may be absent.
struct Call {
  std::string callee;
  std::vector<Operand> values;      // results, then arguments
};

Call call_of(const Statement& s) {
  Call call;
  for (const Operand& o : s.operands) {
    if (o.kind == Operand::Kind::name) call.callee = o.name;
    if (o.kind == Operand::Kind::vector) call.values.insert(call.values.end(), o.elements.begin(), o.elements.end());
  }
  return call;
}

Statement branch(const Statement& where, std::uint32_t scope) {
  static constexpr std::string_view opcode = "bra";
  Statement s = where;
  s.opcode = opcode;
  s.parts = {opcode};
  s.scope = scope;
  s.operands.resize(1);
  s.operands[0] = {};
  s.operands[0].kind = Operand::Kind::name;
  s.operands[0].name = return_label;
  return s;
}

/// What the numbers of a copied function become in its caller.
struct Renumbering {
  std::uint32_t registers, variables, scopes;
  std::size_t parameters;               // of the callee
  const std::vector<Operand>& values;   // what the call gives for them
  std::size_t caller_parameters;

  void operand(Operand& o) const {
    o.reg += o.kind == Operand::Kind::reg ? registers : 0;
    if (o.kind == Operand::Kind::variable && o.variable.local) {
      if (o.variable.index < parameters) o.variable = values[o.variable.index].variable;
      else o.variable.index += static_cast<std::uint32_t>(caller_parameters - parameters) + variables;
    }
    for (Operand& e : o.elements) operand(e);
  }
};

}  // namespace

void Parser::function() {
  const std::size_t begin = next_;
  if (accept("("))
    while (!accept(")")) take();
  const std::string_view name = word();
  while (peek().text != "{" && peek().text != ";") take();
  if (accept(";")) return;
  functions_[name] = begin;
  skip_block();
}

Function& Parser::parsed_function(const std::string& name) {
  if (const auto known = parsed_.find(name); known != parsed_.end()) return known->second;
  const std::size_t back = next_;
  Function f;
  next_ = functions_.at(name);
  f.name = name;
  f.ptx_line = peek().line;
  params(f);
  word();
  params(f);
  function_body(f);
  open_functions_.push_back(name);
  inline_calls(f);
  open_functions_.pop_back();
  next_ = back;
  return parsed_.emplace(name, std::move(f)).first->second;
}

void Parser::inline_calls(Function& f) {
  const auto called = [&](const Statement& s) { return s.parts[0] == "call" && functions_.contains(call_of(s).callee); };
  if (std::none_of(f.statements.begin(), f.statements.end(), called)) return;
  struct Place {
    std::uint32_t registers, variables;
  };
  std::unordered_map<std::string, Place> places;   // a lane is in one copy of a function at a time: the copies share registers
  std::vector<Statement> statements;
  std::vector<std::uint32_t> moved;
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> labels;
  for (const Statement& s : f.statements) {
    moved.push_back(static_cast<std::uint32_t>(statements.size()));
    if (!called(s)) {
      statements.push_back(s);
      continue;
    }
    const Call call = call_of(s);
    const std::string line = "PTX line " + std::to_string(s.ptx_line) + ": ";
    if (std::find(open_functions_.begin(), open_functions_.end(), call.callee) != open_functions_.end())
      throw Error(line + "unsupported: function '" + call.callee + "' calls itself");
    const Function& g = parsed_function(call.callee);
    if (call.values.size() != g.params.size())
      throw Error(line + "the call of '" + g.name + "' has " + std::to_string(call.values.size()) + " results and arguments, expected " + std::to_string(g.params.size()));
    for (const Operand& v : call.values)
      if (v.kind != Operand::Kind::variable || !v.variable.local) throw Error(line + "unsupported: an argument that is not a variable of .param space");
    const auto [place, is_new] = places.try_emplace(g.name, Place{static_cast<std::uint32_t>(f.registers.size()), static_cast<std::uint32_t>(f.variables.size())});
    if (is_new) {
      f.registers.insert(f.registers.end(), g.registers.begin(), g.registers.end());
      f.variables.insert(f.variables.end(), g.variables.begin(), g.variables.end());
    }
    const auto scope = static_cast<std::uint32_t>(f.scope_parent.size());
    const Renumbering to{place->second.registers, place->second.variables, scope, g.params.size(), call.values, f.params.size()};
    for (const std::uint32_t parent : g.scope_parent) f.scope_parent.push_back(parent + scope);
    if (s.guard >= 0) {   // the lanes that do not call go past it
      statements.push_back(branch(s, scope));
      statements.back().guard_negated = !s.guard_negated;
    }
    const auto first = static_cast<std::uint32_t>(statements.size());
    for (const auto& [at, statement] : g.labels) labels[{at.first + scope, at.second}] = statement + first;
    for (const Statement& inner : g.statements) {
      statements.push_back(inner.parts[0] == "ret" ? branch(inner, 0) : inner);
      Statement& copy = statements.back();
      copy.scope = inner.scope + scope;
      if (copy.guard >= 0) copy.guard += static_cast<std::int32_t>(to.registers);
      for (Operand& o : copy.operands) to.operand(o);
    }
    labels[{scope, return_label}] = static_cast<std::uint32_t>(statements.size());
  }
  moved.push_back(static_cast<std::uint32_t>(statements.size()));
  for (const auto& [at, statement] : f.labels) labels[at] = moved[statement];
  f.labels = std::move(labels);
  f.statements = std::move(statements);
}

}  // namespace tilewright::runtime::sim::ptx
