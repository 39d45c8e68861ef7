// Whole-kernel decoding: slots, memory layout, families, branch targets.
#include "runtime/sim/program.h"

#include <algorithm>
#include <cstring>

#include "runtime/sim/control.h"
#include "runtime/sim/decode.h"
#include "tilewright/error.h"

namespace tilewright::runtime::sim {

using ptx::ScalarType;

namespace {

const DecoderTable& decoders() {
  static const DecoderTable table = [] {
    DecoderTable t;
    add_integer_family(t);
    add_bit_family(t);
    add_float_family(t);
    add_compare_family(t);
    add_move_family(t);
    add_convert_family(t);
    add_memory_family(t);
    add_atomic_family(t);
    add_collective_family(t);
    add_control_family(t);
    add_call_family(t);
    add_barrier_family(t);
    add_mbarrier_family(t);
    add_copy_family(t);
    add_matrix_family(t);
    add_wgmma_family(t);
    return t;
  }();
  return table;
}

std::uint64_t round_up(std::uint64_t v, std::uint64_t to) { return to > 1 ? (v + to - 1) / to * to : v; }

std::string source_line(const ptx::Module& m, const ptx::Statement& s) {
  if (s.location.line == 0) return {};
  const auto it = m.files.find(s.location.file);
  return (it == m.files.end() ? "file " + std::to_string(s.location.file) : it->second) + ":" + std::to_string(s.location.line);
}

std::string author_line(const ptx::Module& m, const ptx::Statement& s) {
  const std::string line = source_line(m, s);
  return line.empty() ? line : " (" + line + ")";
}

std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == '\n' || c == '\t' || c == ' ';
    if (blank && (out.empty() || out.back() == ' ')) continue;
    out += blank ? ' ' : c;
  }
  if (out.size() > 160) out = out.substr(0, 157) + "...";
  return out;
}

}  // namespace

std::string Program::describe(const Instruction& i) const {
  if (i.statement >= function->statements.size()) return "end of the kernel";
  const ptx::Statement& s = statement(i);
  return "PTX line " + std::to_string(s.ptx_line) + " `" + one_line(s.text) + "`" + author_line(*module, s);
}

std::string Program::source_of(const Instruction& i) const {
  return i.statement < function->statements.size() ? source_line(*module, statement(i)) : std::string{};
}

ProgramBuilder::ProgramBuilder(std::shared_ptr<const ptx::Module> module, const ptx::Function& function, GlobalMemory& memory,
                               std::map<std::uint32_t, std::uint64_t>& module_addresses)
    : module_(std::move(module)), function_(function), memory_(memory), module_addresses_(module_addresses),
      program_(std::make_unique<Program>()) {
  program_->module = module_;
  program_->function = &function_;
}

Ref ProgramBuilder::constant(std::uint64_t bits, unsigned bytes) {
  if (bytes < 8) bits &= (1ull << 8 * bytes) - 1;
  const auto [it, is_new] = constants_.try_emplace({bits, bytes}, 0);
  if (is_new) {
    const std::size_t words = warp_lanes * bytes / 8;
    const std::size_t at = program_->constants.size();
    std::uint64_t word = bits;
    for (unsigned b = bytes; b < 8; b *= 2) word |= word << 8 * b;
    program_->constants.insert(program_->constants.end(), words, word);
    it->second = ~static_cast<Ref>(at * 8 / slot_unit);
  }
  return it->second;
}

Ref ProgramBuilder::scratch(unsigned bytes) {
  const auto [it, is_new] = scratch_.try_emplace(bytes, 0);
  if (is_new) {
    it->second = static_cast<Ref>(program_->register_bytes);
    program_->register_bytes += bytes * warp_lanes;
  }
  return it->second;
}

Ref ProgramBuilder::special(SpecialRegister r) {
  const auto [it, is_new] = special_.try_emplace(r, 0);
  if (is_new) {
    it->second = static_cast<Ref>(program_->register_bytes);
    program_->register_bytes += 4 * warp_lanes;
    program_->special.emplace_back(r, it->second);
  }
  return it->second;
}

std::uint64_t ProgramBuilder::variable_address(ptx::VariableRef v, ptx::Space* space) {
  if (v.local) {
    if (v.index < function_.params.size()) {
      if (space) *space = ptx::Space::param;
      return function_.param_offsets[v.index];
    }
    const std::size_t n = v.index - function_.params.size();
    if (space) *space = function_.variables[n].space;
    return function_addresses_[n];
  }
  const ptx::Variable& var = module_->variables[v.index];
  if (space) *space = var.space;
  if (var.space == ptx::Space::shared) return shared_addresses_.at(v.index);
  auto it = module_addresses_.find(v.index);
  if (it == module_addresses_.end()) {
    const std::uint64_t address = memory_.allocate(var.bytes);
    std::memset(reinterpret_cast<void*>(address), 0, var.bytes);
    if (!var.initial.empty()) std::memcpy(reinterpret_cast<void*>(address), var.initial.data(), var.initial.size());
    memory_.mark_written(address, var.bytes);
    it = module_addresses_.emplace(v.index, address).first;
  }
  return it->second;
}

bool ProgramBuilder::is_call_parameter(const ptx::Operand& o) const {
  return o.kind == ptx::Operand::Kind::variable && o.variable.local && o.variable.index >= function_.params.size() &&
         function_.variables[o.variable.index - function_.params.size()].space == ptx::Space::param;
}

std::uint32_t ProgramBuilder::label(const ptx::Statement& s, const std::string& name) const {
  for (std::uint32_t scope = s.scope;; scope = function_.scope_parent[scope]) {
    if (const auto it = function_.labels.find({scope, name}); it != function_.labels.end()) return it->second;
    if (function_.scope_parent[scope] == scope) break;
  }
  throw Error("instruction '" + s.opcode + "': label '" + name + "' is not defined");
}

void ProgramBuilder::lay_out_registers() {
  program_->predicates = 1;   // number 0 is scratch
  refs_.reserve(function_.registers.size());
  std::uint64_t bytes = 4 * slot_unit;   // no register at 0, and no predicate at a slot's number: `guard_watched` tells them apart
  for (const ptx::Register& r : function_.registers) {
    if (r.type == ScalarType::pred) {
      if (program_->predicates % slot_unit == 0) ++program_->predicates;
      refs_.push_back(static_cast<Ref>(program_->predicates++));
      continue;
    }
    refs_.push_back(static_cast<Ref>(bytes));
    bytes += std::max(ptx::bytes_of(r.type), 2u) * warp_lanes;
  }
  if (bytes > 1u << 30) throw Error("kernel '" + function_.name + "' declares too many registers");
  program_->register_bytes = static_cast<std::uint32_t>(bytes);
}

// Shared memory: the module's shared variables that the kernel uses, then its own, then the extern (dynamic) ones.
void ProgramBuilder::lay_out_memory() {
  std::uint64_t shared = shared_base;
  std::uint64_t local = program_->local_base;
  std::uint64_t dynamic_align = 16;
  std::vector<bool> used(module_->variables.size());
  const auto note = [&](auto&& self, const ptx::Operand& o) -> void {
    if (o.kind == ptx::Operand::Kind::variable && !o.variable.local) used[o.variable.index] = true;
    for (const ptx::Operand& e : o.elements) self(self, e);
  };
  for (const ptx::Statement& s : function_.statements)
    for (const ptx::Operand& o : s.operands) note(note, o);
  std::vector<std::uint64_t*> dynamic;
  const auto place = [&](const ptx::Variable& v, std::uint64_t& address) {
    if (v.space == ptx::Space::local || v.space == ptx::Space::param) {
      address = local = round_up(local, v.align);
      local += v.bytes;
    } else if (v.bytes == 0) {
      dynamic_align = std::max<std::uint64_t>(dynamic_align, v.align);
      dynamic.push_back(&address);
    } else {
      address = shared = round_up(shared, v.align);
      shared += v.bytes;
    }
  };
  for (std::uint32_t i = 0; i < used.size(); ++i)
    if (used[i] && module_->variables[i].space == ptx::Space::shared) place(module_->variables[i], shared_addresses_[i]);
  function_addresses_.resize(function_.variables.size());
  for (std::size_t i = 0; i < function_.variables.size(); ++i) place(function_.variables[i], function_addresses_[i]);
  program_->static_shared = static_cast<std::uint32_t>(shared - shared_base);
  program_->dynamic_shared = static_cast<std::uint32_t>(round_up(shared, dynamic_align));
  for (std::uint64_t* address : dynamic) *address = program_->dynamic_shared;
  program_->local_bytes = static_cast<std::uint32_t>(local);
}

std::unique_ptr<Program> ProgramBuilder::build() {
  lay_out_registers();
  lay_out_memory();
  program_->code.resize(function_.statements.size() + 1);
  for (std::uint32_t n = 0; n < function_.statements.size(); ++n) {
    const ptx::Statement& s = function_.statements[n];
    Instruction& i = program_->code[n];
    i.statement = n;
    try {
      const auto decoder = decoders().find(s.parts[0]);
      Decode d(*this, s, i);
      if (decoder == decoders().end()) d.unsupported();
      if (s.guard >= 0) {
        if (register_type(static_cast<std::uint32_t>(s.guard)) != ScalarType::pred) d.wrong("the guard is not a predicate");
        i.guard = register_ref(static_cast<std::uint32_t>(s.guard));
        i.guard_negated = s.guard_negated;
      }
      decoder->second(d);
      d.finish();
      if (!i.exec) d.unsupported();
      note_granule(s, i);
    } catch (const Error& e) {
      throw Error("kernel '" + function_.name + "', PTX line " + std::to_string(s.ptx_line) + " `" + one_line(s.text) + "`" +
                  author_line(*module_, s) + ": " + e.what());
    }
  }
  Instruction& end = program_->code.back();
  end.statement = static_cast<std::uint32_t>(function_.statements.size());
  end.exec = exit_lanes;
  end.group = InstructionClass::control;
  guard_watched();
  return std::move(program_);
}

// The checks tell bytes apart as far as the kernel does.
void ProgramBuilder::note_granule(const ptx::Statement& s, const Instruction& i) {
  const std::string_view name = s.parts[0];
  const unsigned bytes = unsigned{i.bytes} * i.elements;
  if ((name != "ld" && name != "ldu" && name != "st") || bytes == 0 || bytes >= 4) return;
  const bool generic = i.space == MemorySpace::generic;
  if (generic || i.space == MemorySpace::shared || i.space == MemorySpace::cluster) program_->shared_granule = std::min(program_->shared_granule, bytes);
  if (generic || i.space == MemorySpace::global) program_->global_granule = std::min(program_->global_granule, bytes);
}

namespace {

/// How many of the registers in an instruction's list it writes.
std::uint32_t outputs_in_list(const ptx::Statement& s, const Instruction& i) {
  const std::string_view name = s.parts[0];
  if (name == "ld" || name == "ldu" || name == "ldmatrix") return i.list_count;
  if (name == "mov") return !s.operands.empty() && s.operands[0].kind == ptx::Operand::Kind::vector ? i.list_count : 0;
  return name == "mma" ? static_cast<std::uint32_t>(i.extra[3]) : 0;
}

}  // namespace

// Registers of an asynchronous wgmma may be touched only behind a wait; code that moves one earlier first settles the wgmma.
void ProgramBuilder::guard_watched() {
  if (watched_.empty()) return;
  // Copies of such registers, and what is copied into one, take part.
  const auto copies = [&](const Instruction& i) {
    return i.statement < function_.statements.size() && program_->statement(i).parts[0] == "mov" && i.list_count == 0 && i.out[0] > 0 && i.bytes != 0;
  };
  for (std::size_t before = 0; before != watched_.size();) {
    before = watched_.size();
    for (const Instruction& i : program_->code)
      if (copies(i) && i.in[0] > 0 && (watched_.contains(i.in[0]) || watched_.contains(i.out[0]))) watched_.insert({i.in[0], i.out[0]});
  }
  for (Instruction& i : program_->code) {
    if (i.group == InstructionClass::wgmma) continue;
    bool touches = false;
    for (const Ref r : i.in) touches |= watched_.contains(r);
    for (const Ref r : i.out) touches |= watched_.contains(r);
    for (std::uint32_t n = 0; n < i.list_count; ++n) touches |= watched_.contains(program_->lists[i.list + n]);
    if (!touches) continue;
    if (i.statement < function_.statements.size()) i.list_outputs = outputs_in_list(program_->statement(i), i);
    i.copies_register = copies(i);
    i.inner = i.exec;
    i.exec = settle_wgmma_then;
  }
}

}  // namespace tilewright::runtime::sim
