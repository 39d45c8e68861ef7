// Control flow, and the program of a kernel.
#include "compiler/verify/protocol/Compiler.h"

#include "compiler/verify/Uses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilewright::verify::protocol {

bool Compiler::nests(Operation* loop) {
  bool found = false;
  if (isa<scf::ForOp, scf::WhileOp>(loop))
    loop->walk([&](Operation* inner) { found |= inner != loop && isa<scf::ForOp, scf::WhileOp>(inner) && slice.relevant.contains(inner); });
  return found;
}

bool Compiler::quiet(scf::IfOp branch) {
  if (branch.elseBlock()) return false;
  return !branch
              .walk([&](Operation* op) {
                if (op == branch || !slice.relevant.contains(op) || isa<scf::ForOp, scf::IfOp>(op)) return WalkResult::advance();
                if (!isa<tile::LoadOp, tile::StoreOp, tile::ReadOp, tile::WriteOp, tile::MapOp, tile::MmaOp, tile::CopyInOp, tile::CopyOutOp, tile::LoadGlobalOp, tile::StoreGlobalOp>(op))
                  return WalkResult::interrupt();
                bool steers = llvm::any_of(tile_uses(op, warps), [&](const RawUse& use) { return use.write && slice.control_tiles.contains(root_of(use.tile).getTile()); });
                return steers ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

scf::ForOp Compiler::repeated(scf::IfOp branch) {
  auto less = branch.getCondition().getDefiningOp<arith::CmpIOp>();
  auto next = less && less.getPredicate() == arith::CmpIPredicate::slt ? less.getLhs().getDefiningOp<arith::AddIOp>() : arith::AddIOp();
  if (!next) return {};
  for (auto loop = branch->getParentOfType<scf::ForOp>(); loop; loop = loop->getParentOfType<scf::ForOp>())
    for (auto [index, step] : {std::pair(next.getLhs(), next.getRhs()), std::pair(next.getRhs(), next.getLhs())})
      if (index == loop.getInductionVar() && step == loop.getStep() && less.getRhs() == loop.getUpperBound()) return loop;
  return {};
}

void Compiler::control(Operation* op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    const int begin = here();
    Instr& i = emit(Code::loop, op);
    i.in = {number(loop.getLowerBound()), number(loop.getUpperBound()), number(loop.getStep())};
    i.result = number(loop.getInductionVar());
    i.many = many_of(op);
    loops[op] = begin;
    block(*loop.getBody());
    emit(Code::next, op).target = begin;
    (*code)[static_cast<size_t>(begin)].target = here();
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    const int begin = here();
    emit(Code::branch, op).in = {number(branch.getCondition())};
    code->back().many = many, code->back().quiet = quiet(branch);
    if (scf::ForOp loop = repeated(branch)) code->back().again = loops.at(loop);
    block(*branch.thenBlock());
    (*code)[static_cast<size_t>(begin)].target = here();
    const int otherwise = here();
    emit(Code::otherwise, op);
    if (branch.elseBlock()) block(*branch.elseBlock());
    (*code)[static_cast<size_t>(otherwise)].target = here();
    emit(Code::join, op);
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    emit(Code::repeat, op);
    const int begin = here();
    block(loop.getBefore().front());
    const int test = here();
    emit(Code::test, op).in = {number(cast<scf::ConditionOp>(loop.getBefore().front().getTerminator()).getCondition())};
    code->back().many = many_of(op);
    block(loop.getAfter().front());
    emit(Code::again, op).target = begin;
    (*code)[static_cast<size_t>(test)].target = here();
  }
}

void Compiler::block(Block& b) {
  for (Operation& op : b) {
    if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op)) {
      if (slice.relevant.contains(&op)) control(&op);
    } else if (auto var = dyn_cast<tile::VarOp>(op)) {
      if (!slice.needed.contains(var.getVar())) continue;
      Instr& i = emit(Code::copy, &op);
      i.in = {number(var.getInit())}, i.result = number(var.getVar());
    } else if (auto set = dyn_cast<tile::SetOp>(op)) {
      if (!slice.needed.contains(set.getVar())) continue;
      Instr& i = emit(Code::set, &op);
      i.in = {number(set.getValue())}, i.result = number(set.getVar());
    } else if (slice.relevant.contains(&op)) {
      effect(&op);
    } else if (op.getNumResults() == 1 && slice.needed.contains(op.getResult(0))) {
      scalar(&op);
    }
  }
}

Program compile(tile::KernelOp kernel) {
  Program p;
  p.kernel = kernel;
  p.launch = plan_launch(kernel);
  p.flags = has_flags(kernel);
  p.tensors = watched_tensors(kernel, p.flags);
  Compiler c(p, slice(kernel, p.tensors, p.flags));
  kernel.walk([&](tile::LoadStrongOp load) {
    if (isa<scf::WhileOp>(load->getParentOp())) c.polled.insert(load.getTensor());
  });
  describe_tiles(p, c.slice.control_tiles);
  describe_rings(p);
  for (auto& [roles, id] : p.launch.meetings) p.meetings.push_back(roles);
  int stages = 1, outer_stages = 1;
  for (const RingInfo& r : p.rings) stages = std::max(stages, r.stages);
  kernel.walk([&](Operation* op) {
    if (!isa<tile::AcquireOp, tile::WaitOp>(op)) return;
    Operation* loop = op->getParentOp();
    while (!isa<scf::ForOp, scf::WhileOp, tile::RoleOp>(loop)) loop = loop->getParentOp();
    if (c.nests(loop)) outer_stages = std::max(outer_stages, static_cast<int>(op->getOperand(0).getDefiningOp<tile::RingOp>().getStages()));
  });
  c.many = 2 * stages + 2, c.many_outer = 2 * outer_stages + 1;
  std::vector<Instr> common;
  c.code = &common;
  for (BlockArgument arg : kernel.getBody().front().getArguments()) {
    if (!c.slice.needed.contains(arg)) continue;
    Instr& i = c.emit(Code::atom, nullptr);
    i.result = c.number(arg), i.number = -10 - static_cast<std::int64_t>(arg.getArgNumber());
  }
  for (Operation& op : kernel.getBody().front())
    if (op.getNumResults() == 1 && c.slice.needed.contains(op.getResult(0)) && !isa<tile::RoleOp, tile::SharedOp, tile::RingOp, tile::BarrierOp>(op)) c.scalar(&op);
  for (const std::string& name : p.launch.order)
    for (auto role : kernel.getBody().getOps<tile::RoleOp>()) {
      if (role.getSymName() != name) continue;
      RoleCode r{role, name, p.launch.roles.at(name), common};
      c.code = &r.code;
      c.warps = r.place.warps;
      c.block(role.getBody().front());
      c.emit(Code::end, role);
      p.roles.push_back(std::move(r));
    }
  return p;
}

}  // namespace tilewright::verify::protocol
