#include "compiler/diagnostics.h"

#include "mlir/IR/Location.h"

using namespace mlir;

namespace tilewright {

namespace {

std::string place(Location location) {
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return file.getFilename().str() + ":" + std::to_string(file.getLine()) + ": ";
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location l : fused.getLocations())
      if (auto text = place(l); !text.empty()) return text;
  if (auto name = dyn_cast<NameLoc>(location)) return place(name.getChildLoc());
  return "";
}

/// MLIR's "'tile.gemm' op ..." in the author's words: "gemm: ...".
std::string message(const std::string& text) {
  constexpr std::string_view begin = "'tile.", end = "' op ";
  size_t at = text.find(end);
  if (!text.starts_with(begin) || at == std::string::npos) return text;
  return text.substr(begin.size(), at - begin.size()) + ": " + text.substr(at + end.size());
}

}  // namespace

DiagnosticCollector::DiagnosticCollector(MLIRContext* context)
    : handler_(context, [this](Diagnostic& d) {
        const char* kind = d.getSeverity() == DiagnosticSeverity::Error ? "error: " : "note: ";
        if (d.getSeverity() != DiagnosticSeverity::Error && d.getSeverity() != DiagnosticSeverity::Note) return success();
        text_ += (text_.empty() ? "" : "\n") + place(d.getLocation()) + kind + message(d.str());
        for (auto& note : d.getNotes()) text_ += "\n" + place(note.getLocation()) + "note: " + note.str();
        return success();
      }) {}

}  // namespace tilewright
