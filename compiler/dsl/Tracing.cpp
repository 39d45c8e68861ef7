// Marks on a role's time line.
#include "compiler/dsl/Operations.h"

namespace tilewright::dsl {

namespace {

void stamp(Recording& r, Arguments& a) {
  r.in_role("a stamp");
  r.make<tile::StampOp>(a.text());
}

}  // namespace

void add_tracing(Handlers& h) { h["stamp"] = stamp; }

}  // namespace tilewright::dsl
