// Rules for barriers with named participants and for roles that meet.
#include "compiler/verify/Launch.h"
#include "compiler/verify/Rules.h"
#include "dialect/target/machine.h"

using namespace mlir;

namespace tilewright::verify {
namespace {

std::string quoted(StringRef s) { return "\"" + s.str() + "\""; }

StringRef role_name(Operation* op) { return op->getParentOfType<tile::RoleOp>().getSymName(); }

tile::RoleOp find_role(tile::KernelOp kernel, StringRef name) {
  for (auto role : kernel.getBody().getOps<tile::RoleOp>())
    if (role.getSymName() == name) return role;
  return nullptr;
}

bool names(ArrayAttr list, StringRef name) {
  return llvm::any_of(list, [&](Attribute a) { return cast<StringAttr>(a).getValue() == name; });
}

/// Every role of `list` has a body with an op of this kind, and only such roles have one.
template <class Op>
LogicalResult check_part(tile::KernelOp kernel, tile::BarrierOp barrier, ArrayAttr list, StringRef part, StringRef verb) {
  for (Attribute a : list) {
    StringRef name = cast<StringAttr>(a).getValue();
    if (!find_role(kernel, name))
      return barrier.emitOpError() << quoted(barrier.getSymName()) << ": its " << part << " role " << quoted(name) << " has no body in this kernel";
    bool does = llvm::any_of(barrier.getBarrier().getUsers(), [&](Operation* user) { return isa<Op>(user) && role_name(user) == name; });
    if (!does)
      return barrier.emitOpError() << quoted(barrier.getSymName()) << ": its " << part << " role " << quoted(name) << " never " << verb
                                   << (part == "arriving" ? ", so no phase would complete" : "");
  }
  for (Operation* user : barrier.getBarrier().getUsers())
    if (isa<Op>(user) && !names(list, role_name(user)))
      return user->emitOpError() << "role " << quoted(role_name(user)) << " " << verb << " at barrier " << quoted(barrier.getSymName())
                                 << " but is not one of its " << part << " roles; name it in k.barrier(...)";
  return success();
}

}  // namespace

LogicalResult check_named_barriers(tile::KernelOp kernel) {
  for (auto barrier : kernel.getBody().getOps<tile::BarrierOp>())
    if (failed(check_part<tile::ArriveOp>(kernel, barrier, barrier.getArrivers(), "arriving", "arrives")) ||
        failed(check_part<tile::WaitForOp>(kernel, barrier, barrier.getWaiters(), "waiting", "waits")))
      return failure();
  return success();
}

LogicalResult check_meetings(tile::KernelOp kernel) {
  std::map<std::vector<std::string>, std::set<std::string>> came;
  WalkResult result = kernel.walk([&](tile::MeetOp meet) {
    auto roles = meeting_of(meet);
    for (const std::string& name : roles) {
      auto role = find_role(kernel, name);
      if (role && !role.getSingleThread()) continue;
      if (!role) meet.emitOpError() << "role " << quoted(name) << " has no body in this kernel";
      else meet.emitOpError() << "role " << quoted(name) << " is one thread; roles that meet are counted in whole warps: give it warps(1), or use k.barrier(...)";
      return WalkResult::interrupt();
    }
    if (!llvm::is_contained(roles, role_name(meet).str())) {
      meet.emitOpError() << "role " << quoted(role_name(meet)) << " is not one of the roles that meet here";
      return WalkResult::interrupt();
    }
    came[roles].insert(role_name(meet).str());
    return WalkResult::advance();
  });
  if (result.wasInterrupted()) return failure();
  result = kernel.walk([&](tile::MeetOp meet) {
    for (const std::string& name : meeting_of(meet)) {
      if (came[meeting_of(meet)].count(name)) continue;
      meet.emitOpError() << "role " << quoted(name) << " never comes to this meeting, so the others would wait for ever";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted()) return failure();
  int roles = 0;
  for (auto role : kernel.getBody().getOps<tile::RoleOp>()) roles += role.getWarps() > 1;
  int sets = static_cast<int>(came.size());
  if (roles + sets < target::kNamedBarriers) return success();
  auto error = kernel.emitOpError() << roles << " roles of several warps";
  if (sets) error << " and " << sets << " sets of roles that meet";
  return error << "; each uses a named barrier and a CTA has " << target::kNamedBarriers - 1;
}

}  // namespace tilewright::verify
