// Structural rules of barriers with named participants, atomics and accesses that several threads make at once.
#include "dialect/tile/Tile.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {

LogicalResult verify_names(Operation* op, ArrayAttr names, StringRef part) {
  for (size_t i = 0; i < names.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (names[i] == names[j]) return op->emitOpError() << part << " names role " << names[i] << " twice";
  return success();
}

LogicalResult verify_one_of(Operation* op, StringRef what, StringRef given, ArrayRef<StringRef> expected) {
  if (llvm::is_contained(expected, given)) return success();
  auto error = op->emitOpError() << what << " \"" << given << "\", expected ";
  for (auto [i, name] : llvm::enumerate(expected)) error << (i == 0 ? "" : i + 1 == expected.size() ? " or " : ", ") << name;
  return error;
}

LogicalResult verify_scope(Operation* op, StringRef scope) { return verify_one_of(op, "scope", scope, {"cta", "cluster", "gpu", "sys"}); }

Type element_of(Type place) {
  if (auto shared = dyn_cast<SharedType>(place)) return shared.getElementType();
  return cast<GlobalType>(place).getElementType();
}

LogicalResult verify_place(Operation* op, Type place, size_t coords) {
  size_t rank = isa<SharedType>(place) ? 2 : cast<GlobalType>(place).getShape().size();
  if (coords == rank) return success();
  return op->emitOpError() << (isa<SharedType>(place) ? "tile" : "tensor") << " has rank " << rank << ", given " << coords << " coordinates";
}

LogicalResult verify_value(Operation* op, Type value, Type place) {
  if (value == element_of(place)) return success();
  return op->emitOpError() << "the value is " << value << ", the element " << element_of(place) << "; expected f32, i32 or i64 on both sides";
}

const StringRef any_order[] = {"relaxed", "acquire", "release", "acq_rel"};

}  // namespace

LogicalResult BarrierOp::verify() {
  if (getArrivers().empty()) return emitOpError() << "\"" << getSymName() << "\": nobody arrives; name at least one role";
  if (getWaiters().empty()) return emitOpError() << "\"" << getSymName() << "\": nobody waits; name at least one role";
  if (failed(verify_names(*this, getArrivers(), "the list of arriving roles"))) return failure();
  return verify_names(*this, getWaiters(), "the list of waiting roles");
}

LogicalResult MeetOp::verify() {
  if (getRoles().size() < 2) return emitOpError("takes at least two roles; k.sync() is the rendezvous of one");
  return verify_names(*this, getRoles(), "the list of roles");
}

LogicalResult LoadStrongOp::verify() {
  if (failed(verify_one_of(*this, "order", getOrder(), {"acquire", "relaxed"})) || failed(verify_scope(*this, getScope()))) return failure();
  if (failed(verify_place(*this, getTensor().getType(), getCoords().size()))) return failure();
  return verify_value(*this, getValue().getType(), getTensor().getType());
}
LogicalResult StoreStrongOp::verify() {
  if (failed(verify_one_of(*this, "order", getOrder(), {"release", "relaxed"})) || failed(verify_scope(*this, getScope()))) return failure();
  if (failed(verify_place(*this, getTensor().getType(), getCoords().size()))) return failure();
  return verify_value(*this, getValue().getType(), getTensor().getType());
}

LogicalResult AtomicOp::verify() {
  if (failed(verify_one_of(*this, "kind", getKind(), {"add", "min", "max", "and", "or", "xor", "exch"})) ||
      failed(verify_one_of(*this, "order", getOrder(), any_order)) || failed(verify_scope(*this, getScope())) ||
      failed(verify_place(*this, getTo().getType(), getCoords().size())) || failed(verify_value(*this, getValue().getType(), getTo().getType())))
    return failure();
  if (getValue().getType().isF32() && getKind() != "add")
    return emitOpError() << "kind \"" << getKind() << "\" of f32: the machine only adds f32; expected an integer element";
  return success();
}

LogicalResult AtomicCasOp::verify() {
  if (failed(verify_one_of(*this, "order", getOrder(), any_order)) || failed(verify_scope(*this, getScope())) ||
      failed(verify_place(*this, getTo().getType(), getCoords().size())))
    return failure();
  return verify_value(*this, getValue().getType(), getTo().getType());
}

LogicalResult RedOp::verify() {
  if (failed(verify_one_of(*this, "kind", getKind(), {"add", "min", "max", "and", "or", "xor"})) ||
      failed(verify_one_of(*this, "order", getOrder(), {"relaxed", "release"})) || failed(verify_scope(*this, getScope())) ||
      failed(verify_place(*this, getTo().getType(), getCoords().size())))
    return failure();
  size_t count = getValues().size();
  Type element = element_of(getTo().getType());
  bool half = element.isBF16() || element.isF16(), shared = isa<SharedType>(getTo().getType());
  if (half && (count != 2 || getKind() != "add" || shared || !getValues()[0].getType().isF32()))
    return emitOpError() << count << " values, kind \"" << getKind() << "\": 16-bit elements are added in pairs, f32 values to a tensor";
  if (half) return success();
  if (count != 1 && count != 2 && count != 4) return emitOpError() << count << " values, expected 1, 2 or 4";
  if (count > 1 && (!element.isF32() || getKind() != "add" || shared))
    return emitOpError() << count << " values, kind \"" << getKind() << "\" of " << element << ": several are added to a tensor of f32 only";
  if (element.isF32() && getKind() != "add")
    return emitOpError() << "kind \"" << getKind() << "\" of f32: the machine only adds f32; expected an integer element";
  return verify_value(*this, getValues()[0].getType(), getTo().getType());
}

LogicalResult FenceOp::verify() { return verify_scope(*this, getScope()); }

LogicalResult SleepOp::verify() {
  if (getNanoseconds() >= 1 && getNanoseconds() <= 1000000) return success();
  return emitOpError() << static_cast<int64_t>(static_cast<int32_t>(getNanoseconds())) << " nanoseconds, expected 1 to 1000000";
}
