// What operations do to fragments; and that none is read before it is written.
#include "compiler/verify/Fragments.h"

#include "compiler/verify/Rules.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilewright::verify {

Part::Part(Value frag) {
  end = cast<tile::FragType>(frag.getType()).getShape()[1];
  for (; auto view = frag.getDefiningOp<tile::FragViewOp>(); frag = view.getFrag()) first += view.getColumn(), end += view.getColumn();
  root = frag;
}

std::string name_of(Value frag) {
  auto op = Part(frag).root.getDefiningOp<tile::FragOp>();
  return op && op.getSymName() ? "fragment \"" + op.getSymName()->str() + "\"" : "fragment";
}

FragmentUses fragment_uses(Operation* op) {
  FragmentUses uses;
  const auto add = [](auto& list, ValueRange values) {
    for (Value v : values)
      if (isa<tile::FragType>(v.getType())) list.push_back(v);
  };
  llvm::TypeSwitch<Operation*>(op)
      .Case<tile::GemmOp>([&](tile::GemmOp o) {  // whether `accumulate` holds is known only at run time
        add(uses.reads, o.getA());
        add(o.getZero() || o.getAccumulate() ? uses.writes : uses.updates, o.getAcc());
      })
      .Case<tile::MmaOp>([&](tile::MmaOp o) { add(uses.reads, o.getA()), add(uses.updates, o.getAcc()); })
      .Case<tile::MapOp>([&](tile::MapOp o) { add(uses.reads, o.getInputs()), add(uses.writes, o.getOutputs()); })
      .Case<tile::ReduceOp, tile::ScanOp>([&](auto o) { add(uses.reads, o.getInput()), add(uses.writes, o.getOutput()); })
      .Case<tile::FillOp, tile::LoadOp, tile::LoadGlobalOp>([&](auto o) { add(uses.writes, o.getFrag()); })
      .Case<tile::StoreOp, tile::StoreGlobalOp>([&](auto o) { add(uses.reads, o.getFrag()); });
  return uses;
}

namespace {

using Written = llvm::SmallDenseSet<Value>;

struct Reading {
  bool failed = false;

  void join(Written& all, const Written& other) { all.insert(other.begin(), other.end()); }

  /// `written`: what may have been written on the way here. `later`: what is written in the loops around, which a branch may wait for.
  void visit(Block& block, Written& written, const Written& later) {
    for (Operation& op : block) {
      if (failed) return;
      if (auto branch = dyn_cast<scf::IfOp>(op)) {
        join(written, later);
        Written otherwise = written;
        visit(*branch.thenBlock(), written, later);
        if (branch.elseBlock()) visit(*branch.elseBlock(), otherwise, later);
        join(written, otherwise);
      } else if (isa<scf::ForOp, scf::WhileOp>(op)) {
        Written here = later;
        op.walk([&](Operation* inner) {
          const FragmentUses uses = fragment_uses(inner);
          for (const auto* list : {&uses.updates, &uses.writes})
            for (Value v : *list) here.insert(Part(v).root);
        });
        for (Region& region : op.getRegions()) visit(region.front(), written, here);
      } else {
        ordinary(&op, written);
      }
    }
  }

  void ordinary(Operation* op, Written& written) {
    const FragmentUses uses = fragment_uses(op);
    for (const auto* list : {&uses.reads, &uses.updates})
      for (Value v : *list) {
        Part part(v);
        if (failed || written.contains(part.root)) continue;
        failed = true;
        const bool adds = list == &uses.updates;
        auto error = op->emitOpError() << (adds ? "adds to " : "reads ") << name_of(v) << ", to which nothing has been written; "
                                       << (adds ? "fill(fragment, 0.0) first, or start with gemm_zero" : "load, fill or compute it first");
        error.attachNote(part.root.getLoc()) << "the fragment";
      }
    for (const auto* list : {&uses.updates, &uses.writes})
      for (Value v : *list) written.insert(Part(v).root);
  }
};

}  // namespace

LogicalResult check_fragments_written(tile::KernelOp kernel) {
  for (auto role : kernel.getBody().getOps<tile::RoleOp>()) {
    Reading check;
    Written written;
    check.visit(role.getBody().front(), written, {});
    if (check.failed) return failure();
  }
  return success();
}

}  // namespace tilewright::verify
