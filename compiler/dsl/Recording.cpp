#include "compiler/dsl/Recording.h"

#include "compiler/diagnostics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace tilewright::dsl {

Recording::Recording(std::string_view name, std::string_view file, unsigned line, unsigned column)
    : context(MLIRContext::Threading::DISABLED), ops(&context), place{std::string(file), line, column} {
  context.printOpOnDiagnostic(false);
  context.loadDialect<tile::TileDialect, arith::ArithDialect, scf::SCFDialect>();
  module = ModuleOp::create(ops, loc());
  ops.setInsertionPointToEnd(module->getBody());
  kernel = make<tile::KernelOp>(text(name), ops.getArrayAttr({}), ArrayAttr(), ArrayAttr(), ArrayAttr());
  kernel.getBody().emplaceBlock();
  ops.setInsertionPointToEnd(&kernel.getBody().front());
  ops.setListener(&watch);
}

Location Recording::loc() { return FileLineColLoc::get(ops.getStringAttr(place.file), place.line, place.column); }

Value Recording::value(Id id) const {
  if (id < 0 || static_cast<std::size_t>(id) >= values.size())
    fail("a value of another kernel is used here (number " + std::to_string(id) + " of " + std::to_string(values.size()) +
         "); use the handles of this kernel only");
  return values[static_cast<std::size_t>(id)];
}

Type Recording::type(Element e) {
  switch (e) {
    case Element::f32: return ops.getF32Type();
    case Element::bf16: return ops.getBF16Type();
    case Element::f16: return ops.getF16Type();
    case Element::i32: return ops.getI32Type();
    case Element::i64: return ops.getI64Type();
  }
  throw Malformed("unknown element type");
}

IntegerAttr Recording::i32(std::int64_t x) {
  if (x != static_cast<std::int32_t>(x)) fail("given " + std::to_string(x) + ", expected a number of 32 bits");
  return ops.getI32IntegerAttr(static_cast<std::int32_t>(x));
}

void Recording::wrong_type(Value v, const char* expected) const {
  std::string given;
  llvm::raw_string_ostream(given) << v.getType();
  fail("given a value of type '" + given + "', expected " + expected);
}

void Recording::fail(const std::string& message) const {
  throw CompileError(place.file + ":" + std::to_string(place.line) + ": error: " + message);
}

void Recording::check(Operation* op) {
  DiagnosticCollector collector(&context);
  if (failed(mlir::verify(op, /*verifyRecursively=*/false))) throw CompileError(collector.text());
}

void Recording::in_role(std::string_view what) const {
  if (!ops.getInsertionBlock()->getParent()->getParentOfType<tile::RoleOp>() &&
      !isa<tile::RoleOp>(ops.getInsertionBlock()->getParentOp()))
    fail(std::string(what) + " belongs into a role; it stands outside of every role (put it into role([&] { ... }))");
}

void Recording::in_kernel(std::string_view what) const {
  if (!isa<tile::KernelOp>(ops.getInsertionBlock()->getParentOp()))
    fail(std::string(what) + " is declared in the kernel, not inside a role, loop or branch");
}

Value Recording::parameter(llvm::StringRef name, Type type, DictionaryAttr description) {
  in_kernel("parameter \"" + name.str() + "\"");
  SmallVector<Attribute> names(kernel.getParamNames().begin(), kernel.getParamNames().end());
  for (Attribute a : names)
    if (cast<StringAttr>(a).getValue() == name) fail("the kernel already has a parameter \"" + name.str() + "\"");
  names.push_back(text(name));
  kernel.setParamNamesAttr(ops.getArrayAttr(names));
  SmallVector<Attribute> shapes;
  if (auto old = kernel.getShapesAttr()) shapes.assign(old.begin(), old.end());
  shapes.push_back(description);
  kernel.setShapesAttr(ops.getArrayAttr(shapes));
  return kernel.getBody().front().addArgument(type, loc());
}

void Recording::enter(Operation* op, Block* block) {
  open.push_back({op, ops.saveInsertionPoint()});
  if (block->mightHaveTerminator()) ops.setInsertionPoint(block->getTerminator());
  else ops.setInsertionPointToEnd(block);
}

Operation* Recording::close() {
  if (open.empty()) throw Malformed("nothing is open that could end here");
  const Open last = open.back();
  open.pop_back();
  ops.restoreInsertionPoint(last.after);
  return last.op;
}

}  // namespace tilewright::dsl
