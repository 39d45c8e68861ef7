// Hands the works of a CTA to its roles.
#pragma once
#include <optional>

#include "kernels/gdn/work.h"

namespace tilewright::gdn {

/// Without segments a CTA has one chain, which each role works out for itself. With them one role finds the works in the planner's list, and tells the others
/// through a ring; a CTA of the full form goes on until no work is left.
class Works {
 public:
  Works(Kernel& k, const ForwardConfig& c, const Offsets& offsets, Index cta, const Dim& tokens, const Dim& N, const Dim& slots, const Dim& heads,
        const Role& finder, const std::vector<Role>& others)
      : k_(k), c_(c), goes_on_(goes_on(c)) {
    if (!c.segments) {
      sequence_.emplace(k, offsets, tokens, c.stages);
      chain_.emplace(k, c, *sequence_, cta, heads);
      return;
    }
    finder_.emplace(k, c, offsets, N, slots, heads);
    words_ = k.staged<i32>("work", kStages, {1, WorkFinder::kWords});
    ring_ = k.ring("works", kStages, finder, others, *words_);
  }
  /// Whether a CTA has one work after another.
  static bool goes_on(const ForwardConfig& c) { return c.segments && c.value_columns == c.dv; }

  /// The finding role's part: body(read) for each work. read() gives it, anew each time: held from a work's beginning to its end it would cost registers.
  template <class F>
  void find(F&& body) const {
    if (!c_.segments) return body(*chain_);
    k_.grid_wait();  // for the plan
    const auto take = [&] {
      Stage to = ring_->acquire();
      k_.sync();  // the last work has been read
      if_(k_.warp() == 0, [&] { finder_->find(k_, (*words_)[to]); });
      k_.sync();
      ring_->commit(to);
      return to;
    };
    for_each(take, [](Stage) {}, body);
  }
  /// The same for a role that asks for something early: body(work, then), of what may be asked for while the prologue still runs; then() waits for it, and
  /// says what the work is.
  template <class F>
  void follow_early(F&& body) const {
    if (c_.segments) return follow([&](auto&& read) {
      Work w = read();
      body(w, [&] {
        k_.grid_wait();
        return w;
      });
    });
    Work w = chain_->within();
    body(w, [&] {
      k_.grid_wait();
      return chain_->checked(w);
    });
  }
  /// The same for the other roles.
  template <class F>
  void follow(F&& body) const {
    if (!c_.segments) return body(*chain_);
    for_each([&] { return ring_->wait(); }, [&](Stage at) { ring_->release(at); }, body);
  }

 private:
  static constexpr int kStages = 2;

  template <class Take, class Done, class F>
  void for_each(Take&& take, Done&& done, F&& body) const {
    const auto one = [&](auto&& then) {
      Stage at = take();
      const auto read = [&] { return WorkFinder::read(k_, (*words_)[at]); };
      if_(read().number >= 0, [&] { body(read); });
      then(read);
      done(at);
    };
    if (!goes_on_) return one([](auto&&) {});
    Var<Index> number(k_.index(0));
    k_.while_([&] { return number.get() >= 0; }, [&] { one([&](auto&& read) { number.set(read().number); }); });
  }

  Kernel& k_;
  const ForwardConfig& c_;
  bool goes_on_;
  std::optional<CheckedSequence> sequence_;
  std::optional<WholeChain> chain_;
  std::optional<WorkFinder> finder_;
  std::optional<Staged<i32>> words_;
  std::optional<Ring> ring_;
};

}  // namespace tilewright::gdn
