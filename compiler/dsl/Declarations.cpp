// The kernel's parameters, tiles, rings, roles and fragments.
#include "compiler/dsl/Operations.h"

using namespace mlir;

namespace tilewright::dsl {

namespace {

ArrayAttr texts(Recording& r, ArrayRef<llvm::StringRef> all) {
  SmallVector<Attribute> out;
  for (llvm::StringRef s : all) out.push_back(r.text(s));
  return r.ops.getArrayAttr(out);
}

NamedAttribute named(Recording& r, const char* name, Attribute value) { return r.ops.getNamedAttr(name, value); }

void dim(Recording& r, Arguments& a) {
  a.result(r.parameter(a.text(), r.ops.getI32Type(), r.ops.getDictionaryAttr({named(r, "kind", r.text("dim"))})));
}

void scalar(Recording& r, Arguments& a) {
  const auto name = a.text();
  a.result(r.parameter(name, r.type(a.element()), r.ops.getDictionaryAttr({named(r, "kind", r.text("scalar"))})));
}

void tensor(Recording& r, Arguments& a) {
  const std::string name = a.text().str();
  const auto role = a.text();
  const auto shape = a.texts();
  const Element element = a.element();
  const bool optional = a.flag();
  SmallVector<int64_t> extents;
  for (llvm::StringRef e : shape) {
    int64_t constant;
    extents.push_back(e.getAsInteger(10, constant) ? ShapedType::kDynamic : constant);
  }
  if (extents.empty()) r.fail("tensor \"" + name + "\" has no axes; a tensor has at least one");
  if (extents.size() > 2 && extents.back() == ShapedType::kDynamic)
    r.fail("tensor \"" + name + "\": the last axis of a tensor of rank 3 or more is known at build time");
  auto description = r.ops.getDictionaryAttr({named(r, "kind", r.text("tensor")), named(r, "shape", texts(r, shape)),
                                              named(r, "role", r.text(role)), named(r, "optional", r.ops.getBoolAttr(optional))});
  a.result(r.parameter(name, tile::GlobalType::get(&r.context, extents, r.type(element)), description));
}

void grid(Recording& r, Arguments& a) { r.kernel.setGridAttr(texts(r, a.texts())); }

void allow(Recording& r, Arguments& a) {
  const auto what = a.text();
  if (what != "spills" && what != "stack" && what != "performance_loss")
    r.fail("allow(\"" + what.str() + "\"): expected \"spills\", \"stack\" or \"performance_loss\"");
  SmallVector<Attribute> all;
  if (auto old = r.kernel.getAllowAttr()) all.assign(old.begin(), old.end());
  all.push_back(r.text(what));
  r.kernel.setAllowAttr(r.ops.getArrayAttr(all));
}

void waive(Recording& r, Arguments& a) {
  const auto subject = a.text(), property = a.text(), reason = a.text();
  SmallVector<Attribute> all;
  if (auto old = r.kernel->getAttrOfType<ArrayAttr>("waivers")) all.assign(old.begin(), old.end());
  all.push_back(r.ops.getArrayAttr({r.text(subject), r.text(property), r.text(reason), LocationAttr(r.loc())}));
  r.kernel->setAttr("waivers", r.ops.getArrayAttr(all));
}

void ctas_per_sm(Recording& r, Arguments& a) { r.kernel->setAttr("ctas_per_sm", r.i32(a.integer())); }

void shared(Recording& r, Arguments& a) {
  const std::string name = a.text().str();
  r.in_kernel("shared tile \"" + name + "\"");
  const Type element = r.type(a.element());
  const int64_t rows = a.integer(), cols = a.integer(), stages = a.integer(), pad = a.integer();
  if (rows < 1 || cols < 1)
    r.fail("shared tile \"" + name + "\" is [" + std::to_string(rows) + ", " + std::to_string(cols) + "]; extents are positive");
  auto type = tile::SharedType::get(&r.context, {rows, cols}, element);
  a.result(r.checked(
      r.make<tile::SharedOp>(type, r.text(name), r.i32(stages), r.i32(pad), StringAttr(), StringAttr(), IntegerAttr(), UnitAttr())));
}

void overlay(Recording& r, Arguments& a) {
  auto above = a.value().getDefiningOp<tile::SharedOp>(), below = a.value().getDefiningOp<tile::SharedOp>();
  if (!above || !below) r.fail("overlay takes two whole tiles, not stages or views");
  above.setOverlay(below.getSymName());
}

void ring(Recording& r, Arguments& a) {
  const auto name = a.text(), producer = a.text();
  r.in_kernel("ring \"" + name.str() + "\"");
  const auto consumers = texts(r, a.texts());
  const auto stages = r.i32(a.integer());
  const auto tiles = a.values();
  a.result(r.checked(r.make<tile::RingOp>(tile::RingType::get(&r.context), r.text(name), stages, r.text(producer), consumers, tiles,
                                          IntegerAttr())));
}

void role_begin(Recording& r, Arguments& a) {
  const auto name = a.text();
  r.in_kernel("role \"" + name.str() + "\"");
  const auto warps = r.i32(a.integer()), registers = r.i32(a.integer());
  auto role = r.make<tile::RoleOp>(r.text(name), warps, registers, r.flag(a.flag()));
  Block& body = role.getBody().emplaceBlock();
  r.check(role);
  r.enter(role, &body);
}

void frag(Recording& r, Arguments& a) {
  r.in_role("a fragment");
  const auto name = a.text();
  const Type element = r.type(a.element());
  const int64_t rows = a.integer(), cols = a.integer();
  auto type = tile::FragType::get(&r.context, {rows, cols}, element);
  a.result(r.checked(r.make<tile::FragOp>(type, name.empty() ? StringAttr() : r.text(name))));
}

}  // namespace

void add_declarations(Handlers& h) {
  h["dim"] = dim;
  h["scalar"] = scalar;
  h["tensor"] = tensor;
  h["grid"] = grid;
  h["allow"] = allow;
  h["waive"] = waive;
  h["ctas_per_sm"] = ctas_per_sm;
  h["shared"] = shared;
  h["overlay"] = overlay;
  h["ring"] = ring;
  h["role_begin"] = role_begin;
  h["frag"] = frag;
}

}  // namespace tilewright::dsl
