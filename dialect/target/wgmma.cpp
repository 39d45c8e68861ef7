#include "dialect/target/wgmma.h"

#include <algorithm>
#include <iterator>

#include "dialect/target/machine.h"

namespace tilewright::target {
namespace {

struct ElementRow {
  WgmmaElement element;
  std::string_view name;
  int k;
  bool transpose;
};

constexpr ElementRow kElements[] = {
    {WgmmaElement::bf16, "bf16", 16, true},
    {WgmmaElement::f16, "f16", 16, true},
    {WgmmaElement::tf32, "tf32", 8, false},
};

const ElementRow &row(WgmmaElement element) {
  return *std::find_if(std::begin(kElements), std::end(kElements),
                       [&](const ElementRow &r) { return r.element == element; });
}

} // namespace

std::optional<WgmmaElement> parseWgmmaElement(std::string_view name) {
  for (const ElementRow &r : kElements)
    if (r.name == name)
      return r.element;
  return std::nullopt;
}

std::string_view wgmmaElementName(WgmmaElement element) { return row(element).name; }
int wgmmaK(WgmmaElement element) { return row(element).k; }
bool wgmmaAllowsTranspose(WgmmaElement element) { return row(element).transpose; }

int wgmmaMaxN(int threads) {
  constexpr int kOtherRegisters = 26;
  int n = (registersAtEntry(threads) - kOtherRegisters) * 2 / 16 * 16;
  return std::clamp(n, 0, kWgmmaMaxN);
}

std::optional<std::string> wgmmaProblem(const WgmmaForm &form) {
  std::string element(wgmmaElementName(form.element));
  if (form.n % kWgmmaMinN != 0 || form.n < kWgmmaMinN || form.n > kWgmmaMaxN)
    return "n is " + std::to_string(form.n) + ", expected a multiple of 8 in 8..256";
  if (!wgmmaAllowsTranspose(form.element) && (form.transA || form.transB))
    return "a transposed operand needs a 16-bit element type, got " + element;
  if (form.aFromRegisters && form.transA)
    return "operand A comes from registers and cannot be transposed";
  return std::nullopt;
}

} // namespace tilewright::target
