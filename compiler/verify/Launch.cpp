#include "compiler/verify/Launch.h"

#include "dialect/target/machine.h"

namespace tilewright::verify {

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
  if (plan.budgets || warp > 4) warp = (warp + 3) / 4 * 4;
  plan.threads = 32 * std::max(warp, 1);
  plan.warpgroups = (warp + 3) / 4;
  plan.entry_registers = target::registersAtEntry(plan.threads);
  return plan;
}

}  // namespace tilewright::verify
