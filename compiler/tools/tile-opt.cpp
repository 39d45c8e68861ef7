// tile-opt: reads and writes modules of the tile level and runs its passes, down to the hopper dialect and llvm.
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

#include "compiler/passes/hopper/Passes.h"
#include "compiler/passes/tile/Passes.h"
#include "compiler/pipeline.h"
#include "dialect/tile/Tile.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<tilewright::tile::TileDialect>();
  tilewright::hopper::registerHopperDialects(registry);
  tilewright::passes::register_tile_passes();
  tilewright::hopper::registerHopperPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::PassPipelineRegistration<> tile_to_hopper("tile-to-hopper", "every pass from tile kernels to the hopper dialect",
                                                  [](mlir::OpPassManager& passes) { tilewright::build_tile_pipeline(passes); });
  mlir::PassPipelineRegistration<> pieces("tile-pieces-to-hopper", "as tile-to-hopper, for pieces whose protocol does not hold: tests of lowering",
                                          [](mlir::OpPassManager& passes) { tilewright::build_tile_pipeline(passes, false); });
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "tile-opt", registry));
}
