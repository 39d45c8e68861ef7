#include "dialect/hopper/PtxOperands.h"

#include <cctype>

namespace tilewright::hopper {
namespace {

std::string numberList(unsigned first, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return text;
}

} // namespace

std::string PtxOperands::resultList() const { return numberList(0, results); }

std::string PtxOperands::operandList(mlir::OperandRange segment) const {
  if (segment.empty())
    return {};
  return numberList(results + segment.getBeginOperandIndex(), segment.size());
}

std::string PtxOperands::expand(std::string_view text) const {
  std::string out;
  while (!text.empty()) {
    std::size_t mark = text.find('#');
    out += text.substr(0, mark);
    if (mark == std::string_view::npos)
      break;
    text.remove_prefix(mark + 1);
    auto number = [&text] {
      unsigned value = 0;
      while (!text.empty() && std::isdigit(static_cast<unsigned char>(text[0]))) {
        value = value * 10 + (text[0] - '0');
        text.remove_prefix(1);
      }
      return value;
    };
    if (text.starts_with("out")) {
      text.remove_prefix(3);
      out += result(number());
    } else if (text.starts_with("uid")) {
      out += "${:uid}";
      text.remove_prefix(3);
    } else {
      out += operand(number());
    }
  }
  return out;
}

} // namespace tilewright::hopper
