#include "runtime/sim/ptx_parser.h"

#include <cstdlib>
#include <cstring>

#include "tilewright/error.h"

namespace tilewright::runtime::sim::ptx {

std::optional<ScalarType> scalar_type(std::string_view m) {
  using enum ScalarType;
  static const std::unordered_map<std::string_view, ScalarType> names{
      {"pred", pred}, {"b8", b8}, {"b16", b16}, {"b32", b32}, {"b64", b64}, {"b128", b128}, {"u8", u8},
      {"u16", u16}, {"u32", u32}, {"u64", u64}, {"s8", s8}, {"s16", s16}, {"s32", s32}, {"s64", s64},
      {"f16", f16}, {"f16x2", f16x2}, {"bf16", bf16}, {"bf16x2", bf16x2}, {"tf32", tf32}, {"f32", f32}, {"f64", f64}};
  const auto it = names.find(m);
  if (it == names.end()) return std::nullopt;
  return it->second;
}

unsigned bytes_of(ScalarType t) {
  using enum ScalarType;
  switch (t) {
    case pred: return 0;
    case b8: case u8: case s8: return 1;
    case b16: case u16: case s16: case f16: case bf16: return 2;
    case b64: case u64: case s64: case f64: return 8;
    case b128: return 16;
    default: return 4;
  }
}

bool is_float(ScalarType t) { return t >= ScalarType::f16; }
bool is_signed(ScalarType t) { return t >= ScalarType::s8 && t <= ScalarType::s64; }

Module parse(std::string text) {
  Module m;
  m.text = std::move(text);
  Parser(m).run();
  return m;
}

void Parser::fail(const std::string& what) const {
  throw Error("PTX line " + std::to_string(peek().line) + ": " + what);
}

Token Parser::take() {
  const Token t = peek();
  if (t.kind == Token::Kind::end) fail("the text ends inside a declaration or statement");
  ++next_;
  return t;
}

bool Parser::accept(std::string_view text) {
  if (peek().text != text || peek().kind == Token::Kind::string) return false;
  ++next_;
  return true;
}

void Parser::expect(std::string_view text) {
  if (!accept(text)) fail("expected '" + std::string(text) + "', found '" + std::string(peek().text) + "'");
}

std::string_view Parser::word() {
  if (peek().kind != Token::Kind::word) fail("expected a name, found '" + std::string(peek().text) + "'");
  return take().text;
}

std::uint64_t Parser::integer() {
  if (peek().kind != Token::Kind::number) fail("expected a number, found '" + std::string(peek().text) + "'");
  return std::strtoull(std::string(take().text).c_str(), nullptr, 0);
}

void Parser::run() {
  while (peek().kind != Token::Kind::end) module_item();
  for (Function& f : module_.entries) inline_calls(f);
}

void Parser::module_item() {
  if (accept(".version")) { take(); return; }
  if (accept(".target")) { do take(); while (accept(",")); return; }
  if (accept(".address_size")) {
    if (const auto n = integer(); n != 64) fail("address_size " + std::to_string(n) + ": the simulator runs 64-bit modules");
    return;
  }
  if (accept(".file")) return file_directive();
  if (accept(".section")) { take(); return skip_block(); }
  if (accept(".pragma")) { take(); expect(";"); return; }
  if (accept(".loc")) return loc();
  while (accept(".visible") || accept(".weak") || accept(".extern") || accept(".common") || accept(".internal")) {}
  if (accept(".entry")) return entry();
  if (accept(".func")) return function();
  if (accept(".global")) return module_variables(Space::global);
  if (accept(".const")) return module_variables(Space::constant);
  if (accept(".shared")) return module_variables(Space::shared);
  fail("unsupported directive '" + std::string(peek().text) + "'");
}

void Parser::file_directive() {
  const auto index = static_cast<unsigned>(integer());
  std::string_view name = take().text;
  if (name.size() >= 2) name = name.substr(1, name.size() - 2);
  module_.files[index] = std::string(name);
  while (accept(",")) integer();
}

void Parser::skip_block() {
  expect("{");
  for (int depth = 1; depth > 0;) {
    const std::string_view t = take().text;
    depth += t == "{" ? 1 : t == "}" ? -1 : 0;
  }
}

std::array<unsigned, 3> Parser::three() {
  std::array<unsigned, 3> n{1, 1, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    n[i] = static_cast<unsigned>(integer());
    if (!accept(",")) break;
  }
  return n;
}

void Parser::entry_directives(Function& f) {
  for (;;) {
    if (accept(".reqntid")) f.required_threads = three();
    else if (accept(".maxntid")) f.maximum_threads = three();
    else if (accept(".reqnctapercluster")) f.required_cluster = three();
    else if (accept(".minnctapersm")) f.minimum_ctas = static_cast<unsigned>(integer());
    else if (accept(".maxnreg")) f.maximum_registers = static_cast<unsigned>(integer());
    else if (accept(".maxclusterrank")) integer();
    else if (accept(".explicitcluster") || accept(".noreturn")) continue;
    else if (accept(".pragma")) { take(); expect(";"); }
    else return;
  }
}

void Parser::params(Function& f) {
  if (!accept("(")) return;
  while (!accept(")")) {
    expect(".param");
    Variable v = variable(Space::param);
    f.param_bytes = (f.param_bytes + v.align - 1) / v.align * v.align;
    f.param_offsets.push_back(f.param_bytes);
    f.param_bytes += v.bytes;
    f.params.push_back(std::move(v));
    accept(",");
  }
}

void Parser::entry() {
  module_.entries.emplace_back();
  Function& f = module_.entries.back();
  f.ptx_line = peek().line;
  f.name = std::string(word());
  params(f);
  function_body(f);
}

void Parser::function_body(Function& f) {
  function_ = &f;
  location_ = {};
  entry_directives(f);
  scopes_.clear();
  open_scope();
  for (std::uint32_t i = 0; i < f.params.size(); ++i) scopes_.back().variables[f.params[i].name] = {true, i};
  expect("{");
  body();
  function_ = nullptr;
}

// [.align N] .type [.ptr ...] name ([N])*, with an initial value for global and constant memory.
Variable Parser::variable(Space space) {
  Variable v;
  v.space = space;
  ScalarType type = ScalarType::b8;
  unsigned lanes = 1;
  bool aligned = false;
  while (peek().kind == Token::Kind::word && peek().text[0] == '.') {
    const std::string_view t = take().text;
    if (t == ".align") { v.align = static_cast<unsigned>(integer()); aligned = true; }
    else if (t == ".v2") lanes = 2;
    else if (t == ".v4") lanes = 4;
    else if (t == ".ptr") {   // a hint about what a parameter points to
      while (peek().kind == Token::Kind::word && peek().text[0] == '.')
        if (take().text == ".align") integer();
    } else if (const auto s = scalar_type(t.substr(1))) type = *s;
    else if (t == ".attribute") fail("unsupported attribute");
    else fail("unsupported directive '" + std::string(t) + "' in a declaration");
  }
  v.name = std::string(word());
  v.bytes = std::uint64_t{bytes_of(type)} * lanes;
  if (!aligned) v.align = static_cast<unsigned>(v.bytes);
  while (accept("[")) {
    if (accept("]")) { v.bytes = 0; continue; }
    v.bytes *= integer();
    expect("]");
  }
  if (accept("=")) initial_value(v, type);
  return v;
}

void Parser::initial_value(Variable& v, ScalarType type) {
  const unsigned size = bytes_of(type);
  const auto one = [&] {
    const bool negative = accept("-");
    if (peek().kind != Token::Kind::number) fail("unsupported initial value '" + std::string(peek().text) + "'");
    std::uint64_t bits = number(negative).value;
    const std::size_t at = v.initial.size();
    v.initial.resize(at + size);
    std::memcpy(v.initial.data() + at, &bits, size);
  };
  if (accept("{")) {
    while (!accept("}")) {
      one();
      accept(",");
    }
  } else {
    one();
  }
  if (v.bytes == 0) v.bytes = v.initial.size();
  v.initial.resize(v.bytes);
}

void Parser::module_variables(Space space) {
  do {
    Variable v = variable(space);
    module_.variables.push_back(std::move(v));
    const auto index = static_cast<std::uint32_t>(module_.variables.size() - 1);
    module_names_[previous_name(module_.variables.back().name)] = {false, index};
  } while (accept(","));
  expect(";");
}

}  // namespace tilewright::runtime::sim::ptx
