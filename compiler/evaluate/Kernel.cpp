// The kernel: declarations, and its CTAs one after the other.
#include "compiler/dsl/Recording.h"
#include "compiler/evaluate/State.h"
#include "compiler/verify/Uses.h"

using namespace mlir;

namespace tilewright::evaluate {

Tensor& Cta::tensor(Value argument) {
  const unsigned number = cast<BlockArgument>(argument).getArgNumber();
  return arguments->tensors.at(cast<StringAttr>(kernel.getParamNames()[number]).getValue().str());
}

void Cta::declare(Operation& op) {
  if (auto o = dyn_cast<tile::SharedOp>(op)) {
    if (o.getOverlay()) undefined(&op, "overlays have no meaning here");
    auto type = o.getTile().getType();
    Tile t{type.getElementType(), type.getShape()[0], type.getShape()[1], {}};
    t.values.assign(t.rows * t.cols * o.getStages(), never_written(t.element));
    tiles.push_back(std::move(t));
    const Lanes zero{Word(std::int64_t{0})};
    places[o.getTile()] = {&tiles.back(), zero, zero, zero, tiles.back().rows, tiles.back().cols};
  } else if (auto o = dyn_cast<tile::RingOp>(op)) {
    RingState r;
    r.stages = o.getStages();
    r.bytes = verify::stage_copies(o).bytes;
    for (Operation* user : o.getRing().getUsers()) r.commits |= isa<tile::CommitOp>(user);
    r.landed.assign(r.stages, 0), r.committed.assign(r.stages, false);
    for (Attribute c : o.getConsumers()) r.released[cast<StringAttr>(c).getValue().str()].assign(r.stages, 0);
    rings[o.getRing()] = std::move(r);
  } else if (auto o = dyn_cast<tile::BarrierOp>(op)) {
    for (Attribute a : o.getArrivers()) barriers[o.getBarrier()].arrived[cast<StringAttr>(a).getValue().str()] = 0;
  } else if (auto o = dyn_cast<tile::BlockIndexOp>(op)) {
    scalars[o.getValue()] = {Word(index[o.getDim()])};
  } else if (auto o = dyn_cast<tile::IsPresentOp>(op)) {
    const unsigned number = cast<BlockArgument>(o.getTensor()).getArgNumber();
    scalars[o.getValue()] = {Word(std::int64_t(arguments->tensors.count(cast<StringAttr>(kernel.getParamNames()[number]).getValue().str())))};
  } else if (auto o = dyn_cast<tile::ExtentOp>(op)) {
    scalars[o.getValue()] = {Word(tensor(o.getTensor()).shape[o.getAxis()])};
  } else if (!isa<tile::RoleOp>(op)) {
    Lanes out;
    if (!compute(&op, [&](Value v) -> const Lanes& { return scalars[v]; }, out)) undefined(&op, "has no meaning here");
    scalars[op.getResult(0)] = std::move(out);
  }
}

namespace {

void run_cta(tile::KernelOp kernel, Arguments& arguments, std::array<std::int64_t, 3> index) {
  Cta cta;
  cta.kernel = kernel, cta.arguments = &arguments, cta.index = index;
  for (auto [argument, name] : llvm::zip(kernel.getBody().getArguments(), kernel.getParamNames())) {
    const std::string text = cast<StringAttr>(name).getValue().str();
    if (auto it = arguments.integers.find(text); it != arguments.integers.end()) cta.scalars[argument] = {Word(it->second)};
    if (auto it = arguments.reals.find(text); it != arguments.reals.end()) cta.scalars[argument] = {Word(Interval{it->second, it->second})};
  }
  std::deque<Role> roles;
  for (Operation& op : kernel.getBody().front()) {
    cta.declare(op);
    if (auto role = dyn_cast<tile::RoleOp>(op)) roles.emplace_back(cta, role);
  }
  while (true) {
    bool moved = false, all = true;
    for (Role& r : roles) {
      if (r.finished()) continue;
      moved |= r.run();
      all &= r.finished();
    }
    if (all) return;
    if (moved) continue;
    std::string who;
    for (Role& r : roles)
      if (!r.finished()) who += (who.empty() ? "" : "; ") + r.position();
    undefined(kernel, "the roles wait for each other: " + who);
  }
}

}  // namespace

void evaluate(const Program& program, Arguments& arguments) {
  tile::KernelOp kernel = program.builder().program()->recording.kernel;
  for (std::int64_t z = 0; z < arguments.grid[2]; ++z)
    for (std::int64_t y = 0; y < arguments.grid[1]; ++y)
      for (std::int64_t x = 0; x < arguments.grid[0]; ++x) run_cta(kernel, arguments, {x, y, z});
}

}  // namespace tilewright::evaluate
