#include "runtime/sim/shadow/shadow_plan.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace tilewright::runtime::sim {

using ptx::ScalarType;

namespace {

struct Operation {
  unsigned sources;
  double (*apply)(const double*);
  bool sum = false;
};

const std::unordered_map<std::string_view, Operation>& operations() {
  static const std::unordered_map<std::string_view, Operation> all{
      {"add", {2, [](const double* x) { return x[0] + x[1]; }, true}},
      {"sub", {2, [](const double* x) { return x[0] - x[1]; }, true}},
      {"mul", {2, [](const double* x) { return x[0] * x[1]; }}},
      {"fma", {3, [](const double* x) { return std::fma(x[0], x[1], x[2]); }, true}},
      {"mad", {3, [](const double* x) { return std::fma(x[0], x[1], x[2]); }, true}},
      {"div", {2, [](const double* x) { return x[0] / x[1]; }}},
      {"neg", {1, [](const double* x) { return -x[0]; }}},
      {"abs", {1, [](const double* x) { return std::fabs(x[0]); }}},
      {"min", {2, [](const double* x) { return std::fmin(x[0], x[1]); }}},
      {"max", {2, [](const double* x) { return std::fmax(x[0], x[1]); }}},
      {"copysign", {2, [](const double* x) { return std::copysign(x[1], x[0]); }}},
      {"sqrt", {1, [](const double* x) { return std::sqrt(x[0]); }}},
      {"rsqrt", {1, [](const double* x) { return 1 / std::sqrt(x[0]); }}},
      {"rcp", {1, [](const double* x) { return 1 / x[0]; }}},
      {"ex2", {1, [](const double* x) { return std::exp2(x[0]); }}},
      {"lg2", {1, [](const double* x) { return std::log2(x[0]); }}},
      {"sin", {1, [](const double* x) { return std::sin(x[0]); }}},
      {"cos", {1, [](const double* x) { return std::cos(x[0]); }}},
      {"tanh", {1, [](const double* x) { return std::tanh(x[0]); }}}};
  return all;
}

ScalarType last_type(const ptx::Statement& s) {
  for (auto part = s.parts.rbegin(); part != s.parts.rend(); ++part)
    if (const auto t = ptx::scalar_type(*part)) return *t;
  return ScalarType::b32;
}

bool has(const ptx::Statement& s, std::string_view modifier) { return std::find(s.parts.begin(), s.parts.end(), modifier) != s.parts.end(); }

bool is_constant(const ptx::Statement& s, std::size_t operand, std::uint32_t value) {
  return s.operands.size() > operand && s.operands[operand].kind == ptx::Operand::Kind::integer &&
         static_cast<std::uint32_t>(s.operands[operand].value) == value;
}

ShadowPlan of_conversion(const Instruction& i) {
  enum : int { sat = 1, relu = 4, to_integral = 8 };   // extra[3], see convert.cpp
  ShadowPlan p;
  p.type = static_cast<ScalarType>(i.extra[0]);
  p.to = static_cast<ScalarType>(i.extra[1]);
  p.saturates = i.extra[3] & sat;
  p.positive = i.extra[3] & relu;
  p.sources = 1;
  if (p.to == ScalarType::f16x2 || p.to == ScalarType::bf16x2) p.kind = ShadowKind::convert_pair, p.sources = 2;
  else if (ptx::is_float(p.type) && ptx::is_float(p.to)) p.kind = i.extra[3] & to_integral ? ShadowKind::none : ShadowKind::convert;
  else if (ptx::is_float(p.to)) p.kind = ShadowKind::from_integer;
  else if (!ptx::is_float(p.type)) p.kind = ShadowKind::copy, p.bytes = static_cast<std::uint8_t>(std::min(ptx::bytes_of(p.type), ptx::bytes_of(p.to)));
  return p;
}

ShadowPlan of_move(const ptx::Statement& s, const Instruction& i) {
  ShadowPlan p;
  p.type = last_type(s);
  p.bytes = i.bytes;
  const ptx::Operand &to = s.operands[0], &from = s.operands[1];
  if (p.type == ScalarType::pred || from.kind == ptx::Operand::Kind::special) return p;
  p.kind = to.kind == ptx::Operand::Kind::vector ? ShadowKind::unpack : from.kind == ptx::Operand::Kind::vector ? ShadowKind::pack : ShadowKind::copy;
  return p;
}

}  // namespace

ShadowPlan shadow_plan(const Program& program, const Instruction& i) {
  ShadowPlan p;
  if (i.statement >= program.function->statements.size()) return p;
  const ptx::Statement& s = program.statement(i);
  const std::string_view name = s.parts[0];
  const ScalarType t = p.type = last_type(s);
  if (const auto o = operations().find(name); o != operations().end() && ptx::is_float(t)) {
    p.kind = ShadowKind::arithmetic;
    p.to = t;
    p.sources = o->second.sources;
    p.operation = o->second.apply;
    p.sum = o->second.sum;
    p.saturates = has(s, "sat");
    p.positive = has(s, "relu");
  } else if (name == "cvt") {
    return of_conversion(i);
  } else if (name == "mov") {
    return of_move(s, i);
  } else if (name == "selp" || name == "slct") {
    p.kind = name == "selp" ? ShadowKind::select : ShadowKind::choose;
    p.bytes = static_cast<std::uint8_t>(ptx::bytes_of(name == "selp" ? t : ptx::scalar_type(s.parts[s.parts.size() - 2]).value_or(t)));
  } else if (name == "ld" || name == "ldu") {
    p.kind = ShadowKind::load;
  } else if (name == "st" && !has(s, "async")) {
    p.kind = ShadowKind::store;
  } else if (name == "shfl") {
    p.kind = ShadowKind::shuffle;
  } else if (name == "ldmatrix" || name == "stmatrix") {
    p.kind = name[0] == 'l' ? ShadowKind::matrix_load : ShadowKind::matrix_store;
  } else if (name == "mma") {
    p.kind = ShadowKind::warp_product;
  } else if ((name == "atom" || name == "red") && has(s, "add") && ptx::is_float(t)) {
    p.kind = ShadowKind::atomic_add;
  } else if (name == "shl" && is_constant(s, 2, 16) && ptx::bytes_of(t) == 4) {
    p.kind = ShadowKind::widen_low;
  } else if (name == "and" && is_constant(s, 2, 0xffff0000u) && ptx::bytes_of(t) == 4) {
    p.kind = ShadowKind::widen_high;
  } else if (name == "shr" && is_constant(s, 2, 16) && ptx::bytes_of(t) == 4) {
    p.kind = ShadowKind::lower;
  }
  return p;
}

}  // namespace tilewright::runtime::sim
