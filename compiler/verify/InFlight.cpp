// Fragments and stages that asynchronous products still use: walks each role in program order with the batches in flight.
#include <vector>

#include "compiler/verify/Fragments.h"
#include "compiler/verify/Verify.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilewright::verify {
namespace {

/// Products that settle together, or those started since the last batch.
struct Group {
  llvm::SmallDenseSet<Value> batches;
  llvm::SmallDenseMap<Value, Operation*> accumulators, operands;       // fragments, with a product that uses them
  llvm::SmallDenseMap<std::pair<Value, Value>, Operation*> stages;     // (ring's tile, stage) of this iteration

  void join(const Group& other) {
    batches.insert(other.batches.begin(), other.batches.end());
    accumulators.insert(other.accumulators.begin(), other.accumulators.end());
    operands.insert(other.operands.begin(), other.operands.end());
    stages.insert(other.stages.begin(), other.stages.end());
  }
};

struct State {
  std::vector<Group> flying;  // oldest first
  Group open;

  /// What may be in flight after either of two paths.
  void join(const State& other) {
    size_t count = std::max(flying.size(), other.flying.size());
    flying.insert(flying.begin(), count - flying.size(), Group());
    for (size_t i = 0; i < other.flying.size(); ++i) flying[count - 1 - i].join(other.flying[other.flying.size() - 1 - i]);
    open.join(other.open);
  }
  void forget_stages() {
    for (Group& g : flying) g.stages.clear();
    open.stages.clear();
  }
  template <class F>
  Operation* find(F in_group) const {
    for (const Group& g : flying)
      if (Operation* product = in_group(g)) return product;
    return in_group(open);
  }
};

/// Products of one shape that accumulate into the same columns are performed in order; others with columns in common are not.
bool in_order(tile::GemmOp a, tile::GemmOp b) {
  auto wide = [](tile::GemmOp gemm) { return gemm.getB().getType().getElementType().isF32(); };
  return Part(a.getAcc()).is(Part(b.getAcc())) && wide(a) == wide(b);
}

/// A product that uses a part of the fragment, or null.
Operation* user_of(const llvm::SmallDenseMap<Value, Operation*>& used, Value frag) {
  if (!isa<tile::FragType>(frag.getType())) return nullptr;
  if (Operation* op = used.lookup(frag)) return op;
  Part part(frag);
  for (auto& [other, op] : used)
    if (part.overlaps(Part(other))) return op;
  return nullptr;
}

struct InFlight {
  bool failed = false;

  void report(Operation* op, const std::string& what, Operation* product) {
    if (failed) return;
    failed = true;
    auto error = op->emitOpError() << what << " while a product is in flight; settle the product's batch first";
    error.attachNote(product->getLoc()) << "the product";
  }

  void reads(Operation* op, Value frag, const State& s) {
    if (Operation* p = s.find([&](const Group& g) { return user_of(g.accumulators, frag); })) report(op, "reads the accumulator " + name_of(frag), p);
  }
  void writes(Operation* op, Value frag, const State& s) {
    if (Operation* p = s.find([&](const Group& g) { return user_of(g.accumulators, frag); })) report(op, "writes the accumulator " + name_of(frag), p);
    if (Operation* p = s.find([&](const Group& g) { return user_of(g.operands, frag); })) report(op, "overwrites the operand " + name_of(frag), p);
  }

  void product(tile::GemmOp gemm, State& s) {
    Value acc = gemm.getAcc();
    if (Operation* p = s.find([&](const Group& g) { return user_of(g.operands, acc); })) report(gemm, "accumulates into the operand " + name_of(acc), p);
    auto disordered = [&](const Group& g) -> Operation* {
      for (auto& [other, op] : g.accumulators)
        if (Part(other).overlaps(Part(acc)) && !in_order(cast<tile::GemmOp>(op), gemm)) return op;
      return nullptr;
    };
    if (Operation* p = s.find(disordered)) report(gemm, "accumulates in another shape or other columns into the accumulator " + name_of(acc), p);
    s.open.accumulators.try_emplace(acc, gemm);
    if (isa<tile::FragType>(gemm.getA().getType())) {
      reads(gemm, gemm.getA(), s);
      s.open.operands.try_emplace(gemm.getA(), gemm);
    }
    for (Value tile : {gemm.getA(), Value(gemm.getB())}) {
      while (auto view = tile.getDefiningOp<tile::ViewOp>()) tile = view.getTile();
      if (auto at = tile.getDefiningOp<tile::AtOp>()) s.open.stages.try_emplace({at.getTile(), at.getStage()}, gemm);
    }
  }

  void release(tile::ReleaseOp op, const State& s) {
    auto ring = op.getRing().getDefiningOp<tile::RingOp>();
    for (Value tile : ring.getTiles())
      if (Operation* p = s.find([&](const Group& g) { return g.stages.lookup({tile, op.getStage()}); }))
        report(op, "releases a stage of ring \"" + ring.getSymName().str() + "\"", p);
  }

  void settle(size_t pending, State& s) {
    if (s.flying.size() > pending) s.flying.erase(s.flying.begin(), s.flying.end() - static_cast<std::ptrdiff_t>(pending));
  }

  void visit(Block& block, State& s) {
    for (Operation& op : block) {
      if (failed) return;
      visit(&op, s);
    }
  }

  void visit(Operation* op, State& s) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (int round = 0; round < 2; ++round) {  // what the first round leaves in flight meets the second
        State after = s;
        visit(*loop.getBody(), after);
        after.forget_stages();
        s.join(after);
      }
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      for (int round = 0; round < 2; ++round) {
        State after = s;
        visit(loop.getBefore().front(), after);
        visit(loop.getAfter().front(), after);
        after.forget_stages();
        s.join(after);
      }
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      State otherwise = s;
      visit(*branch.thenBlock(), s);
      if (branch.elseBlock()) visit(*branch.elseBlock(), otherwise);
      s.join(otherwise);
    } else if (auto gemm = dyn_cast<tile::GemmOp>(op)) {
      product(gemm, s);
    } else if (auto batch = dyn_cast<tile::BatchOp>(op)) {
      s.open.batches.insert(batch.getBatch());
      s.flying.push_back(std::move(s.open));
      s.open = Group();
    } else if (auto wait = dyn_cast<tile::SettleOp>(op)) {
      for (size_t i = s.flying.size(); i-- > 0;)
        if (s.flying[i].batches.contains(wait.getBatch())) return settle(s.flying.size() - 1 - i, s);
    } else if (auto wait = dyn_cast<tile::SettlePendingOp>(op)) {
      settle(wait.getPending(), s);
    } else if (auto done = dyn_cast<tile::ReleaseOp>(op)) {
      release(done, s);
    } else {
      ordinary(op, s);
    }
  }

  void ordinary(Operation* op, const State& s) {
    const FragmentUses uses = fragment_uses(op);
    for (Value v : uses.reads) reads(op, v, s);
    for (Value v : uses.updates) writes(op, v, s);
    for (Value v : uses.writes) writes(op, v, s);
  }
};

struct VerifyInFlight : PassWrapper<VerifyInFlight, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyInFlight)
  StringRef getArgument() const override { return "tile-verify-in-flight"; }
  StringRef getDescription() const override { return "checks that nothing touches what products in flight use"; }

  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](tile::RoleOp role) {
      InFlight check;
      State state;
      check.visit(role.getBody().front(), state);
      return check.failed ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted()) signalPassFailure();
  }
};

}  // namespace

std::unique_ptr<Pass> verify_in_flight() { return std::make_unique<VerifyInFlight>(); }

}  // namespace tilewright::verify
