// Time stamps. A traced kernel has a variable in global memory: the number of the CTA that is traced (16 bytes), then for each warp
// kStampsOfAWarp places for stamps. One lane of each warp of that CTA writes them. A kernel that is not traced has nothing of it.
#include "compiler/passes/lowering/Lowering.h"

using namespace mlir;

namespace tilewright::lowering {

void Lowering::start_trace() {
  traced_ = kernel_->getParentOp()->hasAttr("tilewright.trace");
  if (!traced_) return;
  auto wide = b_.getI64Type();
  auto i64 = [&](std::int64_t value) -> Value { return arith::ConstantOp::create(b_, loc_, b_.getI64IntegerAttr(value)); };
  const std::int64_t warp_bytes = std::int64_t{kStampsOfAWarp} * kStampBytes;
  trace_bytes_ = kTraceHeaderBytes + warp_bytes * (launch_.threads / 32);
  Value base = hopper::TraceBaseOp::create(b_, loc_, wide, b_.getI32IntegerAttr(static_cast<std::int32_t>(trace_bytes_)));
  Value wanted = LLVM::LoadOp::create(b_, loc_, b_.getI32Type(), LLVM::IntToPtrOp::create(b_, loc_, LLVM::LLVMPointerType::get(b_.getContext(), 1), base), 4);
  Value number = hopper::CtaIdOp::create(b_, loc_, 2);
  for (unsigned axis : {1u, 0u})
    number = arith::AddIOp::create(b_, loc_, hopper::CtaIdOp::create(b_, loc_, axis), arith::MulIOp::create(b_, loc_, number, hopper::GridDimOp::create(b_, loc_, axis)));
  Value here = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq, number, wanted);
  Value own = arith::MulIOp::create(b_, loc_, arith::ExtUIOp::create(b_, loc_, wide, cta_warp_), i64(warp_bytes));
  Value first = arith::AddIOp::create(b_, loc_, base, arith::AddIOp::create(b_, loc_, own, i64(kTraceHeaderBytes)));
  trace_end_ = arith::SelectOp::create(b_, loc_, here, arith::AddIOp::create(b_, loc_, first, i64(warp_bytes)), i64(0));
  trace_end_of_lane_zero_ = arith::SelectOp::create(b_, loc_, equal(lane_, 0), trace_end_, i64(0));
  trace_place_ = slot(wide);
  write_slot(trace_place_, first);
}

void Lowering::stamp(StringRef name) {
  if (!traced_) return;
  auto known = std::find(stamps_.begin(), stamps_.end(), name);
  const auto id = static_cast<std::int32_t>(known - stamps_.begin()) + 1;
  if (known == stamps_.end()) stamps_.push_back(name.str());
  Value place = read_slot(trace_place_, b_.getI64Type());
  write_slot(trace_place_, hopper::StampOp::create(b_, loc_, b_.getI64Type(), place, role_.single_thread ? trace_end_ : trace_end_of_lane_zero_,
                                                   b_.getI32IntegerAttr(id)));
}

void Lowering::waiting(StringRef name, llvm::function_ref<void()> body) {
  stamp(name);
  body();
  stamp(doing_);
}

}  // namespace tilewright::lowering
