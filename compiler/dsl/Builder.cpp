// dsl::Builder, part 1: the kernel, its parameters and declarations.
#include "compiler/dsl/BuilderImpl.h"

#include "compiler/diagnostics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace tilewright::dsl {

Builder::Impl::Impl(std::string_view name, const Where& where) : context(MLIRContext::Threading::DISABLED), ops(&context) {
  context.printOpOnDiagnostic(false);
  context.loadDialect<tile::TileDialect, arith::ArithDialect, scf::SCFDialect>();
  this->where = where;
  module = ModuleOp::create(ops, loc());
  ops.setInsertionPointToEnd(module->getBody());
  kernel = tile::KernelOp::create(ops, loc(), text(name), ops.getArrayAttr({}), ArrayAttr(), ArrayAttr(), ArrayAttr());
  kernel.getBody().emplaceBlock();
  ops.setInsertionPointToEnd(&kernel.getBody().front());
}

Location Builder::Impl::loc() {
  return FileLineColLoc::get(ops.getStringAttr(where.file_name()), where.line(), where.column());
}

Type Builder::Impl::type(Element e) {
  switch (e) {
    case Element::f32: return ops.getF32Type();
    case Element::bf16: return ops.getBF16Type();
    case Element::f16: return ops.getF16Type();
    case Element::i32: return ops.getI32Type();
    case Element::i64: return ops.getI64Type();
  }
  throw InternalError("unknown element type");
}

void Builder::Impl::fail(const std::string& message) const {
  throw CompileError(std::string(where.file_name()) + ":" + std::to_string(where.line()) + ": error: " + message);
}

void Builder::Impl::check(Operation* op) {
  DiagnosticCollector collector(&context);
  if (failed(mlir::verify(op, /*verifyRecursively=*/false))) throw CompileError(collector.text());
}

void Builder::Impl::in_role(std::string_view what) const {
  if (!ops.getInsertionBlock()->getParent()->getParentOfType<tile::RoleOp>() &&
      !isa<tile::RoleOp>(ops.getInsertionBlock()->getParentOp()))
    fail(std::string(what) + " belongs into a role; it stands outside of every role (put it into role([&] { ... }))");
}

void Builder::Impl::in_kernel(std::string_view what) const {
  if (!isa<tile::KernelOp>(ops.getInsertionBlock()->getParentOp()))
    fail(std::string(what) + " is declared in the kernel, not inside a role, loop or branch");
}

Id Builder::Impl::parameter(std::string_view name, Type type, DictionaryAttr description) {
  in_kernel("parameter \"" + std::string(name) + "\"");
  SmallVector<Attribute> names(kernel.getParamNames().begin(), kernel.getParamNames().end());
  for (Attribute a : names)
    if (cast<StringAttr>(a).getValue() == llvm::StringRef(name.data(), name.size()))
      fail("the kernel already has a parameter \"" + std::string(name) + "\"");
  names.push_back(text(name));
  kernel.setParamNamesAttr(ops.getArrayAttr(names));
  SmallVector<Attribute> shapes;
  if (auto old = kernel.getShapesAttr()) shapes.assign(old.begin(), old.end());
  shapes.push_back(description);
  kernel.setShapesAttr(ops.getArrayAttr(shapes));
  return add(kernel.getBody().front().addArgument(type, loc()));
}

Builder::Builder(std::string_view name, const Where& where) : impl_(std::make_unique<Impl>(name, where)) {}
Builder::~Builder() = default;

void Builder::at(const Where& where) { impl_->where = where; }

Id Builder::dim(std::string_view name) {
  auto& o = impl_->ops;
  return impl_->parameter(name, o.getI32Type(), o.getDictionaryAttr({o.getNamedAttr("kind", o.getStringAttr("dim"))}));
}

Id Builder::scalar(std::string_view name, Element type) {
  auto& o = impl_->ops;
  return impl_->parameter(name, impl_->type(type), o.getDictionaryAttr({o.getNamedAttr("kind", o.getStringAttr("scalar"))}));
}

Id Builder::tensor(std::string_view name, Element type, const std::vector<std::string>& shape, std::string_view role, bool optional) {
  auto& o = impl_->ops;
  SmallVector<int64_t> extents;
  SmallVector<Attribute> texts;
  for (const std::string& e : shape) {
    bool constant = !e.empty() && e.find_first_not_of("0123456789") == std::string::npos;
    extents.push_back(constant ? std::stoll(e) : ShapedType::kDynamic);
    texts.push_back(impl_->text(e));
  }
  if (extents.empty()) impl_->fail("tensor \"" + std::string(name) + "\" has no axes; a tensor has at least one");
  for (size_t i = 1; i < extents.size(); ++i)
    if (extents[i] == ShapedType::kDynamic && i + 1 == extents.size() && extents.size() > 2)
      impl_->fail("tensor \"" + std::string(name) + "\": the last axis of a tensor of rank 3 or more is known at build time");
  auto type_ = tile::GlobalType::get(&impl_->context, extents, impl_->type(type));
  return impl_->parameter(name, type_,
                          o.getDictionaryAttr({o.getNamedAttr("kind", o.getStringAttr("tensor")),
                                               o.getNamedAttr("shape", o.getArrayAttr(texts)),
                                               o.getNamedAttr("role", impl_->text(role)),
                                               o.getNamedAttr("optional", o.getBoolAttr(optional))}));
}

void Builder::grid(const std::vector<std::string>& extents) {
  SmallVector<Attribute> texts;
  for (const std::string& e : extents) texts.push_back(impl_->text(e));
  impl_->kernel.setGridAttr(impl_->ops.getArrayAttr(texts));
}

void Builder::allow(std::string_view what) {
  if (what != "spills" && what != "stack" && what != "performance_loss")
    impl_->fail("allow(\"" + std::string(what) + "\"): expected \"spills\", \"stack\" or \"performance_loss\"");
  SmallVector<Attribute> all;
  if (auto old = impl_->kernel.getAllowAttr()) all.assign(old.begin(), old.end());
  all.push_back(impl_->text(what));
  impl_->kernel.setAllowAttr(impl_->ops.getArrayAttr(all));
}

Id Builder::shared(std::string_view name, Element type, std::int64_t rows, std::int64_t cols, int stages, int pad_bytes) {
  impl_->in_kernel("shared tile \"" + std::string(name) + "\"");
  if (rows < 1 || cols < 1)
    impl_->fail("shared tile \"" + std::string(name) + "\" is [" + std::to_string(rows) + ", " + std::to_string(cols) + "]; extents are positive");
  auto t = tile::SharedType::get(&impl_->context, {rows, cols}, impl_->type(type));
  auto& o = impl_->ops;
  return impl_->add(impl_->checked(tile::SharedOp::create(o, impl_->loc(), t, impl_->text(name), o.getI32IntegerAttr(stages),
                                                          o.getI32IntegerAttr(pad_bytes), StringAttr(), StringAttr(), IntegerAttr())));
}

void Builder::overlay(Id tile, Id under) {
  auto above = impl_->value(tile).getDefiningOp<tile::SharedOp>(), below = impl_->value(under).getDefiningOp<tile::SharedOp>();
  if (!above || !below) impl_->fail("overlay takes two whole tiles, not stages or views");
  above.setOverlay(below.getSymName());
}

void Builder::ctas_per_sm(int count) { impl_->kernel->setAttr("ctas_per_sm", impl_->ops.getI32IntegerAttr(count)); }

Id Builder::ring(std::string_view name, int stages, std::string_view producer, const std::vector<std::string>& consumers, const Ids& tiles) {
  impl_->in_kernel("ring \"" + std::string(name) + "\"");
  auto& o = impl_->ops;
  SmallVector<Attribute> names;
  for (const auto& c : consumers) names.push_back(impl_->text(c));
  return impl_->add(impl_->checked(tile::RingOp::create(o, impl_->loc(), tile::RingType::get(&impl_->context), impl_->text(name),
                                                        o.getI32IntegerAttr(stages), impl_->text(producer), o.getArrayAttr(names),
                                                        impl_->list(tiles), IntegerAttr())));
}

void Builder::role(std::string_view name, int warps, int registers, bool single_thread, const std::function<void()>& body) {
  impl_->in_kernel("role \"" + std::string(name) + "\"");
  auto& o = impl_->ops;
  auto role = tile::RoleOp::create(o, impl_->loc(), impl_->text(name), o.getI32IntegerAttr(warps), o.getI32IntegerAttr(registers),
                                   single_thread ? o.getUnitAttr() : UnitAttr());
  role.getBody().emplaceBlock();
  impl_->check(role);
  OpBuilder::InsertionGuard guard(o);
  o.setInsertionPointToEnd(&role.getBody().front());
  body();
}

Id Builder::frag(std::string_view name, Element type, std::int64_t rows, std::int64_t cols) {
  impl_->in_role("a fragment");
  auto t = tile::FragType::get(&impl_->context, {rows, cols}, impl_->type(type));
  return impl_->add(impl_->checked(tile::FragOp::create(impl_->ops, impl_->loc(), t, name.empty() ? StringAttr() : impl_->text(name))));
}

}  // namespace tilewright::dsl
