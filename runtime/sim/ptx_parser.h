// The parser's state, shared by its files: declarations (ptx_parser.cpp), statements (ptx_statements.cpp), device functions
// (ptx_functions.cpp).
#pragma once
#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/sim/ptx.h"
#include "runtime/sim/ptx_lexer.h"

namespace tilewright::runtime::sim::ptx {

class Parser {
 public:
  explicit Parser(Module& module) : module_(module), tokens_(tokenize(module.text)) {}
  void run();

 private:
  struct Scope {
    std::uint32_t id = 0;
    std::unordered_map<std::string_view, std::uint32_t> registers;
    std::unordered_map<std::string_view, VariableRef> variables;
  };

  // tokens
  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(next_ + ahead, tokens_.size() - 1)]; }
  Token take();
  bool accept(std::string_view text);
  void expect(std::string_view text);
  std::string_view word();
  std::uint64_t integer();
  [[noreturn]] void fail(const std::string& what) const;

  // declarations
  void module_item();
  void file_directive();
  void skip_block();
  void entry();
  void function_body(Function&);
  void params(Function&);
  void entry_directives(Function&);
  std::array<unsigned, 3> three();
  Variable variable(Space);
  void initial_value(Variable&, ScalarType);
  void module_variables(Space);
  void function_variables(Space);
  void registers();

  // device functions
  void function();
  Function& parsed_function(const std::string& name);
  void inline_calls(Function&);

  // statements
  void body();
  void loc();
  void instruction();
  Operand operand();
  Operand address();
  Operand number(bool negative);
  Operand named();
  void open_scope();
  void close_scope();
  std::uint32_t find_register(std::string_view name) const;
  std::string_view previous_name(std::string_view name) const;

  Module& module_;
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  Function* function_ = nullptr;
  std::vector<Scope> scopes_;
  std::deque<std::vector<std::string>> ranges_;   // names of declared register ranges; the scopes hold views of them
  std::unordered_map<std::string_view, VariableRef> module_names_;
  Location location_;
  std::unordered_map<std::string_view, std::size_t> functions_;   // where their text begins
  std::unordered_map<std::string, Function> parsed_;
  std::vector<std::string> open_functions_;                       // being copied into each other
};

}  // namespace tilewright::runtime::sim::ptx
