#include "compiler/mutation/Mutate.h"

#include <map>

#include "compiler/mutation/Candidates.h"
#include "dialect/tile/Tile.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace tilewright::mutation {
namespace {

/// "forward.h:129", the author's.
std::string place_of(Location location) {
  if (auto file = dyn_cast<FileLineColLoc>(location)) return llvm::sys::path::filename(file.getFilename()).str() + ":" + std::to_string(file.getLine());
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (std::string place = place_of(part); !place.empty()) return place;
  if (auto name = dyn_cast<NameLoc>(location)) return place_of(name.getChildLoc());
  return "";
}

/// Calls f(candidate, mutation) for each; candidates of one kind are numbered.
void each(Stage stage, ModuleOp module, llvm::function_ref<void(const Candidate&, compiler::Mutation)> f) {
  std::map<std::string, unsigned> count;
  for (const Candidate& c : stage == Stage::tile ? tile_candidates(module) : hopper_candidates(module)) {
    f(c, {stage, c.kind, place_of(c.op->getLoc()), count[c.kind]++, c.what});
  }
}

struct Mutate : PassWrapper<Mutate, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Mutate)
  Mutate(Stage at, Hook call) : stage(at), hook(std::move(call)) {}
  StringRef getArgument() const override { return stage == Stage::tile ? "mutate-tile" : "mutate-hopper"; }
  StringRef getDescription() const override { return "plants one mistake"; }

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<tile::KernelOp>()) kernel->setAttr("manual_fences", UnitAttr::get(&getContext()));
    if (failed(hook(stage, getOperation()))) signalPassFailure();
  }

  Stage stage;
  Hook hook;
};

}  // namespace

std::vector<compiler::Mutation> list(Stage stage, ModuleOp module) {
  std::vector<compiler::Mutation> all;
  each(stage, module, [&](const Candidate&, compiler::Mutation m) { all.push_back(std::move(m)); });
  return all;
}

LogicalResult plant(const compiler::Mutation& mutation, Stage stage, ModuleOp module) {
  if (mutation.stage != stage || mutation.kind.empty()) return success();
  std::function<void()> apply;
  each(stage, module, [&](const Candidate& c, const compiler::Mutation& m) {
    if (m.kind == mutation.kind && m.ordinal == mutation.ordinal) apply = c.apply;
  });
  if (!apply) return module.emitError() << "the kernel has no place for the mutation " << mutation.kind << " " << mutation.ordinal;
  apply();
  return success();
}

std::unique_ptr<Pass> mutate(Stage stage, Hook hook) { return std::make_unique<Mutate>(stage, std::move(hook)); }

}  // namespace tilewright::mutation
