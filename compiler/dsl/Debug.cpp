// printf, assertions, inline PTX.
#include "compiler/dsl/Operations.h"

using namespace mlir;

namespace tilewright::dsl {

namespace {

/// A call of the system needs a stack, and serialises products.
void allow_calls(Recording& r) {
  SmallVector<Attribute> all;
  if (auto old = r.kernel.getAllowAttr()) all.assign(old.begin(), old.end());
  for (const char* what : {"stack", "spills", "performance_loss"})
    if (!llvm::is_contained(all, r.text(what))) all.push_back(r.text(what));
  r.kernel.setAllowAttr(r.ops.getArrayAttr(all));
}

void printf(Recording& r, Arguments& a) {
  r.in_role("printf");
  const auto format = r.text(a.text());
  r.check(r.make<tile::PrintfOp>(format, a.values()));
  allow_calls(r);
}
void assert_(Recording& r, Arguments& a) {
  r.in_role("an assertion");
  const auto message = r.text(a.text());
  r.make<tile::AssertOp>(a.value(), message);
  allow_calls(r);
}
/// Types of the results by number: an element's, or -1 for a truth value.
void ptx(Recording& r, Arguments& a) {
  r.in_role("inline PTX");
  const auto text = r.text(a.text());
  SmallVector<Type> types;
  for (int64_t type : a.integers()) types.push_back(type < 0 ? Type(r.ops.getI1Type()) : r.type(static_cast<Element>(type)));
  auto op = r.checked(r.make<tile::PtxOp>(types, text, a.values()));
  for (Value v : op.getOutputs()) a.result(v);
}

}  // namespace

void add_debug(Handlers& h) {
  h["printf"] = printf;
  h["assert"] = assert_;
  h["ptx"] = ptx;
}

}  // namespace tilewright::dsl
