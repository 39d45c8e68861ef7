// PTX and rules of the ops in MemoryOps.td and ClusterOps.td.
#include "dialect/hopper/Hopper.h"
#include "dialect/target/machine.h"
#include "dialect/target/tma.h"

using namespace mlir;

namespace tilewright::hopper {
namespace {

using std::to_string;

std::string bits(Type type) { return "b" + to_string(type.getIntOrFloatBitWidth()); }

/// The type that an atomic operation of this kind names.
std::string atomicType(StringRef kind, Type type) {
  if (type.isF32())
    return "f32";
  std::string width = to_string(type.getIntOrFloatBitWidth());
  if (kind == "add")
    return "u" + width;
  return (kind == "min" || kind == "max" ? "s" : "b") + width;
}

/// ".relaxed.gpu.global.add".
std::string atomicName(StringRef order, StringRef scope, Type address, StringRef kind) {
  return ("." + order + "." + scope + (address.isInteger(32) ? ".shared::cta." : ".global.") + kind).str();
}

LogicalResult verifyScope(Operation *op, StringRef scope) {
  if (llvm::is_contained({"cta", "cluster", "gpu", "sys"}, scope))
    return success();
  return op->emitOpError() << "scope is \"" << scope << "\", expected \"cta\", \"cluster\", \"gpu\" or \"sys\"";
}

LogicalResult verifyOrder(Operation *op, StringRef order, ArrayRef<StringRef> expected) {
  if (llvm::is_contained(expected, order))
    return success();
  InFlightDiagnostic error = op->emitOpError() << "order is \"" << order << "\", expected ";
  for (auto [i, name] : llvm::enumerate(expected))
    error << (i == 0 ? "\"" : i + 1 == expected.size() ? " or \"" : ", \"") << name << "\"";
  return error;
}

const StringRef kAnyOrder[] = {"relaxed", "acquire", "release", "acq_rel"};

LogicalResult verifyAtomic(Operation *op, StringRef kind, Type type, StringRef order, StringRef scope) {
  if (failed(verifyScope(op, scope)) || failed(verifyOrder(op, order, kAnyOrder)))
    return failure();
  if (!llvm::is_contained({"add", "min", "max", "and", "or", "xor", "exch"}, kind))
    return op->emitOpError() << "kind is \"" << kind << "\", expected add, min, max, and, or, xor or exch";
  if (type.isF32() && kind != "add")
    return op->emitOpError() << "kind \"" << kind << "\" of f32 has no instruction, expected add";
  return success();
}

} // namespace

std::string LoadStrongOp::getPtx(const PtxOperands &regs) {
  return regs.expand(("ld." + getOrder() + "." + getScope() + ".global.").str() + bits(getResult().getType()) + " #out, [#0];");
}
LogicalResult LoadStrongOp::verify() {
  return failed(verifyScope(*this, getScope())) ? failure() : verifyOrder(*this, getOrder(), {"acquire", "relaxed"});
}

std::string StoreStrongOp::getPtx(const PtxOperands &regs) {
  return regs.expand(("st." + getOrder() + "." + getScope() + ".global.").str() + bits(getValue().getType()) + " [#0], #1;");
}
LogicalResult StoreStrongOp::verify() {
  return failed(verifyScope(*this, getScope())) ? failure() : verifyOrder(*this, getOrder(), {"release", "relaxed"});
}

std::string FenceOp::getPtx(const PtxOperands &) { return ("fence.acq_rel." + getScope() + ";").str(); }
LogicalResult FenceOp::verify() { return verifyScope(*this, getScope()); }

std::string SleepOp::getPtx(const PtxOperands &) { return "nanosleep.u32 " + to_string(getNanoseconds()) + ";"; }
LogicalResult SleepOp::verify() {
  if (getNanoseconds() <= 1000000)
    return success();
  return emitOpError() << getNanoseconds() << " nanoseconds, expected at most 1000000";
}

std::string AtomicOp::getPtx(const PtxOperands &regs) {
  return regs.expand("atom" + atomicName(getOrder(), getScope(), getAddr().getType(), getKind()) + "." +
                     atomicType(getKind(), getValue().getType()) + " #out, [#0], #1;");
}
LogicalResult AtomicOp::verify() { return verifyAtomic(*this, getKind(), getValue().getType(), getOrder(), getScope()); }

std::string AtomicCasOp::getPtx(const PtxOperands &regs) {
  return regs.expand("atom" + atomicName(getOrder(), getScope(), getAddr().getType(), "cas") + "." + bits(getValue().getType()) +
                     " #out, [#0], #1, #2;");
}
LogicalResult AtomicCasOp::verify() {
  return failed(verifyScope(*this, getScope())) ? failure() : verifyOrder(*this, getOrder(), kAnyOrder);
}

std::string ReduceOp::getPtx(const PtxOperands &regs) {
  size_t count = getValues().size();
  std::string type = getPacked() ? "noftz." : "";
  if (count > 1)
    type += "v" + to_string(count) + ".";
  type += getPacked() ? getPacked()->str() : atomicType(getKind(), getValues()[0].getType());
  std::string values = regs.operandList(getValues());
  return regs.expand("red" + atomicName(getOrder(), getScope(), getAddr().getType(), getKind()) + "." + type + " [#0], ") +
         (count > 1 ? "{" + values + "}" : values) + ";";
}
LogicalResult ReduceOp::verify() {
  size_t count = getValues().size();
  if (count != 1 && count != 2 && count != 4)
    return emitOpError() << "has " << count << " values, expected 1, 2 or 4";
  Type type = getValues()[0].getType();
  if (getOrder() != "relaxed" && getOrder() != "release")
    return verifyOrder(*this, getOrder(), {"relaxed", "release"});
  if (getKind() == "exch")
    return emitOpError() << "kind \"exch\" has no form without a result; use atomic";
  bool global = !getAddr().getType().isInteger(32);
  if (getPacked()) {
    if ((*getPacked() != "bf16x2" && *getPacked() != "f16x2") || !type.isInteger(32) || getKind() != "add" || !global)
      return emitOpError() << "packed \"" << *getPacked() << "\": expected bf16x2 or f16x2 in i32, added to global memory";
    return verifyScope(*this, getScope());
  }
  if (count > 1 && (!type.isF32() || !global))
    return emitOpError() << count << " values of " << type << ": expected f32 added to global memory";
  return verifyAtomic(*this, getKind(), type, getOrder(), getScope());
}

std::string CpAsyncWaitOp::getPtx(const PtxOperands &) { return "cp.async.wait_group " + to_string(getCount()) + ";"; }
LogicalResult CpAsyncWaitOp::verify() {
  if (getCount() <= target::kMaxPendingGroups)
    return success();
  return emitOpError() << "count is " << getCount() << ", expected 0 to " << target::kMaxPendingGroups;
}

std::string RawPtxOp::getPtx(const PtxOperands &regs) {
  std::string text;
  for (char c : getText())
    text += c == '$' ? "$$" : std::string(1, c); // $ is LLVM's mark of an operand
  return regs.expand(text);
}

std::string NamedBarrierArriveOp::getPtx(const PtxOperands &) {
  return "bar.arrive " + to_string(getId()) + ", " + to_string(getThreads()) + ";";
}
LogicalResult NamedBarrierArriveOp::verify() {
  if (auto problem = target::namedBarrierProblem(static_cast<int>(getId()), static_cast<int>(getThreads())))
    return emitOpError() << *problem;
  return success();
}

std::string MbarrierArriveOp::getPtx(const PtxOperands &regs) {
  return (getWhen() ? "@" + regs.operand(1) + " " : "") + "mbarrier.arrive.release.cta.shared::cta.b64 _, [" + regs.operand(0) + "];";
}

std::string MbarrierArriveRemoteOp::getPtx(const PtxOperands &regs) {
  return (getWhen() ? "@" + regs.operand(1) + " " : "") + "mbarrier.arrive.release." + getScope().str() + ".shared::cluster.b64 _, [" +
         regs.operand(0) + "];";
}
LogicalResult MbarrierArriveRemoteOp::verify() {
  if (getScope() == "cta" || getScope() == "cluster")
    return success();
  return emitOpError() << "scope is \"" << getScope() << "\", expected \"cta\" or \"cluster\"";
}

std::string TmaMulticastOp::getPtx(const PtxOperands &regs) {
  return "{\n.reg .b16 ctas;\nmov.b16 ctas, " + to_string(getCtas()) + ";\ncp.async.bulk.tensor." + to_string(getCoords().size()) +
         "d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [" + regs.operand(1) + "], [" + regs.operand(0) +
         ", {" + regs.operandList(getCoords()) + "}], [" + regs.operand(2) + "], ctas;\n}";
}
LogicalResult TmaMulticastOp::verify() {
  if (getCoords().empty() || getCoords().size() > target::kTmaMaxRank)
    return emitOpError() << "has " << getCoords().size() << " coordinates, expected 1 to " << target::kTmaMaxRank;
  if (getCtas() < 1 || getCtas() > 0xffff)
    return emitOpError() << "ctas is " << getCtas() << ", expected a bit for each of 1 to 16 ranks";
  return success();
}

} // namespace tilewright::hopper
