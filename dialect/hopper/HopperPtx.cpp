// The PTX of the ops whose text depends on attributes or operand counts. The others have theirs in the .td files.
#include "dialect/hopper/Hopper.h"
#include "dialect/target/wgmma.h"

namespace tilewright::hopper {
namespace {

using std::to_string;

std::string dimensionName(uint32_t dim) { return std::string(1, "xyz"[dim]); }

/// The address of a box inside a tensor: [map, {innermost, ..}].
std::string tensorAddress(const PtxOperands &regs, mlir::OperandRange coords) {
  return "[" + regs.operand(0) + ", {" + regs.operandList(coords) + "}]";
}

} // namespace

std::string CtaIdOp::getPtx(const PtxOperands &regs) {
  return "mov.u32 " + regs.result(0) + ", %ctaid." + dimensionName(getDim()) + ";";
}

std::string ClusterIdOp::getPtx(const PtxOperands &regs) {
  return "mov.u32 " + regs.result(0) + ", %clusterid." + dimensionName(getDim()) + ";";
}

std::string GridDimOp::getPtx(const PtxOperands &regs) {
  return "mov.u32 " + regs.result(0) + ", %nctaid." + dimensionName(getDim()) + ";";
}

std::string ShuffleOp::getPtx(const PtxOperands &regs) {
  std::string mode = getMode() == "xor" ? "bfly" : getMode().str();
  // The last lane a value may come from: none below 0 for up, none above 31 for the others.
  std::string clamp = mode == "up" ? "0" : "31";
  return regs.expand("shfl.sync." + mode + ".b32 #out, #0, #1, " + clamp + ", 0xffffffff;");
}

std::string SetMaxNRegOp::getPtx(const PtxOperands &) {
  return std::string("setmaxnreg.") + (getIncrease() ? "inc" : "dec") + ".sync.aligned.u32 " + to_string(getCount()) +
         ";";
}

std::string NamedBarrierOp::getPtx(const PtxOperands &) {
  return "bar.sync " + to_string(getId()) + ", " + to_string(getThreads()) + ";";
}

std::string MbarrierInitOp::getPtx(const PtxOperands &regs) {
  return regs.expand("mbarrier.init.shared::cta.b64 [#0], " + to_string(getCount()) + ";");
}

std::string MbarrierExpectOp::getPtx(const PtxOperands &regs) {
  return regs.expand("mbarrier.arrive.expect_tx.shared::cta.b64 _, [#0], " + to_string(getBytes()) + ";");
}

std::string TmaLoadOp::getPtx(const PtxOperands &regs) {
  return "cp.async.bulk.tensor." + to_string(getCoords().size()) +
         "d.shared::cluster.global.mbarrier::complete_tx::bytes [" + regs.operand(1) + "], " +
         tensorAddress(regs, getCoords()) + ", [" + regs.operand(2) + "];";
}

std::string TmaStoreOp::getPtx(const PtxOperands &regs) {
  return "cp.async.bulk.tensor." + to_string(getCoords().size()) + "d.global.shared::cta.bulk_group " +
         tensorAddress(regs, getCoords()) + ", [" + regs.operand(1) + "];";
}

std::string TmaReduceAddOp::getPtx(const PtxOperands &regs) {
  return "cp.reduce.async.bulk.tensor." + to_string(getCoords().size()) + "d.global.shared::cta.add.tile.bulk_group " +
         tensorAddress(regs, getCoords()) + ", [" + regs.operand(1) + "];";
}

std::string BulkWaitOp::getPtx(const PtxOperands &) {
  return std::string("cp.async.bulk.wait_group") + (getRead() ? ".read " : " ") + to_string(getCount()) + ";";
}

/// A constant offset inside an address.
static std::string plus(int offset) { return offset ? "+" + to_string(offset) : ""; }

std::string LdMatrixOp::getPtx(const PtxOperands &regs) {
  return "ldmatrix.sync.aligned.m8n8.x" + to_string(getCount()) + (getTrans() ? ".trans" : "") + ".shared::cta.b16 {" +
         regs.resultList() + "}, [" + regs.operand(0) + plus(getOffset()) + "];";
}

std::string StMatrixOp::getPtx(const PtxOperands &regs) {
  return "stmatrix.sync.aligned.m8n8.x" + to_string(getRegs().size()) + (getTrans() ? ".trans" : "") +
         ".shared::cta.b16 [" + regs.operand(0) + plus(getOffset()) + "], {" + regs.operandList(getRegs()) + "};";
}

std::string RedAddOp::getPtx(const PtxOperands &regs) {
  std::string type = getValue().getType().isF32() ? "f32" : "u32";
  return regs.expand("{\n.reg .u64 address;\ncvta.to.global.u64 address, #0;\nred.relaxed.gpu.global.add." + type +
                     " [address], #1;\n}");
}

std::string StampOp::getPtx(const PtxOperands &regs) {
  return regs.expand("{\n.reg .pred room;\n.reg .b32 now;\n.reg .b64 step;\nsetp.lt.u64 room, #0, #1;\nmov.u32 now, %clock;\n"
                     "@room st.global.v2.b32 [#0], {" + to_string(getId()) + ", now};\nselp.b64 step, 8, 0, room;\nadd.s64 " +
                     regs.result(0) + ", #0, step;\n}");
}

std::string CallOp::getPtx(const PtxOperands &regs) {
  const auto type = [](mlir::Type t) { return t.isF32() ? std::string("f32 ") : std::string("b32 "); };
  std::string text = "{\n", names;
  for (unsigned i = 0; i < getValues().size(); ++i) {
    std::string name = "argument" + to_string(i);
    text += ".param .b32 " + name + ";\nst.param." + type(getValues()[i].getType()) + "[" + name + "], " + regs.operand(i) + ";\n";
    names += (i ? ", " : "") + name;
  }
  return text + ".param .b32 value;\ncall.uni (value), " + getSymbol().str() + ", (" + names + ");\nld.param." +
         type(getResult().getType()) + regs.result(0) + ", [value];\n}";
}

std::string WgmmaFenceOp::getPtx(const PtxOperands &) { return "wgmma.fence.sync.aligned;"; }

std::string WgmmaWaitOp::getPtx(const PtxOperands &) {
  return "wgmma.wait_group.sync.aligned " + to_string(getPending()) + ";";
}

std::string WgmmaOp::getPtx(const PtxOperands &regs) {
  target::WgmmaElement type = *target::parseWgmmaElement(getElement());
  std::string element = getElement().str();
  bool descriptorA = getA().size() == 1;
  std::string a = regs.operandList(getA());
  std::string b = regs.operand(static_cast<unsigned>(getAcc().size() + getA().size()));
  std::string scaleD = getZero() ? "0" : "1";
  if (getScaleD() && !getZero())
    scaleD = regs.operand(static_cast<unsigned>(getAcc().size() + getA().size() + 1));
  std::string text = "wgmma.mma_async.sync.aligned.m64n" + to_string(getN()) + "k" + to_string(target::wgmmaK(type)) +
                     ".f32." + element + "." + element + " {" + regs.resultList() + "}, " +
                     (descriptorA ? a : "{" + a + "}") + ", " + b + ", " + scaleD + ", 1, 1";
  if (target::wgmmaAllowsTranspose(type)) {
    if (descriptorA)
      text += getTransA() ? ", 1" : ", 0";
    text += getTransB() ? ", 1" : ", 0";
  }
  return text + ";";
}

std::string MmaOp::getPtx(const PtxOperands &regs) {
  std::string element = getElement().str();
  return "mma.sync.aligned." + getShape().str() + ".row.col.f32." + element + "." + element + ".f32 {" +
         regs.resultList() + "}, {" + regs.operandList(getA()) + "}, {" + regs.operandList(getB()) + "}, {" +
         regs.operandList(getAcc()) + "};";
}

} // namespace tilewright::hopper
