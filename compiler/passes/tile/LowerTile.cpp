#include "compiler/passes/lowering/Lowering.h"
#include "compiler/passes/tile/Passes.h"
#include "compiler/passes/tile/Sidecar.h"
#include "compiler/verify/Verify.h"

using namespace mlir;

namespace tilewright::passes {
namespace {

struct LowerTile : PassWrapper<LowerTile, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerTile)
  StringRef getArgument() const override { return "lower-tile"; }
  StringRef getDescription() const override { return "tile kernels to functions over the hopper dialect"; }
  void getDependentDialects(DialectRegistry& r) const override {
    r.insert<hopper::HopperDialect, LLVM::LLVMDialect, arith::ArithDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    SmallVector<tile::KernelOp> kernels(getOperation().getOps<tile::KernelOp>());
    for (auto kernel : kernels) {
      OpBuilder b(kernel);
      lowering::Lowering lowering(kernel, b);
      if (failed(lowering.run())) return signalPassFailure();
      getOperation()->setAttr("tilewright.sidecar", StringAttr::get(&getContext(), write_sidecar(kernel, lowering)));
      kernel.erase();
    }
  }
};

}  // namespace

std::unique_ptr<Pass> lower_tile() { return std::make_unique<LowerTile>(); }

void register_tile_passes() {
  registerPass([] { return verify::verify_structure(); });
  registerPass([] { return verify::verify_in_flight(); });
  registerPass([] { return verify::verify_protocol(); });
  registerPass([] { return infer_layouts(); });
  registerPass([] { return plan_shared(); });
  registerPass([] { return insert_fences(); });
  registerPass([] { return lower_tile(); });
}

}  // namespace tilewright::passes
