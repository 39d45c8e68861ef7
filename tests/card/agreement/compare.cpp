#include "tests/card/agreement/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/program/program.h"
#include "tilewright/error.h"
#include "tilewright/half.h"

namespace tilewright::test {

std::vector<double> values_of(const Captured& c) {
  const unsigned size = program::element_bytes(c.element);
  std::vector<double> values(c.bytes.size() / size);
  for (std::size_t n = 0; n < values.size(); ++n) {
    if (size == 4) {
      float v;
      std::memcpy(&v, &c.bytes[n * 4], 4);
      values[n] = v;
    } else {
      std::uint16_t v;
      std::memcpy(&v, &c.bytes[n * 2], 2);
      values[n] = c.element == "bf16" ? float_from_bf16(v) : float_from_f16(v);
    }
  }
  return values;
}

Difference compare(const Captured& first, const Captured& second, const Bound& bound) {
  if (first.name != second.name || first.element != second.element || first.bytes.size() != second.bytes.size())
    throw Error("output '" + first.name + "' is compared with '" + second.name + "' of another size or type");
  const auto a = values_of(first), b = values_of(second);
  const unsigned size = program::element_bytes(first.element);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Difference d;
  d.output = first.name, d.bound = bound.words, d.elements = a.size();
  double sum2 = 0, value2 = 0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    value2 += std::isfinite(a[n]) ? a[n] * a[n] : 0;
    if (std::equal(&first.bytes[n * size], &first.bytes[n * size] + size, &second.bytes[n * size])) continue;
    ++d.different;
    const double apart = std::isfinite(a[n]) && std::isfinite(b[n]) ? std::fabs(a[n] - b[n]) : infinity;
    d.largest = std::max(d.largest, apart);
    sum2 += apart * apart;
    if (bound.kind == Bound::Kind::equal_bits) d.used = infinity;
    if (bound.kind == Bound::Kind::each_element)
      d.used = std::max(d.used, apart / (bound.absolute.at(n) + bound.relative * std::max(std::fabs(a[n]), std::fabs(b[n]))));
  }
  d.rms = sum2 == 0 ? 0 : std::sqrt(sum2 / value2);
  if (bound.kind == Bound::Kind::rms) d.used = d.rms == 0 ? 0 : d.rms / bound.rms;
  d.agree = d.used <= 1;   // a NaN is not
  return d;
}

}  // namespace tilewright::test
