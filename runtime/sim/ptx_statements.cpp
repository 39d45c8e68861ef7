#include <algorithm>
#include <bit>
#include <cstdlib>

#include "runtime/sim/ptx_parser.h"
#include "tilewright/error.h"

namespace tilewright::runtime::sim::ptx {

void Parser::open_scope() {
  const auto id = static_cast<std::uint32_t>(function_->scope_parent.size());
  function_->scope_parent.push_back(scopes_.empty() ? id : scopes_.back().id);
  scopes_.push_back({});
  scopes_.back().id = id;
}

void Parser::close_scope() { scopes_.pop_back(); }

void Parser::body() {
  for (;;) {
    const Token& t = peek();
    if (accept("{")) { open_scope(); continue; }
    if (accept("}")) {
      if (scopes_.size() == 1) return;
      close_scope();
      continue;
    }
    if (accept(".reg")) { registers(); continue; }
    if (accept(".shared")) { function_variables(Space::shared); continue; }
    if (accept(".local")) { function_variables(Space::local); continue; }
    if (accept(".param")) { function_variables(Space::param); continue; }   // of a call
    if (accept(".loc")) { loc(); continue; }
    if (accept(".file")) { file_directive(); continue; }
    if (accept(".pragma")) { take(); expect(";"); continue; }
    if (accept(";")) continue;
    if (t.kind == Token::Kind::word && peek(1).text == ":") {
      const auto label = std::string(word());
      expect(":");
      const auto at = static_cast<std::uint32_t>(function_->statements.size());
      if (!function_->labels.emplace(std::pair{scopes_.back().id, label}, at).second) fail("label '" + label + "' is defined twice");
      continue;
    }
    if (t.kind == Token::Kind::word && t.text[0] == '.') fail("unsupported directive '" + std::string(t.text) + "'");
    instruction();
  }
}

void Parser::registers() {
  const std::string_view type = word();
  const auto scalar = scalar_type(type.substr(1));
  if (!scalar) fail("unsupported register type '" + std::string(type) + "'");
  if (*scalar == ScalarType::b128) fail("unsupported register type '.b128'");
  do {
    const std::string_view name = word();
    std::uint64_t count = 1;
    const bool range = accept("<");
    if (range) {
      count = integer();
      expect(">");
    }
    if (!range) {
      scopes_.back().registers[name] = static_cast<std::uint32_t>(function_->registers.size());
    } else {
      ranges_.push_back({});
      auto& names = ranges_.back();
      names.reserve(count);
      for (std::uint64_t i = 0; i < count; ++i) {
        names.push_back(std::string(name) + std::to_string(i));
        scopes_.back().registers[names.back()] = static_cast<std::uint32_t>(function_->registers.size() + i);
      }
    }
    function_->registers.resize(function_->registers.size() + count, {*scalar});
  } while (accept(","));
  expect(";");
}

void Parser::function_variables(Space space) {
  do {
    const Variable v = variable(space);
    const std::string_view name = previous_name(v.name);
    scopes_.back().variables[name] = {true, static_cast<std::uint32_t>(function_->params.size() + function_->variables.size())};
    function_->variables.push_back(v);
  } while (accept(","));
  expect(";");
}

// The token that spelled `name` last: a view that lives as long as the module's text.
std::string_view Parser::previous_name(std::string_view name) const {
  for (std::size_t i = next_; i-- > 0;)
    if (tokens_[i].text == name) return tokens_[i].text;
  return {};
}

void Parser::loc() {
  location_.file = static_cast<unsigned>(integer());
  location_.line = static_cast<unsigned>(integer());
  integer();
  while (accept(",")) {
    const std::string_view what = word();
    if (what == "function_name") {
      word();
      if (accept("+")) integer();
    } else if (what == "inlined_at") {
      integer();
      integer();
      integer();
    } else {
      fail("unsupported .loc attribute '" + std::string(what) + "'");
    }
  }
}

std::uint32_t Parser::find_register(std::string_view name) const {
  for (auto s = scopes_.rbegin(); s != scopes_.rend(); ++s)
    if (const auto it = s->registers.find(name); it != s->registers.end()) return it->second;
  return ~0u;
}

void Parser::instruction() {
  Statement s;
  s.scope = scopes_.back().id;
  s.location = location_;
  s.ptx_line = peek().line;
  const char* begin = peek().text.data();
  if (accept("@")) {
    s.guard_negated = accept("!");
    const std::string_view name = word();
    const std::uint32_t r = find_register(name);
    if (r == ~0u) fail("the guard names the undeclared register '" + std::string(name) + "'");
    s.guard = static_cast<std::int32_t>(r);
  }
  const std::string_view opcode = word();
  s.opcode = std::string(opcode);
  for (std::size_t p = 0; p <= opcode.size();) {
    const std::size_t end = std::min(opcode.find('.', p), opcode.size());
    s.parts.push_back(opcode.substr(p, end - p));
    p = end + 1;
  }
  if (peek().text != ";") {
    do s.operands.push_back(operand());
    while (accept(","));
  }
  s.text = std::string_view(begin, static_cast<std::size_t>(peek().text.data() + 1 - begin));
  expect(";");
  function_->statements.push_back(std::move(s));
}

Operand Parser::operand() {
  const Token& t = peek();
  if (accept("!")) {
    Operand o = operand();
    o.negated = true;
    return o;
  }
  if (const bool arguments = peek().text == "("; arguments || peek().text == "{") {   // ( ) of a call, which decoding refuses
    take();
    Operand o;
    o.kind = Operand::Kind::vector;
    while (!accept(arguments ? ")" : "}")) {
      o.elements.push_back(operand());
      accept(",");
    }
    return o;
  }
  if (accept("[")) return address();
  if (accept("-")) return number(true);
  if (t.kind == Token::Kind::number) return number(false);
  if (t.kind == Token::Kind::word) {
    Operand first = named();
    if (!accept("|")) return first;
    Operand pair;
    pair.kind = Operand::Kind::pair;
    pair.elements.push_back(std::move(first));
    pair.elements.push_back(named());
    return pair;
  }
  fail("unsupported operand '" + std::string(t.text) + "'");
}

// [base], [base+offset], [base, {coordinates}], [base, operand]
Operand Parser::address() {
  Operand a;
  a.kind = Operand::Kind::address;
  Operand base = operand();
  a.offset = base.kind == Operand::Kind::variable ? base.offset : 0;
  base.offset = 0;
  a.elements.push_back(std::move(base));
  while (peek().text == "+" || peek().text == "-") {
    bool negative = take().text == "-";
    if (accept("-")) negative = !negative;
    const auto n = static_cast<std::int64_t>(integer());
    a.offset += negative ? -n : n;
  }
  while (accept(",")) a.elements.push_back(operand());
  expect("]");
  return a;
}

Operand Parser::number(bool negative) {
  const std::string text(take().text);
  Operand o;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'f' || text[1] == 'F')) {
    o.kind = Operand::Kind::f32;
    o.value = std::strtoull(text.c_str() + 2, nullptr, 16) ^ (negative ? 0x80000000u : 0u);
  } else if (text.size() > 2 && text[0] == '0' && (text[1] == 'd' || text[1] == 'D')) {
    o.kind = Operand::Kind::f64;
    o.value = std::strtoull(text.c_str() + 2, nullptr, 16) ^ (negative ? 1ull << 63 : 0u);
  } else if (text.find('.') != std::string::npos) {
    o.kind = Operand::Kind::f64;
    o.value = std::bit_cast<std::uint64_t>(std::strtod(text.c_str(), nullptr) * (negative ? -1.0 : 1.0));
  } else if (text.size() > 2 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B')) {
    o.value = std::strtoull(text.c_str() + 2, nullptr, 2);
    if (negative) o.value = 0 - o.value;
  } else {
    o.value = std::strtoull(text.c_str(), nullptr, 0);
    if (negative) o.value = 0 - o.value;
  }
  return o;
}

Operand Parser::named() {
  const std::string_view name = word();
  Operand o;
  if (name == "_") {
    o.kind = Operand::Kind::sink;
    return o;
  }
  if (const std::uint32_t r = find_register(name); r != ~0u) {
    o.kind = Operand::Kind::reg;
    o.reg = r;
    return o;
  }
  o.name = std::string(name);
  if (name[0] == '%') {
    o.kind = Operand::Kind::special;
    return o;
  }
  bool found = false;
  for (auto s = scopes_.rbegin(); s != scopes_.rend() && !found; ++s)
    if (const auto it = s->variables.find(name); it != s->variables.end()) {
      o.variable = it->second;
      found = true;
    }
  if (const auto it = module_names_.find(name); !found && it != module_names_.end()) {
    o.variable = it->second;
    found = true;
  }
  o.kind = found ? Operand::Kind::variable : Operand::Kind::name;
  if (found && (peek().text == "+" || peek().text == "-") && peek(1).kind == Token::Kind::number) {
    const bool negative = take().text == "-";
    const auto n = static_cast<std::int64_t>(integer());
    o.offset = negative ? -n : n;
  }
  return o;
}

}  // namespace tilewright::runtime::sim::ptx
