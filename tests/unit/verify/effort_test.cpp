// What it takes to verify the shipped kernels: counted in steps of the abstract machine, which are the same everywhere.
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "compiler/passes/tile/Passes.h"
#include "compiler/verify/Verify.h"
#include "kernels/gdn/forward.h"
#include "kernels/gdn/prologue.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

namespace tilewright::test {
namespace {

verify::Effort effort_of(const Program& program) {
  mlir::MLIRContext context;
  context.loadDialect<tile::TileDialect, mlir::scf::SCFDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(compiler::text_of(program, {}), &context);
  verify::Effort effort;
  mlir::PassManager passes(&context);
  for (auto make : {verify::verify_structure, passes::infer_layouts, passes::plan_shared, passes::insert_fences}) passes.addPass(make());
  EXPECT_TRUE(module && mlir::succeeded(passes.run(*module)));
  module->walk([&](tile::KernelOp kernel) { EXPECT_TRUE(mlir::succeeded(verify::verify_protocol(kernel, &effort))); });
  return effort;
}
/// The kernels of one form of the operator may take 300 ms (docs/verifier.md), which are three million steps of a core.
void expect_within_budget(std::initializer_list<Program> kernels) {
  verify::Effort all;
  for (const Program& p : kernels) {
    const verify::Effort one = effort_of(p);
    all.runs += one.runs, all.steps += one.steps, all.compared += one.compared;
  }
  EXPECT_GT(all.runs, 50);
  EXPECT_LT(all.steps, 2500000);
  EXPECT_LT(all.compared, 2 * all.steps);
}

TEST(Effort, GdnForward) {
  gdn::ForwardConfig whole, split;
  split.value_columns = 64;
  expect_within_budget({gdn::prologue<bf16>({}), gdn::forward<bf16>(whole), gdn::forward<bf16>(split)});
}
TEST(Effort, GdnForwardWithEverything) {
  gdn::ForwardConfig whole, split;
  whole.l2norm = whole.checkpoints = whole.state_v_first = true;
  split = whole, split.value_columns = 64;
  gdn::PrologueConfig c;
  c.l2norm = true, c.pack = 3;
  expect_within_budget({gdn::prologue<f16>(c), gdn::forward<f16>(whole), gdn::forward<f16>(split)});
}

TEST(Effort, GdnForwardOfNarrowHeads) {
  gdn::ForwardConfig whole, split, narrow;
  whole.dk = 64, whole.l2norm = whole.checkpoints = true;
  split = narrow = whole;
  split.value_columns = narrow.value_columns = narrow.dv = 64;
  gdn::PrologueConfig c;
  c.dk = 64;
  expect_within_budget({gdn::prologue<bf16>(c), gdn::forward<bf16>(whole), gdn::forward<f16>(split), gdn::forward<f16>(narrow)});
}

}  // namespace
}  // namespace tilewright::test
