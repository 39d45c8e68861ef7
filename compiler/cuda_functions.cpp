#include "compiler/cuda_functions.h"

#include "dialect/hopper/Hopper.h"

using namespace mlir;

namespace tilewright {

std::vector<nvrtc::CudaFunction> cuda_functions_of(ModuleOp module) {
  const auto type_name = [](Type type) { return std::string(type.isF32() ? "float" : "int"); };
  std::vector<nvrtc::CudaFunction> functions;
  for (auto op : module.getOps<hopper::CudaFunctionOp>()) {
    nvrtc::CudaFunction f;
    f.symbol = op.getSymbol().str();
    f.function = op.getFunction().str();
    f.text = op.getText().str();
    auto type = cast<FunctionType>(op.getType());
    f.result = type_name(type.getResult(0));
    for (Type t : type.getInputs()) f.arguments.push_back(type_name(t));
    f.file = "kernel";
    if (auto place = dyn_cast<FileLineColLoc>(op.getLoc())) f.file = place.getFilename().str(), f.line = place.getLine();
    functions.push_back(std::move(f));
  }
  return functions;
}

}  // namespace tilewright
