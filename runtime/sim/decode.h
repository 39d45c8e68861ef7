// Turning PTX statements into instructions. Each instruction family adds its opcodes to a table of decoders.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/sim/memory.h"
#include "runtime/sim/program.h"

namespace tilewright::runtime::sim {

class ProgramBuilder;

/// One statement on its way to an instruction. Modifiers are consumed; one that nobody took makes the statement unsupported.
class Decode {
 public:
  Decode(ProgramBuilder& builder, const ptx::Statement& s, Instruction& i);

  const ptx::Statement& statement() const { return s_; }
  Instruction& instruction() { return i_; }
  ProgramBuilder& builder() { return builder_; }

  bool take(std::string_view modifier);                 // removes the modifier when it is there
  std::string_view take_any(std::initializer_list<std::string_view> modifiers);   // "" when none is there
  ptx::ScalarType type();                               // the next modifier, which must be a type
  std::string_view next_modifier();                     // "" when none is left
  [[noreturn]] void unsupported(const std::string& why = {}) const;
  [[noreturn]] void wrong(const std::string& what) const;
  void finish() const;                                  // unsupported when a modifier is left

  std::size_t operands() const { return s_.operands.size(); }
  void expect_operands(std::size_t least, std::size_t most) const;
  const ptx::Operand& operand(std::size_t n) const;

  Ref in(const ptx::Operand&, ptx::ScalarType);         // register or constant of exactly the type's width
  Ref in(std::size_t n, ptx::ScalarType t) { return in(operand(n), t); }
  Ref in_any(const ptx::Operand&, ptx::ScalarType, unsigned& width);   // a register may be wider; its width in bytes
  Ref out(const ptx::Operand&, ptx::ScalarType);        // `_` gives a scratch register
  Ref out(std::size_t n, ptx::ScalarType t) { return out(operand(n), t); }
  Ref out_any(const ptx::Operand&, ptx::ScalarType, unsigned& width);
  std::int32_t predicate(const ptx::Operand&) const;    // number of a predicate register
  std::int32_t predicate_out(const ptx::Operand&);      // `_` gives a scratch predicate
  std::uint64_t immediate(const ptx::Operand&) const;
  bool is_register(const ptx::Operand& o) const { return o.kind == ptx::Operand::Kind::reg; }
  unsigned width(const ptx::Operand&) const;            // bytes of a register, 0 for predicates
  /// `[base+offset]`: in[slot] becomes the 32- or 64-bit base address, extra[wide] whether it is 64-bit, offset the offset.
  void address(const ptx::Operand&, unsigned slot, unsigned wide);
  void begin_list();
  void push_list(Ref);

 private:
  ProgramBuilder& builder_;
  const ptx::Statement& s_;
  Instruction& i_;
  std::vector<std::string_view> modifiers_;
};

using Decoder = void (*)(Decode&);
using DecoderTable = std::unordered_map<std::string_view, Decoder>;

void add_integer_family(DecoderTable&);
void add_bit_family(DecoderTable&);
void add_float_family(DecoderTable&);       // add, sub, mul, ... of all types dispatch on the type
void add_compare_family(DecoderTable&);
void add_move_family(DecoderTable&);
void add_convert_family(DecoderTable&);
void add_memory_family(DecoderTable&);
void add_atomic_family(DecoderTable&);
void add_collective_family(DecoderTable&);
void add_control_family(DecoderTable&);
void add_call_family(DecoderTable&);
void add_barrier_family(DecoderTable&);
void add_mbarrier_family(DecoderTable&);
void add_copy_family(DecoderTable&);
void add_matrix_family(DecoderTable&);
void add_wgmma_family(DecoderTable&);

/// Whole-kernel decoding: register slots, memory layout, branch targets.
class ProgramBuilder {
 public:
  ProgramBuilder(std::shared_ptr<const ptx::Module>, const ptx::Function&, GlobalMemory&,
                 std::map<std::uint32_t, std::uint64_t>& module_addresses);
  std::unique_ptr<Program> build();

  Program& program() { return *program_; }
  Ref register_ref(std::uint32_t reg) const { return refs_[reg]; }
  ptx::ScalarType register_type(std::uint32_t reg) const { return function_.registers[reg].type; }
  Ref constant(std::uint64_t bits, unsigned bytes);
  Ref scratch(unsigned bytes);
  std::int32_t scratch_predicate() const { return 0; }
  Ref special(SpecialRegister);
  std::uint64_t variable_address(ptx::VariableRef, ptx::Space* space = nullptr);
  /// Whether the operand is a parameter of a call; those lie in local memory.
  bool is_call_parameter(const ptx::Operand&) const;
  std::uint32_t label(const ptx::Statement&, const std::string& name) const;
  void watch(Ref r) { watched_.insert(r); }   // a register that wgmma reads or writes asynchronously

 private:
  void lay_out_registers();
  void lay_out_memory();
  void note_granule(const ptx::Statement&, const Instruction&);
  void guard_watched();

  std::shared_ptr<const ptx::Module> module_;
  const ptx::Function& function_;
  GlobalMemory& memory_;
  std::map<std::uint32_t, std::uint64_t>& module_addresses_;
  std::unique_ptr<Program> program_;
  std::vector<Ref> refs_;
  std::map<std::pair<std::uint64_t, unsigned>, Ref> constants_;
  std::map<SpecialRegister, Ref> special_;
  std::map<unsigned, Ref> scratch_;
  std::unordered_set<Ref> watched_;
  std::vector<std::uint64_t> function_addresses_;
  std::map<std::uint32_t, std::uint64_t> shared_addresses_;   // module's shared variables
};

}  // namespace tilewright::runtime::sim
