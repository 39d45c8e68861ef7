// Rules that need the whole kernel: roles, rings, budgets, boxes. One function a rule.
#include "compiler/verify/Launch.h"
#include "compiler/verify/Rules.h"
#include "compiler/verify/Uses.h"
#include "compiler/verify/Verify.h"
#include "dialect/target/machine.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tilewright::verify {
namespace {

std::string quoted(StringRef s) { return "\"" + s.str() + "\""; }

tile::RoleOp role_of(Operation* op) { return op->getParentOfType<tile::RoleOp>(); }

LogicalResult check_names(tile::KernelOp kernel) {
  llvm::StringMap<Location> roles, tiles;
  for (auto role : kernel.getBody().getOps<tile::RoleOp>()) {
    auto [first, isNew] = roles.try_emplace(role.getSymName(), role.getLoc());
    if (isNew) continue;
    InFlightDiagnostic error = role.emitOpError() << quoted(role.getSymName()) << " is defined twice; each role has one body and a name of its own";
    error.attachNote(first->second) << "the first body";
    return error;
  }
  for (auto tile : kernel.getBody().getOps<tile::SharedOp>()) {
    auto [first, isNew] = tiles.try_emplace(tile.getSymName(), tile.getLoc());
    if (isNew) continue;
    InFlightDiagnostic error = tile.emitOpError() << "there are two shared tiles named " << quoted(tile.getSymName());
    error.attachNote(first->second) << "the first";
    return error;
  }
  if (roles.empty()) return kernel.emitOpError() << quoted(kernel.getSymName()) << " has no role; a kernel runs at least one";
  for (auto ring : kernel.getBody().getOps<tile::RingOp>()) {
    auto known = [&](StringRef name, StringRef part) -> LogicalResult {
      if (roles.contains(name)) return success();
      return ring.emitOpError() << quoted(ring.getSymName()) << ": its " << part << " " << quoted(name) << " has no body in this kernel";
    };
    if (failed(known(ring.getProducer(), "producer"))) return failure();
    for (Attribute c : ring.getConsumers())
      if (failed(known(cast<StringAttr>(c).getValue(), "consumer"))) return failure();
  }
  return success();
}

/// A value lives to the end of the role, loop or branch that makes it.
LogicalResult check_scopes(tile::KernelOp kernel) {
  WalkResult result = kernel.walk([&](Operation* op) {
    if (op == kernel) return WalkResult::advance();
    for (Value v : op->getOperands()) {
      Block* home = v.getParentBlock();
      if (home->findAncestorOpInBlock(*op)) continue;
      auto from = dyn_cast<tile::RoleOp>(home->getParentOp());
      auto made = from ? from : role_of(home->getParentOp()), used = role_of(op);
      InFlightDiagnostic error = op->emitOpError();
      if (made && used && made != used)
        error << "role " << quoted(used.getSymName()) << " uses a value of role " << quoted(made.getSymName())
              << "; roles share nothing but tensors, tiles and rings: pass it through a ring";
      else
        error << "uses a value that was made inside a loop or branch which has ended; keep it in a Var declared before";
      error.attachNote(v.getLoc()) << "made here";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Every ring operation stands in a role that the ring names for it.
LogicalResult check_ring_roles(tile::KernelOp kernel) {
  for (auto ring : kernel.getBody().getOps<tile::RingOp>()) {
    for (Operation* user : ring.getRing().getUsers()) {
      auto role = role_of(user);
      bool produces = isa<tile::AcquireOp, tile::CommitOp>(user) || filling_of(user).ring;
      if (produces && role.getSymName() != ring.getProducer())
        return user->emitOpError() << "ring " << quoted(ring.getSymName()) << " is filled by role " << quoted(ring.getProducer()) << ", this is role "
                                   << quoted(role.getSymName());
      if (produces) continue;
      bool consumes = llvm::any_of(ring.getConsumers(), [&](Attribute c) { return cast<StringAttr>(c).getValue() == role.getSymName(); });
      if (!consumes)
        return user->emitOpError() << "role " << quoted(role.getSymName()) << " is not a consumer of ring " << quoted(ring.getSymName())
                                   << "; name it among the consumers in k.ring(...)";
    }
  }
  return success();
}

/// A ring is waited for, released and filled, each at least once.
LogicalResult check_ring_protocol(tile::KernelOp kernel) {
  for (auto ring : kernel.getBody().getOps<tile::RingOp>()) {
    auto used = [&](auto kind, StringRef role) {
      return llvm::any_of(ring.getRing().getUsers(), [&](Operation* user) {
        return isa<decltype(kind)>(user) && role_of(user).getSymName() == role;
      });
    };
    auto name = quoted(ring.getSymName());
    if (!used(tile::AcquireOp(), ring.getProducer()))
      return ring.emitOpError() << name << ": its producer " << quoted(ring.getProducer()) << " never acquires a stage";
    bool committed = used(tile::CommitOp(), ring.getProducer());
    if (used(tile::CopyAsyncOp(), ring.getProducer()) && !committed)
      return ring.emitOpError() << name << ": its producer " << quoted(ring.getProducer()) << " copies by its threads but never commits, so the stage never becomes full";
    if (!committed && !used(tile::TmaLoadOp(), ring.getProducer()) && !used(tile::BulkLoadOp(), ring.getProducer()))
      return ring.emitOpError() << name << ": its producer " << quoted(ring.getProducer())
                                << " neither loads with TMA nor commits, so the stage never becomes full";
    for (Attribute c : ring.getConsumers()) {
      StringRef role = cast<StringAttr>(c).getValue();
      if (!used(tile::WaitOp(), role)) return ring.emitOpError() << name << ": its consumer " << quoted(role) << " never waits for a stage";
      if (!used(tile::ReleaseOp(), role))
        return ring.emitOpError() << name << ": its consumer " << quoted(role) << " never releases a stage, so the producer would starve";
    }
  }
  return success();
}

tile::RoleOp find_role(tile::KernelOp kernel, StringRef name) {
  for (auto role : kernel.getBody().getOps<tile::RoleOp>())
    if (role.getSymName() == name) return role;
  return nullptr;
}

/// The registers of all warpgroups come out of the launch's pool.
LogicalResult check_budgets(tile::KernelOp kernel) {
  auto launch = plan_launch(kernel);
  if (auto problem = target::threadCountProblem(launch.threads)) return kernel.emitOpError() << *problem;
  if (!launch.budgets) return success();
  SmallVector<int> budgets;
  int shared = 0;
  bool singles = false;
  for (auto& [name, p] : launch.roles) {
    if (p.registers == 0 && p.warps % 4 == 0)
      return find_role(kernel, name).emitOpError() << quoted(name) << " has no register budget, others have one; give every role of whole warpgroups one";
    if (p.warps % 4 == 0) budgets.append(p.warps / 4, p.registers);
    else singles = true, shared = std::max(shared, p.registers);
  }
  if (singles) budgets.push_back(shared ? shared : target::kMinBudget);
  auto problem = target::registerPoolProblem(budgets);
  if (!problem) return success();
  auto error = kernel.emitOpError() << quoted(kernel.getSymName()) << ": " << *problem;
  for (auto role : kernel.getBody().getOps<tile::RoleOp>())
    error.attachNote(role.getLoc()) << "role " << quoted(role.getSymName()) << ": " << role.getWarps() << " warps, " << role.getRegisters() << " registers a thread";
  return error;
}

LogicalResult check_fragments(tile::KernelOp kernel) {
  WalkResult result = kernel.walk([&](tile::FragOp frag) {
    auto shape = frag.getFrag().getType().getShape();
    auto role = role_of(frag);
    if (role.getSingleThread()) {
      frag.emitOpError() << "role " << quoted(role.getSymName()) << " is one thread and holds no fragments; give it warps(...) or warpgroups(...)";
      return WalkResult::interrupt();
    }
    int64_t rows = shape[0], warps = role.getWarps();
    if (rows == 1 || rows == 16 || rows == 16 * warps) return WalkResult::advance();
    frag.emitOpError() << "a fragment of " << rows << " rows in role " << quoted(role.getSymName()) << " of " << warps << " warps; expected "
                       << 16 * warps << " (16 for each warp), or 16 for a fragment of each warp alone";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult check_products(tile::KernelOp kernel) {
  WalkResult result = kernel.walk([&](tile::GemmOp gemm) {
    auto role = role_of(gemm);
    if (role.getWarps() % 4 != 0) {
      gemm.emitOpError() << "role " << quoted(role.getSymName()) << " has " << role.getWarps() << " warp; a product needs whole warpgroups";
      return WalkResult::interrupt();
    }
    auto launch = plan_launch(kernel);
    int64_t n = gemm.getAcc().getType().getShape()[1];
    if (launch.threads >= 512 && n > 192) {
      gemm.emitOpError() << "N = " << n << " with " << launch.threads << " threads: an instruction of more than 192 columns needs more registers at entry than a launch of 512 threads has";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult check_boxes(tile::KernelOp kernel) {
  auto check = [&](Operation* op, ArrayRef<int64_t> box, tile::SharedType tile) -> LogicalResult {
    for (auto [i, extent] : llvm::enumerate(box)) {
      bool inner = i + 1 == box.size();
      if (!inner && extent > 256) return op->emitOpError() << "box extent " << extent << " of axis " << i << ": TMA copies at most 256 along one axis; use several tiles";
    }
    int64_t bytes = box.back() * tile::element_bytes(tile.getElementType());
    if (bytes % 16 != 0) return op->emitOpError() << "the box's rows are " << bytes << " bytes; TMA needs a multiple of 16";
    return success();
  };
  WalkResult result = kernel.walk([&](Operation* op) {
    LogicalResult ok = success();
    if (auto load = dyn_cast<tile::TmaLoadOp>(op)) ok = check(op, load.getBox(), load.getTile().getType());
    if (auto store = dyn_cast<tile::TmaStoreOp>(op)) ok = check(op, store.getBox(), store.getTile().getType());
    return failed(ok) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// A tile that copies fill belongs to the ring whose barrier counts them.
LogicalResult check_ring_tiles(tile::KernelOp kernel) {
  WalkResult result = kernel.walk([&](Operation* op) {
    Filling filling = filling_of(op);
    if (!filling.ring) return WalkResult::advance();
    auto ring = filling.ring.getDefiningOp<tile::RingOp>();
    auto root = root_of(filling.tile);
    if (llvm::is_contained(ring.getTiles(), root.getTile())) return WalkResult::advance();
    op->emitOpError() << "tile " << quoted(root.getSymName()) << " is not one of ring " << quoted(ring.getSymName()) << "; pass it to k.ring(...)";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Copies that threads share need the threads.
LogicalResult check_shared_copies(tile::KernelOp kernel) {
  WalkResult result = kernel.walk([&](Operation* op) {
    if (!isa<tile::CopyAsyncOp, tile::CopyInOp, tile::CopyOutOp>(op) || !role_of(op).getSingleThread()) return WalkResult::advance();
    op->emitOpError() << "role " << quoted(role_of(op).getSymName()) << " is one thread; this copy is shared by the threads of whole warps: give it warps(...), or use TMA";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// A tensor declared with `in` is only read.
LogicalResult check_inputs(tile::KernelOp kernel) {
  if (!kernel.getShapesAttr()) return success();
  for (auto [argument, about, name] : llvm::zip(kernel.getBody().getArguments(), *kernel.getShapes(), kernel.getParamNames())) {
    auto role = cast<DictionaryAttr>(about).getAs<StringAttr>("role");
    if (!role || role.getValue() != "in") continue;
    for (Operation* user : argument.getUsers())
      if (isa<tile::WriteOp, tile::StoreGlobalOp, tile::TmaStoreOp, tile::BulkStoreOp, tile::CopyOutOp>(user))
        return user->emitOpError() << "writes to tensor " << quoted(cast<StringAttr>(name).getValue()) << ", which is an input; declare it with k.out or k.inout";
  }
  return success();
}

struct VerifyStructure : PassWrapper<VerifyStructure, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyStructure)
  StringRef getArgument() const override { return "tile-verify-structure"; }
  StringRef getDescription() const override { return "checks roles, rings, budgets and boxes against each other and the machine"; }

  void runOnOperation() override {
    getOperation()->walk([&](tile::KernelOp kernel) {
      for (auto rule : {check_names, check_scopes, check_ring_roles, check_ring_protocol, check_named_barriers, check_meetings, check_budgets, check_fragments, check_fragments_written, check_products,
                        check_boxes, check_ring_tiles, check_shared_copies, check_inputs, check_clusters})
        if (failed(rule(kernel))) return signalPassFailure();
    });
  }
};

}  // namespace

std::unique_ptr<Pass> verify_structure() { return std::make_unique<VerifyStructure>(); }

}  // namespace tilewright::verify
