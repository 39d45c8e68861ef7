#include "runtime/sim/check/clock.h"

namespace tilewright::runtime::sim::check {
namespace {

void join_into(std::vector<Known>& a, const std::vector<Known>& b) {
  if (a.size() < b.size()) a.resize(b.size());
  for (std::size_t n = 0; n < b.size(); ++n) {
    a[n].seen = std::max(a[n].seen, b[n].seen);
    a[n].fenced = std::max(a[n].fenced, b[n].fenced);
  }
}

std::shared_ptr<const Foreign> joined(const std::shared_ptr<const Foreign>& a, const std::shared_ptr<const Foreign>& b) {
  if (!b || a == b) return a;
  if (!a) return b;
  auto out = std::make_shared<Foreign>(*a);
  for (const auto& [cluster, known] : *b) join_into((*out)[cluster], known);
  return out;
}

}  // namespace

void Clock::join(const Clock& other) {
  join_into(known, other.known);
  foreign = joined(foreign, other.foreign);
}

void Clock::join_foreign(const Clock& other, std::uint64_t theirs, std::uint64_t mine) {
  auto out = foreign ? std::make_shared<Foreign>(*foreign) : std::make_shared<Foreign>();
  join_into((*out)[theirs], other.known);
  if (other.foreign)
    for (const auto& [cluster, k] : *other.foreign) {
      if (cluster == mine) join_into(known, k);
      else join_into((*out)[cluster], k);
    }
  foreign = std::move(out);
}

void Clock::meet(const Clock& other) {
  if (known.size() > other.known.size()) known.resize(other.known.size());
  for (std::size_t n = 0; n < known.size(); ++n) {
    known[n].seen = std::min(known[n].seen, other.known[n].seen);
    known[n].fenced = std::min(known[n].fenced, other.known[n].fenced);
  }
}

void Clock::fence_foreign() {
  auto out = std::make_shared<Foreign>(*foreign);
  for (auto& [cluster, list] : *out)
    for (Known& k : list) k.fenced = k.seen;
  foreign = std::move(out);
}

}  // namespace tilewright::runtime::sim::check
