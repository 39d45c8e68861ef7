// Loops and branches, and mistakes that the headers find.
#include "compiler/dsl/Operations.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilewright::dsl {

namespace {

void for_begin(Recording& r, Arguments& a) {
  r.in_role("a loop");
  const Value from = a.value(), to = a.value(), step = a.value();
  auto loop = r.make<scf::ForOp>(from, to, step);
  a.result(loop.getInductionVar());
  r.enter(loop, loop.getBody());
}

void if_begin(Recording& r, Arguments& a) {
  r.in_role("a run-time branch");
  const Value predicate = a.value();
  auto branch = r.make<scf::IfOp>(predicate, /*withElseRegion=*/a.flag());
  r.enter(branch, branch.thenBlock());
}

void else_(Recording& r, Arguments&) {
  auto branch = dyn_cast<scf::IfOp>(r.close());
  if (!branch || !branch.elseBlock()) throw InternalError("an else without its if");
  r.enter(branch, branch.elseBlock());
}

void end(Recording& r, Arguments&) { r.close(); }

void mistake(Recording& r, Arguments& a) { r.fail(a.text().str()); }

}  // namespace

void add_control(Handlers& h) {
  h["for_begin"] = for_begin;
  h["if_begin"] = if_begin;
  h["else"] = else_;
  h["end"] = end;
  h["mistake"] = mistake;
}

}  // namespace tilewright::dsl
