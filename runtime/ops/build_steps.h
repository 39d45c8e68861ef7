// The steps of a build: timed for the ledger, told to the hook.
#pragma once
#include <chrono>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "compiler/compile.h"
#include "runtime/ops/build.h"

namespace tilewright::ops {

/// Counts the steps of all kernels of one build() and tells its hook.
class ProgressReporter {
 public:
  ProgressReporter(const BuildOptions& options, std::size_t kernels)
      : steps_(static_cast<unsigned>(1 + std::size(compiler::kSteps) + (options.assemble ? 1 : 0))), hook_(options.progress),
        user_(options.progress_user), total_(steps_ * static_cast<unsigned>(kernels)) {}

  unsigned steps_of_a_kernel() const { return steps_; }
  void tell(const std::string& kernel, const char* step, unsigned finished) {
    if (hook_ == nullptr) return;
    const std::lock_guard lock(mutex_);
    done_ += finished;
    hook_(user_, {kernel.c_str(), step, done_, total_});
  }

 private:
  const unsigned steps_;
  const ProgressHook hook_;
  void* const user_;
  const unsigned total_;
  std::mutex mutex_;
  unsigned done_ = 0;
};

/// The steps of one kernel, one after the other.
class StepClock {
 public:
  StepClock(ProgressReporter& reporter, std::string kernel) : reporter_(reporter), kernel_(std::move(kernel)) {}
  /// Ends the step before, if there is one, and begins this one.
  void begin(const char* step) {
    const unsigned finished = stop();
    steps_.emplace_back(step, 0.0);
    reporter_.tell(kernel_, step, finished);
    running_ = true;
    begin_ = Clock::now();
  }
  /// The kernel is there. `step` says how: "done", or "cache" when the rest of its steps was spared.
  std::vector<std::pair<std::string, double>> end(const char* step) {
    const unsigned told = told_;
    stop();
    reporter_.tell(kernel_, step, reporter_.steps_of_a_kernel() - told);
    return std::move(steps_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  unsigned stop() {
    if (!running_) return 0;
    steps_.back().second = std::chrono::duration<double, std::milli>(Clock::now() - begin_).count();
    running_ = false;
    ++told_;
    return 1;
  }
  ProgressReporter& reporter_;
  std::string kernel_;
  std::vector<std::pair<std::string, double>> steps_;
  bool running_ = false;
  Clock::time_point begin_;
  unsigned told_ = 0;  // steps that the reporter counts as finished
};

}  // namespace tilewright::ops
