// One run: actors and barriers as they begin, and turns until nobody can move.
#include <algorithm>

#include "compiler/verify/protocol/Machine.h"

using namespace mlir;

namespace tilewright::verify::protocol {

void Clock::join(const Clock& other) {
  for (std::size_t i = 0; i < seen.size(); ++i) {
    seen[i] = std::max(seen[i], other.seen[i]);
    fenced[i] = std::max(fenced[i], other.fenced[i]);
    published[i] = std::max(published[i], other.published[i]);
  }
}

Machine::Machine(const Program& program, Values& values, Choices& choices, Waivers& waivers)
    : program_(program), values_(values), choices_(choices), waivers_(waivers) {
  ctas_ = program.launch.cluster_size();
  int at = 0;
  for (const RingInfo& r : program.rings) ring_base_.push_back(at), at += 2 * r.stages;
  barrier_base_ = at, at += static_cast<int>(program.barriers.size());
  for (std::size_t i = 0; i < program.roles.size(); ++i) sync_base_.push_back(at++);
  meeting_base_ = at, at += static_cast<int>(program.meetings.size());
  signals_of_cta_ = at;
}

void Machine::reset() {
  values_.reset();
  actors_.clear(), signals_.clear(), events_.clear(), elements_.clear(), versions_.clear(), additions_.clear();
  finding_.reset();
  memory_.assign(static_cast<std::size_t>(ctas_ * program_.memories), {});
  tensors_.assign(program_.tensors.size(), {});
  published_.assign(static_cast<std::size_t>(ctas_) * program_.roles.size(), {});
  looks_.assign(published_.size(), {});
  int warps = 0;
  for (const RoleCode& r : program_.roles) warps += r.place.warps;
  const int count = ctas_ * warps, signals = ctas_ * signals_of_cta_ + (ctas_ > 1 ? 1 : 0);
  const auto components = static_cast<std::size_t>(count + signals);
  for (int cta = 0; cta < ctas_; ++cta)
    for (std::size_t role = 0; role < program_.roles.size(); ++role)
      for (int warp = 0; warp < program_.roles[role].place.warps; ++warp) {
        Actor a;
        a.number = static_cast<int>(actors_.size()), a.role = static_cast<int>(role), a.cta = cta, a.warp = warp;
        a.lanes = a.mask = program_.roles[role].place.single_thread ? 1u : 0xffffffffu;
        a.scalars.resize(static_cast<std::size_t>(program_.scalars));
        a.clock = Clock(components);
        a.acquired.resize(program_.rings.size()), a.consumed.resize(program_.rings.size()), a.waits.resize(program_.barriers.size());
        for (const RingInfo& r : program_.rings) a.held.emplace_back(r.stages), a.taken.emplace_back(r.stages);
        actors_.push_back(std::move(a));
      }
  const auto add = [&](Signal::Kind kind, int cta, int index, int stage, int arrivals) {
    Signal s;
    s.kind = kind, s.cta = cta, s.index = index, s.stage = stage, s.count = s.pending = arrivals;
    s.component = count + static_cast<int>(signals_.size());
    s.gathering = s.last = Clock(components);
    s.arrivals.resize(actors_.size()), s.waited.resize(actors_.size());
    signals_.push_back(std::move(s));
  };
  for (int cta = 0; cta < ctas_; ++cta) {
    for (std::size_t i = 0; i < program_.rings.size(); ++i)
      for (bool full : {true, false})
        for (int stage = 0; stage < program_.rings[i].stages; ++stage)
          add(full ? Signal::full : Signal::empty, cta, static_cast<int>(i), stage, full ? program_.rings[i].full_arrivals : program_.rings[i].empty_arrivals);
    for (std::size_t i = 0; i < program_.barriers.size(); ++i) add(Signal::hand, cta, static_cast<int>(i), 0, program_.barriers[i].arrivals);
    for (std::size_t i = 0; i < program_.roles.size(); ++i) add(Signal::sync, cta, static_cast<int>(i), 0, program_.roles[i].place.warps);
    for (std::size_t i = 0; i < program_.meetings.size(); ++i)
      add(Signal::meeting, cta, static_cast<int>(i), 0, program_.launch.threads_of(program_.meetings[i]) / 32);
  }
  if (ctas_ > 1) cluster_signal_ = static_cast<int>(signals_.size()), add(Signal::cluster, 0, 0, 0, count);
}

std::optional<Finding> Machine::run() {
  reset();
  bool moved = true;
  while (moved && !finding_ && !gave_up_) {
    moved = false;
    for (Actor& a : actors_) {
      if (a.ended) continue;
      moved |= advance(a);
      if (finding_ || gave_up_) break;
    }
  }
  if (gave_up_) return finding_;
  if (!finding_ && std::any_of(actors_.begin(), actors_.end(), [](const Actor& a) { return !a.ended; })) starvation();
  for (const Signal& s : signals_) {
    if (finding_ || s.kind != Signal::full || program_.rings[static_cast<std::size_t>(s.index)].bytes == 0) continue;
    std::uint32_t seen = 0;
    for (const Actor& a : actors_) seen = std::max(seen, a.clock.seen[static_cast<std::size_t>(s.component)]);
    if (static_cast<std::int64_t>(seen) >= s.done) continue;
    for (const Event& e : events_)
      if (e.instr->code == Code::load_bytes && e.instr->target == s.index && !finding_)
        report(actors_[static_cast<std::size_t>(e.actor)], *e.instr, "starvation", subject_of(s), signal_name(s) + " is filled once more than anybody waits for it, so the kernel may end while the copy lands",
               "let a consumer wait for every stage that is filled, or fill one less");
  }
  return finding_;
}

/// Runs the actor until it waits; whether it moved at all.
bool Machine::advance(Actor& a) {
  const auto& code = program_.roles[static_cast<std::size_t>(a.role)].code;
  bool moved = false;
  while (!a.ended && !finding_) {
    const Instr& i = code[static_cast<std::size_t>(a.pc)];
    if (++steps_ > kMostSteps) {
      gave_up_ = true;
      return false;
    }
    if (!step(a, i)) break;
    moved = true;
  }
  return moved;
}

bool Machine::step(Actor& a, const Instr& i) {
  const int pc = a.pc;
  if (i.code <= Code::fresh) {
    scalar(a, i);
  } else if (i.code <= Code::end) {
    control(a, i);
    if (a.pc != pc || a.ended) return true;
    if (i.code == Code::end) return false;
  } else if (i.code <= Code::cluster_wait) {
    if (!synchronise(a, i)) return false;
  } else {
    ++a.clock.seen[static_cast<std::size_t>(a.number)];
    if (i.code == Code::access) access(a, i);
    else asynchronous(a, i);
  }
  ++a.pc;
  a.blocked = -1;
  return true;
}

}  // namespace tilewright::verify::protocol
