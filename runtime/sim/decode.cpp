#include "runtime/sim/decode.h"

#include <algorithm>
#include <bit>

#include "tilewright/error.h"

namespace tilewright::runtime::sim {

using ptx::Operand;
using ptx::ScalarType;
using Kind = Operand::Kind;

namespace {

const std::unordered_map<std::string_view, SpecialRegister>& special_registers() {
  using enum SpecialRegister;
  static const std::unordered_map<std::string_view, SpecialRegister> names{
      {"%tid.x", tid_x}, {"%tid.y", tid_y}, {"%tid.z", tid_z}, {"%ntid.x", ntid_x}, {"%ntid.y", ntid_y}, {"%ntid.z", ntid_z},
      {"%ctaid.x", ctaid_x}, {"%ctaid.y", ctaid_y}, {"%ctaid.z", ctaid_z}, {"%nctaid.x", nctaid_x},
      {"%nctaid.y", nctaid_y}, {"%nctaid.z", nctaid_z}, {"%laneid", laneid}, {"%warpid", warpid}, {"%nwarpid", nwarpid},
      {"%smid", smid}, {"%nsmid", nsmid}, {"%gridid", gridid}, {"%lanemask_eq", lanemask_eq}, {"%lanemask_lt", lanemask_lt},
      {"%lanemask_le", lanemask_le}, {"%lanemask_gt", lanemask_gt}, {"%lanemask_ge", lanemask_ge},
      {"%cluster_ctaid.x", cluster_ctaid_x}, {"%cluster_ctaid.y", cluster_ctaid_y}, {"%cluster_ctaid.z", cluster_ctaid_z},
      {"%cluster_nctaid.x", cluster_nctaid_x}, {"%cluster_nctaid.y", cluster_nctaid_y}, {"%cluster_nctaid.z", cluster_nctaid_z},
      {"%cluster_ctarank", cluster_ctarank}, {"%cluster_nctarank", cluster_nctarank},
      {"%clusterid.x", clusterid_x}, {"%clusterid.y", clusterid_y}, {"%clusterid.z", clusterid_z},
      {"%nclusterid.x", nclusterid_x}, {"%nclusterid.y", nclusterid_y}, {"%nclusterid.z", nclusterid_z},
      {"%dynamic_smem_size", dynamic_smem_size}, {"%total_smem_size", total_smem_size}};
  return names;
}

std::string name_of(ScalarType t) {
  static constexpr const char* names[] = {"pred", "b8", "b16", "b32", "b64", "b128", "u8", "u16", "u32", "u64", "s8",
                                          "s16", "s32", "s64", "f16", "f16x2", "bf16", "bf16x2", "tf32", "f32", "f64"};
  return names[static_cast<unsigned>(t)];
}

}  // namespace

Decode::Decode(ProgramBuilder& builder, const ptx::Statement& s, Instruction& i) : builder_(builder), s_(s), i_(i) {
  modifiers_.assign(s.parts.begin() + 1, s.parts.end());
}

bool Decode::take(std::string_view modifier) {
  const auto it = std::find(modifiers_.begin(), modifiers_.end(), modifier);
  if (it == modifiers_.end()) return false;
  modifiers_.erase(it);
  return true;
}

std::string_view Decode::take_any(std::initializer_list<std::string_view> modifiers) {
  for (const std::string_view m : modifiers)
    if (take(m)) return m;
  return {};
}

std::string_view Decode::next_modifier() {
  if (modifiers_.empty()) return {};
  const std::string_view m = modifiers_.front();
  modifiers_.erase(modifiers_.begin());
  return m;
}

ScalarType Decode::type() {
  const std::string_view m = next_modifier();
  const auto t = ptx::scalar_type(m);
  if (!t) unsupported(m.empty() ? "it names no type" : "modifier '." + std::string(m) + "'");
  return *t;
}

void Decode::unsupported(const std::string& why) const {
  throw Error("unsupported instruction '" + s_.opcode + "'" + (why.empty() ? "" : " (" + why + ")"));
}

void Decode::wrong(const std::string& what) const { throw Error("instruction '" + s_.opcode + "': " + what); }

void Decode::finish() const {
  if (!modifiers_.empty()) unsupported("modifier '." + std::string(modifiers_.front()) + "'");
}

void Decode::expect_operands(std::size_t least, std::size_t most) const {
  if (s_.operands.size() < least || s_.operands.size() > most)
    wrong("has " + std::to_string(s_.operands.size()) + " operands, expected " + std::to_string(least) +
          (most == least ? "" : " to " + std::to_string(most)));
}

const Operand& Decode::operand(std::size_t n) const {
  if (n >= s_.operands.size()) wrong("operand " + std::to_string(n + 1) + " is missing");
  return s_.operands[n];
}

unsigned Decode::width(const Operand& o) const {
  if (o.kind == Kind::special) return 4;
  if (o.kind != Kind::reg) wrong("expected a register");
  const unsigned bytes = ptx::bytes_of(builder_.register_type(o.reg));
  return bytes == 1 ? 2 : bytes;
}

Ref Decode::in_any(const Operand& o, ScalarType t, unsigned& width_out) {
  const unsigned bytes = std::max(ptx::bytes_of(t), 2u);
  width_out = bytes;
  switch (o.kind) {
    case Kind::reg:
      width_out = width(o);
      if (width_out == 0) wrong("expected a value of type ." + name_of(t) + ", found a predicate");
      return builder_.register_ref(o.reg);
    case Kind::special: {
      if (o.name == "%clock" || o.name == "%clock64" || o.name.starts_with("%globaltimer"))
        unsupported("special register '" + o.name + "' outside of mov");
      const auto it = special_registers().find(o.name);
      if (it == special_registers().end()) unsupported("'" + o.name + "' is neither a declared register nor a known special register");
      width_out = 4;
      return builder_.special(it->second);
    }
    case Kind::integer:
      if (t == ScalarType::f32) return builder_.constant(std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int64_t>(o.value))), bytes);
      if (t == ScalarType::f64) return builder_.constant(std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(o.value))), bytes);
      return builder_.constant(o.value, bytes);
    case Kind::f32:
      if (t == ScalarType::f64) return builder_.constant(std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(o.value)))), bytes);
      return builder_.constant(o.value, bytes);
    case Kind::f64:
      if (t == ScalarType::f32) return builder_.constant(std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(o.value))), bytes);
      return builder_.constant(o.value, bytes);
    case Kind::variable: {
      return builder_.constant(builder_.variable_address(o.variable) + static_cast<std::uint64_t>(o.offset), bytes);
    }
    case Kind::name: wrong("'" + o.name + "' is not declared");
    default: wrong("an operand has a form that does not fit here");
  }
}

Ref Decode::in(const Operand& o, ScalarType t) {
  unsigned w = 0;
  const Ref r = in_any(o, t, w);
  if (w != std::max(ptx::bytes_of(t), 2u))
    wrong("an operand of type ." + name_of(t) + " is a register of " + std::to_string(8 * w) + " bits");
  return r;
}

Ref Decode::out_any(const Operand& o, ScalarType t, unsigned& width_out) {
  width_out = std::max(ptx::bytes_of(t), 2u);
  if (o.kind == Kind::sink) return builder_.scratch(width_out);
  if (o.kind != Kind::reg) wrong("the destination must be a register");
  width_out = width(o);
  if (width_out == 0) wrong("the destination of type ." + name_of(t) + " is a predicate");
  return builder_.register_ref(o.reg);
}

Ref Decode::out(const Operand& o, ScalarType t) {
  unsigned w = 0;
  const Ref r = out_any(o, t, w);
  if (w != std::max(ptx::bytes_of(t), 2u))
    wrong("the destination of type ." + name_of(t) + " is a register of " + std::to_string(8 * w) + " bits");
  return r;
}

std::int32_t Decode::predicate(const Operand& o) const {
  if (o.kind != Kind::reg || builder_.register_type(o.reg) != ScalarType::pred) wrong("expected a predicate register");
  return builder_.register_ref(o.reg);
}

std::int32_t Decode::predicate_out(const Operand& o) {
  return o.kind == Kind::sink ? builder_.scratch_predicate() : predicate(o);
}

std::uint64_t Decode::immediate(const Operand& o) const {
  if (o.kind != Kind::integer) unsupported("an operand that must be an integer constant is none");
  return o.value;
}

void Decode::address(const Operand& o, unsigned slot, unsigned wide) {
  if (o.kind != Kind::address) wrong("expected an address in [ ]");
  const Operand& base = o.elements[0];
  i_.offset = o.offset;
  if (base.kind == Kind::reg) {
    const unsigned w = width(base);
    if (w != 4 && w != 8) wrong("an address register must have 32 or 64 bits");
    i_.in[slot] = builder_.register_ref(base.reg);
    i_.extra[wide] = w == 8;
  } else {
    unsigned w = 0;
    i_.in[slot] = in_any(base, ScalarType::u64, w);
    i_.extra[wide] = 1;
  }
}

void Decode::begin_list() {
  i_.list = static_cast<std::uint32_t>(builder_.program().lists.size());
  i_.list_count = 0;
}

void Decode::push_list(Ref r) {
  builder_.program().lists.push_back(r);
  ++i_.list_count;
}

}  // namespace tilewright::runtime::sim
