// Mutations of functions over the hopper dialect.
#include "compiler/mutation/Candidates.h"
#include "dialect/hopper/Hopper.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilewright::mutation {
namespace {

constexpr int kBytes = 16;  // the least that a copy moves

/// Whether the barrier of a warp stands before one lane's arrival, which speaks for all of them.
bool is_before_arrival(Operation* op) {
  for (op = op->getNextNode(); op; op = op->getNextNode()) {
    if (isa<hopper::MbarrierArriveOp, hopper::MbarrierArriveRemoteOp>(op)) return true;
    if (!isPure(op)) return false;
  }
  return false;
}

class Collector {
 public:
  std::vector<Candidate> found;

  void visit(Operation* op) {
    llvm::TypeSwitch<Operation*>(op)
        .Case<hopper::MbarrierInitOp>([&](hopper::MbarrierInitOp o) {
          add("arrivals.more", o, " with one arrival more", [o]() mutable { o.setCount(o.getCount() + 1); });
          if (o.getCount() > 1) add("arrivals.less", o, " with one arrival less", [o]() mutable { o.setCount(o.getCount() - 1); });
        })
        .Case<hopper::FenceMbarrierInitOp>([&](auto o) { erase("fence_mbarrier_init", o); })
        .Case<hopper::FenceProxyAsyncOp>([&](hopper::FenceProxyAsyncOp o) {
          // The others are tile.fence_async.
          if (isa_and_nonnull<hopper::FenceMbarrierInitOp>(o->getPrevNode())) erase("fence_init", o);
        })
        .Case<hopper::CtaBarrierOp>([&](auto o) { erase("cta_barrier", o); })
        .Case<hopper::MbarrierWaitOp, hopper::MbarrierWaitClusterOp>([&](auto o) {
          erase("wait_instruction", o);
          add("parity.flip", o, " for the other parity", [o]() mutable {
            OpBuilder b(o);
            Value one = arith::ConstantOp::create(b, o.getLoc(), b.getI32IntegerAttr(1));
            o.getParityMutable().assign(arith::XOrIOp::create(b, o.getLoc(), o.getParity(), one));
          });
        })
        .Case<hopper::MbarrierExpectOp>([&](hopper::MbarrierExpectOp o) {
          erase("expect", o);
          add("bytes.more", o, " of 16 bytes more", [o]() mutable { o.setBytes(o.getBytes() + kBytes); });
          add("bytes.less", o, " of 16 bytes less", [o]() mutable { o.setBytes(o.getBytes() - kBytes); });
          add("bytes.none", o, " of no bytes", [o]() mutable {
            OpBuilder b(o);
            hopper::MbarrierArriveOp::create(b, o.getLoc(), o.getAddr(), Value{});
            o.erase();
          });
        })
        .Case<hopper::MbarrierArriveOp, hopper::MbarrierArriveRemoteOp, hopper::CpAsyncArriveOp>([&](auto o) {
          add("arrive.twice", o, " twice", [o]() mutable { OpBuilder(o).clone(*o); });
        })
        .Case<hopper::WarpBarrierOp>([&](auto o) {
          if (is_before_arrival(o)) erase("warp_barrier", o);
        })
        .Case<hopper::NamedBarrierOp>([&](hopper::NamedBarrierOp o) {
          add("barrier_threads.more", o, " of 32 threads more", [o]() mutable { o.setThreads(o.getThreads() + 32); });
          if (o.getThreads() > 32) add("barrier_threads.less", o, " of 32 threads less", [o]() mutable { o.setThreads(o.getThreads() - 32); });
          add("barrier.arrive_only", o, " without waiting", [o]() mutable {
            OpBuilder b(o);
            hopper::NamedBarrierArriveOp::create(b, o.getLoc(), o.getId(), o.getThreads());
            o.erase();
          });
        })
        .Case<hopper::WgmmaFenceOp>([&](hopper::WgmmaFenceOp o) {
          add("wgmma_fence.delete", o, "", [o]() mutable {
            o->replaceAllUsesWith(o.getRegs());
            o.erase();
          });
        })
        .Case<hopper::WgmmaCommitOp, hopper::BulkCommitOp>([&](auto o) { erase(o->getName().stripDialect().str(), o); })
        .Case<hopper::WgmmaWaitOp>([&](hopper::WgmmaWaitOp o) {
          add("wgmma_wait.weaken", o, " of one batch less", [o]() mutable { o.setPending(o.getPending() + 1); });
        })
        .Case<hopper::CpAsyncWaitOp>([&](hopper::CpAsyncWaitOp o) {
          add("cp_async_wait.weaken", o, " of one group less", [o]() mutable { o.setCount(o.getCount() + 1); });
        });
  }

 private:
  void add(const std::string& kind, Operation* op, const std::string& detail, std::function<void()> apply) {
    found.push_back({kind, op->getName().stripDialect().str() + detail, op, std::move(apply)});
  }
  void erase(const std::string& name, Operation* op) {
    add(name + ".delete", op, "", [op] { op->erase(); });
  }
};

}  // namespace

std::vector<Candidate> hopper_candidates(ModuleOp module) {
  Collector all;
  module.walk<WalkOrder::PreOrder>([&](Operation* op) { all.visit(op); });
  return std::move(all.found);
}

}  // namespace tilewright::mutation
