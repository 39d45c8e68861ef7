// hopper-opt: reads and writes modules of the hopper level and runs its passes. Knows nothing of tiles.
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

#include "compiler/passes/hopper/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  tilewright::hopper::registerHopperDialects(registry);
  tilewright::hopper::registerHopperPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "hopper-opt", registry));
}
