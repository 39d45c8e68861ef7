#include "compiler/verify/protocol/Waivers.h"

#include <algorithm>

using namespace mlir;

namespace tilewright::verify::protocol {

LogicalResult Waivers::read(tile::KernelOp kernel) {
  auto list = kernel->getAttrOfType<ArrayAttr>("waivers");
  if (!list) return success();
  for (Attribute entry : list) {
    SmallVector<std::string> words;
    if (auto parts = dyn_cast<ArrayAttr>(entry))
      for (Attribute word : parts)
        if (auto text = dyn_cast<StringAttr>(word)) words.push_back(text.getValue().str());
    if (words.size() != 3) return kernel.emitOpError("a waiver is [subject, property, reason]");
    if (std::find(std::begin(kProperties), std::end(kProperties), words[1]) == std::end(kProperties)) {
      auto error = kernel.emitOpError() << "waiver of \"" << words[1] << "\" for \"" << words[0] << "\": there is no such property; expected one of";
      for (const char* p : kProperties) error << " " << p;
      return error;
    }
    if (words[2].empty()) return kernel.emitOpError() << "waiver of \"" << words[1] << "\" for \"" << words[0] << "\" gives no reason";
    all_.emplace_back(words[0], words[1]);
  }
  return success();
}

bool Waivers::covers(const std::string& subject, const std::string& property) const {
  return std::find(all_.begin(), all_.end(), std::pair(subject, property)) != all_.end();
}

}  // namespace tilewright::verify::protocol
