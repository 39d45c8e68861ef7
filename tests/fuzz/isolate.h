// Programs in processes of their own, so that one that crashes or hangs ends nothing else.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/fuzz/run.h"

namespace tilewright::fuzz {

struct Limits {
  int jobs = 1;
  double seconds = 60;          // of CPU time a program may take; 20 times that by the clock
  std::string device = "sim";
};

/// Runs `make(i)` for i in [0, count) and calls `done(i, outcome)` as they finish, in this process, in any order.
void run_isolated(std::size_t count, const Limits& limits, const std::function<Program(std::size_t)>& make, const std::function<void(std::size_t, const Outcome&)>& done);
/// One program.
Outcome run_isolated(const Program& program, const Limits& limits);

}  // namespace tilewright::fuzz
