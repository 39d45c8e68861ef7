#include "compiler/verify/protocol/Waivers.h"

#include <algorithm>

using namespace mlir;

namespace tilewright::verify::protocol {

LogicalResult Waivers::read(tile::KernelOp kernel) {
  auto list = kernel->getAttrOfType<ArrayAttr>("waivers");
  if (!list) return success();
  for (Attribute entry : list) {
    SmallVector<std::string> words;
    Location at = kernel.getLoc();
    if (auto parts = dyn_cast<ArrayAttr>(entry))
      for (Attribute part : parts) {
        if (auto text = dyn_cast<StringAttr>(part)) words.push_back(text.getValue().str());
        else if (auto place = dyn_cast<LocationAttr>(part)) at = place;
      }
    if (words.size() != 3) return emitError(at) << "a waiver is [subject, property, reason]";
    if (std::find(std::begin(kProperties), std::end(kProperties), words[1]) == std::end(kProperties)) {
      auto error = emitError(at) << "waiver of \"" << words[1] << "\" for \"" << words[0] << "\": there is no such property; expected one of";
      for (const char* p : kProperties) error << " " << p;
      return error;
    }
    if (words[2].empty()) return emitError(at) << "waiver of \"" << words[1] << "\" for \"" << words[0] << "\" gives no reason";
    all_.push_back({words[0], words[1], at});
  }
  return success();
}

bool Waivers::covers(const std::string& subject, const std::string& property) {
  bool found = false;
  for (Waiver& w : all_)
    if (w.subject == subject && w.property == property) found = w.used = true;
  return found;
}

std::optional<Location> Waivers::place_of(const std::string& subject, const std::string& property) const {
  for (const Waiver& w : all_)
    if (w.subject == subject && w.property == property) return w.at;
  return std::nullopt;
}

LogicalResult Waivers::check_used() const {
  for (const Waiver& w : all_)
    if (!w.used)
      return emitError(w.at) << "waiver of \"" << w.property << "\" for \"" << w.subject
                             << "\" is not needed: nothing about it is undecided; take it out, or it would hide what a later change brings up";
  return success();
}

}  // namespace tilewright::verify::protocol
