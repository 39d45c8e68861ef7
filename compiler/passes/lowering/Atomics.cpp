// Atomics, and accesses to global memory that several threads make at once.
#include "compiler/passes/lowering/Lowering.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::lowering {

/// Pointer to an element of a tensor, or the shared address of an element of a tile.
Value Lowering::atomic_address(Value place, ValueRange coords) {
  if (isa<tile::GlobalType>(place.getType())) return global_pointer(place, coords);
  return shared_address(place_of(place), mapped(coords[0]), mapped(coords[1]));
}

std::optional<LogicalResult> Lowering::emit_atomic(Operation* op) {
  return llvm::TypeSwitch<Operation*, std::optional<LogicalResult>>(op)
      .Case<tile::LoadStrongOp>([&](tile::LoadStrongOp o) {
        map_.map(o.getValue(), hopper::LoadStrongOp::create(b_, loc_, o.getValue().getType(), global_pointer(o.getTensor(), o.getCoords()), o.getOrder(),
                                                            o.getScope()));
        return success();
      })
      .Case<tile::StoreStrongOp>([&](tile::StoreStrongOp o) {
        hopper::StoreStrongOp::create(b_, loc_, global_pointer(o.getTensor(), o.getCoords()), mapped(o.getValue()), o.getOrder(), o.getScope());
        return success();
      })
      .Case<tile::AtomicOp>([&](tile::AtomicOp o) {
        map_.map(o.getOld(), hopper::AtomicOp::create(b_, loc_, atomic_address(o.getTo(), o.getCoords()), mapped(o.getValue()), o.getKind(), o.getOrder(),
                                                      o.getScope()));
        return success();
      })
      .Case<tile::AtomicCasOp>([&](tile::AtomicCasOp o) {
        map_.map(o.getOld(), hopper::AtomicCasOp::create(b_, loc_, atomic_address(o.getTo(), o.getCoords()), mapped(o.getCompare()), mapped(o.getValue()),
                                                         o.getOrder(), o.getScope()));
        return success();
      })
      .Case<tile::RedOp>([&](tile::RedOp o) {
        SmallVector<Value> values = mapped(o.getValues());
        StringAttr packed;
        auto tensor = dyn_cast<tile::GlobalType>(o.getTo().getType());
        if (tensor && tensor.getElementType().getIntOrFloatBitWidth() == 16) {
          packed = b_.getStringAttr(tensor.getElementType().isBF16() ? "bf16x2" : "f16x2");
          values = {pack(values[0], values[1], tensor.getElementType())};
        }
        hopper::ReduceOp::create(b_, loc_, atomic_address(o.getTo(), o.getCoords()), values, b_.getStringAttr(o.getKind()), b_.getStringAttr(o.getOrder()),
                                 b_.getStringAttr(o.getScope()), packed);
        return success();
      })
      .Default([](Operation*) { return std::nullopt; });
}

}  // namespace tilewright::lowering
