// hopper-translate: a module of the hopper level as PTX, or as the LLVM IR before it.
//   hopper-translate FILE.mlir [--llvm] [--no-loc] [-O0 .. -O3]
#include <iostream>
#include <string>

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "compiler/codegen/Codegen.h"
#include "compiler/passes/hopper/Passes.h"

namespace {

int usage() {
  std::cerr << "usage: hopper-translate FILE.mlir [--llvm] [--no-loc] [-O0 .. -O3]\n";
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  tilewright::codegen::CodegenOptions options;
  std::string input;
  bool wantLLVM = false;
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    if (arg == "--llvm") {
      wantLLVM = true;
    } else if (arg == "--no-loc") {
      options.debugLocations = false;
    } else if (arg.size() == 3 && arg.starts_with("-O") && arg[2] >= '0' && arg[2] <= '3') {
      options.optLevel = arg[2] - '0';
    } else if (input.empty() && !arg.starts_with("--")) {
      input = arg;
    } else {
      return usage();
    }
  }
  if (input.empty())
    return usage();

  mlir::DialectRegistry registry;
  tilewright::hopper::registerHopperDialects(registry);
  tilewright::codegen::registerCodegenDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(input, &context);
  if (!module)
    return 1;
  mlir::PassManager passes(&context);
  tilewright::hopper::buildHopperToLLVMPipeline(passes);
  if (mlir::failed(passes.run(*module)))
    return 1;
  std::string llvmIr;
  auto ptx = tilewright::codegen::emitPtx(*module, options, &llvmIr);
  if (mlir::failed(ptx))
    return 1;
  std::cout << (wantLLVM ? llvmIr : *ptx);
  return 0;
}
