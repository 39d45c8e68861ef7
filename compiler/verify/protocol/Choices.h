// What is known only at launch is chosen: trip counts, conditions. The sets of choices, one a run, that cover a kernel.
#pragma once
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace mlir {
class Operation;
}

namespace tilewright::verify::protocol {

/// Where control flow asks for a number.
struct Context {
  static constexpr int kPlanned = -1, kNegated = -2;  ///< candidates of the run's plan: its number, and minus that
  mlir::Operation* op = nullptr;  ///< the loop, branch or condition
  bool trip = false;              ///< the number is a trip count
  std::int64_t many = 8;          ///< trips that reach the steady state
  std::int64_t scale = 1;         ///< the number is divided by so much on its way
  int candidate = kPlanned;       ///< take this candidate for all that is open
  int ordinal = 0;                ///< choices that this place has asked for
};

/// Choices of one place, in the order in which they are made, belong to one class; a run gives each class a pattern that its choices
/// repeat. The first run takes "many" trips and every branch; then each class in turn goes through its other patterns, and at last pairs of trip
/// counts do, of two places (the numbers that one place asks for are parts of one count), but for those that repeat a run: one of the two
/// leaves the other without a choice.
class Choices {
 public:
  /// The next run's choices; false when all runs were made.
  bool next();
  /// A number for the context, and the class it belongs to.
  std::pair<std::int64_t, int> choose(Context& context);
  void used_as_trip(int choice) {
    if (choice >= 0) classes_[static_cast<std::size_t>(choice)].trip = true;
  }
  /// Runs that have begun, and those that are known to come.
  int runs() const { return run_; }
  int left() const { return static_cast<int>(singles_.size() - next_single_ + pairs_.size() - next_pair_); }
  /// Trips of a loop with a condition: a class of its own, one choice a run.
  std::int64_t trips(mlir::Operation* loop, std::int64_t many);

  struct Chosen {
    mlir::Operation* op;
    std::int64_t value;
    bool trip;
  };
  /// The choices of this run, the first of each place.
  const std::vector<Chosen>& chosen() const { return chosen_; }

  /// Whether a branch that can be is to be taken.
  bool taken(mlir::Operation* branch);

  static constexpr int kCandidates = 6, kOne = 2;
  static std::int64_t candidate(int index, std::int64_t many);

 private:
  struct Class {
    mlir::Operation* op = nullptr;
    bool trip = false, branch = false, wide = false;
    std::size_t asked = 0;  // in this run
    bool planned = false;
  };
  using Pattern = std::vector<int>;      // candidates
  using Plan = std::map<int, Pattern>;   // by class; the rest is "many"
  void plan_more();
  bool repeats(const Plan& pair) const;

  std::map<std::pair<mlir::Operation*, int>, int> numbers_;
  std::vector<Class> classes_;
  std::vector<Plan> singles_, pairs_;
  std::size_t next_single_ = 0, next_pair_ = 0;
  std::vector<int> paired_;  // trip classes whose pairs are planned
  std::vector<Chosen> chosen_;
  std::map<mlir::Operation*, std::int64_t> trips_;
  Plan plan_;
  std::map<std::pair<int, int>, std::vector<bool>> asked_;  // by class and its one candidate: the classes that such a run asked for
  int run_ = 0;
};

}  // namespace tilewright::verify::protocol
