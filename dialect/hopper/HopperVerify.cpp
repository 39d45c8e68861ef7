// What makes a hopper op illegal. Machine limits come from dialect/target.
#include "dialect/hopper/Hopper.h"
#include "dialect/target/machine.h"
#include "dialect/target/tma.h"
#include "dialect/target/wgmma.h"

using namespace mlir;

namespace tilewright::hopper {
namespace {

using Problem = std::optional<std::string>;

LogicalResult report(Operation *op, const Problem &problem) {
  return problem ? LogicalResult(op->emitOpError() << *problem) : success();
}

LogicalResult verifyDimension(Operation *op, uint32_t dim) {
  if (dim > 2)
    return op->emitOpError() << "dim is " << dim << ", expected 0, 1 or 2";
  return success();
}

LogicalResult verifyCoordinates(Operation *op, size_t count) {
  if (count < 1 || count > target::kTmaMaxRank)
    return op->emitOpError() << "has " << count << " coordinates, expected 1 to " << target::kTmaMaxRank;
  return success();
}

LogicalResult verifyMbarrierNumber(Operation *op, StringRef name, uint32_t value) {
  if (value < 1 || value > target::kMaxMbarrierCount)
    return op->emitOpError() << name << " is " << value << ", expected 1 to " << target::kMaxMbarrierCount;
  return success();
}

LogicalResult verifyMatrixCount(Operation *op, size_t count) {
  if (count != 1 && count != 2 && count != 4)
    return op->emitOpError() << "moves " << count << " matrices, expected 1, 2 or 4";
  return success();
}

LogicalResult verifyGroupCount(Operation *op, StringRef name, int32_t count, int32_t most) {
  if (count < 0 || count > most)
    return op->emitOpError() << name << " is " << count << ", expected 0 to " << most;
  return success();
}

} // namespace

LogicalResult CtaIdOp::verify() { return verifyDimension(*this, getDim()); }
LogicalResult ClusterIdOp::verify() { return verifyDimension(*this, getDim()); }
LogicalResult GridDimOp::verify() { return verifyDimension(*this, getDim()); }

LogicalResult ShuffleOp::verify() {
  if (!llvm::is_contained({"idx", "xor", "up", "down"}, getMode()))
    return emitOpError() << "mode is \"" << getMode() << "\", expected \"idx\", \"xor\", \"up\" or \"down\"";
  return success();
}

LogicalResult SetMaxNRegOp::verify() {
  return report(*this, target::registerBudgetProblem(static_cast<int>(getCount())));
}

LogicalResult NamedBarrierOp::verify() {
  return report(*this, target::namedBarrierProblem(static_cast<int>(getId()), static_cast<int>(getThreads())));
}

LogicalResult MbarrierInitOp::verify() { return verifyMbarrierNumber(*this, "count", getCount()); }
LogicalResult MbarrierExpectOp::verify() { return verifyMbarrierNumber(*this, "bytes", getBytes()); }

LogicalResult TmaLoadOp::verify() { return verifyCoordinates(*this, getCoords().size()); }
LogicalResult TmaStoreOp::verify() { return verifyCoordinates(*this, getCoords().size()); }
LogicalResult TmaReduceAddOp::verify() { return verifyCoordinates(*this, getCoords().size()); }

LogicalResult BulkWaitOp::verify() {
  return verifyGroupCount(*this, "count", static_cast<int32_t>(getCount()), target::kMaxPendingGroups);
}
LogicalResult WgmmaWaitOp::verify() {
  return verifyGroupCount(*this, "pending", static_cast<int32_t>(getPending()), target::kMaxPendingGroups);
}

LogicalResult LdMatrixOp::verify() {
  if (getResults().size() != getCount())
    return emitOpError() << "has " << getResults().size() << " results, count is " << getCount();
  return verifyMatrixCount(*this, getCount());
}
LogicalResult StMatrixOp::verify() { return verifyMatrixCount(*this, getRegs().size()); }

LogicalResult WgmmaOp::verify() {
  auto element = target::parseWgmmaElement(getElement().str());
  if (!element)
    return emitOpError() << "element is \"" << getElement() << "\", expected \"bf16\", \"f16\" or \"tf32\"";
  bool descriptor = getA().size() == 1 && getA()[0].getType().isInteger(64);
  bool registers = getA().size() == target::kWgmmaARegisters &&
                   llvm::all_of(getA().getTypes(), [](Type type) { return type.isInteger(32); });
  if (!descriptor && !registers)
    return emitOpError() << "operand A has " << getA().size() << " values, expected one i64 descriptor or "
                         << target::kWgmmaARegisters << " i32 registers";
  target::WgmmaForm form{.n = static_cast<int>(getN()),
                         .element = *element,
                         .aFromRegisters = registers,
                         .transA = getTransA(),
                         .transB = getTransB()};
  if (auto problem = target::wgmmaProblem(form))
    return report(*this, problem);
  int expected = target::wgmmaAccumulatorRegisters(form.n);
  if (static_cast<int>(getAcc().size()) != expected)
    return emitOpError() << "has " << getAcc().size() << " accumulator registers, expected " << expected
                         << " for n = " << form.n;
  if (getZero() && getScaleD())
    return emitOpError() << "has both scale_d and zero, expected one of them";
  return success();
}

LogicalResult MmaOp::verify() {
  bool half = getElement() == "bf16" || getElement() == "f16";
  size_t a = 0, b = 0;
  if (getShape() == "m16n8k16" && half)
    a = 4, b = 2;
  if (getShape() == "m16n8k8" && half)
    a = 2, b = 1;
  if (getShape() == "m16n8k8" && getElement() == "tf32")
    a = 4, b = 2;
  if (a == 0)
    return emitOpError() << "shape \"" << getShape() << "\" of element \"" << getElement()
                         << "\", expected m16n8k16 of bf16 or f16, or m16n8k8 of bf16, f16 or tf32";
  if (getAcc().size() != 4 || getA().size() != a || getB().size() != b)
    return emitOpError() << "has " << getAcc().size() << " + " << getA().size() << " * " << getB().size()
                         << " registers, expected 4 + " << a << " * " << b;
  return success();
}

} // namespace tilewright::hopper
