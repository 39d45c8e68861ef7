// Loops and branches, and mistakes that the headers find.
#include "compiler/dsl/Operations.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilewright::dsl {

namespace {

void for_begin(Recording& r, Arguments& a) {
  r.in_role("a loop");
  const Value from = a.value(), to = a.value(), step = a.value();
  for (const Value bound : {from, to, step})
    if (!bound.getType().isInteger(32)) r.wrong_type(bound, "a 32-bit integer as bounds and step of a loop are");
  auto loop = r.make<scf::ForOp>(from, to, step);
  a.result(loop.getInductionVar());
  r.enter(loop, loop.getBody());
}

void if_begin(Recording& r, Arguments& a) {
  r.in_role("a run-time branch");
  const Value predicate = a.value();
  if (!predicate.getType().isInteger(1)) r.wrong_type(predicate, "a predicate");
  auto branch = r.make<scf::IfOp>(predicate, /*withElseRegion=*/a.flag());
  r.enter(branch, branch.thenBlock());
}

void else_(Recording& r, Arguments&) {
  auto branch = dyn_cast<scf::IfOp>(r.close());
  if (!branch || !branch.elseBlock()) throw Malformed("an else without its if");
  r.enter(branch, branch.elseBlock());
}

void end(Recording& r, Arguments&) {
  Operation* op = r.close();
  auto loop = dyn_cast<scf::WhileOp>(op);
  if (isa<tile::MapOp>(op) || (loop && loop.getAfter().empty())) throw Malformed("a map ends with its results, a loop's condition with its body");
}

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
