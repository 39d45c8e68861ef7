// What the author is told: the mistake, and the interleaving that leads to it as (role, line, operation).
#include <algorithm>

#include "compiler/verify/protocol/Machine.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace tilewright::verify::protocol {

namespace {
constexpr std::size_t kMostTold = 12;
std::string quoted(const std::string& s) { return "\"" + s + "\""; }
}  // namespace

std::string Machine::who(const Actor& a) const {
  const RoleCode& role = program_.roles[static_cast<std::size_t>(a.role)];
  std::string text = "role " + quoted(role.name);
  if (ctas_ > 1) text += " of CTA " + std::to_string(a.cta);
  return text;
}

std::string Machine::subject_of(const Signal& s) const {
  const auto index = static_cast<std::size_t>(s.index);
  switch (s.kind) {
    case Signal::full:
    case Signal::empty: return program_.rings[index].name;
    case Signal::hand: return program_.barriers[index].name;
    case Signal::sync: return program_.roles[index].name;
    case Signal::meeting: return "meeting";
    default: return "cluster";
  }
}

std::string Machine::signal_name(const Signal& s) const {
  const auto index = static_cast<std::size_t>(s.index);
  const std::string of = ctas_ > 1 && s.kind != Signal::cluster ? " of CTA " + std::to_string(s.cta) : "";
  switch (s.kind) {
    case Signal::full:
    case Signal::empty: return "stage " + std::to_string(s.stage) + " of ring " + quoted(program_.rings[index].name) + of;
    case Signal::hand: return "barrier " + quoted(program_.barriers[index].name) + of;
    case Signal::sync: return "the rendezvous of role " + quoted(program_.roles[index].name) + of;
    case Signal::meeting: {
      std::string roles;
      for (const std::string& r : program_.meetings[index]) roles += (roles.empty() ? "" : ", ") + r;
      return "the meeting of " + roles + of;
    }
    default: return "the cluster's barrier";
  }
}

std::string Machine::doing(const Instr& i) const {
  std::string text = i.at->getName().stripDialect().str();
  if (i.code == Code::end) return "ends";
  if (i.code >= Code::acquire && i.code <= Code::release) text += " " + quoted(program_.rings[static_cast<std::size_t>(i.target)].name);
  else if (i.code == Code::arrive || i.code == Code::wait_for) text += " " + quoted(program_.barriers[static_cast<std::size_t>(i.target)].name);
  else if (!i.uses.empty()) text += " of tile " + quoted(program_.tiles[static_cast<std::size_t>(i.uses.front().place.tile)].name);
  return text;
}

bool Machine::report(Actor& a, const Instr& i, const char* property, std::string subject, std::string text, std::string hint, bool undecided) {
  if (finding_) return true;
  if (subject == "role") subject = program_.roles[static_cast<std::size_t>(a.role)].name;
  if (undecided && waivers_.covers(subject, property)) return false;
  if (undecided && !StringRef(text).starts_with("cannot be decided")) text = "cannot be decided: " + text;
  const auto waiver = undecided ? std::nullopt : waivers_.place_of(subject, property);
  finding_ = Finding{i.at, property, std::move(subject), std::move(text), std::move(hint), undecided, waiver, {}};
  std::vector<int> subjects;
  for (std::size_t s = 0; s < signals_.size(); ++s)
    if (signals_[s].kind != Signal::sync && subject_of(signals_[s]) == finding_->subject) subjects.push_back(static_cast<int>(s));
  for (const TileUse& use : i.uses) {
    const int ring = program_.tiles[static_cast<std::size_t>(use.place.tile)].ring;
    subjects.push_back(-1 - use.place.tile);
    for (std::size_t s = 0; s < signals_.size(); ++s)
      if (signals_[s].kind <= Signal::empty && signals_[s].index == ring && signals_[s].cta == a.cta) subjects.push_back(static_cast<int>(s));
  }
  add_steps(subjects);
  finding_->steps.push_back({i.at, who(a) + ": " + doing(i)});
  return true;
}

/// The last events about these barriers and tiles, one for each role and operation in a row.
void Machine::add_steps(const std::vector<int>& subjects) {
  std::vector<Finding::Step> steps;
  for (auto e = events_.rbegin(); e != events_.rend() && steps.size() < kMostTold; ++e) {
    if (std::find(subjects.begin(), subjects.end(), e->subject) == subjects.end()) continue;
    Finding::Step step{e->instr->at, who(actors_[static_cast<std::size_t>(e->actor)]) + ": " + doing(*e->instr)};
    if (!steps.empty() && steps.back().at == step.at && steps.back().text == step.text) continue;
    steps.push_back(std::move(step));
  }
  finding_->steps.insert(finding_->steps.end(), steps.rbegin(), steps.rend());
}

/// Nobody can move, and somebody has not ended.
void Machine::starvation() {
  // A stage that is not released says more than one that is not filled in consequence; a rendezvous says least.
  const auto weight = [&](const Actor& a) {
    if (program_.roles[static_cast<std::size_t>(a.role)].code[static_cast<std::size_t>(a.pc)].code == Code::end) return 0;
    const Signal& s = signals_[static_cast<std::size_t>(a.blocked)];
    if (s.bytes && s.pending == 0) return 4;
    return s.kind == Signal::sync ? 1 : s.kind == Signal::empty ? 3 : 2;
  };
  Actor* stuck = nullptr;
  for (Actor& a : actors_)
    if (!a.ended && a.blocked >= 0 && (!stuck || weight(a) > weight(*stuck))) stuck = &a;
  if (!stuck) return;
  const Signal& s = signals_[static_cast<std::size_t>(stuck->blocked)];
  const Instr& at = program_.roles[static_cast<std::size_t>(stuck->role)].code[static_cast<std::size_t>(stuck->pc)];
  std::string text = who(*stuck) + " waits for ever for " + signal_name(s);
  text += s.kind == Signal::full ? " to be filled" : s.kind == Signal::empty ? " to be released" : "";
  std::string hint = "let every participant arrive once for each wait, for every trip count";
  const char* property = "starvation";
  if (s.pending > 0) text += ": " + std::to_string(s.count - s.pending) + " of " + std::to_string(s.count) + " arrivals have come";
  if (s.bytes) {
    const std::int64_t expected = program_.rings[static_cast<std::size_t>(s.index)].bytes;
    if (s.pending == 0) property = "bytes", hint = "fill every tile of the ring in each stage, on every path", text += ": " + std::to_string(expected - s.bytes) + " of " + std::to_string(expected) + " bytes have landed";
  }
  if (s.kind == Signal::full && s.pending > 0) hint = "let the producer fill a stage for every wait of its consumers";
  if (s.kind == Signal::cluster) hint = "every role comes to the cluster's barrier equally often";
  if (s.kind == Signal::empty) hint = "let every consumer wait for and release each stage that is filled";
  report(*stuck, at, property, subject_of(s), text, hint);
  if (!finding_) return;
  llvm::StringSet<llvm::MallocAllocator> told;
  told.insert(who(*stuck));
  for (const Actor& a : actors_) {
    const Instr& here = program_.roles[static_cast<std::size_t>(a.role)].code[static_cast<std::size_t>(a.pc)];
    if (!told.insert(who(a)).second) continue;
    finding_->steps.push_back({here.at, who(a) + (a.ended ? " has ended" : " waits here: " + doing(here))});
  }
}

}  // namespace tilewright::verify::protocol
