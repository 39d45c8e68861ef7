// Shrinks a program that shows a fault, as long as the fault stays of its kind.
#pragma once
#include <functional>

#include "tests/fuzz/model.h"

namespace tilewright::fuzz {

/// Smaller programs, the boldest first. Each is well formed, but need not be a program that the generator would draw.
std::vector<Program> smaller(const Program& program);
/// Takes smaller programs that `fail`, until none does; tries at most `tries`.
Program reduce(Program program, const std::function<bool(const Program&)>& fails, int tries = 400);
/// The program without these statements of a role and whatever uses what they make.
Program without(const Program& program, std::size_t role, std::size_t first, std::size_t count);

}  // namespace tilewright::fuzz
