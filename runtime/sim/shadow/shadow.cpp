#include "runtime/sim/shadow/shadow.h"

#include <algorithm>
#include <cmath>

#include "runtime/sim/shadow/shadow_observer.h"
#include "tilewright/error.h"

namespace tilewright::runtime::sim {
namespace {

double ratio(double error2, double value2) { return error2 == 0 ? 0 : std::sqrt(error2 / value2); }

Accuracy accuracy_of(const Shadow::Sums& s) {
  Accuracy a;
  a.results = s.results;
  a.not_finite = s.not_finite;
  a.result_error = ratio(s.error2, s.result2);
  a.introduced = ratio(s.introduced2, s.result2);
  for (unsigned n = 0; n < 3; ++n) a.operand_error = std::max(a.operand_error, ratio(s.operand_error2[n], s.operand2[n]));
  return a;
}

}  // namespace

void Shadow::Sums::add(const Sums& o) {
  results += o.results, not_finite += o.not_finite;
  result2 += o.result2, error2 += o.error2, introduced2 += o.introduced2;
  for (unsigned n = 0; n < 3; ++n) operand2[n] += o.operand2[n], operand_error2[n] += o.operand_error2[n];
}

std::unique_ptr<Observer> Shadow::observe(const Launch& l) { return std::make_unique<ShadowObserver>(l, memory_); }

void Shadow::finish(const Launch& l, Observer& observer) {
  const auto& seen = static_cast<ShadowObserver&>(observer);
  const Program& p = *l.program;
  const std::lock_guard lock(mutex_);
  for (std::size_t r = 0; r < seen.roles.size(); ++r)
    for (std::size_t n = 0; n < p.function->statements.size(); ++n) {
      const Sums& sums = seen.sums[r][n];
      if (sums.results + sums.not_finite == 0) continue;
      const ptx::Statement& s = p.statement(p.code[n]);
      const std::array<std::string, 4> key{p.function->name, seen.roles[r], p.source_of(p.code[n]), s.opcode};
      Line& line = lines_.try_emplace(key, Line{{key[0], key[1], key[2], key[3], s.ptx_line, 0, {}}, {}}).first->second;
      ++line.line.instructions;
      line.sums.add(sums);
    }
}

std::vector<ShadowLine> Shadow::lines() const {
  const std::lock_guard lock(mutex_);
  std::vector<ShadowLine> result;
  for (const auto& [key, line] : lines_) {
    result.push_back(line.line);
    result.back().accuracy = accuracy_of(line.sums);
  }
  std::erase_if(result, [](const ShadowLine& l) { return !(l.lost() > 0) && l.accuracy.not_finite == 0; });
  std::stable_sort(result.begin(), result.end(), [](const ShadowLine& a, const ShadowLine& b) { return a.lost() > b.lost(); });
  return result;
}

ShadowedArray Shadow::compare(DeviceAddress array, std::uint64_t elements, std::string_view element) {
  const auto type = ptx::scalar_type(element);
  if (type != ptx::ScalarType::f32 && type != ptx::ScalarType::f16 && type != ptx::ScalarType::bf16)
    throw Error("an array of '" + std::string(element) + "' against its shadow; expected f32, bf16 or f16");
  const std::lock_guard lock(mutex_);
  ShadowedArray a;
  double error2 = 0, value2 = 0;
  for (; a.elements < elements; ++a.elements) {
    const auto* p = reinterpret_cast<const std::byte*>(array) + a.elements * ptx::bytes_of(*type);
    const double actual = value_of(p, *type), *shadow = memory_.find(p, ptx::bytes_of(*type));
    a.without_shadow += shadow == nullptr;
    if (!std::isfinite(actual)) continue;
    const double error = shadow ? actual - *shadow : 0;
    error2 += error * error;
    value2 += shadow ? *shadow * *shadow : actual * actual;
    a.largest_error = std::max(a.largest_error, std::fabs(error));
  }
  a.rms_error = ratio(error2, value2);
  return a;
}

}  // namespace tilewright::runtime::sim
