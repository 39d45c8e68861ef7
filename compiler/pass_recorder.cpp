#include "compiler/pass_recorder.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tilewright {

void PassRecorder::runBeforePass(Pass*, Operation*) { begin_ = std::chrono::steady_clock::now(); }

void PassRecorder::runAfterPass(Pass* pass, Operation* module) {
  const double milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_).count();
  const StringRef name = pass->getArgument().empty() ? pass->getName() : pass->getArgument();
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  records_.push_back({name.str(), milliseconds, "mlir", std::move(text)});
}

}  // namespace tilewright
