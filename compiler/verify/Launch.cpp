#include "compiler/verify/Launch.h"

#include <algorithm>

#include "dialect/target/machine.h"

using namespace mlir;

namespace tilewright::verify {

std::vector<std::string> meeting_of(tile::MeetOp op) {
  std::vector<std::string> names;
  for (Attribute role : op.getRoles()) names.push_back(cast<StringAttr>(role).getValue().str());
  std::sort(names.begin(), names.end());
  return names;
}

int LaunchPlan::threads_of(const std::vector<std::string>& names) const {
  int warps = 0;
  for (const std::string& name : names) warps += roles.at(name).warps;
  return 32 * warps;
}

LaunchPlan plan_launch(tile::KernelOp kernel) {
  LaunchPlan plan;
  int warp = 0, barrier = 1;
  auto place = [&](tile::RoleOp role) {
    RolePlace p{warp, static_cast<int>(role.getWarps()), role.getSingleThread(), 0, static_cast<int>(role.getRegisters())};
    if (p.warps > 1) p.barrier = barrier++;
    plan.budgets |= p.registers != 0;
    plan.roles[role.getSymName().str()] = p;
    plan.order.push_back(role.getSymName().str());
    warp += p.warps;
  };
  for (auto role : kernel.getBody().getOps<tile::RoleOp>())
    if (role.getWarps() % 4 == 0) place(role);
  for (auto role : kernel.getBody().getOps<tile::RoleOp>())
    if (role.getWarps() % 4 != 0) place(role);
  kernel.walk([&](tile::MeetOp op) {
    if (plan.meetings.try_emplace(meeting_of(op), barrier).second) ++barrier;
  });
  if (auto extents = kernel->getAttrOfType<DenseI32ArrayAttr>("cluster"))
    for (auto [i, extent] : llvm::enumerate(extents.asArrayRef().take_front(3))) plan.cluster[i] = extent;
  if (plan.budgets || warp > 4) warp = (warp + 3) / 4 * 4;
  plan.threads = 32 * std::max(warp, 1);
  plan.warpgroups = (warp + 3) / 4;
  plan.entry_registers = target::registersAtEntry(plan.threads);
  return plan;
}

}  // namespace tilewright::verify
