// Roles as coroutines: each runs until it must wait. Control flow runs under a mask of threads.
#include <algorithm>

#include "compiler/evaluate/State.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilewright::evaluate {
namespace {

constexpr std::int64_t kMostSteps = 20'000'000;

std::string place_text(Operation* op) {
  if (auto at = op->getLoc()->findInstanceOf<FileLineColLoc>()) return at.getFilename().str() + ":" + std::to_string(at.getLine());
  return "?";
}

}  // namespace

void undefined(Operation* op, const std::string& what) { throw Undefined(place_text(op) + ": " + op->getName().stripDialect().str() + ": " + what); }

Role::Role(Cta& cta, tile::RoleOp op) : cta_(cta), op_(op), threads_(op.getSingleThread() ? 1 : 32 * static_cast<int>(op.getWarps())), warps_(static_cast<int>(op.getWarps())) {
  Block& body = op.getBody().front();
  frames_.push_back({&body, body.begin(), op, std::vector<std::uint8_t>(threads_, 1), {}, {}, {}});
}

std::string Role::position() {
  if (finished()) return "";
  return op_.getSymName().str() + " waits at " + place_text(&*frames_.back().at) + " (" + frames_.back().at->getName().stripDialect().str() + ")";
}

const Lanes& Role::get(Value v) {
  if (auto it = scalars_.find(v); it != scalars_.end()) return it->second;
  if (auto it = cta_.scalars.find(v); it != cta_.scalars.end()) return it->second;
  undefined(v.getDefiningOp() ? v.getDefiningOp() : op_.getOperation(), "is used without a value; is an argument of the launch missing?");
}

std::vector<int> Role::active_threads() const {
  std::vector<int> out;
  for (int t = 0; t < threads_; ++t)
    if (active(t)) out.push_back(t);
  return out;
}
std::vector<int> Role::active_warps(Operation& op) const {
  if (threads_ == 1) return {0};
  std::vector<int> out;
  for (int w = 0; w < warps_; ++w) {
    int lanes = 0;
    for (int l = 0; l < 32; ++l) lanes += active(32 * w + l);
    if (lanes == 32) out.push_back(w);
    else if (lanes) undefined(&op, "only some lanes of warp " + std::to_string(w) + " get here");
  }
  return out;
}
void Role::whole_role(Operation& op) const {
  for (int t = 0; t < threads_; ++t)
    if (!active(t)) undefined(&op, "only some threads of the role get here");
}
Word Role::of_warp(Operation& op, const Lanes& x, int warp) const {
  if (x.size() == 1) return x[0];
  for (int l = 1; l < 32; ++l)
    if (x[32 * warp + l].integer != x[32 * warp].integer) undefined(&op, "takes a value that differs between the lanes of a warp");
  return x[32 * warp];
}
Word Role::of_role(Operation& op, const Lanes& x) const {
  for (const Word& w : x)
    if (w.integer != x[0].integer) undefined(&op, "takes a value that differs between the threads of the role");
  return x[0];
}
bool Role::truth(Operation& op, const Word& w) const {
  if (w.integer == kUnknown) undefined(&op, "depends on a number that is known only to some bits");
  return w.integer != 0;
}

bool Role::run() {
  bool moved = false;
  while (!frames_.empty() && step()) moved = true;
  return moved || frames_.empty();
}

bool Role::step() {
  if (++steps_ > kMostSteps) undefined(op_, "the role \"" + op_.getSymName().str() + "\" does not end");
  Frame& frame = frames_.back();
  if (frame.at == frame.block->end()) return leave(), true;
  Operation& op = *frame.at;
  const std::size_t depth = frames_.size();
  if (!execute(op)) return false;
  if (frames_.size() >= depth && !isa<scf::ConditionOp>(op)) ++frames_[depth - 1].at;
  return true;
}

namespace {
bool any(const std::vector<std::uint8_t>& mask) {
  return std::find(mask.begin(), mask.end(), 1) != mask.end();
}
}  // namespace

/// The end of a block: another round, or back to what is around it.
void Role::leave() {
  Frame& frame = frames_.back();
  if (auto loop = dyn_cast<scf::ForOp>(frame.owner)) {
    for (std::size_t i = 0; i < frame.index.size(); ++i) frame.index[i].integer += lane(frame.step, i).integer;
    for (int t = 0; t < threads_; ++t) frame.mask[t] = frame.mask[t] && lane(frame.index, t).integer < lane(frame.to, t).integer;
    if (any(frame.mask)) {
      set(loop.getInductionVar(), frame.index);
      frame.at = frame.block->begin();
      return;
    }
  } else if (auto loop = dyn_cast<scf::WhileOp>(frame.owner)) {
    frame.block = &loop.getBefore().front();
    frame.at = frame.block->begin();
    return;
  }
  frames_.pop_back();
}

bool Role::control(Operation& op) {
  const std::vector<std::uint8_t> mask = frames_.back().mask;
  const auto enter = [&](Block& block, std::vector<std::uint8_t> m) {
    if (any(m)) frames_.push_back({&block, block.begin(), &op, std::move(m), {}, {}, {}});
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    Lanes index = get(loop.getLowerBound()), to = get(loop.getUpperBound()), step = get(loop.getStep());
    if (to.size() > 1 && index.size() == 1) index.assign(threads_, index[0]);
    auto m = mask;
    for (int t = 0; t < threads_; ++t) m[t] = m[t] && lane(index, t).integer < lane(to, t).integer;
    if (!any(m)) return true;
    set(loop.getInductionVar(), index);
    enter(*loop.getBody(), std::move(m));
    frames_.back().index = std::move(index), frames_.back().to = std::move(to), frames_.back().step = std::move(step);
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    enter(loop.getBefore().front(), mask);
  } else if (auto condition = dyn_cast<scf::ConditionOp>(op)) {
    Frame& frame = frames_.back();
    auto loop = cast<scf::WhileOp>(frame.owner);
    const Lanes& go_on = get(condition.getCondition());
    for (int t = 0; t < threads_; ++t) frame.mask[t] = frame.mask[t] && truth(op, lane(go_on, t));
    if (!any(frame.mask)) return frames_.pop_back(), true;
    frame.block = &loop.getAfter().front();
    frame.at = frame.block->begin();
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    const Lanes& p = get(branch.getCondition());
    auto then = mask, otherwise = mask;
    for (int t = 0; t < threads_; ++t) {
      const bool yes = mask[t] && truth(op, lane(p, t));
      then[t] = yes, otherwise[t] = mask[t] && !yes;
    }
    if (branch.elseBlock()) enter(*branch.elseBlock(), std::move(otherwise));
    enter(*branch.thenBlock(), std::move(then));  // runs first
  } else {
    return isa<scf::YieldOp>(op);
  }
  return true;
}

/// Rings, barriers, rendezvous. `done` is false where the role must wait.
bool Role::synchronise(Operation& op, bool& done) {
  const std::string me = op_.getSymName().str();
  if (auto o = dyn_cast<tile::AcquireOp>(op)) {
    whole_role(op);
    RingState& r = cta_.rings[o.getRing()];
    const std::int64_t stage = r.acquired % r.stages;
    for (auto& [role, released] : r.released)
      if (released[stage] < r.acquired / r.stages) return done = false, true;
    r.landed[stage] = 0, r.committed[stage] = false;
    ++r.acquired;
    set(o.getStage(), {Word(stage)});
  } else if (auto o = dyn_cast<tile::WaitOp>(op)) {
    whole_role(op);
    RingState& r = cta_.rings[o.getRing()];
    const std::int64_t n = r.waited[me], stage = n % r.stages;
    if (r.acquired <= n || r.landed[stage] < r.bytes || (r.commits && !r.committed[stage])) return done = false, true;
    ++r.waited[me];
    set(o.getStage(), {Word(stage)});
  } else if (auto o = dyn_cast<tile::CommitOp>(op)) {
    whole_role(op);
    cta_.rings[o.getRing()].committed[of_role(op, get(o.getStage())).integer] = true;
  } else if (auto o = dyn_cast<tile::ReleaseOp>(op)) {
    whole_role(op);
    ++cta_.rings[o.getRing()].released[me][of_role(op, get(o.getStage())).integer];
  } else if (auto o = dyn_cast<tile::ArriveOp>(op)) {
    whole_role(op);
    ++cta_.barriers[o.getBarrier()].arrived[me];
  } else if (auto o = dyn_cast<tile::WaitForOp>(op)) {
    whole_role(op);
    BarrierState& b = cta_.barriers[o.getBarrier()];
    for (auto& [role, arrived] : b.arrived)
      if (arrived <= b.waited[me]) return done = false, true;
    ++b.waited[me];
  } else if (auto o = dyn_cast<tile::MeetOp>(op)) {
    whole_role(op);
    std::vector<std::string> names;
    for (Attribute a : o.getRoles()) names.push_back(cast<StringAttr>(a).getValue().str());
    std::sort(names.begin(), names.end());
    std::string key;
    for (auto& n : names) key += n + " ";
    auto& come = cta_.meetings[key];
    const std::string waiting = key + ":" + me;  // this role has come, and waits
    if (!cta_.meetings[waiting][me]) ++come[me], cta_.meetings[waiting][me] = 1;
    if (!o.getArriveOnly())
      for (auto& n : names)
        if (come[n] < come[me]) return done = false, true;
    cta_.meetings[waiting][me] = 0;
  } else if (isa<tile::SyncOp>(op)) {
    whole_role(op);
  } else if (isa<tile::WarpSyncOp>(op)) {
    active_warps(op);
  } else {
    return isa<tile::FenceAsyncOp, tile::FenceOp, tile::SleepOp, tile::StampOp, tile::GridWaitOp, tile::GridLaunchOp>(op);
  }
  return true;
}

/// False where the role must wait.
bool Role::execute(Operation& op) {
  if (isa<tile::AtOp, tile::ViewOp>(op)) {
    Place p = place(op.getOperand(0));
    if (auto at = dyn_cast<tile::AtOp>(op)) {
      p.stage = get(at.getStage());
    } else {
      auto view = cast<tile::ViewOp>(op);
      const auto shift = [&](Lanes& at, Value by) {
        const Lanes& b = get(by);
        Lanes sum(std::max(at.size(), b.size()));
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i].integer = lane(at, i).integer + lane(b, i).integer;
        at = std::move(sum);
      };
      shift(p.row, view.getRow()), shift(p.col, view.getColumn());
      p.rows = view.getResult().getType().getShape()[0], p.cols = view.getResult().getType().getShape()[1];
    }
    places_[op.getResult(0)] = std::move(p);
    return true;
  }
  bool done = true;
  if (synchronise(op, done)) return done;
  if (control(op) || element_access(op) || copy(op) || fragments(op)) return true;
  const auto per_thread = [&](auto&& f) {
    Lanes x(threads_);
    for (int t = 0; t < threads_; ++t) x[t] = f(t);
    set(op.getResult(0), std::move(x));
    return true;
  };
  if (isa<tile::ThreadOp>(op)) return per_thread([](int t) { return Word(std::int64_t{t}); });
  if (isa<tile::LaneOp>(op)) return per_thread([](int t) { return Word(std::int64_t{t % 32}); });
  if (isa<tile::WarpOp>(op)) return per_thread([](int t) { return Word(std::int64_t{t / 32}); });
  if (auto o = dyn_cast<tile::UniformOp>(op)) return per_thread([x = get(o.getValue())](int t) { return lane(x, t / 32 * 32); });
  if (auto o = dyn_cast<tile::ShuffleOp>(op)) {
    active_warps(op);
    const Lanes x = get(o.getValue()), by = get(o.getLane());
    return per_thread([&](int t) {
      const std::int64_t n = lane(by, t).integer, l = t % 32, first = t - l;
      const std::int64_t from = o.getMode() == "xor" ? l ^ n : o.getMode() == "up" ? (l >= n ? l - n : l) : n & 31;
      return lane(x, first + from);
    });
  }
  if (auto o = dyn_cast<tile::VarOp>(op)) {
    Lanes x(threads_);
    for (int t = 0; t < threads_; ++t) x[t] = lane(get(o.getInit()), t);
    vars_[o.getVar()] = std::move(x);
    return true;
  }
  if (auto o = dyn_cast<tile::GetOp>(op)) return set(o.getValue(), vars_[o.getVar()]), true;
  if (auto o = dyn_cast<tile::SetOp>(op)) {
    Lanes& to = vars_[o.getVar()];
    for (int t : active_threads()) to[t] = lane(get(o.getValue()), t);
    return true;
  }
  if (auto o = dyn_cast<tile::ExtentOp>(op)) return set(o.getValue(), {Word(cta_.tensor(o.getTensor()).shape[o.getAxis()])}), true;
  if (auto o = dyn_cast<tile::BlockIndexOp>(op)) return set(o.getValue(), {Word(cta_.index[o.getDim()])}), true;
  Lanes out;
  if (!compute(&op, [&](Value v) -> const Lanes& { return get(v); }, out)) undefined(&op, "has no meaning here");
  set(op.getResult(0), std::move(out));
  return true;
}

}  // namespace tilewright::evaluate
