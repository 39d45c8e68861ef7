// Single instructions on many inputs: integers, conversions and rounded arithmetic bit for bit, .approx functions within PTX's bounds.
#pragma once
#include <vector>

#include "tests/card/agreement/cases.h"

namespace tilewright::test {

std::vector<Case> instruction_cases();

}  // namespace tilewright::test
