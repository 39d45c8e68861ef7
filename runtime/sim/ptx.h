// What the PTX parser makes of a module: functions, variables and statements with resolved registers.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::runtime::sim::ptx {

enum class ScalarType : std::uint8_t {
  pred, b8, b16, b32, b64, b128, u8, u16, u32, u64, s8, s16, s32, s64,
  f16, f16x2, bf16, bf16x2, tf32, f32, f64
};

/// The type a modifier such as "f32" names; nothing when it names none.
std::optional<ScalarType> scalar_type(std::string_view modifier);
/// Bytes of a value; 0 for predicates.
unsigned bytes_of(ScalarType);
bool is_float(ScalarType);
bool is_signed(ScalarType);

enum class Space : std::uint8_t { generic, global, shared, local, param, constant };

/// A named variable of a state space.
struct Variable {
  std::string name;
  Space space = Space::global;
  std::uint64_t bytes = 0;          // 0: extern shared memory, sized by the launch
  unsigned align = 1;
  std::vector<std::byte> initial;   // empty: zero
};

/// Reference to a variable: of the function when `local` holds, else of the module.
struct VariableRef {
  bool local = false;
  std::uint32_t index = 0;
};

struct Operand {
  enum class Kind : std::uint8_t { reg, special, integer, f32, f64, variable, name, vector, address, pair, sink };
  Kind kind = Kind::integer;
  bool negated = false;             // !%p
  std::uint32_t reg = 0;            // register number in the function
  std::uint64_t value = 0;          // integer bits or the bits of a floating literal
  std::int64_t offset = 0;          // of an address or a variable
  VariableRef variable;
  std::string name;                 // special register or label
  std::vector<Operand> elements;    // vector; pair: two; address: base, then what follows a comma
};

/// Where an author's line is, from .loc.
struct Location {
  unsigned file = 0;
  unsigned line = 0;
};

struct Statement {
  std::string opcode;               // whole, with modifiers
  std::vector<std::string_view> parts;   // opcode split at '.', views into the module's text
  std::int32_t guard = -1;          // register number of the predicate
  bool guard_negated = false;
  std::vector<Operand> operands;
  unsigned ptx_line = 0;
  std::string_view text;            // as written
  Location location;
  std::uint32_t scope = 0;
};

struct Register {
  ScalarType type = ScalarType::b32;
};

struct Function {
  std::string name;
  unsigned ptx_line = 0;
  std::vector<Variable> params;     // space param
  std::vector<std::uint64_t> param_offsets;
  std::uint64_t param_bytes = 0;
  std::vector<Variable> variables;  // shared and local ones of the body
  std::vector<Register> registers;
  std::vector<Statement> statements;
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> labels;   // (scope, name) -> statement
  std::vector<std::uint32_t> scope_parent;
  std::array<unsigned, 3> required_threads{0, 0, 0};   // reqntid, zero when absent
  std::array<unsigned, 3> maximum_threads{0, 0, 0};    // maxntid
  std::array<unsigned, 3> required_cluster{0, 0, 0};
  unsigned minimum_ctas = 0;
  unsigned maximum_registers = 0;
};

struct Module {
  std::string text;
  std::vector<Variable> variables;
  std::vector<Function> entries;
  std::map<unsigned, std::string> files;
};

/// Parses PTX text. Throws Error with the PTX line for what it does not understand.
Module parse(std::string text);

}  // namespace tilewright::runtime::sim::ptx
