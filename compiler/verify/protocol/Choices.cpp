#include "compiler/verify/protocol/Choices.h"

namespace tilewright::verify::protocol {

std::int64_t Choices::candidate(int index, std::int64_t many) {
  switch (index) {
    case 0: return many;
    case 1: return 0;
    case 2: return 1;
    case 3: return 2;
    case 4: return many + 1;
    default: return -1;
  }
}

std::pair<std::int64_t, int> Choices::choose(Context& context) {
  auto [at, made] = numbers_.try_emplace({context.op, context.ordinal++}, static_cast<int>(classes_.size()));
  if (made) classes_.emplace_back().op = context.op;
  const int number = at->second;
  Class& c = classes_[static_cast<std::size_t>(number)];
  c.trip |= context.trip;
  const std::size_t nth = c.asked++;
  c.wide |= nth > 0;
  auto pattern = plan_.find(number);
  int which = pattern == plan_.end() ? 0 : pattern->second[nth % pattern->second.size()];
  if (context.candidate >= 0) which = context.candidate;
  const std::int64_t value = candidate(which, context.many) * (context.candidate == Context::kNegated ? -1 : 1);
  if (nth == 0) chosen_.push_back({context.op, value, context.trip});
  return {value, number};
}

std::int64_t Choices::trips(mlir::Operation* loop, std::int64_t many) {
  auto [at, first] = trips_.try_emplace(loop, 0);
  if (first) {
    Context context{loop, true, many, 1, -1, 1 << 20};
    at->second = choose(context).first;
  }
  return at->second;
}

bool Choices::taken(mlir::Operation* branch) {
  auto [at, made] = numbers_.try_emplace({branch, 1 << 21}, static_cast<int>(classes_.size()));
  if (made) classes_.emplace_back();
  Class& c = classes_[static_cast<std::size_t>(at->second)];
  c.branch = true;
  const std::size_t nth = c.asked++;
  c.wide |= nth > 0;
  auto pattern = plan_.find(at->second);
  return pattern == plan_.end() || pattern->second[nth % pattern->second.size()] == 0;
}

void Choices::plan_more() {
  for (const bool trips : {true, false}) {  // trip counts first
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      Class& c = classes_[i];
      if (c.planned || c.trip != trips || (!c.trip && !c.branch)) continue;
      c.planned = true;
      const int number = static_cast<int>(i);
      const std::vector<Pattern> patterns = trips ? std::vector<Pattern>{{1}, {2}, {3}, {4}} : std::vector<Pattern>{{1}};
      for (const Pattern& p : patterns) singles_.push_back({{number, p}});
      if (c.wide) singles_.push_back({{number, {1, 0}}});
      if (c.wide && trips) singles_.push_back({{number, {2, 1, 3}}});
      if (!trips) continue;
      for (int other : paired_) {
        if (classes_[static_cast<std::size_t>(other)].op == c.op) continue;
        for (int x : {1, 2, 3})
          for (int y : {1, 2, 3}) pairs_.push_back({{other, {x}}, {number, {y}}});
      }
      paired_.push_back(number);
    }
  }
}

/// Whether a run of this pair of choices would be the run of one of them: the other is not asked for.
bool Choices::repeats(const Plan& pair) const {
  const auto leaves_out = [&](const Plan::value_type& one, int other) {
    auto run = asked_.find({one.first, one.second.front()});
    return run != asked_.end() && (static_cast<std::size_t>(other) >= run->second.size() || !run->second[static_cast<std::size_t>(other)]);
  };
  return leaves_out(*pair.begin(), pair.rbegin()->first) || leaves_out(*pair.rbegin(), pair.begin()->first);
}

bool Choices::next() {
  if (plan_.size() == 1 && plan_.begin()->second.size() == 1) {
    std::vector<bool>& asked = asked_[{plan_.begin()->first, plan_.begin()->second.front()}];
    for (const Class& c : classes_) asked.push_back(c.asked > 0);
  }
  for (Class& c : classes_) c.asked = 0;
  chosen_.clear(), trips_.clear(), plan_.clear();
  if (run_++ == 0) return true;
  plan_more();
  if (next_single_ < singles_.size()) {
    plan_ = singles_[next_single_++];
    return true;
  }
  while (next_pair_ < pairs_.size() && repeats(pairs_[next_pair_])) ++next_pair_;
  if (next_pair_ >= pairs_.size()) return false;
  plan_ = pairs_[next_pair_++];
  return true;
}

}  // namespace tilewright::verify::protocol
