// Structural rules of printf, inline PTX, and of single elements in other CTAs.
#include "dialect/tile/Tile.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {

/// What a conversion of a printf format takes: "d", "lld", "f"; "" for %%.
std::optional<std::string> next_conversion(StringRef& format) {
  size_t at = format.find('%');
  if (at == StringRef::npos) return std::nullopt;
  format = format.drop_front(at + 1);
  if (format.consume_front("%")) return "";
  format = format.drop_while([](char c) { return StringRef("-+ #0123456789.").contains(c); });
  size_t length = format.take_while([](char c) { return c == 'l'; }).size();
  std::string text = format.take_front(length + 1).str();
  format = format.drop_front(std::min(length + 1, format.size()));
  return text;
}

LogicalResult verify_remote(Operation* op, SharedType tile, Type value) {
  if (tile.getElementType() == value) return success();
  return op->emitOpError() << "the value is " << value << ", the tile holds " << tile.getElementType() << "; elements of other CTAs are f32 or i32";
}

}  // namespace

LogicalResult PrintfOp::verify() {
  size_t used = 0;
  StringRef rest = getFormat();
  while (auto conversion = next_conversion(rest)) {
    if (conversion->empty()) continue;
    if (used == getValues().size()) return emitOpError() << "the format has more conversions than the " << used << " values given";
    Type type = getValues()[used++].getType();
    StringRef expected = type.isF32() ? "%f, %e or %g" : type.isInteger(64) ? "%lld, %llu or %llx" : "%d, %u or %x";
    bool fits = type.isF32() ? llvm::is_contained({"f", "e", "g"}, *conversion)
                             : type.isInteger(64) ? llvm::is_contained({"lld", "llu", "llx"}, *conversion) : llvm::is_contained({"d", "i", "u", "x"}, *conversion);
    if (!fits) return emitOpError() << "value " << used << " is " << type << ", its conversion %" << *conversion << "; expected " << expected;
  }
  if (used != getValues().size()) return emitOpError() << "the format has " << used << " conversions, given " << getValues().size() << " values";
  return success();
}

LogicalResult PtxOp::verify() {
  StringRef text = getText().trim();
  if (!text.ends_with(";") && !text.ends_with("}")) return emitOpError("the text does not end with ; or }");
  if (text.count('{') != text.count('}')) return emitOpError() << text.count('{') << " { and " << text.count('}') << " } in the text";
  llvm::SmallBitVector inputs(getInputs().size()), outputs(getOutputs().size());
  for (size_t at = text.find('#'); at != StringRef::npos; at = text.find('#')) {
    text = text.drop_front(at + 1);
    if (text.consume_front("uid")) continue;
    bool out = text.consume_front("out");
    StringRef digits = text.take_while([](char c) { return c >= '0' && c <= '9'; });
    unsigned number = 0;
    if (digits.empty() ? !out : digits.getAsInteger(10, number)) return emitOpError("after # stands neither a number, out nor uid");
    auto& seen = out ? outputs : inputs;
    if (number >= seen.size())
      return emitOpError() << "#" << (out ? "out" : "") << number << ", but there are " << seen.size() << (out ? " results" : " inputs");
    seen.set(number);
  }
  if (!outputs.all()) return emitOpError() << "#out" << outputs.find_first_unset() << " is not in the text; the result would be undefined";
  if (!inputs.all()) return emitOpError() << "#" << inputs.find_first_unset() << " is not in the text";
  return success();
}

LogicalResult RemoteReadOp::verify() { return verify_remote(*this, getTile().getType(), getValue().getType()); }
LogicalResult RemoteWriteOp::verify() { return verify_remote(*this, getTile().getType(), getValue().getType()); }
